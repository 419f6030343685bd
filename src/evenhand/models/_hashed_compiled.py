"""Margins of many texts from hashed runs, compiled by Numba (extra ``[fast]``).

The same numbers to the last bit as rows of :class:`evenhand.models._hashed.Hashed` times weights:
hashes are whole numbers modulo 2^64, what a text holds is summed up in the order of columns, and no
product and sum are fused. The buckets of a text are marked in a table of bits, which gives that
order without sorting. Runs are written down first and looked up then, and where they may or may not
count there is no branch: a processor would guess it wrongly every other time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evenhand.models import _hashed
from evenhand.models._hashed import BITS, Floats, Hashed

_LONGEST = 5_000
_MOST_RUNS = 12 * _LONGEST
"""A character may be two in lower case; fewer than six runs begin at one."""
_PADDING = 4
_U = np.uint64
_ZERO, _ONE, _SIX, _LOW = _U(0), _U(1), _U(6), _U(63)
_BASE, _KINDS, _SPACE, _PLANE = map(_U, (_hashed.BASE, _hashed.KINDS, _hashed.SPACE, _hashed.PLANE))
_P2, _P3, _P4 = (_U(pow(_hashed.BASE, power, 1 << 64)) for power in (2, 3, 4))
_PLAIN, _WORD, _PAIR = (_U(kind * _hashed.KINDS % (1 << 64)) for kind in range(3))
_SHIFT = _U(64 - BITS)
_TWOS, _FOURS, _EIGHTS, _BYTES = (_U(((1 << 64) - 1) // divisor) for divisor in (3, 5, 17, 255))
_SEQUENCE = 0x03F79D71B4CB0A89
_BIT = np.zeros(64, dtype=np.uint64)
_BIT[[(_SEQUENCE << bit) % (1 << 64) >> 58 for bit in range(64)]] = np.arange(64)


class Compiled:
    """Buckets and weights as the compiled loop wants them."""

    longest = _LONGEST
    """Characters of a text at most: every count has its place in the table of logarithms."""

    def __init__(self, hashed: Hashed, weights: NDArray[np.int8], scale: Floats) -> None:
        self._tables = (
            _hashed.word_characters(),
            *_ranked(hashed.kept),
            hashed.idf,
            hashed.step,
            1 + np.log(np.maximum(1, np.arange(_MOST_RUNS, dtype=np.float64))),
            np.pad(weights, ((0, 0), (0, -len(scale) % 4))),
            np.pad(scale, (0, -len(scale) % 4)),
        )
        self._attributes = len(scale)

    def margins(self, texts: Sequence[str]) -> Floats:
        """A row per text, without bias; no text has more than ``longest`` characters."""
        characters, lengths = _hashed.spelt(texts)
        padded = np.concatenate([characters, np.zeros(_PADDING, dtype=np.uint32)])
        margins: Floats = np.empty((len(texts), len(self._tables[-1])))
        _margins(padded, np.concatenate([[0], np.cumsum(lengths)]), *self._tables, margins)
        return margins[:, : self._attributes]


def _ranked(kept: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Bits of buckets as words of 64, and how many are kept before each word."""
    bits = np.unpackbits(kept).reshape(-1, 64)
    words = np.packbits(bits, axis=1, bitorder="little").view("<u8").ravel()
    before = np.cumsum(bits.sum(axis=1)) - bits.sum(axis=1)
    return words.astype(np.uint64), before.astype(np.uint32)


@njit
def _bucket(run: Any, kind: Any) -> Any:
    z = run + kind
    z = (z ^ (z >> _U(32))) * _BASE
    return (z ^ (z >> _U(29))) >> _SHIFT


@njit
def _ones(x: Any) -> Any:
    """How many bits are set."""
    x = x - ((x >> _ONE) & _TWOS)
    x = (x & _FOURS) + ((x >> _U(2)) & _FOURS)
    return (((x + (x >> _U(4))) & _EIGHTS) * _BYTES) >> _U(56)


