"""What must not change a figure of agreement, whatever the votes are."""

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement_factories import by_post, from_ratings, judgements, random_ratings, values
from evenhand.core.errors import BadInput
from evenhand.stats.agreement import agreement

ANSWERS = st.lists(st.lists(st.sampled_from("012"), min_size=1, max_size=4), max_size=8)
SETS = st.lists(
    st.lists(st.lists(st.sampled_from("xyz"), min_size=1, max_size=3), min_size=1, max_size=3),
    max_size=6,
)
SCALES = st.sampled_from(["nominal", "ordinal", "interval"])
QUICK = settings(max_examples=40, deadline=None, derandomize=True)


def results(table, **options):
    """Everything in the findings but ids and words."""
    return {
        (f.measure, tuple(f.group.values()), f.weighted): (f.value, f.low, f.high, f.n)
        for f in agreement(table, question="q", resamples=50, **options)
    }


def renamed(found, names):
    return {(m, tuple(names[g] for g in group), w): v for (m, group, w), v in found.items()}


def weigh(table, seed=0):
    posts = table["post"].unique().sort()
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], size=len(posts))
    return pl.DataFrame({"post": posts, "weight": weight}, schema_overrides={"weight": pl.Float64})


def shuffled(table, seed):
    return table.sample(fraction=1, shuffle=True, seed=seed)


@given(ANSWERS, SCALES, st.integers(0, 99))
@QUICK
def test_the_order_of_rows_does_not_matter(posts, scale, seed):
    table = by_post(*posts)
    weights = weigh(table)
    again = results(shuffled(table, seed), scale=scale, weights=shuffled(weights, seed))
    assert again == results(table, scale=scale, weights=weights)


@given(ANSWERS, st.permutations("abc"))
@QUICK
def test_the_names_of_labels_do_not_matter(posts, other):
    table, names = by_post(*posts), dict(zip("012", other, strict=True))
    new = table.with_columns(pl.col("answer").list.eval(pl.element().replace(names)))
    weights = weigh(table)
    assert results(new, weights=weights) == renamed(results(table, weights=weights), names)


@given(SETS, st.permutations("abc"))
@QUICK
def test_the_names_of_options_do_not_matter(posts, other):
    table, names = by_post(*posts), dict(zip("xyz", other, strict=True))
    new = table.with_columns(pl.col("answer").list.eval(pl.element().replace(names)))
    assert results(new, scale="set") == renamed(results(table, scale="set"), names)


@given(ANSWERS, SCALES, st.integers(0, 99))
@QUICK
def test_the_names_of_annotators_do_not_matter(posts, scale, seed):
    full = [post for post in posts if len(post) == 3] or posts  # often crossed
    table = by_post(*full)
    people = [f"a{i}" for i in range(4)]
    names = dict(zip(people, random.Random(seed).sample(people, 4), strict=True))
    new = table.with_columns(pl.col("annotator").replace(names))
    assert results(new, scale=scale) == results(table, scale=scale)


@pytest.mark.parametrize("seed", range(5))
def test_the_names_of_crossed_annotators_do_not_matter(seed):
    table = from_ratings(random_ratings(seed, posts=12, people=4, classes=3, missing=0))
    names = dict(zip(["a0", "a1", "a2", "a3"], ["a2", "a3", "a1", "a0"], strict=True))
    new = table.with_columns(pl.col("annotator").replace(names))
    found = results(table, scale="ordinal")
    assert found["icc_2_1", (), False][1] is not None
    assert results(new, scale="ordinal") == found


def test_the_names_of_labels_that_differ_in_weight_alone_do_not_matter():
    # y and n have the same votes, but the posts where y wins weigh more.
    table = by_post("yy", "nn", "yn", "yyn", "nny")
    swapped = by_post("nn", "yy", "ny", "nny", "yyn")
    posts = table["post"].unique().sort()
    weights = pl.DataFrame({"post": posts, "weight": [3.0, 1.1, 1.3, 2.7, 0.7]})
    names = {"y": "n", "n": "y"}
    assert results(swapped, weights=weights) == renamed(results(table, weights=weights), names)


@given(ANSWERS)
@QUICK
def test_the_same_posts_twice_give_the_same_kappa(posts):
    # Not α: its chance is drawn without replacement, (N − 1)/N closer to the kappas.
    once, twice = values(by_post(*posts)), values(by_post(*posts, *posts))
    for name in ("percent_agreement", "fleiss_kappa", "randolph_kappa", "gwet_ac1"):
        assert (once[name] is None) == (twice[name] is None)
        assert once[name] is None or once[name] == pytest.approx(twice[name], abs=1e-12)


@given(ANSWERS, SCALES)
@QUICK
def test_no_nan_and_no_value_without_a_pair(posts, scale):
    table = by_post(*posts)
    for found in agreement(table, question="q", scale=scale, resamples=20):
        assert found.value is not None or found.why  # Finding itself refuses NaN
        assert found.low is None or found.low <= found.high


@given(ANSWERS, SCALES)
@QUICK
def test_equal_weights_change_nothing(posts, scale):
    table = by_post(*posts)
    weights = weigh(table).with_columns(weight=pl.lit(7.0))
    plain = values(table, scale=scale)
    for name, value in values(table, scale=scale, weights=weights, weighted=True).items():
        assert value == (None if plain[name] is None else pytest.approx(plain[name], abs=1e-9))


