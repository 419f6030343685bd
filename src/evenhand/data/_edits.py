"""Pairs of short texts at most two edits apart (Levenshtein distance ≤ 2); none is missed.

Partition and probe (Li, Deng, Wang and Feng 2011, Pass-Join): cut the shorter text into three
segments; two edits leave one of them whole, and it stands in the longer text at one of at most
five places in all (their "multi-match-aware" windows). Segments are compared by hash, which can
only add candidates; what is left is measured by dynamic programming on a band of five diagonals,
for all pairs of two lengths at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.data._jaccard import Ints, Pairs, blocks, code_points, distinct, lengths, spread

EDITS = 2
SHORTEST, LONGEST = 12, 39
_CANDIDATES = 1 << 20  # candidate pairs held at a time
_ODD = np.uint64(0x9E3779B97F4A7C15)

Codes = NDArray[np.uint32]


def edit_pairs(texts: pl.Series) -> Iterator[Pairs]:
    """Yield blocks of pairs (i, j) with i < j, each once, of the texts of 12 to 39 characters."""
    size = lengths(texts)
    rows: dict[int, Ints] = {}
    codes: dict[int, Codes] = {}
    for longer in range(SHORTEST, LONGEST + 1):
        rows[longer] = np.flatnonzero(size == longer)
        codes[longer] = code_points(texts.gather(rows[longer])).reshape(-1, longer)
        for shorter in range(max(SHORTEST, longer - EDITS), longer + 1):
            for i, j in _pairs_of_lengths(codes[shorter], codes[longer]):
                found = np.stack([rows[shorter][i], rows[longer][j]], axis=1)
                yield np.sort(found, axis=1).astype(np.int32)
        codes.pop(longer - EDITS, None)


def segments(length: int) -> list[tuple[int, int]]:
    """Start and end of three segments of nearly equal length, the shorter ones first."""
    ends = [length * part // (EDITS + 1) for part in range(EDITS + 2)]
    return list(zip(ends[:-1], ends[1:], strict=True))


def windows(shorter: int, longer: int) -> Iterator[tuple[tuple[int, int], range]]:
    """Each segment of the shorter text, and the places in the longer one to look for it."""
    shift = longer - shorter
    for before, (start, end) in enumerate(segments(shorter)):
        after = EDITS - before  # edits left for what follows, if each segment before took one
        low = max(start - before, start + shift - after, 0)
        high = min(start + before, start + shift + after, longer - (end - start))
        yield (start, end), range(low, high + 1)


def _pairs_of_lengths(short: Codes, long: Codes) -> Iterator[tuple[Ints, Ints]]:
    """Rows of two tables of code points at most two edits apart; of one table, each pair once."""
    runs = []
    for (start, end), places in windows(short.shape[1], long.shape[1]):
        hashes = _hash(short[:, start:end])
        order = np.argsort(hashes)
        hashes = hashes[order]
        for place in places:
            wanted = _hash(long[:, place : place + end - start])
            first = np.searchsorted(hashes, wanted)
            runs.append((order, first, np.searchsorted(hashes, wanted, side="right") - first))
    same = short is long
    for begin, stop in blocks(np.sum([count for *_, count in runs], axis=0), _CANDIDATES):
        rows = np.arange(begin, stop)
        i = [order[spread(first[rows], count[rows])] for order, first, count in runs]
        j = [np.repeat(rows, count[rows]) for *_, count in runs]
        pair = (np.concatenate(j) << 32) | np.concatenate(i)
        if same:
            pair = pair[pair >> 32 > pair & ((1 << 32) - 1)]
        pair = distinct(pair)
        left, right = pair & ((1 << 32) - 1), pair >> 32
        near = _within(short[left].T.copy(), long[right].T.copy())
        yield left[near], right[near]


def _hash(codes: Codes) -> NDArray[np.uint64]:
    weights = _ODD ** np.arange(1, codes.shape[1] + 1, dtype=np.uint64)
    return np.asarray((codes * weights).sum(axis=1, dtype=np.uint64))


def _within(short: Codes, long: Codes) -> NDArray[np.bool_]:
    """Whether columns of two tables are at most two edits apart.

    ``band[d]`` is the distance of the first r characters of the shorter text and the first
    r + d - 2 of the longer one, 3 standing for "more than 2".
    """
    far = np.full(short.shape[1], EDITS + 1, dtype=np.uint8)
    band = [far, far, far * 0, far * 0 + 1, far * 0 + 2]
    for r in range(1, len(short) + 1):
        row = []
        for d in range(2 * EDITS + 1):
            at = r + d - EDITS
            if not 0 <= at <= len(long):
                row.append(far)
                continue
            best = band[d] + (short[r - 1] != long[at - 1]) if at else far
            if d < 2 * EDITS:
                best = np.minimum(best, band[d + 1] + 1)
            if d:
                best = np.minimum(best, row[d - 1] + 1)
            row.append(np.minimum(best, far))
        band = row
    return np.asarray(band[len(long) - len(short) + EDITS] <= EDITS)