@njit
def _runs(characters: Any, start: Any, end: Any, inside: Any, found: Any) -> Any:
    """The buckets of all runs of one text; how many there are."""
    n = had_word = word = before = _ZERO
    power = _ONE
    b, c = _U(characters[start]), _U(characters[start + 1])
    d, e = _U(characters[start + 2]), _U(characters[start + 3])
    for at in range(start, end):
        a, b, c, d, e = b, c, d, e, _U(characters[at + 4])
        if at < end - 1:  # the last character is a space that starts nothing
            run = a + b * _BASE
            found[n] = _bucket(run, _PLAIN)
            there = _ONE - _U((a == _SPACE) & (b == _SPACE))
            n += there
            run += c * _P2
            found[n] = _bucket(run, _PLAIN)
            there &= _U(b != _SPACE)
            n += there
            run += d * _P3
            found[n] = _bucket(run, _PLAIN)
            there &= _U(c != _SPACE)
            n += there
            run += e * _P4
            found[n] = _bucket(run, _PLAIN)
            n += there & _U(d != _SPACE)
        if inside[min(a, _PLANE)]:
            word += a * power
            power *= _BASE
        elif power != _ONE:
            found[n] = _bucket(word, _WORD)
            n += _ONE
            found[n] = _bucket(before * _KINDS + word, _PAIR)
            n += had_word
            had_word, before, word, power = _ONE, word, _ZERO, _ONE
    return n


@njit(cache=True, nogil=True)
def _margins(
    characters: Any, bounds: Any, inside: Any, kept: Any, ranks: Any, idf: Any, step: Any,
    logarithms: Any, weights: Any, scale: Any, margins: Any,
) -> None:  # fmt: skip
    columns = len(weights)
    none = _U(columns)  # where runs go whose bucket is not kept
    counts = np.zeros(columns + 1, dtype=np.uint16)
    marks = np.zeros((columns >> 6) + 1, dtype=np.uint64)
    words = np.zeros((len(marks) >> 6) + 1, dtype=np.uint64)
    found = np.empty(_MOST_RUNS, dtype=np.uint64)
    places = np.empty(_MOST_RUNS, dtype=np.uint64)
    values = np.empty(_MOST_RUNS)
    for text in range(len(bounds) - 1):
        n = _runs(characters, bounds[text], bounds[text + 1], inside, found)
        for run in range(n):
            word, bit = found[run] >> _SIX, found[run] & _LOW
            place = _U(ranks[word]) + _ones(kept[word] & ((_ONE << bit) - _ONE))
            place = place if (kept[word] >> bit) & _ONE else none
            counts[place] += np.uint16(1)
            marks[place >> _SIX] |= _ONE << (place & _LOW)
            words[place >> _U(12)] |= _ONE << ((place >> _SIX) & _LOW)
        marks[none >> _SIX] &= ~(_ONE << (none & _LOW))
        counts[none] = 0
        many = 0
        squares = 0.0
        for high in range(len(words)):
            left = words[high]
            words[high] = _ZERO
            while left != _ZERO:
                last = left & (~left + _ONE)
                left ^= last
                word = (_U(high) << _SIX) + _BIT[(last * _U(_SEQUENCE)) >> _U(58)]
                bits = marks[word]
                marks[word] = _ZERO
                while bits != _ZERO:
                    last = bits & (~bits + _ONE)
                    bits ^= last
                    place = (word << _SIX) + _BIT[(last * _U(_SEQUENCE)) >> _U(58)]
                    value = logarithms[counts[place]] * (idf[place] * step)
                    counts[place] = 0
                    squares += value * value
                    places[many], values[many] = place, value
                    many += 1
        length = np.sqrt(squares)
        for at in range(many):
            values[at] /= length
        for first in range(0, len(scale), 4):  # four sums at a time need not wait for each other
            a = b = c = d = 0.0
            for at in range(many):
                value, place = values[at], places[at]
                a += value * (weights[place, first] * scale[first])
                b += value * (weights[place, first + 1] * scale[first + 1])
                c += value * (weights[place, first + 2] * scale[first + 2])
                d += value * (weights[place, first + 3] * scale[first + 3])
            margins[text, first], margins[text, first + 1] = a, b
            margins[text, first + 2], margins[text, first + 3] = c, d
