from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput
from evenhand.core.tables import gold_table, judgements_table, tag
from evenhand.data.reshape import Partition, add, arango_partitions, as_rows, cap
from evenhand.data.splits import ties
from factories import make_corpus


def gold(post, shares, **more):
    """A row of gold: label null unless one share is the largest."""
    top = [label for label, share in shares.items() if share == max(shares.values())]
    row = {"n": len(shares), "origin": "published", "question": "label"}
    named = [{"label": label, "share": share} for label, share in shares.items()]
    return row | {"post": post, "shares": named, "label": top[0] if len(top) == 1 else None} | more


def with_two_labels():
    """Three posts from four rows: b was published as bad and as good."""
    corpus = make_corpus(
        [
            {"id": "a", "author": "ann", "split": "train"},
            {"id": "b", "author": "bea", "split": "test"},
            {"id": "c", "author": None, "split": None},
        ]
    )
    rows = [gold("a", {"bad": 1.0}), gold("b", {"bad": 0.5, "good": 0.5}), gold("c", {"good": 1.0})]
    return replace(corpus, rows=4, gold=gold_table(pl.DataFrame(rows)))


def labels(corpus):
    return dict(corpus.gold.select("post", "label").iter_rows())


def test_a_post_per_row():
    before = with_two_labels()
    after = as_rows(before)
    assert after.posts["id"].to_list() == ["a", "b", "b#2", "c"]
    assert labels(after) == {"a": "bad", "b": "bad", "b#2": "good", "c": "good"}
    assert after.gold["n"].to_list() == [1, 1, 1, 1]
    text = dict(after.posts.select("id", "text").iter_rows())
    assert text["b"] == text["b#2"] != text["a"]
    row = after.posts.filter(pl.col("id") == "b#2").row(0, named=True)
    assert (row["author"], row["tags"]) == ("bea", {"split": "test", "twin": "b"})
    assert after.posts.select(tag("twin", after.posts))["twin"].to_list() == [None, None, "b", None]
    numbers = ties(after, keep=("twin",))
    assert numbers[1] == numbers[2]
    assert len(set(numbers)) == 3
    assert after.notes[-1].startswith("1 posts were added")
    assert (after.rows, after.hateful) == (4, ("bad",))


def test_rows_with_the_same_label_are_rows_too():
    # Three rows of b: twice bad, once good; the label bad stands, and all three come back.
    corpus = with_two_labels()
    shares = {"bad": 2 / 3, "good": 1 / 3}
    rows = [gold("a", {"bad": 1.0}), gold("b", shares, n=3), gold("c", {"good": 1.0})]
    after = as_rows(replace(corpus, rows=5, gold=gold_table(pl.DataFrame(rows))))
    assert labels(after) == {"a": "bad", "b": "bad", "b#2": "bad", "b#3": "good", "c": "good"}


def test_a_post_without_a_label_stays_one_row():
    corpus = with_two_labels()
    after = as_rows(replace(corpus, gold=corpus.gold.filter(pl.col("post") != "c")))
    assert after.posts["id"].to_list() == ["a", "b", "b#2", "c"]
    assert "c" not in labels(after)


def test_a_corpus_that_has_a_post_per_row_stays_as_it_is():
    corpus = make_corpus([{"id": "1", "label": "bad"}, {"id": "2", "label": "good"}])
    after = as_rows(corpus)
    assert after.posts["id"].to_list() == ["1", "2"]
    assert labels(after) == labels(corpus)


def test_votes_are_not_rows():
    corpus = with_two_labels()
    with pytest.raises(BadInput, match="3 rows, but the gold rests on 4 labels"):
        as_rows(replace(corpus, rows=3))
    votes = corpus.gold.with_columns(origin=pl.lit("votes"))
    with pytest.raises(BadInput, match="the gold is votes; a post per row"):
        as_rows(replace(corpus, gold=votes))
    people = pl.DataFrame([{"post": "a", "annotator": "1", "question": "label", "answer": ["bad"]}])
    with pytest.raises(BadInput, match="published with judgements"):
        as_rows(replace(corpus, judgements=judgements_table(people)))
    with pytest.raises(BadInput, match="has no labels"):
        as_rows(replace(corpus, gold=None))


