"""An order of classes that does not know their names.

Sums of floats and random draws depend on the order of what is summed and drawn. So that renaming
labels or annotators changes no bit of a result, classes are put in an order made from the votes
alone: a class is known by the kinds of posts it occurs in, a kind of post by its classes, and so
on in turn until nothing more can be told apart (colour refinement). What is still alike then is,
but for rare contrived tables, interchangeable: one of the alike is taken and the rest follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_MOST_ROUNDS = 200
"""After so many rounds alike classes keep the order they came in: a bound for free-text answers."""


def mixed(words: Words) -> Words:
    """A one-to-one scrambling of 64-bit words (SplitMix64), so that sums of them tell sets apart.

    >>> mixed(np.array([1, 2], dtype=np.uint64)).tolist()
    [10451216379200822465, 10905525725756348110]
    """
    x = words + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def canonical_order(
    counts: Any, many: Words, distance: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """The classes (columns of ``counts``) in an order that does not depend on their names.

    ``counts`` is a sparse table, kinds of posts × classes; ``many`` tells kinds apart beyond their
    votes (how many posts, their weights); ``distance`` tells classes apart (sets of labels).
    """
    entries = counts.tocoo()
    kind, column = entries.coords
    votes = mixed(entries.data.astype(np.uint64))
    classes = counts.shape[1]
    colours = np.zeros(classes, dtype=np.uint64)
    told = 0
    for step in range(_MOST_ROUNDS):
        kinds = mixed(mixed(many) + _sums(kind, mixed(colours)[column] ^ votes, len(many)))
        fresh = mixed(colours) + _sums(column, mixed(kinds)[kind] ^ votes, classes)
        if distance is not None:
            bits = np.ascontiguousarray(distance).view(np.uint64)
            fresh += mixed(bits ^ mixed(colours)).sum(axis=1, dtype=np.uint64)
        colours = mixed(fresh)
        distinct, number = np.unique(colours, return_counts=True)
        if len(distinct) == classes:
            break
        if len(distinct) == told:
            alike = distinct[number > 1][0]
            colours[np.flatnonzero(colours == alike)[0]] = np.uint64(step + 1)
        told = len(distinct)
    return np.argsort(colours, kind="stable")


def _sums(index: NDArray[np.int64], words: Words, size: int) -> Words:
    total = np.zeros(size, dtype=np.uint64)
    np.add.at(total, index, words)
    return total
