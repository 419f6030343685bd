import numpy as np
import pytest

from evenhand.stats.intervals import wilson
from evenhand.stats.ratios import Clusters, Ratio, difference_finding, ratio_finding

NAMES = [f"t{i:02d}" for i in range(20) for _ in range(5)]


def shares(seed=1, rate=0.6):
    return np.random.default_rng(seed).random(100) < rate


def test_a_share_by_hand():
    clusters = Clusters.of(["a", "a", "b", "b"], seed=0, resamples=10)
    # Of the three inside, two are yes.
    ratio = Ratio.share([1, 1, 0, 1], [1, 1, 1, 0])
    assert clusters.value(ratio) == pytest.approx(2 / 3)
    assert clusters.with_cases(ratio) == 2


def test_the_draws_have_the_spread_of_whole_clusters():
    # Every cluster is all right or all wrong, so n is the number of clusters: the standard error of
    # the share is sqrt(.5 × .5 / 20) = .112, not sqrt(.25 / 100) = .05.
    right = np.repeat(np.arange(20) % 2 == 0, 5)
    clusters = Clusters.of(NAMES, seed=3, resamples=4000)
    drawn = clusters.draws(Ratio.share(right, np.ones(100)))
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    assert drawn.std() == pytest.approx(np.sqrt(0.25 / 20), rel=0.05)


def test_the_order_of_cases_does_not_matter():
    right, order = shares(), np.random.default_rng(5).permutation(100)
    one = ratio_finding(
        "accuracy",
        Ratio.share(right, np.ones(100)),
        Clusters.of(NAMES, seed=3),
        unit="templates",
        group={},
    )
    other = ratio_finding(
        "accuracy",
        Ratio.share(right[order], np.ones(100)),
        Clusters.of([NAMES[i] for i in order], seed=3),
        unit="templates",
        group={},
    )
    assert one == other


def test_all_alike_is_not_certain():
    clusters = Clusters.of(NAMES, seed=0)
    found = ratio_finding(
        "accuracy", Ratio.share(np.ones(100), np.ones(100)), clusters, unit="templates", group={}
    )
    assert (found.low, found.high) == pytest.approx(wilson(20, 20))
    assert "Wilson" in found.method


def test_nothing_is_not_zero():
    clusters = Clusters.of(NAMES, seed=0)
    none = ratio_finding(
        "accuracy", Ratio.share(np.ones(100), np.zeros(100)), clusters, unit="templates", group={}
    )
    assert none.value is None and none.why == "no such case"
    few = Clusters.of(["a"] * 50 + ["b"] * 50, seed=0)
    found = ratio_finding(
        "accuracy", Ratio.share(shares(), np.ones(100)), few, unit="templates", group={}
    )
    assert found.low is None and "fewer than 10" in found.why


def difference(first, second, among=None, other=None, clusters=None):
    sides = (np.ones(100) if side is None else side for side in (among, other))
    one, two = (Ratio.share(yes, side) for yes, side in zip((first, second), sides, strict=True))
    clusters = clusters or Clusters.of(NAMES, seed=0)
    return difference_finding(
        "accuracy_difference", one, two, clusters, unit="templates", group={}, how="x"
    )


def test_a_difference_is_paired():
    # The second is wrong where the first is, and in one case more in every other cluster: of 10 of
    # 20 clusters 1 in 5, a difference of .1 with a standard error of sqrt(.2² / 4 / 20) = .022,
    # while that of either figure alone is about sqrt(.6 × .4 / 100) = .05.
    first = shares() | (np.arange(100) % 10 == 0)
    found = difference(first, first & (np.arange(100) % 10 != 0))
    assert found.value == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx((0.1 - 0.044, 0.1 + 0.044), abs=0.02)


def test_equal_figures_are_not_certain_to_be_equal():
    # In none of 20 clusters do they differ: in at most 3.84 / 23.84 = .161 of all.
    found = difference(shares(), shares())
    assert found.value == 0
    assert (found.low, found.high) == pytest.approx((-0.161, 0.161), abs=1e-3)
    assert "all alike, so Wilson's interval with the 20 templates as n" in found.method


