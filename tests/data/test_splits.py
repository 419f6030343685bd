import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.errors import BadInput, LeakFound, NotEnoughData
from evenhand.core.records import Split
from evenhand.data.splits import (
    Likeness,
    allocate,
    holdout,
    kfold,
    make_folds,
    overlap,
    tangled,
    ties,
    verify,
)
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


def test_posts_that_name_the_same_twin_are_tied_also_where_it_is_missing():
    rows = [{"id": i, "twin": t} for i, t in (("a", None), ("b", "a"), ("c", "x"), ("d", "x"))]
    numbers = ties(make_corpus(rows), keep=("twin",))
    assert numbers[0] == numbers[1] != numbers[2] == numbers[3]


@pytest.mark.parametrize(
    ("twins", "tied"),
    [
        ({"a": "b", "b": "a", "c": None}, ["ab", "c"]),  # each names the other
        ({"a": None, "b": "a", "c": "b"}, ["abc"]),  # a twin of a twin
        ({"a": "c", "b": "c", "c": None}, ["abc"]),
        ({"a": "a", "b": None, "c": "b"}, ["a", "bc"]),
    ],
    ids=["both ways", "chain", "one for two", "itself"],
)
@pytest.mark.parametrize("keep", [("twin",), ("twin", "author", "template")], ids=len)
def test_twins_are_tied_whichever_names_the_other(twins, tied, keep):
    rows = [{"id": i, "twin": t, "author": None, "template": None} for i, t in twins.items()]
    groups = {}
    for post, number in zip(twins, ties(make_corpus(rows), keep=keep), strict=True):
        groups[number] = groups.get(number, "") + post
    assert sorted(groups.values()) == tied


def test_ties_of_nothing_are_single_posts():
    rows = [{"id": str(i), "author": "ann"} for i in range(3)]
    assert len(set(ties(make_corpus(rows), keep=()))) == 3
    assert len(set(ties(make_corpus(rows), keep=("template",)))) == 3  # nobody has a template


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


def some_posts():
    rng = np.random.default_rng(3)
    author = rng.zipf(1.5, size=400) % 40
    labels = series(rng.integers(3, size=400))
    return series(range(400)), labels, author, rng.permutation(400)


@pytest.mark.parametrize("numbering", ["same numbers", "other numbers", "large numbers"])
def test_the_order_of_the_posts_and_the_numbers_of_the_ties_do_not_matter(numbering):
    ids, labels, tied, order = some_posts()
    other = {
        "same numbers": tied,
        "other numbers": 39 - tied,
        "large numbers": 10**9 * (tied - 20),
    }[numbering]
    one = make_folds(ids, labels, tied, 5, seed=1, rule="")
    two = make_folds(ids[order], labels[order], other[order], 5, seed=1, rule="")
    assert one.side[order].tolist() == two.side.tolist()
    assert len(set(one.side.tolist())) == 5


def test_a_shuffled_holdout_is_the_same_one():
    ids, labels, tied, order = some_posts()
    options = {"test": 0.3, "dev": 0.1, "seed": 2, "rule": ""}
    one = holdout(ids, labels, tied, **options)
    two = holdout(ids[order], labels[order], tied[order], **options)
    assert set(one.test) == set(two.test)
    assert set(one.dev) == set(two.dev)


def test_folds_give_places_and_records_of_the_same_posts():
    ids, labels, tied, _ = some_posts()
    folds = make_folds(ids, labels, tied, 4, seed=0, rule="ties")
    splits = kfold(ids, labels, tied, 4, seed=0, rule="ties")
    assert len(folds) == len(splits) == 4
    for (train, test), split in zip(folds, splits, strict=True):
        assert ids.gather(train).to_list() == list(split.train)
        assert ids.gather(test).to_list() == list(split.test)


def test_a_missing_label_is_a_class_of_its_own():
    labels = pl.Series([None, "a"] * 50)
    for _, test in make_folds(series(range(100)), labels, np.arange(100), 5, seed=0, rule=""):
        assert labels.gather(test).null_count() == 10


