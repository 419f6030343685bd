"""Counts of posts by group when the groups are dealt out anew, many times over.

Each of several judges (detectors, runs, thresholds) has some counts for every post; all of them see
the same deals. The posts must come in an order that does not depend on that of the input, because a
deal is by place: rows alike in everything are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_AT_ONCE = 4_000_000


def dealt_in_frames(
    cells: Floats,
    code: Codes,
    frames: Codes,
    groups: int,
    rng: np.random.Generator,
    deals: int,
) -> Floats:
    """Counts with the groups shuffled within frames.

    Args:
        cells: Judge × post × cell.
        code: The group of each post.
        frames: The frame of each post.
        groups: How many groups there are.
        rng: For the deals.
        deals: How many.

    Returns:
        Deal × judge × group × cell.
    """
    judges, posts, size = cells.shape
    flat = cells.swapaxes(0, 1).reshape(posts, judges * size)
    blocks = [
        np.stack([(mixed == group) @ flat for group in range(groups)], axis=1)
        for mixed in _mixed(code, frames, rng, deals)
    ]
    return np.concatenate(blocks).reshape(deals, groups, judges, size).swapaxes(1, 2)


def _mixed(code: Codes, frames: Codes, rng: np.random.Generator, deals: int) -> Iterator[Codes]:
    """The groups of all posts, one row per deal, block by block to bound memory."""
    block = max(1, _AT_ONCE // len(code))
    for start in range(0, deals, block):
        drawn = rng.random((min(block, deals - start), len(code)))
        yield code[np.argsort(frames + drawn, axis=1)]


def dealt_in_rows(
    cells: Floats,
    code: Codes,
    rows: Codes,
    groups: int,
    rng: np.random.Generator,
    deals: int,
) -> Floats:
    """Counts with the terms of each row in each other's place, in all posts at once.

    ``rows`` is the row of terms of each post; otherwise as :func:`dealt_in_frames`.
    """
    judges, _, size = cells.shape
    many = int(rows.max()) + 1
    by_term = np.zeros((many * groups, judges, size))
    np.add.at(by_term, rows * groups + code, cells.swapaxes(0, 1))
    places = rng.random((deals, many, groups)).argsort(axis=-1).reshape(deals, many * groups)
    members = np.eye(groups)[places].swapaxes(1, 2)
    counts = members @ by_term.reshape(many * groups, judges * size)
    return counts.reshape(deals, groups, judges, size).swapaxes(1, 2)
