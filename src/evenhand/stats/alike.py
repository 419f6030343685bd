"""Resample posts, many figures at once: how often each kind of post counts in every resample.

Posts that are alike (the same votes, the same weight) are interchangeable, so it is enough to draw
how many of each come up: one multinomial draw per resample. With continuous weights hardly
two posts are alike; then posts are drawn one by one and counted. Both are the same distribution.
A figure that is a function of sums over posts needs nothing else of a resample, and all figures,
weighted and not, are taken from one set of resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 4_000_000
_FEW_ALIKE = 8
_MISSING = 0.05
"""An interval needs the figure to exist in all but this share of resamples."""


@dataclass(frozen=True)
class Alike:
    """Groups of interchangeable posts, sorted by kind and weight."""

    kind: Ints
    weight: Floats
    count: Ints
    kinds: int
    """How many kinds there are in all."""

    def totals(self, drawn: NDArray[np.number]) -> tuple[Floats, Floats]:
        """How much each kind counts, unweighted and weighted; ``drawn`` is resamples × groups."""
        starts = np.searchsorted(self.kind, np.arange(self.kinds))
        plain = np.add.reduceat(drawn, starts, axis=1).astype(np.float64)
        return plain, np.add.reduceat(drawn * self.weight, starts, axis=1)


def alike(kind: Ints, weight: Floats | None, kinds: int) -> Alike:
    """Group posts by kind and weight (1 without weights); every kind up to ``kinds`` occurs.

    >>> alike(np.array([1, 0, 1]), np.array([2.0, 1.0, 2.0]), 2).count.tolist()
    [1, 2]
    """
    if weight is None:
        count = np.bincount(kind, minlength=kinds)
        return Alike(np.arange(kinds), np.ones(kinds), count, kinds)
    order = np.lexsort((weight, kind))
    kind, weight = kind[order], weight[order]
    fresh = np.ones(len(kind), dtype=bool)
    fresh[1:] = (kind[1:] != kind[:-1]) | (weight[1:] != weight[:-1])
    starts = np.flatnonzero(fresh)
    return Alike(kind[starts], weight[starts], np.diff(starts, append=len(kind)), kinds)


def resampled(
    posts: Alike, rng: np.random.Generator, number: int
) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of resamples: how much each kind counts, unweighted and weighted."""
    groups, total = len(posts.count), int(posts.count.sum())
    few_alike = groups * _FEW_ALIKE > total
    owner = np.repeat(np.arange(groups), posts.count) if few_alike else None
    block = max(1, _AT_ONCE // max(groups, posts.kinds))
    for start in range(0, number, block):
        size = min(block, number - start)
        if owner is None:
            drawn = rng.multinomial(total, posts.count / total, size=size)
        else:
            picks = (owner[rng.integers(total, size=total)] for _ in range(size))
            drawn = np.stack([np.bincount(pick, minlength=groups) for pick in picks])
        yield posts.totals(drawn)


def percentiles(values: Floats, level: float) -> list[tuple[float, float] | None]:
    """Percentile interval of each column; None where more than one figure in twenty is NaN.

    >>> percentiles(np.array([[0.0], [1.0], [2.0]]), 0.5)
    [(0.5, 1.5)]
    """
    tail = (1 - level) / 2
    found: list[tuple[float, float] | None] = []
    for column in values.T:
        there = column[np.isfinite(column)]
        if not len(there) or len(there) < (1 - _MISSING) * len(column):
            found.append(None)
        else:
            low, high = np.quantile(there, [tail, 1 - tail])
            found.append((float(low), float(high)))
    return found
