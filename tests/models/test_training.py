import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.tables import gold_table
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.training import for_corpus, record, training_rows
from factories import make_corpus

POSTS = [
    {"id": "a", "text": "one", "label": "bad"},
    {"id": "b", "text": "two", "label": "good"},
    {"id": "c", "text": "three", "label": "worse"},
    {"id": "d", "text": "four", "label": None},
]


def gold(*rows, multiple=False):
    """Rows of (post, shares)."""
    table = [
        {
            "post": post,
            "question": "label",
            "shares": [{"label": label, "share": float(share)} for label, share in shares.items()],
            "n": 2,
            "origin": "published",
            "label": next(iter(shares)) if len(shares) == 1 else None,
            "multiple": multiple,
        }
        for post, shares in rows
    ]
    return gold_table(pl.DataFrame(table))


def test_hateful_labels_against_the_rest_in_the_order_of_the_posts():
    corpus = make_corpus(POSTS)
    rows = training_rows(corpus.posts, corpus.gold, "label", ("bad", "worse"))
    assert rows.texts == ["one", "two", "three"]
    assert rows.labels.tolist() == [True, False, True]


def test_ties_and_posts_without_gold_are_left_out_and_counted():
    posts = make_corpus(POSTS).posts
    table = gold(("a", {"bad": 1}), ("b", {"good": 1}), ("c", {"bad": 0.5, "good": 0.5}))
    rows = training_rows(posts, table, "label", ("bad",))
    assert (rows.posts["id"].to_list(), rows.tied, rows.unlabelled) == (["a", "b"], 1, 1)


def test_where_several_labels_apply_one_hateful_is_enough():
    posts = make_corpus(POSTS).posts
    table = gold(
        ("a", {"rude": 1, "bad": 1}),
        ("b", {"rude": 1, "bad": 0.4}),
        ("c", {"none": 1}),
        multiple=True,
    )
    rows = training_rows(posts, table, "label", ("bad",))
    assert rows.labels.tolist() == [True, False, False]
    assert rows.tied == 0


def test_gold_of_other_posts_is_not_looked_at():
    corpus = make_corpus(POSTS)
    rows = training_rows(corpus.posts.head(2), corpus.gold, "label", ("bad",))
    assert rows.posts["id"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    ("hateful", "words"),
    [(("ugly",), "3 training posts and none is hateful"), (("bad", "good", "worse"), "all are")],
)
def test_one_class_only_says_what_to_change(hateful, words):
    corpus = make_corpus(POSTS)
    with pytest.raises(NotEnoughData, match=f"{words}.*bad, good, worse.*--hateful"):
        training_rows(corpus.posts, corpus.gold, "label", hateful)


def test_no_posts_at_all():
    corpus = make_corpus(POSTS)
    with pytest.raises(NotEnoughData, match="no post is labelled"):
        training_rows(corpus.posts.head(0), corpus.gold, "label", ("bad",))


def test_hateful_labels_must_be_named():
    corpus = make_corpus(POSTS)
    with pytest.raises(BadInput, match="--hateful"):
        training_rows(corpus.posts, corpus.gold, "label", ())


def test_a_question_must_be_named_where_there_are_several():
    corpus = make_corpus(POSTS)
    two = pl.concat([corpus.gold, corpus.gold.with_columns(question=pl.lit("tone"))])
    with pytest.raises(BadInput, match="label, tone; name one"):
        training_rows(corpus.posts, two, "", ("bad",))
    assert training_rows(corpus.posts, two, "tone", ("bad",)).labels.sum() == 1
    assert training_rows(corpus.posts, corpus.gold, "", ("bad",)).labels.sum() == 1
    with pytest.raises(NotEnoughData, match="'mood'; the questions are label, tone"):
        training_rows(corpus.posts, two, "mood", ("bad",))


def test_gold_of_two_origins_is_refused():
    corpus = make_corpus(POSTS)
    two = pl.concat([corpus.gold, corpus.gold.with_columns(origin=pl.lit("majority"))])
    with pytest.raises(BadInput, match="majority, published"):
        training_rows(corpus.posts, two, "label", ("bad",))


def test_a_recipe_takes_question_and_labels_from_the_corpus_unless_it_has_its_own():
    corpus = make_corpus(POSTS, hateful=("bad", "worse"))
    assert for_corpus(NaiveBayes(), corpus) == NaiveBayes(
        question="label", hateful=("bad", "worse")
    )
    own = NaiveBayes(question="tone", hateful=("rude",))
    assert for_corpus(own, corpus) == own


def test_provenance_counts_what_was_used_and_left_out():
    corpus = make_corpus(POSTS)
    rows = training_rows(corpus.posts, corpus.gold, "label", ("bad",))
    found = dict(record(NaiveBayes(), rows, seed=7).provenance)
    assert len(found.pop("training_sha256")) == 64
    assert found == {
        "seed": 7,
        "posts": 3,
        "hateful": 1,
        "left_out": {"tied": 0, "unlabelled": 1},
        "sources": ["made up"],
    }
