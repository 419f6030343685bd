"""Bootstrap totals within strata, rescaled, fast enough for ten thousand resamples.

Every estimate here is a function of totals over posts, so a resample only needs the totals of a
small vector of contributions per post. Within a stratum of n posts, n − 1 are drawn with
replacement and counted n / (n − 1) times (Rao and Wu 1988): plain resampling would lose
1 / n of the variance, much for small strata. A stratum with a single post has no variance to
show and is refused.

Draws are independent, so the total of a resample is a sum over many independent *sources*: the
strata, large ones cut into lots of a few hundred draws. For each source a pool of M totals is
drawn, and a resample of the whole picks one from each. A pool is centred on its known mean and
scaled by √(M / (M − 1)): otherwise all resamples would share its luck. With H sources the relative
Monte Carlo error of a standard error is then about √(2 / (M H)); M is at least 2 B / H, so B
resamples are about as good as B / 2 made one by one, at a cost that grows with B far more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LOT = 256
_SMALLEST_POOL = 25
_SOURCES_AT_ONCE = 27


@dataclass(frozen=True)
class _Source:
    """Draws from some posts whose totals are independent of all other sources."""

    rows: Floats
    draws: int
    factor: float
    mean: Floats
    """The expected total."""

    def pool(self, size: int, rng: np.random.Generator) -> Floats:
        """``size`` totals."""
        if self.draws > len(self.rows) // 4:
            totals = draw_counts(len(self.rows), self.draws, size, rng) @ self.rows
        else:
            picked = rng.integers(len(self.rows), size=(size, self.draws))
            totals = self.rows[picked.ravel()].reshape(size, self.draws, -1).sum(axis=1)
        return _centred(self.factor * totals, self.mean)


@dataclass(frozen=True)
class Shares:
    """Shares counted on a first, larger sample: what the weights themselves rest on.

    A change of share i moves the totals by ``effects[i]``; the share was counted on ``sizes[i]``
    posts as ``shares[i]``.
    """

    effects: Floats
    shares: Floats
    sizes: Ints

    def moves(self, size: int, rng: np.random.Generator) -> Floats:
        """How far each share would be off if counted anew: one row per resample."""
        counted = rng.binomial(self.sizes, self.shares, size=(size, len(self.sizes)))
        moves: Floats = counted / self.sizes - self.shares
        return moves


def stratified_totals(
    contributions: Floats,
    strata: Ints,
    rng: np.random.Generator,
    resamples: int,
    counted: Shares | None = None,
) -> Floats:
    """Resampled totals of the contributions: one row per resample.

    ``contributions`` has a row per post, ``strata`` its stratum (any integers). The order of the
    posts does not matter. ``counted`` adds what comes from shares counted on a first sample.

    >>> rng = np.random.default_rng(0)
    >>> totals = stratified_totals(np.ones((6, 1)), np.array([0, 0, 0, 1, 1, 1]), rng, 3)
    >>> totals.round(9).ravel().tolist()
    [6.0, 6.0, 6.0]
    """
    sources = _sources(contributions, strata)
    size = min(resamples, max(_SMALLEST_POOL, -(-2 * resamples // len(sources))))
    pools = [source.pool(size, rng) for source in sources]
    if len(pools) > _SOURCES_AT_ONCE:
        means = [source.mean for source in sources]
        pools = _in_blocks(pools, means, rng, resamples)
    totals = _picked(pools, rng, resamples)
    if counted is not None and len(counted.sizes):
        totals += counted.moves(resamples, rng) @ counted.effects
    return totals


def _sources(contributions: Floats, strata: Ints) -> list[_Source]:
    codes = strata - strata.min()
    order = np.argsort(_digests(contributions))
    # Small whole numbers are sorted by radix, many times as fast as any other key.
    small = codes.astype(np.uint16) if codes.max() < 2**16 else codes
    order = order[np.argsort(small[order], kind="stable")]
    rows, codes = contributions[order], codes[order]
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    sizes = np.diff(np.r_[starts, len(codes)])
    if sizes.min() < 2:
        raise NotEnoughData(
            f"{int((sizes < 2).sum())} strata have a single post; merge strata before resampling"
        )
    factors = sizes / (sizes - 1)
    each = np.add.reduceat(rows, starts) * (factors / sizes)[:, None]
    sources = []
    for index, (start, size) in enumerate(zip(starts.tolist(), sizes.tolist(), strict=True)):
        part = rows[start : start + size]
        for draws in _lots(size - 1):
            sources.append(_Source(part, draws, float(factors[index]), draws * each[index]))
    return sources


def _lots(draws: int) -> list[int]:
    """The draws in lots of about the same size.

    >>> _lots(200), _lots(700)
    ([200], [233, 233, 234])
    """
    lots = max(1, round(draws / _LOT))
    return [draws * (i + 1) // lots - draws * i // lots for i in range(lots)]


def _digests(rows: Floats) -> Floats:
    """A number per row, equal for equal rows: sorts likes together whatever their order.

    ``einsum`` adds every row up in the same order (a BLAS product need not), so that equal rows
    get equal numbers to the last bit.
    """
    mix = np.random.default_rng(0).random(rows.shape[1])
    digests: Floats = np.einsum("ij,j->i", rows, mix, optimize=False)
    return digests


def draw_counts(n: int, draws: int, size: int, rng: np.random.Generator) -> Floats:
    """How often each of ``n`` comes up in ``draws`` draws, ``size`` times."""
    kind = np.uint16 if n <= 2**16 else np.int64  # short numbers are drawn faster
    picked = rng.integers(n, size=(size, draws), dtype=kind) + np.arange(size)[:, None] * n
    counts = np.bincount(picked.ravel(), minlength=size * n)
    return counts.reshape(size, n).astype(np.float64)


def _centred(pool: Floats, mean: Floats) -> Floats:
    size = len(pool)
    if size < 2:
        return pool
    centred: Floats = mean + (pool - pool.mean(axis=0)) * np.sqrt(size / (size - 1))
    return centred


def _in_blocks(
    pools: list[Floats], means: list[Floats], rng: np.random.Generator, resamples: int
) -> list[Floats]:
    """Pools of several sources each, so that a resample picks from few."""
    blocks = -(-len(pools) // _SOURCES_AT_ONCE)
    size = min(resamples, max(_SMALLEST_POOL, -(-2 * resamples // blocks)))
    joined = []
    for start in range(0, len(pools), _SOURCES_AT_ONCE):
        part = slice(start, start + _SOURCES_AT_ONCE)
        joined.append(_centred(_picked(pools[part], rng, size), np.sum(means[part], axis=0)))
    return joined


def _picked(pools: list[Floats], rng: np.random.Generator, size: int) -> Floats:
    """The sum of one total from each pool; a pool of the right size is used as it is."""
    total = np.zeros((size, pools[0].shape[1]))
    for pool in pools:
        total += pool if len(pool) == size else pool[rng.integers(len(pool), size=size)]
    return total


def quantiles(values: Floats, level: float) -> tuple[Floats, Floats]:
    """Percentile interval over the first axis."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], axis=0)
    return low, high