def prolific():
    """ann: five bad and three good; bea: two bad; five good without an author."""
    wrote = (
        [("ann", "bad")] * 5 + [("ann", "good")] * 3 + [("bea", "bad")] * 2 + [(None, "good")] * 5
    )
    return make_corpus(
        [{"id": f"{i:02}", "author": a, "label": label} for i, (a, label) in enumerate(wrote)]
    )


def test_the_cap_holds_for_each_author_and_class():
    capped = cap(prolific(), 2, seed=0)
    table = capped.posts.join(capped.gold.select(id="post", label="label"), on="id")
    counts = {(a, label): n for a, label, n in table.group_by("author", "label").len().iter_rows()}
    assert counts == {("ann", "bad"): 2, ("ann", "good"): 2, ("bea", "bad"): 2, (None, "good"): 5}
    assert capped.rows == capped.gold.height == 11
    assert "4 posts were cut; 0 without a single label" in capped.notes[-1]


def test_two_hateful_labels_are_one_class_for_the_cap():
    rows = [{"id": str(i), "author": "ann", "label": f"bad {i % 2}"} for i in range(6)]
    assert cap(make_corpus(rows, hateful=("bad 0", "bad 1")), 4, seed=0).posts.height == 4


def test_the_draw_follows_the_seed_and_not_the_order():
    corpus = prolific()
    shuffled = replace(
        corpus,
        posts=corpus.posts.sample(fraction=1, shuffle=True, seed=1),
        gold=corpus.gold.sample(fraction=1, shuffle=True, seed=2),
    )
    kept = {seed: set(cap(corpus, 2, seed=seed).posts["id"]) for seed in range(6)}
    assert set(cap(shuffled, 2, seed=0).posts["id"]) == kept[0]
    assert len(set(map(frozenset, kept.values()))) > 1


def test_posts_without_one_label_are_counted_and_left_out():
    capped = cap(with_two_labels(), 10, seed=0)
    assert capped.posts["id"].to_list() == ["a", "c"]
    assert "1 without a single label" in capped.notes[-1]


def test_a_cap_needs_classes_and_a_number():
    with pytest.raises(BadInput, match="expected 1 or more"):
        cap(prolific(), 0, seed=0)
    with pytest.raises(BadInput, match="no label is declared hateful"):
        cap(replace(prolific(), hateful=()), 2, seed=0)


def other(**options):
    rows = [
        {"id": "x", "author": "ann", "label": "worse", "template": "t"},
        {"id": "y", "author": None, "label": "fine", "template": None},
        {"id": "z", "author": None, "label": "worse", "template": None},
    ]
    return replace(make_corpus(rows, hateful=("worse",), **options), name="other")


def test_posts_of_another_corpus_are_added_with_their_label():
    base = make_corpus(
        [{"id": "1", "label": "bad", "split": "train"}, {"id": "2", "label": "good"}]
    )
    joined = add(base, other(), "worse")
    assert labels(joined) == {"1": "bad", "2": "good", "x": "worse", "z": "worse"}
    assert joined.hateful == ("bad", "worse")
    tags = dict(joined.posts.select("id", "tags").iter_rows())
    assert tags["1"] == {"split": "train", "template": None}
    assert tags["x"] == {"split": None, "template": "t"}
    assert (joined.name, joined.rows) == ("made up+other", 4)
    assert joined.notes[-1] == "2 posts labelled 'worse' of other were added."


def test_a_label_that_is_not_hateful_there_is_not_hateful_here():
    assert add(prolific(), other(), "fine").hateful == ("bad",)


def test_added_votes_become_one_label_under_our_question():
    there = other(question="q")
    rows = [
        gold(post, {"worse": 2 / 3, "fine": 1 / 3}, n=3, question="q", origin="votes")
        for post in "xyz"
    ]
    joined = add(prolific(), replace(there, gold=gold_table(pl.DataFrame(rows))), "worse")
    added = joined.main_gold().filter(pl.col("post").is_in(["x", "y", "z"]))
    assert added["shares"].to_list() == [[{"label": "worse", "share": 1.0}]] * 3


