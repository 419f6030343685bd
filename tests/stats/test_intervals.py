import numpy as np
import pytest
from scipy import stats

from evenhand.stats.intervals import cluster_bootstrap, median_interval, wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (3, 10), (10, 10), (700, 2000)])
def test_wilson_equals_scipy(successes, n):
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_median_interval_is_from_order_statistics():
    # n = 11, level .95: Binomial(11, ½) has P(X ≤ 1) = 12/2048 < .025 ≤ P(X ≤ 2) = 67/2048,
    # so the interval runs from the 2nd to the 10th of eleven values.
    assert median_interval(np.arange(1.0, 12.0)) == (2, 10)


def test_median_interval_covers():
    rng = np.random.default_rng(0)
    hits = [
        low <= 0 <= high for low, high in (median_interval(rng.normal(size=51)) for _ in range(400))
    ]
    assert 0.92 <= np.mean(hits) <= 0.99


def ratio(sums):
    return sums[:, 0] / sums[:, 1]


def test_bootstrap_of_single_posts_is_near_the_normal_interval():
    # 300 of 1,000: standard error sqrt(.3·.7/1000) = .0145, so about .3 ± .0284.
    rows = np.column_stack([np.arange(1000) < 300, np.ones(1000)]).astype(float)
    low, high = cluster_bootstrap(rows, ratio, np.random.default_rng(1), resamples=4000)
    assert (low, high) == pytest.approx((0.2716, 0.3284), abs=0.004)


def test_bootstrap_over_clusters_is_wider_than_over_posts():
    # The same share, but in ten clusters of a hundred that are all or nothing.
    clusters = np.array([[100.0, 100.0]] * 3 + [[0.0, 100.0]] * 7)
    low, high = cluster_bootstrap(clusters, ratio, np.random.default_rng(1))
    assert high - low > 0.4


def test_bootstrap_does_not_depend_on_row_order():
    rows = np.random.default_rng(2).integers(1, 9, size=(50, 2)).astype(float)
    one = cluster_bootstrap(rows, ratio, np.random.default_rng(3))
    assert one == cluster_bootstrap(rows[::-1], ratio, np.random.default_rng(3))


def test_one_cluster_has_no_interval():
    assert cluster_bootstrap(np.ones((1, 2)), ratio, np.random.default_rng(0)) is None


def test_a_statistic_that_often_does_not_exist_has_no_interval():
    rows = np.array([[1.0, 1.0], [0.0, 0.0]])  # both rows alike drawn: 0/0 in a quarter
    with np.errstate(invalid="ignore"):
        assert cluster_bootstrap(rows, ratio, np.random.default_rng(0)) is None
