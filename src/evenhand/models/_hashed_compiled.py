"""Margins of many texts from hashed runs, compiled by Numba (extra ``[fast]``).

The same numbers to the last bit as rows of :class:`evenhand.models._hashed.Hashed` times weights:
hashes are whole numbers modulo 2^64, what a text holds is summed up in the order of columns, and no
product and sum are fused. The buckets of a text are marked in a table of bits, which gives that
order without sorting. Runs are written down first and looked up then, and where they may or may not
count there is no branch: a processor would guess it wrongly every other time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evenhand.models import _hashed
from evenhand.models._hashed import BITS, Floats, Hashed

LONGEST = 5_000
RUNS_AT_ONE = 6
"""Fewer begin at one character."""
MOST_RUNS = 2 * RUNS_AT_ONE * LONGEST
"""A character may be two in lower case."""
_PADDING = 4
_U = np.uint64
ZERO, ONE, _SIX, _LOW = _U(0), _U(1), _U(6), _U(63)
_BASE, KINDS, _SPACE, _PLANE = map(_U, (_hashed.BASE, _hashed.KINDS, _hashed.SPACE, _hashed.PLANE))
_P2, _P3, _P4 = (_U(pow(_hashed.BASE, power, 1 << 64)) for power in (2, 3, 4))
_PLAIN, WORD, PAIR = (_U(kind * _hashed.KINDS % (1 << 64)) for kind in range(3))
_SHIFT = _U(64 - BITS)
_TWOS, _FOURS, _EIGHTS, _BYTES = (_U(((1 << 64) - 1) // divisor) for divisor in (3, 5, 17, 255))
_SEQUENCE = 0x03F79D71B4CB0A89
_BIT = np.zeros(64, dtype=np.uint64)
_BIT[[(_SEQUENCE << bit) % (1 << 64) >> 58 for bit in range(64)]] = np.arange(64)


class Tables(NamedTuple):
    """Buckets and weights as compiled loops want them."""

    inside: NDArray[np.bool_]
    """Whether a character is part of a word."""
    kept: NDArray[np.uint64]
    ranks: NDArray[np.uint32]
    """How many buckets are kept before each word of 64."""
    idf: NDArray[np.uint8]
    step: float
    logarithms: Floats
    """What a bucket counts that holds so many runs."""
    weights: NDArray[np.int8]
    scale: Floats

    @classmethod
    def of(cls, hashed: Hashed, weights: NDArray[np.int8], scale: Floats) -> Self:
        """Of a detector; attributes are filled up to as many as are summed up at once."""
        more = -len(scale) % 8
        return cls(
            _hashed.word_characters(),
            *_ranked(hashed.kept),
            hashed.idf,
            hashed.step,
            1 + np.log(np.maximum(1, np.arange(MOST_RUNS, dtype=np.float64))),
            np.pad(weights, ((0, 0), (0, more))),
            np.pad(scale, (0, more)),
        )


class Compiled:
    """The compiled loop for texts that are cleaned."""

    longest = LONGEST
    """Characters of a text at most: every count has its place in the table of logarithms."""

    def __init__(self, hashed: Hashed, weights: NDArray[np.int8], scale: Floats) -> None:
        self.tables = Tables.of(hashed, weights, scale)
        self.attributes = len(scale)

    def margins(self, texts: Sequence[str]) -> Floats:
        """A row per text, without bias; no text has more than ``longest`` characters."""
        margins: Floats = np.empty((len(texts), len(self.tables.scale)))
        _margins(*padded(texts), self.tables, margins)
        return margins[:, : self.attributes]


def padded(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The characters of texts as loops read them, some beyond the last, and where each begins."""
    characters, lengths = _hashed.spelt(texts)
    more = np.zeros(_PADDING, dtype=np.uint32)
    return np.concatenate([characters, more]), np.concatenate([[0], np.cumsum(lengths)])


