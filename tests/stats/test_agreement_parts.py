"""The parts of agreement: bringing rows together, an order without names, figures' data."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from agreement_factories import by_post, from_ratings, judgements, random_ratings
from evenhand.core.errors import BadInput
from evenhand.stats import ballots, numbering
from evenhand.stats.agreement import agreement, agreement_of_counts
from evenhand.stats.canonical import canonical_order
from evenhand.stats.numbering import numbered, together, together_by_name
from evenhand.stats.vote_figures import answer_distribution, simplex, vote_distribution


def groups(values, found):
    order, starts = found
    return {frozenset(part.tolist()) for part in np.split(order, starts[1:])}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("in_order", [True, False])
def test_equal_values_are_brought_together(seed, in_order):
    names = np.random.default_rng(seed).integers(300, size=1000)
    values = pl.Series(np.sort(names) if in_order else names).cast(pl.String)
    assert groups(values, together(values)) == groups(values, together_by_name(values))


def test_names_that_share_the_front_of_a_hash_are_told_apart(monkeypatch):
    real = numbering.hashes

    def low_bits_only(values, seed):
        return real(values, seed) if seed else (values.rank("dense") - 1).cast(pl.UInt64).to_numpy()

    monkeypatch.setattr(numbering, "hashes", low_bits_only)
    values = pl.Series(["a", "b", "a", "c", "b"])
    assert groups(values, together(values)) == {
        frozenset({0, 2}), frozenset({1, 4}), frozenset({3}),
    }  # fmt: skip


@pytest.mark.parametrize("distinct", [3, 200, 9000])
def test_numbers_lead_back_to_values(distinct):
    values = pl.Series(np.random.default_rng(0).integers(distinct, size=20_000)).cast(pl.String)
    numbers, rows = numbered(values)
    assert values.gather(rows).gather(numbers).equals(values)
    assert len(rows) == values.n_unique()


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_classes_does_not_depend_on_their_names(seed):
    rng = np.random.default_rng(seed)
    counts, many = rng.integers(2, size=(6, 5)), rng.integers(1, 3, size=6).astype(np.uint64)
    other = rng.permutation(5)
    one = counts[:, canonical_order(sparse.csr_array(counts), many)]
    two = counts[:, other][:, canonical_order(sparse.csr_array(counts[:, other]), many)]
    # Equal up to the order of kinds that are alike.
    assert sorted(map(tuple, np.c_[many, one])) == sorted(map(tuple, np.c_[many, two]))


def test_many_classes_are_kept_sparse_and_give_the_same(monkeypatch):
    table = from_ratings(random_ratings(7, classes=40))
    dense = agreement(table, question="q", scale="ordinal", resamples=30)
    monkeypatch.setattr(ballots, "_SMALL", 0)
    thin = agreement(table, question="q", scale="ordinal", resamples=30)
    for one, other in zip(dense, thin, strict=True):
        assert one.value == (None if other.value is None else pytest.approx(other.value, abs=1e-12))


def test_votes_per_post():
    table = vote_distribution(by_post("yy", "n", "yn", "yyn"), "q")
    assert table.rows() == [(1, 1), (2, 2), (3, 1)]


def test_answers_as_shares_of_voters():
    # Three voters: x three times, y once.
    table = answer_distribution(
        judgements([("p", "a", "x"), ("p", "b", "xy"), ("r", "a", "x")]), "q"
    )
    assert table.rows() == [("x", 2, pytest.approx(2 / 3)), ("xy", 1, pytest.approx(1 / 3))]
    table = answer_distribution(by_post([["x", "y"], ["x"]]), "q")
    assert table.rows() == [("x", 2, 1.0), ("y", 1, 0.5)]


def test_simplex_observed_perfect_and_chance():
    table = by_post("aab", "ccccc", "ab", "bcb")
    found = simplex(table, "q", order="abc", rng=np.random.default_rng(0))
    seen = found.filter(part="observed").drop("part")
    assert seen.rows() == [("p0000", 2, 1, 0), ("p0001", 0, 0, 3), ("p0003", 0, 2, 1)]
    perfect = found.filter(part="perfect").select("first", "second", "third")
    assert perfect.height == 3 and set(perfect.max_horizontal()) == {3}
    chance = found.filter(part="chance").select("first", "second", "third")
    assert set(chance.sum_horizontal()) == {3}


def test_simplex_chance_has_the_pooled_shares():
    table = by_post(*["aab", "abc", "aaa"] * 400)
    found = simplex(table, "q", order="abc", rng=np.random.default_rng(1))
    # Pooled: a 6, b 2, c 1 of 9; 3,600 votes, standard error at most .0083.
    for part in ("perfect", "chance"):
        share = found.filter(part=part).select("first", "second", "third").sum().row(0)
        assert np.array(share) / 3600 == pytest.approx([6 / 9, 2 / 9, 1 / 9], abs=0.045)


def test_simplex_does_not_depend_on_the_order_of_rows():
    table = by_post(*["aabbc", "abcc", "aaab"] * 5)
    one, two = (
        simplex(t, "q", order="abc", rng=np.random.default_rng(2))
        for t in (table, table.sample(fraction=1, shuffle=True, seed=1))
    )
    assert one.equals(two)


def test_simplex_without_posts_is_empty():
    assert simplex(by_post("ab"), "q", order="abc", rng=np.random.default_rng(0)).height == 0


@pytest.mark.parametrize("options", [{"order": "ab"}, {"order": "abc", "n": 0}, {"order": "xyz"}])
def test_simplex_refuses(options):
    with pytest.raises(BadInput):
        simplex(by_post("ab"), "q", rng=np.random.default_rng(0), **options)


def counted(table):
    """Judgements as counts; empty where there are none."""
    long = table.select("post", label=pl.col("answer").list.first())
    return long.pivot("label", index="post", aggregate_function="len", values="label").fill_null(0)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("exactly", [None, 3])
def test_counts_give_what_judgements_give(scale, exactly):
    table = from_ratings(random_ratings(8, posts=50))
    posts = table["post"].unique().sort()
    weights = pl.DataFrame({"post": posts, "weight": np.arange(1.0, len(posts) + 1)})
    options = {"scale": scale, "exactly": exactly, "weights": weights, "resamples": 50}
    found = agreement(table, question="q", **options)
    counts = agreement_of_counts(counted(table), **options)
    same = [
        (f.measure, f.group, f.value, f.low, f.high, f.n, f.n_effective, f.cases) for f in found
    ]
    assert same == [
        (f.measure, f.group, f.value, f.low, f.high, f.n, f.n_effective, f.cases) for f in counts
    ]


def test_counts_need_no_names_of_posts():
    counts = counted(from_ratings(random_ratings(9)))
    named, nameless = (
        {f.measure: f.value for f in agreement_of_counts(table, resamples=0)}
        for table in (counts, counts.drop("post"))
    )
    assert named == nameless
    with pytest.raises(BadInput, match="no column 'post'"):
        weights = pl.DataFrame({"post": ["a"], "weight": [1.0]})
        agreement_of_counts(counts.drop("post"), weights=weights)


@pytest.mark.parametrize("votes", [[], [0, 0]])
def test_counts_without_a_vote(votes):
    found = agreement_of_counts(pl.DataFrame({"y": votes}, schema={"y": pl.Int64}))
    assert {f.why for f in found if f.measure == "fleiss_kappa"} == {"there is not one vote"}


def test_posts_without_votes_do_not_count():
    counts = pl.DataFrame({"post": ["a", "b", "c"], "y": [2, 0, 1], "n": [0, 0, 1]})
    found = {f.measure: f.value for f in agreement_of_counts(counts, resamples=0)}
    assert (found["votes"], found["posts_judged"], found["posts_left_out"]) == (4, 2, 0)


@pytest.mark.parametrize(
    "counts",
    [
        {"id": ["a"], "y": [1]},
        {"post": [7, 7], "y": [1, 1]},
        {"post": ["a"], "y": [-1]},
        {"post": ["a"], "y": [0.5]},
        {"post": ["a"], "y": pl.Series([None], dtype=pl.Int64)},
        {"post": ["a", "a"], "y": [1, 2]},
    ],
)
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(BadInput, match="^counts: "):
        agreement_of_counts(pl.DataFrame(counts))


def test_sets_cannot_be_counted():
    with pytest.raises(BadInput, match="who chose what"):
        agreement_of_counts(pl.DataFrame({"post": ["a"], "y": [1]}), scale="set")
