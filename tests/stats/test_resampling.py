import numpy as np
import pytest

from evenhand.core.errors import NotEnoughData
from evenhand.stats.resampling import stratified_totals


def design_error(rows, strata):
    """Standard error of a stratified total: Σ_h n_h s_h² (drawn with replacement)."""
    parts = [rows[strata == h] for h in np.unique(strata)]
    return np.sqrt(sum(len(part) * part.var(axis=0, ddof=1) for part in parts))


def totals(rows, strata, resamples=4000, seed=1):
    return stratified_totals(rows, strata, np.random.default_rng(seed), resamples)


@pytest.mark.parametrize(
    ("n", "strata"), [(40, 1), (40, 8), (600, 100), (5000, 1), (3000, 2), (2000, 700)]
)
def test_mean_and_spread_are_those_of_the_rescaled_bootstrap(n, strata):
    rng = np.random.default_rng(n + strata)
    codes = np.sort(np.arange(n) % strata)
    rows = rng.gamma(1.0, size=(n, 3)) + codes[:, None]
    found = totals(rows, codes)
    error = design_error(rows, codes)
    # 4,000 resamples: the mean within .06 standard errors, the spread within 5 % of theory.
    assert np.abs(found.mean(axis=0) - rows.sum(axis=0)).max() < 0.06 * error.max()
    assert found.std(axis=0) == pytest.approx(error, rel=0.05)


def test_small_strata_keep_their_whole_variance():
    # Pairs (0, 1): a plain bootstrap of two posts has variance 2·¼ = ½ per pair, the rescaled one
    # draws one post and counts it twice: variance 4·¼ = 1, the unbiased n s² = 2·½.
    codes = np.repeat(np.arange(200), 2)
    rows = np.tile([0.0, 1.0], 200)[:, None]
    assert totals(rows, codes).var() == pytest.approx(200, rel=0.06)


def test_quantiles_of_a_skewed_total_match_one_by_one_resampling():
    rng = np.random.default_rng(0)
    rows = (rng.random(300) < 0.03).astype(float)[:, None]
    fast = totals(rows, np.zeros(300, int), 20_000)
    counts = rng.multinomial(299, np.full(300, 1 / 300), size=20_000)
    slow = 300 / 299 * counts @ rows
    levels = [0.025, 0.25, 0.5, 0.75, 0.975]
    assert np.quantile(fast, levels) == pytest.approx(np.quantile(slow, levels), abs=1.1)


def test_row_order_does_not_matter():
    rng = np.random.default_rng(3)
    rows, codes = rng.random((500, 4)), rng.integers(9, size=500)
    order = rng.permutation(500)
    one, two = totals(rows, codes, 50), totals(rows[order], codes[order], 50)
    assert np.array_equal(one, two)


def test_columns_are_resampled_together():
    rows = np.random.default_rng(4).random((300, 1)) @ np.array([[1.0, 2.0]])
    found = totals(rows, np.zeros(300, int), 100)
    assert found[:, 1] == pytest.approx(2 * found[:, 0])


def test_a_stratum_with_one_post_is_refused():
    with pytest.raises(NotEnoughData, match="1 strata have a single post"):
        totals(np.ones((3, 1)), np.array([0, 0, 1]))
