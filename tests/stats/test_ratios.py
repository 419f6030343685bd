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
    assert (found.low, found.high) == wilson(20, 20)
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


def test_a_difference_is_paired():
    # The two figures are the same, so their difference is 0 in every resample.
    clusters = Clusters.of(NAMES, seed=0)
    ratio = Ratio.share(shares(), np.ones(100))
    found = difference_finding(
        "accuracy_difference", ratio, ratio, clusters, unit="templates", group={}, how="x"
    )
    assert (found.value, found.low, found.high) == (0, 0, 0)


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
