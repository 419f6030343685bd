"""Margins of texts of known pieces, compiled by Numba: no text is cleaned, spelt or hashed again.

Runs of characters lie inside a piece (what stands between two spaces) and the spaces around it, and
words lie inside one. So what a piece adds to a text is the same in every text, but for the pair of
words at its ends. A piece is looked at once: what cleaning leaves of it
(:mod:`evenhand.models._unchanged`), and the columns of its runs. From then on it is found by its
characters in a table, and a text is the sum of its pieces. Whether cleaning sees something in two
neighbours is told here as it is there; texts where it may are left to the other ways, which give
the same numbers to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from string import ascii_letters, digits
from threading import Lock
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evenhand.models import _hashed
from evenhand.models._hashed import BITS, PLANE, Floats
from evenhand.models._hashed_compiled import (
    KINDS,
    MOST_RUNS,
    ONE,
    PAIR,
    RUNS_AT_ONE,
    WORD,
    ZERO,
    Compiled,
    Tables,
    bucket,
    count,
    nothing,
    padded,
    place_of,
    runs_of,
    weigh,
)
from evenhand.models._lexicon import lexicon
from evenhand.models._posts import Handles
from evenhand.models._unchanged import (
    ALONE,
    GONE,
    HANDLE,
    MANY,
    PARTS,
    PICTURE,
    RARE,
    RETWEETS,
    WORK,
    Part,
    Unchanged,
)

_U = np.uint64
_BASE = _U(_hashed.BASE)
_LONGEST_PIECE = 40
_MOST_PIECES = 1 << 17
"""So many are remembered: all that are frequent in any text, in some 30 MB."""
_SLOT_BITS = 18
_TO_SLOT, _MASK = _U(64 - _SLOT_BITS), _U((1 << _SLOT_BITS) - 1)
_A_HANDLE, _A_LINK, _UNKNOWN = 0, 1, -1
"""Numbers of all handles, of all links, and of pieces that are not in the table."""
_SPACE, _LETTER, _IN_HANDLE, _IN_LINK, _ENDS_LINK = (np.uint8(1 << n) for n in range(5))
"""Classes of characters; one may be in several."""
_AT, _H, _S = map(ord, "@hs")
_HTTP, _SLASHES = (tuple(map(ord, part)) for part in ("http", "://"))
_LONGEST_MASKED = 7
_PLANE = np.uint32(PLANE)

_PIECE = np.dtype([
    ("hash", "u8"), ("start", "i8"), ("end", "i8"), ("first", "i8"), ("last", "i8"),
    ("ampersand", "i8"),
])  # fmt: skip
"""Where its characters are, where its parts, and whether it has an &."""
_PART = np.dtype([
    ("kind", "i8"), ("plain", "i8"), ("half", "u8"), ("power", "u8"), ("has_word", "u8"),
    ("word", "u8"), ("last_word", "u8"), ("first", "i8"), ("last", "i8"),
])  # fmt: skip
"""Its kind, also as that of a plain one; the hash of the half of a word and the power for what
comes behind; the hashes of its first word and its last; where the columns of its runs are."""


class Pieces:
    """Margins of texts as they are, of those whose pieces say enough."""

    def __init__(self, compiled: Compiled, unchanged: Unchanged, handles: Handles = "kept") -> None:
        self.compiled = compiled
        self._unchanged = unchanged
        self._handles = handles
        self._known: _Known | None = None

    def margins(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.int64]]:
        """A row per text, without bias, and which texts are left: their rows are to be filled."""
        tables = self.compiled.tables
        with _LEARNING:
            known, self._known = self._known or self._none_known(), None
            found, ends = known.found(texts)
            pieces, parts, runs = known.stores()
            self._known = None if known.full else known  # also none where learning was broken off
        margins: Floats = np.empty((len(texts), len(tables.scale)))
        left = np.empty(len(texts), dtype=np.bool_)
        _margins(found, ends, pieces, parts, runs, _may_be_cut(), tables, margins, left)
        return margins[:, : self.compiled.attributes], np.flatnonzero(left)

    def _none_known(self) -> _Known:
        return _Known(self.compiled.tables, self._parts)

    def _parts(self, piece: str) -> list[Part]:
        """What a piece is to the passes; where handles are dropped, they are gone before these.

        What becomes a handle by a pass, as an entity may, is not dropped: the passes are asked.
        """
        found = self._unchanged.parts(piece)
        if self._handles == "kept":
            return found
        kind = WORK if "&" in piece else GONE
        return [Part(kind, "", "") if part.kind == HANDLE else part for part in found]


_LEARNING = Lock()
"""Held while pieces are put into a table; those that are there stay as they are."""


class _Known:
    """Pieces, their parts and the columns of their runs."""

    def __init__(self, tables: Tables, parts_of: Callable[[str], list[Part]]) -> None:
        self._tables, self._parts_of = tables, parts_of
        self._slots = np.zeros(1 << _SLOT_BITS, dtype=np.int32)
        self._characters = np.empty(_MOST_PIECES * _LONGEST_PIECE, dtype=np.uint32)
        self._pieces = np.zeros(_MOST_PIECES, dtype=_PIECE)
        self._parts, self._runs = _Store(_PART), _Store(np.dtype(np.uint32))
        self._count = 0
        self._learn(["@user", "https://t.co/a"])  # for all handles, for all links

    @property
    def full(self) -> bool:
        """Whether there is no room for another piece."""
        return self._count == _MOST_PIECES

    def stores(self) -> tuple[NDArray[Any], ...]:
        """What is known so far."""
        return self._pieces, self._parts.all, self._runs.all

    def found(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The number of each piece of the texts, and where those of each text begin."""
        characters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        bounds = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
        pieces = np.empty(len(characters) // 2 + len(bounds), dtype=np.int32)
        ends = np.zeros(len(bounds), dtype=np.int64)
        table = self._slots, self._pieces, self._characters, self._count
        count = _look_up(characters, bounds, _classes(), *table, pieces, ends)
        self._learn([self._spelt(piece) for piece in self._pieces[self._count : count]])
        return pieces, ends

    def _spelt(self, piece: np.void) -> str:
        characters = self._characters[piece["start"] : piece["end"]]
        return characters.tobytes().decode("utf-32-le", "surrogatepass")

    def _learn(self, new: list[str]) -> None:
        """What the next pieces are to the passes, and their runs."""
        if not new:
            return
        of_pieces = [self._parts_of(piece) for piece in new]
        every = [part for parts in of_pieces for part in parts]
        here = self._pieces[self._count : self._count + len(new)]
        here["last"] = self._parts.count + np.cumsum([len(parts) for parts in of_pieces])
        here["first"] = here["last"] - [len(parts) for parts in of_pieces]
        here["ampersand"] = ["&" in piece for piece in new]
        parts = np.zeros(len(every), dtype=_PART)
        parts["kind"] = [part.kind for part in every]
        parts["plain"] = parts["kind"] * (parts["kind"] < HANDLE)
        parts["half"] = _hashed.hashes_of([part.half for part in every])
        parts["power"] = [pow(_hashed.BASE, len(part.half), 1 << 64) for part in every]
        characters, bounds = padded([part.shown for part in every])
        runs = np.empty(RUNS_AT_ONE * len(characters), dtype=np.uint32)
        some = _put(characters, bounds, self._tables, parts, runs, self._runs.count)
        self._parts.add(parts)
        self._runs.add(runs[:some])
        self._count += len(new)


class _Store:
    """An array that grows."""

    def __init__(self, kind: np.dtype[Any]) -> None:
        self.all = np.empty(1 << 10, dtype=kind)
        self.count = 0

    def add(self, new: NDArray[Any]) -> None:
        """Put these behind the others, which stay where they are for whoever reads them."""
        end = self.count + len(new)
        if end > len(self.all):
            self.all = np.concatenate([self.all, np.empty(end, dtype=self.all.dtype)])
        self.all[self.count : end] = new
        self.count = end


@lru_cache(1)
def _classes() -> NDArray[np.uint8]:
    """Of each character; the last stands for those of higher planes."""
    found = np.zeros(PLANE + 1, dtype=np.uint8)
    for characters, kind in (
        ([chr(code) for code in range(PLANE) if chr(code).isspace()], _SPACE),
        (ascii_letters, _LETTER),
        (ascii_letters + digits + "_", _IN_HANDLE),
        (ascii_letters + digits + "./?=%+~-", _IN_LINK),
        (ascii_letters + digits, _ENDS_LINK),
    ):
        found[[ord(one) for one in characters]] |= kind
    return found


@lru_cache(1)
def _may_be_cut() -> NDArray[np.bool_]:
    """Whether a known word has such a hash."""
    hashes = _hashed.mixed(_hashed.hashes_of(list(lexicon().counts)), 1)
    found = np.zeros(1 << BITS, dtype=np.bool_)
    found[hashes >> _U(64 - BITS)] = True
    return found


@njit
def _is_link(characters: Any, start: Any, end: Any, classes: Any) -> Any:
    """Whether it is http:// or https:// and what links have."""
    at = start
    for sign in _HTTP:
        if at == end or characters[at] != sign:
            return False
        at += 1
    at += at < end and characters[at] == _S
    for sign in _SLASHES:
        if at == end or characters[at] != sign:
            return False
        at += 1
    if at == end or not classes[min(characters[end - 1], _PLANE)] & _ENDS_LINK:
        return False
    for place in range(at, end):  # noqa: SIM110 - Numba compiles no generators
        if not classes[min(characters[place], _PLANE)] & _IN_LINK:
            return False
    return True


@njit
def _is_handle(characters: Any, start: Any, end: Any, classes: Any) -> Any:
    """Whether it is @ and a name that is no word which begins with @ for a."""
    every = np.uint8(_LETTER | _IN_HANDLE)
    for place in range(start + 1, end):
        every &= classes[min(characters[place], _PLANE)]
    name = end - start - 1
    if name == 0 or not every & _IN_HANDLE:
        return False
    return name > _LONGEST_MASKED or not every & _LETTER


@njit
def _same(characters: Any, start: Any, known: Any, at: Any, length: Any) -> Any:
    for place in range(length):  # noqa: SIM110
        if characters[start + place] != known[at + place]:
            return False
    return True


@njit
def _number(
    characters: Any, start: Any, end: Any, mixed: Any, slots: Any, pieces: Any, known: Any
) -> Any:
    """The number of a piece that is in the table."""
    slot = (mixed * _BASE) >> _TO_SLOT
    while slots[slot]:
        number = slots[slot] - 1
        at, length = pieces[number].start, pieces[number].end - pieces[number].start
        same = pieces[number].hash == mixed and length == end - start
        if same and _same(characters, start, known, at, length):
            return number
        slot = (slot + ONE) & _MASK
    return _UNKNOWN


@njit
def _entered(
    characters: Any, start: Any, end: Any, mixed: Any, slots: Any, pieces: Any, known: Any,
    count: Any,
) -> Any:  # fmt: skip
    """How many pieces there are when this one was put into the table."""
    slot = (mixed * _BASE) >> _TO_SLOT
    while slots[slot]:
        slot = (slot + ONE) & _MASK
    at = pieces[count - 1].end
    pieces[count].hash, pieces[count].start, pieces[count].end = mixed, at, at + end - start
    for place in range(end - start):
        known[at + place] = characters[start + place]
    slots[slot] = count + 1
    return count + 1


@njit(cache=True, nogil=True)
def _look_up(
    characters: Any, bounds: Any, classes: Any, slots: Any, pieces: Any, known: Any, count: Any,
    found: Any, ends: Any,
) -> Any:  # fmt: skip
    """The pieces of texts; how many there are in the table then."""
    n = 0
    for text in range(len(bounds) - 1):
        at, end = bounds[text], bounds[text + 1]
        while at < end:
            start, mixed = at, ZERO
            while at < end and not classes[min(characters[at], _PLANE)] & _SPACE:
                mixed = (mixed ^ _U(characters[at])) * _BASE
                at += 1
            if at == start:
                at += 1
                continue
            if characters[start] == _AT and _is_handle(characters, start, at, classes):
                found[n] = _A_HANDLE
            elif characters[start] == _H and _is_link(characters, start, at, classes):
                found[n] = _A_LINK
            else:
                number = _number(characters, start, at, mixed, slots, pieces, known)
                if number == _UNKNOWN and at - start <= _LONGEST_PIECE and count < len(pieces):
                    number = count
                    count = _entered(characters, start, at, mixed, slots, pieces, known, count)
                found[n] = number
            n += 1
        ends[text + 1] = n
    return count


@njit(cache=True)
def _put(characters: Any, bounds: Any, tables: Any, parts: Any, runs: Any, before: Any) -> Any:
    """Words and runs of parts; how many runs there are."""
    inside, kept, ranks = tables[:3]
    none = _U(len(tables.weights))
    found = np.empty(MOST_RUNS, dtype=np.uint64)
    n = 0
    for at in range(len(parts)):
        part = parts[at]
        many, part.word, part.last_word, part.has_word = runs_of(
            characters, bounds[at], bounds[at + 1], inside, found
        )
        part.first = before + n
        for run in range(many):
            place = place_of(found[run], kept, ranks, none)
            runs[n] = place
            n += place != none
        part.last = before + n
    return n


@njit
def _simple(numbers: Any, pieces: Any, parts: Any, may_be_cut: Any) -> Any:
    """Whether no pass sees something in the pieces of a text or in two neighbours."""
    handles = pictures = runs = ampersands = plain = 0
    before = parts[0]
    for number in numbers:
        if number == _UNKNOWN:
            return False
        ampersands += pieces[number].ampersand
        for at in range(pieces[number].first, pieces[number].last):
            part = parts[at]
            if part.kind == GONE and not plain & RETWEETS:
                continue  # what stands around it are neighbours
            both = plain & part.plain
            if part.kind >= PARTS or both & ALONE:
                return False
            if plain & RETWEETS and (part.kind == HANDLE or part.kind == GONE):
                return False
            if both & RARE and may_be_cut[bucket(before.half + part.half * before.power, WORD)]:
                return False
            handles += part.kind == HANDLE
            pictures += part.kind == PICTURE
            runs += 1 + part.last - part.first
            before, plain = part, part.plain
    few = handles < MANY and pictures < MANY and runs < MOST_RUNS
    return few and not (pictures and ampersands)


@njit(cache=True, nogil=True)
def _margins(
    found: Any, ends: Any, pieces: Any, parts: Any, runs: Any, may_be_cut: Any, tables: Any,
    margins: Any, left: Any,
) -> None:  # fmt: skip
    _, kept, ranks = tables[:3]
    none = _U(len(tables.weights))
    counts, marks, words = nothing(len(tables.weights))
    places = np.empty(MOST_RUNS, dtype=np.uint64)
    values = np.empty(MOST_RUNS)
    for text in range(len(margins)):
        numbers = found[ends[text] : ends[text + 1]]
        left[text] = not _simple(numbers, pieces, parts, may_be_cut)
        if left[text]:
            continue
        had_word = word = ZERO
        for number in numbers:
            for at in range(pieces[number].first, pieces[number].last):
                part = parts[at]
                for run in range(part.first, part.last):
                    count(_U(runs[run]), counts, marks, words)
                if part.has_word:
                    if had_word:
                        pair = bucket(word * KINDS + part.word, PAIR)
                        count(place_of(pair, kept, ranks, none), counts, marks, words)
                    had_word, word = ONE, part.last_word
        weigh(counts, marks, words, tables, places, values, margins[text])