def largest_deviations(sides, code, folds):
    """Of sizes, of shares of a class, of shares within a fold (as in the benchmark)."""
    counts = np.array(
        [np.bincount(code[sides == f], minlength=code.max() + 1) for f in range(folds)]
    )
    size, total = counts.sum(axis=1), counts.sum(axis=0)
    return [
        np.abs(size / len(code) - 1 / folds).max(),
        np.abs(counts / total - 1 / folds).max(),
        np.abs(counts / size[:, None] - total / len(code)).max(),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_no_less_even_than_scikit_learn(seed):
    from sklearn.model_selection import StratifiedGroupKFold

    rng = np.random.default_rng(seed)
    author = rng.geometric(0.01, size=3000)
    code = (rng.random((3000, 1)) > [0.6, 0.95]).sum(axis=1)
    theirs = np.empty(3000, dtype=int)
    for fold, (_, test) in enumerate(
        StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(code, code, author)
    ):
        theirs[test] = fold
    ours = make_folds(series(range(3000)), series(code), author, 5, seed=seed, rule="").side
    one, two = (largest_deviations(sides, code, 5) for sides in (ours, theirs))
    # Counts that five does not divide leave less than a post of a fold of 600 to trade.
    assert all(a <= b + 1 / 600 for a, b in zip(one, two, strict=True))


def test_a_side_without_a_share_gets_nothing():
    counts = np.tile([0, 1], (7, 1))  # nobody is of the first class
    side = allocate(counts, np.array([0.5, 0.0, 0.5]), np.random.default_rng(0))
    assert sorted(np.bincount(side).tolist()) == [0, 3, 4]


def test_holdout_with_dev():
    ids, tied = series(range(1000)), np.arange(1000) // 2
    split = holdout(ids, series([0] * 1000), tied, test=0.2, dev=0.1, seed=0, rule="pairs")
    assert (len(split.test), len(split.dev), len(split.train)) == (200, 100, 700)
    verify(split, ids, tied)


def test_holdout_without_dev():
    ids, tied = series(range(1000)), np.arange(1000) // 2
    split = holdout(ids, series([0] * 1000), tied, test=0.2, seed=0, rule="pairs")
    assert (len(split.test), split.dev, len(split.train)) == (200, None, 800)


def test_verify_names_what_is_torn():
    split = Split(name="given", train=["0", "1"], test=["2"], rule="authors on one side")
    with pytest.raises(LeakFound, match="2 posts have their like on another side: 1, 2"):
        verify(split, series(range(3)), np.array([0, 1, 1]))


def test_too_few_groups_is_an_error_that_says_so():
    with pytest.raises(NotEnoughData, match="form 1 groups that must stay together; 2 sides"):
        make(2, [0, 0, 0], [0, 0, 1])
    with pytest.raises(BadInput, match="expected at least 2"):
        make(1, [0, 1], [0, 1])
    with pytest.raises(NotEnoughData, match="0 posts form 0 groups"):
        make(2, np.empty(0, dtype=int), [])
    with pytest.raises(BadInput, match="2 ids, 1 labels and 2 numbers"):
        make(2, [0, 1], [0])


def masks(corpus, test):
    tested = corpus.posts["id"].is_in(list(test)).to_numpy()
    return ~tested, tested


def tangled_ids(corpus, test, **options):
    found = tangled(corpus, *masks(corpus, test), **options)
    return "".join(corpus.posts["id"].filter(pl.Series(found)))


ALIKE_ROWS = [
    {"id": "a", "text": BUS, "twin": None, "template": None},
    {"id": "b", "text": f"RT {BUS}!", "twin": None, "template": "t"},
    {"id": "c", "text": "gardens in spring time", "twin": None, "template": "t"},
    {"id": "d", "text": "a train of thought", "twin": "c", "template": None},
    {"id": "e", "text": "weather and wind here", "twin": "c", "template": None},
    {"id": "f", "text": "weather and wind there then", "twin": "d", "template": None},
    {"id": "g", "text": "all by myself today", "twin": None, "template": None},
]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("a", "b"),  # a copy; c shares a template with b, not with a
        ("b", "ac"),  # a copy and a template
        ("c", "bde"),  # a template and two that name c as their twin
        ("d", "cef"),  # its twin, another twin of c, and one that names d
        ("f", "d"),  # not c: a twin of a twin
        ("g", ""),
        ("ab", "c"),  # posts of the test side are not left out
    ],
)
def test_training_posts_like_a_test_post_are_found(test, expected):
    assert tangled_ids(make_corpus(ALIKE_ROWS), test) == expected


def test_only_what_is_asked_for_counts_as_like():
    corpus = make_corpus(ALIKE_ROWS)
    assert tangled_ids(corpus, "b", keep=("template",)) == "c"
    assert tangled_ids(corpus, "b", keep=("duplicate",)) == "a"
    assert tangled_ids(corpus, "b", keep=()) == ""


def test_likeness_is_asked_again_and_looks_at_its_training_side_only():
    corpus = make_corpus(ALIKE_ROWS)
    likeness = Likeness(corpus)
    train, test = masks(corpus, "d")
    for _ in range(2):
        assert np.flatnonzero(likeness.tangled(train, test)).tolist() == [2, 4, 5]
    train[2] = False
    assert np.flatnonzero(likeness.tangled(train, test)).tolist() == [4, 5]
    with pytest.raises(BadInput, match=r"test mask has shape \(3,\)"):
        likeness.tangled(train, test[:3])


def test_overlap_between_two_corpora():
    one = make_corpus([{"id": "1", "text": f"RT @x: {BUS}"}, {"id": "2", "text": "spring gardens"}])
    two = make_corpus([{"id": "2", "text": "a train of thought"}, {"id": "3", "text": f"{BUS}!"}])
    assert overlap(one, two).tolist() == [True, False]
    assert overlap(two, one).tolist() == [False, True]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=20, max_size=80))
def test_ties_are_never_torn(pairs):
    tied = np.unique([tie for tie, _ in pairs], return_inverse=True)[1]
    if tied.max() < 3:
        return
    for split in make(3, tied, [label for _, label in pairs]):
        train, test = (
            {int(tied[int(post)]) for post in side} for side in (split.train, split.test)
        )
        assert not train & test
        verify(split, series(range(len(pairs))), tied)
