"""Intervals: Wilson for a share, order statistics for a median, a bootstrap over clusters.

The bootstrap resamples whole clusters (authors, template groups …), because posts of one author
are not independent. Clusters with equal contributions are interchangeable, so drawing how often
each *kind* of cluster comes up is the same distribution at a fraction of the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

LEVEL = 0.95
RESAMPLES = 1000
_AT_ONCE = 4_000_000

Floats = NDArray[np.float64]


def wilson(successes: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval for a share; ``n`` must be positive.

    >>> low, high = wilson(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    z = float(ndtri(0.5 + level / 2))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else float(centre - half)  # exactly: no rounding in the last bit
    high = 1.0 if successes == n else float(centre + half)
    return low, high


def median_interval(values: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Distribution-free interval of a median, from order statistics; ``values`` not empty."""
    n = len(values)
    from scipy.stats import binom  # takes long to load, and scoring does without it

    below = int(binom.ppf((1 - level) / 2, n, 0.5))
    ordered = np.sort(values)
    return float(ordered[max(below - 1, 0)]), float(ordered[min(n - below, n - 1)])


def cluster_bootstrap(
    contributions: Floats,
    statistic: Callable[[Floats], Floats],
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[float, float] | None:
    """Percentile interval of a statistic of summed contributions, resampling clusters.

    ``contributions`` has one row per cluster; ``statistic`` maps a table of sums (one row per
    resample) to one figure per resample, NaN where it does not exist. None when fewer than two
    clusters exist or the figure is missing in more than one resample of twenty.
    """
    if len(contributions) < 2:
        return None
    sums = resampled_sums(contributions, rng, resamples)
    values = np.concatenate([statistic(block) for block in sums])
    values = values[np.isfinite(values)]
    if len(values) < 0.95 * resamples:
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def resampled_sums(
    contributions: Floats, rng: np.random.Generator, resamples: int
) -> Iterator[Floats]:
    """Sums of contributions over resamples of the clusters, block by block to bound memory."""
    kinds, counts = np.unique(contributions, axis=0, return_counts=True)
    block = max(1, _AT_ONCE // len(kinds))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.multinomial(len(contributions), counts / counts.sum(), size=size)
        yield drawn @ kinds