@given(ANSWERS, SCALES, st.lists(st.sampled_from([1e-200, 1e-9, 1.0, 1e9, 1e200]), min_size=8))
@QUICK
def test_extreme_weights_give_figures_or_reasons(posts, scale, weight):
    table = by_post(*posts)
    ids = table["post"].unique().sort()
    weights = pl.DataFrame(
        {"post": ids, "weight": weight[: len(ids)]}, schema_overrides={"weight": pl.Float64}
    )
    found = agreement(table, question="q", scale=scale, weights=weights, resamples=20)
    weighted = [f for f in found if f.weighted]
    assert len(weighted) == len(found) - len(weighted) - 4  # every figure has its twin, no count
    for f in weighted:
        assert f.n == 0 or 1 - 1e-9 <= f.n_effective <= f.n + 1e-9


def test_whole_weights_are_repeated_posts():
    # Weights 1 and 3 are one and three copies, for every measure without N − 1 in it.
    table = by_post("yy", "yn", "nnn")
    weights = pl.DataFrame({"post": ["p0000", "p0001", "p0002"], "weight": [1.0, 3.0, 1.0]})
    weighted = values(table, weights=weights, weighted=True)
    copies = values(by_post("yy", "yn", "yn", "yn", "nnn"))
    for name in ("percent_agreement", "fleiss_kappa", "gwet_ac1", "kappa_class y"):
        assert weighted[name] == pytest.approx(copies[name], abs=1e-12)


def test_effective_number_of_posts_by_hand():
    # Weights 1, 1, 2 on posts with pairs: 4²/(1 + 1 + 4) = 16/6; the single vote does not count.
    table = by_post("yy", "yn", "nn", "y")
    posts = ["p0000", "p0001", "p0002", "p0003"]
    weights = pl.DataFrame({"post": posts, "weight": [1.0, 1.0, 2.0, 50.0]})
    found = agreement(table, question="q", weights=weights, resamples=0)
    assert [f.n_effective for f in found if f.weighted] == pytest.approx([16 / 6] * 9)


@pytest.mark.parametrize("bad", [float("nan"), None, 0.0, -1.0, float("inf")])
def test_weights_that_are_no_weights_are_refused(bad):
    weights = pl.DataFrame({"post": ["p0000", "p0001"], "weight": [1.0, bad]})
    with pytest.raises(BadInput, match="'p0001' has weight"):
        values(by_post("yy", "yn"), weights=weights)


def test_posts_without_a_weight_are_named():
    weights = pl.DataFrame({"post": ["p0000", "zz"], "weight": [1.0, 1.0]})
    with pytest.raises(BadInput, match="1 judged posts have none, among them 'p0001'"):
        values(by_post("yy", "yn"), weights=weights)


def test_a_post_weighed_twice_is_refused():
    weights = pl.DataFrame({"post": ["p0000", "p0000"], "weight": [1.0, 1.0]})
    with pytest.raises(BadInput, match="'p0000' stands there twice"):
        values(by_post("yy"), weights=weights)


def test_intervals_are_those_of_resampling_posts_one_by_one():
    ratings = random_ratings(5, posts=60, people=4, classes=3)
    found = agreement(from_ratings(ratings), question="q", scale="ordinal", resamples=4000)
    rng = np.random.default_rng(0)
    drawn = [
        values(from_ratings(ratings[:, rng.integers(60, size=60)]), scale="ordinal", order="012")
        for _ in range(300)
    ]
    for f in found:
        if f.measure in ("fleiss_kappa", "krippendorff_alpha", "icc_1_1") and not f.group:
            ends = np.quantile([d[f.measure] for d in drawn], [0.025, 0.975])
            assert (f.low, f.high) == pytest.approx(ends, abs=0.035)


def test_the_interval_of_a_share_is_near_the_normal_one():
    # 300 of 1,000 posts disagree: standard error sqrt(.3·.7/1000) = .0145, so .7 ± .0284.
    found = agreement(by_post(*["yn"] * 300, *["yy"] * 700), question="q", resamples=4000)
    [share] = [f for f in found if f.measure == "percent_agreement"]
    assert (share.low, share.high) == pytest.approx((0.6716, 0.7284), abs=0.004)


def test_weighted_intervals_with_weights_all_different_and_in_strata_agree():
    # The same weights, once exactly and once moved by a millionth: drawn post by post, or by kind.
    ratings = random_ratings(6, posts=300, people=4, classes=3)
    table = from_ratings(ratings)
    weights = weigh(table)
    moved = weights.with_columns(pl.col("weight") + pl.int_range(pl.len()) * 1e-9)
    ends = [
        next(
            (f.low, f.high)
            for f in agreement(table, question="q", weights=w, resamples=3000)
            if f.measure == "fleiss_kappa" and f.weighted
        )
        for w in (weights, moved)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=0.01)


def test_cases_are_the_most_disputed_posts():
    found = agreement(by_post("yy", "yn", "yyn", "ynyn"), question="q", resamples=0)
    [kappa] = [f for f in found if f.measure == "fleiss_kappa"]
    # Disagreeing pairs: yn 1 of 1, yyn 2 of 3, ynyn 4 of 6; of the last two more votes first.
    assert kappa.cases == ("p0001", "p0003", "p0002")


def test_the_group_given_is_in_every_group():
    found = agreement(by_post("yy", "yn"), question="q", resamples=0, group={"cohort": "experts"})
    assert all(f.group["cohort"] == "experts" for f in found)
    assert {"cohort": "experts", "label": "y"} in [dict(f.group) for f in found]


def test_other_questions_are_left_alone():
    other = judgements([("p0000", "a0", "n"), ("p0000", "a9", "n")], question="other")
    assert values(pl.concat([by_post("yy", "yn"), other])) == values(by_post("yy", "yn"))
