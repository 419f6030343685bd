"""Bring equal values of a column together, quickly, by their hashes.

Grouping half a million names is most of the work of an agreement figure. Where equal names are
neighbours already, as in most tables, it is enough that no two runs of equal hashes share a hash.
Otherwise 64-bit words that hold the front of a name's hash and its row are sorted, several times
faster than grouping the names themselves, and 32 bits of a second hash have to agree; where they
do not (two names share the front of the first), the names are compared themselves.

Different names that are taken for one: with a million names a chance of one in 10¹¹, and of one in
10¹³ where equal names are neighbours. For labels, which are few, one 64-bit hash is enough.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Numbers = NDArray[np.integer]
Words = NDArray[np.uint64]

_FEW = 16
_LOOK = 4096
_RUNS = 0.8


def together(values: pl.Series) -> tuple[Ints, Ints]:
    """An order of rows in which equal values are neighbours, and where each value starts in it.

    >>> order, starts = together(pl.Series(["b", "a", "b"]))
    >>> sorted(sorted(part.tolist()) for part in np.split(order, starts[1:]))
    [[0, 2], [1]]
    """
    if not len(values):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    words = hashes(values, 0)
    starts = np.flatnonzero(changes(words))
    if len(starts) < _RUNS * len(words) and changes(np.sort(np.take(words, starts))).all():
        return np.arange(len(values)), starts  # equal values are neighbours already
    order, starts = _sorted(words)
    differ = changes(np.take(hashes(values, 1).astype(np.uint32), order))
    differ[starts] = False
    return together_by_name(values) if differ.any() else (order, starts)


def _sorted(words: Words) -> tuple[Ints, Ints]:
    """Rows by the front of their hash, as many bits as the number of a row leaves."""
    row = np.uint64((1 << (len(words) - 1).bit_length()) - 1)
    keys = words & ~row
    keys |= np.arange(len(words), dtype=np.uint64)
    keys.sort()
    order = (keys & row).view(np.int64)
    keys |= row
    return order, np.flatnonzero(changes(keys))


def together_by_name(values: pl.Series) -> tuple[Ints, Ints]:
    """The same by comparing the values themselves."""
    ranks = values.rank("dense").to_numpy()
    order = np.argsort(ranks, kind="stable")
    return order, np.flatnonzero(changes(ranks[order]))


def numbered(values: pl.Series) -> tuple[Numbers, Ints]:
    """A number for each row, the same for equal values, and one row that holds each value.

    >>> numbers, rows = numbered(pl.Series(["b", "a", "b"]))
    >>> pl.Series(["b", "a", "b"]).gather(rows).gather(numbers).to_list()
    ['b', 'a', 'b']
    """
    words = hashes(values, 0)
    few = np.unique(words[:_LOOK])
    if 0 < len(few) <= _FEW:
        numbers = np.zeros(len(words), dtype=np.uint8)
        rows = np.empty(len(few), dtype=np.int64)
        known = 0
        for number, word in enumerate(few):
            here = words == word
            numbers += here * np.uint8(number)
            rows[number] = here.argmax()
            known += int(np.count_nonzero(here))
        if known == len(words):
            return numbers, rows
    _, rows, inverse = np.unique(words, return_index=True, return_inverse=True)
    return inverse, rows


def hashes(values: pl.Series, seed: int) -> Words:
    """A 64-bit hash of every value."""
    words: Words = values.hash(seed=seed).to_numpy()
    return words


def changes(ordered: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Whether each value differs from the one before it; true for the first."""
    fresh = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return fresh
