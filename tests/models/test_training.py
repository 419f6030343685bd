import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.tables import gold_table
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.training import for_corpus, oversampled, record, training_rows
from factories import make_corpus

POSTS = [
    {"id": "a", "text": "one", "label": "bad"},
    {"id": "b", "text": "two", "label": "good"},
    {"id": "c", "text": "three", "label": "worse"},
    {"id": "d", "text": "four", "label": None},
]


def asked(question, hateful=(), classes=()):
    """A recipe with these settings."""
    return NaiveBayes(question=question, hateful=hateful, classes=classes)


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


def test_hateful_labels_against_the_rest_sorted_by_id():
    corpus = make_corpus(POSTS[::-1])
    rows = training_rows(corpus.posts, corpus.gold, asked("label", ("bad", "worse")))
    assert rows.texts == ["one", "two", "three"]
    assert rows.labels.tolist() == [1, 0, 1]


def test_classes_are_numbered_as_named_and_other_labels_are_left_out():
    corpus = make_corpus(POSTS)
    rows = training_rows(corpus.posts, corpus.gold, asked("label", classes=("worse", "good", "x")))
    assert rows.texts == ["two", "three"]
    assert rows.labels.tolist() == [1, 0]
    assert (rows.classes, rows.tied, rows.unlabelled) == (3, 0, 2)


def test_classes_must_be_two_and_found_and_exclusive():
    corpus = make_corpus(POSTS)
    with pytest.raises(BadInput, match="needs two or more"):
        training_rows(corpus.posts, corpus.gold, asked("label", classes=("bad",)))
    with pytest.raises(
        NotEnoughData, match="1 training posts of 1 class.*The labels found are bad"
    ):
        training_rows(corpus.posts, corpus.gold, asked("label", classes=("bad", "x")))
    several = gold(("a", {"rude": 1, "bad": 1}), ("b", {"rude": 1}), multiple=True)
    with pytest.raises(BadInput, match="several labels can apply"):
        training_rows(corpus.posts, several, asked("label", classes=("bad", "rude")))


@pytest.mark.parametrize(
    ("labels", "times", "expected"),
    [
        ([0, 1, 0, 2, 0], 3, [0, 1, 1, 1, 2, 3, 3, 3, 4]),  # every class but the largest
        ([0, 1, 0], 1, [0, 1, 2]),
        ([0, 1], 2, [0, 1, 1]),  # of two equal classes the first counts as the largest
    ],
)
def test_every_class_but_the_largest_is_repeated(labels, times, expected):
    assert oversampled(np.array(labels), times).tolist() == expected


def test_ties_and_posts_without_gold_are_left_out_and_counted():
    posts = make_corpus(POSTS).posts
    table = gold(("a", {"bad": 1}), ("b", {"good": 1}), ("c", {"bad": 0.5, "good": 0.5}))
    rows = training_rows(posts, table, asked("label", ("bad",)))
    assert (rows.posts["id"].to_list(), rows.tied, rows.unlabelled) == (["a", "b"], 1, 1)


def test_where_several_labels_apply_one_hateful_is_enough():
    posts = make_corpus(POSTS).posts
    table = gold(
        ("a", {"rude": 1, "bad": 1}),
        ("b", {"rude": 1, "bad": 0.4}),
        ("c", {"none": 1}),
        multiple=True,
    )
    rows = training_rows(posts, table, asked("label", ("bad",)))
    assert rows.labels.tolist() == [1, 0, 0]
    assert rows.tied == 0


def test_gold_of_other_posts_is_not_looked_at():
    corpus = make_corpus(POSTS)
    rows = training_rows(corpus.posts.head(2), corpus.gold, asked("label", ("bad",)))
    assert rows.posts["id"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    ("hateful", "words"),
    [(("ugly",), "3 training posts and none is hateful"), (("bad", "good", "worse"), "all are")],
)
def test_one_class_only_says_what_to_change(hateful, words):
    corpus = make_corpus(POSTS)
    with pytest.raises(NotEnoughData, match=f"{words}.*bad, good, worse.*--hateful"):
        training_rows(corpus.posts, corpus.gold, asked("label", hateful))


def test_no_posts_at_all():
    corpus = make_corpus(POSTS)
    with pytest.raises(NotEnoughData, match="no post is labelled"):
        training_rows(corpus.posts.head(0), corpus.gold, asked("label", ("bad",)))


def test_hateful_labels_must_be_named():
    corpus = make_corpus(POSTS)
    with pytest.raises(BadInput, match="--hateful"):
        training_rows(corpus.posts, corpus.gold, asked("label", ()))


def test_a_question_must_be_named_where_there_are_several():
    corpus = make_corpus(POSTS)
    two = pl.concat([corpus.gold, corpus.gold.with_columns(question=pl.lit("tone"))])
    with pytest.raises(BadInput, match="label, tone; name one"):
        training_rows(corpus.posts, two, asked("", ("bad",)))
    assert training_rows(corpus.posts, two, asked("tone", ("bad",))).labels.sum() == 1
    assert training_rows(corpus.posts, corpus.gold, asked("", ("bad",))).labels.sum() == 1
    with pytest.raises(NotEnoughData, match="'mood'; the questions are label, tone"):
        training_rows(corpus.posts, two, asked("mood", ("bad",)))


def test_gold_of_two_origins_is_refused():
    corpus = make_corpus(POSTS)
    two = pl.concat([corpus.gold, corpus.gold.with_columns(origin=pl.lit("majority"))])
    with pytest.raises(BadInput, match="majority, published"):
        training_rows(corpus.posts, two, asked("label", ("bad",)))


def test_a_recipe_takes_question_and_labels_from_the_corpus_unless_it_has_its_own():
    corpus = make_corpus(POSTS, hateful=("bad", "worse"))
    assert for_corpus(NaiveBayes(), corpus) == NaiveBayes(
        question="label", hateful=("bad", "worse")
    )
    own = NaiveBayes(question="tone", hateful=("rude",))
    assert for_corpus(own, corpus) == own


def test_provenance_counts_what_was_used_and_left_out():
    corpus = make_corpus(POSTS)
    rows = training_rows(corpus.posts, corpus.gold, asked("label", ("bad",)))
    found = dict(record(NaiveBayes(), rows, seed=7).provenance)
    assert len(found.pop("training_sha256")) == 64
    assert found == {
        "seed": 7,
        "posts": 3,
        "classes": {"not hateful": 2, "hateful": 1},
        "left_out": {"tied": 0, "unlabelled": 1},
        "sources": ["made up"],
    }