def _ranked(kept: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Bits of buckets as words of 64, and how many are kept before each word."""
    bits = np.unpackbits(kept).reshape(-1, 64)
    words = np.packbits(bits, axis=1, bitorder="little").view("<u8").ravel()
    before = np.cumsum(bits.sum(axis=1)) - bits.sum(axis=1)
    return words.astype(np.uint64), before.astype(np.uint32)


@njit
def bucket(run: Any, kind: Any) -> Any:
    z = run + kind
    z = (z ^ (z >> _U(32))) * _BASE
    return (z ^ (z >> _U(29))) >> _SHIFT


@njit
def _ones(x: Any) -> Any:
    """How many bits are set."""
    x = x - ((x >> ONE) & _TWOS)
    x = (x & _FOURS) + ((x >> _U(2)) & _FOURS)
    return (((x + (x >> _U(4))) & _EIGHTS) * _BYTES) >> _U(56)


@njit
def runs_of(characters: Any, start: Any, end: Any, inside: Any, found: Any) -> Any:
    """The buckets of all runs of one text; how many there are, its first word and its last."""
    n = had_word = word = first = before = ZERO
    power = ONE
    b, c = _U(characters[start]), _U(characters[start + 1])
    d, e = _U(characters[start + 2]), _U(characters[start + 3])
    for at in range(start, end):
        a, b, c, d, e = b, c, d, e, _U(characters[at + 4])
        if at < end - 1:  # the last character is a space that starts nothing
            run = a + b * _BASE
            found[n] = bucket(run, _PLAIN)
            there = ONE - _U((a == _SPACE) & (b == _SPACE))
            n += there
            run += c * _P2
            found[n] = bucket(run, _PLAIN)
            there &= _U(b != _SPACE)
            n += there
            run += d * _P3
            found[n] = bucket(run, _PLAIN)
            there &= _U(c != _SPACE)
            n += there
            run += e * _P4
            found[n] = bucket(run, _PLAIN)
            n += there & _U(d != _SPACE)
        if inside[min(a, _PLANE)]:
            word += a * power
            power *= _BASE
        elif power != ONE:
            found[n] = bucket(word, WORD)
            n += ONE
            found[n] = bucket(before * KINDS + word, PAIR)
            n += had_word
            first = first if had_word else word
            had_word, before, word, power = ONE, word, ZERO, ONE
    return n, first, before, had_word


@njit
def place_of(bucket: Any, kept: Any, ranks: Any, none: Any) -> Any:
    """The column of a bucket; ``none`` where it is not kept."""
    word, bit = bucket >> _SIX, bucket & _LOW
    place = _U(ranks[word]) + _ones(kept[word] & ((ONE << bit) - ONE))
    return place if (kept[word] >> bit) & ONE else none


@njit
def nothing(columns: Any) -> Any:
    """No runs counted: a number for each column, a bit for each, a bit for each word of bits."""
    counts = np.zeros(columns + 1, dtype=np.uint16)
    marks = np.zeros((len(counts) >> 6) + 1, dtype=np.uint64)
    words = np.zeros((len(marks) >> 6) + 1, dtype=np.uint64)
    return counts, marks, words


@njit
def count(place: Any, counts: Any, marks: Any, words: Any) -> None:
    """One more run of a column."""
    counts[place] += np.uint16(1)
    marks[place >> _SIX] |= ONE << (place & _LOW)
    words[place >> _U(12)] |= ONE << ((place >> _SIX) & _LOW)


@njit
def _bit(one: Any) -> Any:
    """Which bit it is that is set."""
    return _BIT[(one * _U(_SEQUENCE)) >> _U(58)]


@njit
def weigh(
    counts: Any, marks: Any, words: Any, tables: Any, places: Any, values: Any, sums: Any
) -> None:
    """The sums of what was counted, which is forgotten."""
    idf, step, logarithms, weights, scale = tables[3:]
    none = _U(len(weights))
    marks[none >> _SIX] &= ~(ONE << (none & _LOW))
    counts[none] = 0
    many = 0
    for high in range(len(words)):
        left = words[high]
        words[high] = ZERO
        while left != ZERO:
            last = left & (~left + ONE)
            left ^= last
            word = (_U(high) << _SIX) + _bit(last)
            bits = marks[word]
            marks[word] = ZERO
            while bits != ZERO:
                last = bits & (~bits + ONE)
                bits ^= last
                places[many] = (word << _SIX) + _bit(last)
                many += 1
    squares = 0.0
    for at in range(many):
        place = places[at]
        values[at] = logarithms[counts[place]] * (idf[place] * step)
        squares += values[at] * values[at]
        counts[place] = 0
    length = np.sqrt(squares)
    for at in range(many):
        values[at] /= length
    sums[:] = 0
    for at in range(many):
        value, row = values[at], weights[places[at]]
        for column in range(len(row)):  # as one
            sums[column] += value * (row[column] * scale[column])


@njit(cache=True, nogil=True)
def _margins(characters: Any, bounds: Any, tables: Any, margins: Any) -> None:
    inside, kept, ranks = tables[:3]
    none = _U(len(tables.weights))
    counts, marks, words = nothing(len(tables.weights))
    found = np.empty(MOST_RUNS, dtype=np.uint64)
    places = np.empty(MOST_RUNS, dtype=np.uint64)
    values = np.empty(MOST_RUNS)
    for text in range(len(margins)):
        runs, _, _, _ = runs_of(characters, bounds[text], bounds[text + 1], inside, found)
        for run in range(runs):
            count(place_of(found[run], kept, ranks, none), counts, marks, words)
        weigh(counts, marks, words, tables, places, values, margins[text])