def test_what_cannot_be_added_is_named():
    with pytest.raises(BadInput, match="no post labelled 'bad'; its labels are fine, worse"):
        add(prolific(), other(), "bad")
    clash = make_corpus([{"id": "1", "label": "worse"}, {"id": "2", "label": "bad"}])
    with pytest.raises(BadInput, match="'worse' is hateful in other and not in made up"):
        add(clash, other(), "worse")
    with pytest.raises(BadInput, match="used before"):
        add(prolific(), prolific(), "bad")


WROTE = {  # author: racism, sexism, none
    "r": (6, 1, 2),
    "s1": (0, 8, 1),
    "s2": (0, 5, 0),
    "n1": (0, 0, 9),
    "n2": (0, 0, 4),
    "n3": (0, 0, 3),
    "n4": (0, 0, 3),
    "n5": (0, 0, 1),
    "m1": (0, 2, 4),
    "m2": (0, 1, 1),
    "rn": (1, 0, 5),
    None: (1, 1, 2),
}


def sexist_and_racist():
    rows = [
        {"author": author, "label": label}
        for author, counts in WROTE.items()
        for label, many in zip(("racism", "sexism", "none"), counts, strict=True)
        for _ in range(many)
    ]
    rows = [row | {"id": f"{i:03}"} for i, row in enumerate(rows)]
    return make_corpus(rows, hateful=("racism", "sexism"))


def trained(corpus, test):
    return set(corpus.posts["author"].filter(pl.Series(~test)))


ONE = Partition(
    name="one", top={"racism": 1, "sexism": 2, "none": 1}, fill=("none",), hateful=20, none=19
)
TWO = Partition(
    name="two",
    top={"racism": 1, "sexism": 1, "none": 1},
    fill=("none", "sexism"),
    hateful=16,
    none=20,
)
THREE = Partition(
    name="three", top={"racism": 1}, every="sexism", fill=("none",), hateful=14, none=99
)


@pytest.mark.parametrize(
    ("part", "authors"),
    [
        # r, s1, s2, n1 have 12 none; n2 makes 16, n3 19 (n4 comes later by name), n5 is too many.
        (ONE, {"r", "s1", "s2", "n1", "n2", "n3"}),
        # r, s1, n1 have 15 hateful and 12 none. m1 (6 posts) would make 17 hateful; n2 16 none,
        # n3 19, n4 too many, m2 (2 posts) 16 hateful and 20 none, n5 too many. s2 is tested on.
        (TWO, {"r", "s1", "n1", "n2", "n3", "m2"}),
        # All sexist authors but s1 have 7+5+2+1 = 15 hateful, more than 14; the none-only all join.
        (THREE, {"r", "s2", "m1", "m2", "n1", "n2", "n3", "n4", "n5"}),
    ],
    ids=["one", "two", "three"],
)
def test_partitions_by_author(part, authors):
    corpus = sexist_and_racist()
    [(name, test)] = arango_partitions(corpus, [part])
    assert name == part.name
    assert trained(corpus, test) == authors
    assert test[corpus.posts["author"].is_null().to_numpy()].all()


def test_the_second_sexist_author_never_fills_a_side():
    [(_, test)] = arango_partitions(sexist_and_racist(), [replace(TWO, hateful=99, none=99)])
    assert "s2" not in trained(sexist_and_racist(), test)


def test_partitions_do_not_depend_on_the_order_of_posts():
    corpus = sexist_and_racist()
    order = np.random.default_rng(0).permutation(corpus.posts.height)
    shuffled = replace(corpus, posts=corpus.posts[order])
    for (_, one), (_, two) in zip(
        arango_partitions(corpus, [ONE, TWO, THREE]),
        arango_partitions(shuffled, [ONE, TWO, THREE]),
        strict=True,
    ):
        assert one[order].tolist() == two.tolist()


def test_partitions_say_what_they_need():
    with pytest.raises(BadInput, match="need racism, sexism and none"):
        arango_partitions(prolific())
    corpus = sexist_and_racist()
    nobody = corpus.posts.with_columns(author=pl.lit(None, dtype=pl.String))
    with pytest.raises(BadInput, match="author of 0 posts is known"):
        arango_partitions(replace(corpus, posts=nobody))
