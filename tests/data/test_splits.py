import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.errors import BadInput, LeakFound, NotEnoughData
from evenhand.core.records import Split
from evenhand.data.splits import holdout, kfold, ties, verify
from factories import make_corpus

BUS = "the number nine bus is late again this morning"


def test_ties_join_authors_twins_templates_and_duplicates():
    corpus = make_corpus(
        [
            {"id": "1", "text": BUS, "author": "ann", "twin": None, "template": None},
            {"id": "2", "text": f"RT {BUS}", "author": "bea", "twin": None, "template": None},
            {
                "id": "3",
                "text": "gardens in spring",
                "author": "bea",
                "twin": "4",
                "template": None,
            },
            {
                "id": "4",
                "text": "a train of thought",
                "author": None,
                "twin": None,
                "template": "t",
            },
            {"id": "5", "text": "weather and wind", "author": None, "twin": None, "template": "t"},
            {
                "id": "6",
                "text": "all by myself here",
                "author": None,
                "twin": None,
                "template": None,
            },
        ]
    )
    numbers = ties(corpus)
    assert len(set(numbers[:5])) == 1  # 1–2 copy, 2–3 author, 3–4 twin, 4–5 template
    assert numbers[5] not in numbers[:5]  # two posts without an author are not one author
    assert len(set(ties(corpus, keep=("author",)))) == 5
    with pytest.raises(BadInput, match="cannot keep colour"):
        ties(corpus, keep=("colour",))


def series(values):
    return pl.Series([str(v) for v in values])


def make(folds, tied, labels, seed=0):
    ids = series(range(len(tied)))
    return kfold(ids, series(labels), np.asarray(tied), folds, seed=seed, rule="ties")


def test_every_post_is_tested_once_and_ties_stay_together():
    rng = np.random.default_rng(0)
    tied, labels = rng.integers(60, size=500), rng.integers(3, size=500)
    splits = make(5, tied, labels)
    tested = [post for split in splits for post in split.test]
    assert sorted(tested, key=int) == [str(i) for i in range(500)]
    for split in splits:
        verify(split, series(range(500)), tied)
        assert len(split.train) + len(split.test) == 500


def test_single_posts_are_dealt_evenly_by_class():
    # 1,000 single posts, a tenth rare: every one of ten folds gets 100 posts and 10 rare ones.
    labels = ["rare" if i % 10 == 0 else "common" for i in range(1000)]
    for split in make(10, np.arange(1000), labels):
        assert len(split.test) == 100
        assert sum(labels[int(post)] == "rare" for post in split.test) == 10


def test_a_large_author_is_balanced_by_the_others():
    # One tie of 300 posts and 700 single ones: two folds of 500.
    tied = np.concatenate([np.zeros(300, int), np.arange(1, 701)])
    sizes = sorted(len(split.test) for split in make(2, tied, [0] * 1000))
    assert sizes == [500, 500]


def test_the_same_seed_repeats_and_another_differs():
    tied, labels = np.arange(200), [0] * 200
    one, two, three = (make(4, tied, labels, seed) for seed in (1, 1, 2))
    assert one == two
    assert one != three


def test_holdout_with_dev():
    ids, tied = series(range(1000)), np.arange(1000) // 2
    split = holdout(ids, series([0] * 1000), tied, test=0.2, dev=0.1, seed=0, rule="pairs")
    assert (len(split.test), len(split.dev), len(split.train)) == (200, 100, 700)
    verify(split, ids, tied)


def test_verify_names_what_is_torn():
    split = Split(name="given", train=["0", "1"], test=["2"], rule="authors on one side")
    with pytest.raises(LeakFound, match="2 posts have their like on another side: 1, 2"):
        verify(split, series(range(3)), np.array([0, 1, 1]))


def test_too_few_groups_is_an_error_that_says_so():
    with pytest.raises(NotEnoughData, match="form 1 groups that must stay together; 2 sides"):
        make(2, [0, 0, 0], [0, 0, 1])
    with pytest.raises(BadInput, match="expected at least 2"):
        make(1, [0, 1], [0, 1])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=20, max_size=80))
def test_ties_are_never_torn(pairs):
    tied = np.unique([tie for tie, _ in pairs], return_inverse=True)[1]
    if tied.max() < 3:
        return
    for split in make(3, tied, [label for _, label in pairs]):
        verify(split, series(range(len(pairs))), tied)