def test_every_cluster_alike_is_not_certain():
    # In each cluster the first has 4 of 5 and the second 3 of 5: .2, and in at most .161 of
    # clusters anything from −1 to 1: .2 − .161 × 1.2 and .2 + .161 × .8.
    first, second = (np.tile(np.arange(5) < right, 20) for right in (4, 3))
    found = difference(first, second)
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == pytest.approx((0.0067, 0.329), abs=1e-3)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        (1, 1, -0.161, 0.161),  # 0 − √(.161² + 0²), 0 + √(0² + .161²)
        (0, 0, -0.161, 0.161),
        (1, 0, 1 - 0.161 * np.sqrt(2), 1),
        (0, 1, -1, -1 + 0.161 * np.sqrt(2)),
    ],
    ids=["all-right", "all-wrong", "right-wrong", "wrong-right"],
)
def test_both_sides_all_alike_are_squared_and_added(first, second, low, high):
    found = difference(np.full(100, first), np.full(100, second))
    assert found.value == first - second
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-3)
    assert "Newcombe" in found.method


def test_each_side_has_the_reach_of_its_own_clusters():
    # The first rests on 20 clusters (.161), the second on the first 10: 3.84 / 13.84 = .278.
    early = np.arange(100) < 50
    found = difference(np.ones(100), np.ones(100), other=early)
    assert (found.low, found.high) == pytest.approx((-0.161, 0.278), abs=1e-3)
    few = difference(np.ones(100), np.ones(100), other=np.arange(100) < 45)
    assert (few.low, few.why) == (None, "no interval: 9 templates, fewer than 10")


def test_rare_differences_hold_the_truth():
    """Each is wrong in a cluster of 80 by chance: at least 90 % of 200 intervals hold 0."""
    rng, held = np.random.default_rng(3), 0
    for seed in range(200):
        better, worse = (rng.random((2, 20)) < 0.0125).repeat(5, axis=1)
        found = difference(~better, ~worse, clusters=Clusters.of(NAMES, seed=seed, resamples=200))
        held += found.low <= 0 <= found.high
    # Binomial(200, .95): fewer than 180 has probability below 1 in 200.
    assert held >= 180


def test_the_interval_covers_the_truth():
    """Clusters with their own rates, 95 % intervals: at least 90 % of 300 hold the mean rate."""
    rng = np.random.default_rng(11)
    held = 0
    for seed in range(300):
        rates = np.repeat(rng.beta(4, 2, 40), 5)
        names = [f"t{i}" for i in range(40) for _ in range(5)]
        right = rng.random(200) < rates
        found = ratio_finding(
            "accuracy",
            Ratio.share(right, np.ones(200)),
            Clusters.of(names, seed=seed, resamples=300),
            unit="templates",
            group={},
        )
        held += found.low <= 4 / 6 <= found.high
    # Binomial(300, .95): fewer than 270 has probability below 1 in 1,000.
    assert held >= 270


def test_few_clusters_near_the_edge_hold_the_truth():
    """Twelve templates of seven cases, few of them right: one-sided coverage of the upper end."""
    rng = np.random.default_rng(2)
    names = [f"{f}/{t}" for f in range(10) for t in range(12) for _ in range(7)]
    kinds = [name.partition("/")[0] for name in names]
    first = np.array([kind == "0" for kind in kinds])
    held = {True: 0, False: 0}
    for seed in range(150):
        chance = np.repeat(rng.beta(0.05, 0.95, 120), 7)
        right = rng.random(840) < chance
        for told in held:
            known = {"outcome": right, "within": kinds} if told else {}
            clusters = Clusters.of(names, seed=seed, resamples=200, **known)
            ratio = Ratio.share(right, first)
            if 0 < clusters.value(ratio) < 1:
                found = ratio_finding("accuracy", ratio, clusters, unit="templates", group={})
                held[told] += found.high >= 0.05
            else:
                held[told] += 1
    # Nominal 97.5 %: percentiles alone fall short by far, with the floor at most a few are missed.
    assert held[True] >= 145
    assert held[False] < held[True]


def test_alikeness_by_hand():
    # Every cluster of one mind: as one case. Clusters that are all half and half: not alike.
    names = [f"t{i}" for i in range(20) for _ in range(4)]
    same = np.repeat(np.arange(20) % 2, 4)
    mixed = np.tile([0, 1, 0, 1], 20)
    assert Clusters.of(names, seed=0, outcome=same).alike == 1
    assert Clusters.of(names, seed=0, outcome=mixed).alike == 0
    clusters = Clusters.of(names, seed=0, outcome=mixed)
    assert clusters.effective(Ratio.share(mixed, np.ones(80))) == 80
    one = Clusters.of(names, seed=0, outcome=same)
    assert one.effective(Ratio.share(same, np.ones(80))) == pytest.approx(20)
