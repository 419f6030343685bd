"""Rows of unequal length, made of ranges of places in one long row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Ragged:
    """Rows of places, each made of some ranges of them."""

    def __init__(self) -> None:
        self.many = 0
        self._parts: list[tuple[Ints, Ints, Ints]] = []

    def add(self, *ranges: tuple[Ints, Ints]) -> None:
        """More rows, each of these ranges in order."""
        starts, ends = (np.stack(side, axis=1) for side in zip(*ranges, strict=True))
        at = np.repeat(self.many + np.arange(len(starts)), len(ranges))
        self._parts.append((at, starts.ravel(), (ends - starts).ravel()))
        self.many += len(starts)

    def joined(self, last: int | None = None) -> tuple[Ints, Ints]:
        """The row of each place, and the place; with ``last`` every row ends in that place."""
        at, starts, sizes = map(np.concatenate, zip(*self._parts, strict=True))
        rows, places = np.repeat(at, sizes), ranges(starts, sizes)
        if last is None:
            return rows, places
        rows = np.concatenate([rows, np.arange(self.many)])
        order = np.argsort(rows, kind="stable")
        return rows[order], np.concatenate([places, np.full(self.many, last)])[order]


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Ranges of these starts and sizes, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(sizes.sum())
