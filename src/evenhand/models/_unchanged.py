"""Texts that cleaning leaves as they are, or nearly so, told from their pieces alone.

Most posts have nothing to undo. What stands between two spaces, a *piece*, is looked at once and
remembered; a text of known pieces then needs no pass. That this gives what the passes give rests on
what they look at. In printable ASCII without any of :data:`_SIGN` each pass looks

- inside pieces: triple letters and marks, disguises, several words written as one, entities. What
  the front end leaves alone when it is the whole text, these passes leave alone anywhere;
- at neighbours: letters spaced out begin with two single letters, however wide the space; a word
  cut in two is two rare words. Such pairs are looked at as pairs;
- at spaces, last of all, which become one.

A piece that is a whole link is ``url`` to every later pass, a whole handle ``@user``, unless RT
stands before it or there are four; a whole hashtag is its words. One emoji by itself is to every
pass a character that is no letter, and its name in the end, unless there are four. Characters that
become ASCII one by one before anything else happens (quotes, dots) are exchanged first. All else
gets the passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.models._characters import entities, fold
from evenhand.models._disguise import EDGES, LETTER
from evenhand.models._emoji import FIRST, find, name
from evenhand.models._lexicon import lexicon
from evenhand.models._posts import hashtags
from evenhand.models._spacing import common, divided
from evenhand.models._trace import Edit, Trace

TRIPLE = re.compile(r"([^ ])\1\1")
"""A character three times."""
ALONE, RARE, RETWEETS, HANDLE, LINK, PICTURE, PARTS, WORK = 1, 2, 4, 8, 9, 10, 16, 32
"""Kinds of pieces; what is several of the first three has their sum."""
GONE = 11
"""The kind of a handle where these are dropped before the passes."""
_SIGN = re.compile(r"[@#*_[<{]|http")
_LETTER = re.compile(LETTER)
_WHOLE_HANDLE = re.compile(r"@\w+|[<\[{](?i:user(?:name)?)[>\]}]", re.ASCII)
_MAY_MASK = re.compile(r"@[a-zA-Z]{2,7}|[^@].*")
_WHOLE_LINK = re.compile(
    r"https?://[a-zA-Z0-9./?=%+~-]*[a-zA-Z0-9]|[<\[{](?i:url|link)[>\]}]", re.ASCII
)
_WHOLE_HASHTAG = re.compile(r"#[a-zA-Z0-9]+")
_SHOWN_AS = re.compile(rb"[\x08-\x0a]")
_TOGETHER = re.compile(rb"[\x01\x03\x05\x07]{2}|[\x04-\x07]\x08")
_RARE_TWICE = re.compile(rb"[\x02\x03\x06\x07](?=[\x02\x03\x06\x07])")
MANY, _SEVERAL = 4, 12
_ODD = re.compile("[‘’“”′″«»„‚…‐‑−\xa0]")
_PLAIN_FOR_ODD = {odd: fold(odd)[0][2] for odd in _ODD.pattern.strip("[]")}
_AT_ONCE = 5000
"""Texts looked at together."""
_MOST_PIECES = 1 << 17
"""So many are remembered: all that are frequent in any text, in some 15 MB."""


class Part(NamedTuple):
    """A piece, or a part of one that stands alone."""

    kind: int
    shown: str
    """What is left of it in the cleaned text."""
    half: str
    """What may be half of a word that was cut in two."""

    @classmethod
    def of(cls, piece: str, kind: int) -> Self:
        """Of a piece as the passes see it."""
        if kind >= HANDLE:
            return cls(kind, _shown(piece, kind) if kind < PARTS else "", "")
        return cls(kind, piece, _half(piece.lower()) if kind & RARE else "")


class Unchanged:
    """Tells texts that need no pass; ``cleaned`` says what the passes make of a piece."""

    def __init__(self, cleaned: Callable[[str], str]) -> None:
        self._cleaned = cleaned
        self._kinds = _Kinds(cleaned)

    def __call__(self, texts: Sequence[str]) -> list[str | None]:
        """Each text as the passes would leave it; None where they have to be asked."""
        starts = range(0, len(texts), _AT_ONCE)
        return [found for at in starts for found in self._some(texts[at : at + _AT_ONCE])]

    def parts(self, piece: str) -> list[Part]:
        """What a piece, as it stands in a text, is to the passes; one part but for few."""
        found: list[Part] = []
        for plain in _without_odd(piece).split():
            kind = self._kinds[plain]
            parts, kinds = self._kinds.parts[plain] if kind == PARTS else ((plain,), bytes([kind]))
            found += map(Part.of, parts, kinds)
        return found

    def _some(self, texts: Sequence[str]) -> list[str | None]:
        if len(self._kinds) > _MOST_PIECES:
            self._kinds = _Kinds(self._cleaned)
        lists = [_without_odd(text).split() for text in texts]
        flat = list(chain.from_iterable(lists))
        every = bytes(map(self._kinds.__getitem__, flat))
        ends = np.cumsum([len(pieces) for pieces in lists])
        found: list[str | None] = [" ".join(pieces) for pieces in lists]
        for at in _not_plain(flat, every, ends):
            kinds = every[ends[at] - len(lists[at]) : ends[at]]
            found[at] = self._with_kinds(texts[at], lists[at], kinds)
        return found

    def _with_kinds(self, text: str, pieces: list[str], kinds: bytes) -> str | None:
        while (at := kinds.find(PARTS)) >= 0:
            parts, of_parts = self._kinds.parts[pieces[at]]
            pieces[at : at + 1] = parts
            kinds = kinds[:at] + of_parts + kinds[at + 1 :]
        most = max(kinds)
        if most >= PARTS or not _apart(pieces, kinds):
            return None
        if most >= HANDLE:
            if PICTURE in kinds and "&" in text:
                return None
            for match in _SHOWN_AS.finditer(kinds):
                pieces[match.start()] = _shown(pieces[match.start()], kinds[match.start()])
        return " ".join(pieces)


def _not_plain(flat: list[str], every: bytes, ends: NDArray[np.int64]) -> list[int]:
    """Which texts have a piece, or two neighbours, that may not stay as they are."""
    kinds = np.frombuffer(every, dtype=np.uint8)
    odd = kinds >= HANDLE
    both = kinds[:-1] & kinds[1:]  # also of two texts, which does no harm
    odd[:-1] |= (both & ALONE) > 0
    rare = np.flatnonzero((both & RARE) > 0).tolist()
    odd[[at for at in rare if _halves(flat[at].lower(), flat[at + 1].lower())]] = True
    found: list[int] = np.unique(np.searchsorted(ends, np.flatnonzero(odd), side="right")).tolist()
    return found


class _Kinds(dict[str, int]):
    """What has to be known of each piece, found out when it is first met."""

    def __init__(self, cleaned: Callable[[str], str]) -> None:
        super().__init__()
        self._cleaned = cleaned
        self.parts: dict[str, tuple[tuple[str, ...], bytes]] = {}
        """The pieces that stand for one, and their kinds."""

    def __missing__(self, piece: str) -> int:
        whole = self._whole(piece) if piece[0] in "h@<[{" else 0
        if whole:
            return whole  # hardly ever met again
        if parts := self._parts_of(piece):
            kinds = bytes(map(self._found, parts))
            self.parts[piece] = parts, kinds
            found = PARTS if max(kinds) < PARTS else WORK
        else:
            found = self._found(piece)
        self[piece] = found
        return found

    def _whole(self, piece: str) -> int:
        """Whether it is a whole handle or a whole link."""
        if _WHOLE_LINK.fullmatch(piece):
            return LINK
        if not _WHOLE_HANDLE.fullmatch(piece):
            return 0
        # Few are words that begin with @ for a.
        return 0 if _MAY_MASK.fullmatch(piece) and self._cleaned(piece) != "@user" else HANDLE

    def _parts_of(self, piece: str) -> tuple[str, ...]:
        """The pieces that a handle with a mark behind, a hashtag, an entity are for the passes."""
        if piece[0] in "@<[{" and (handle := piece.rstrip(":,.!?")) != piece:
            return (
                (handle, piece[len(handle) :]) if handle and self._whole(handle) == HANDLE else ()
            )
        if _WHOLE_HASHTAG.fullmatch(piece) and (edits := hashtags(piece)):
            return tuple(_edited(piece, edits).split())
        if "&" in piece and piece.isascii() and (edits := entities(piece)):
            new = _edited(piece, edits)
            return (new,) if new and not entities(new) and " " not in new else ()
        return ()

    def _found(self, piece: str) -> int:
        if not piece.isascii():
            return PICTURE if _is_picture(piece) else WORK
        if whole := self._whole(piece):
            return whole
        low = piece.lower()
        triple = TRIPLE.search(piece)
        # Where there is a triple, aAa is one, too.
        if _SIGN.search(piece) or (not triple and TRIPLE.search(low)):
            return WORK
        # Of letters alone only stretched words and several in one are ever changed.
        short = piece.isalpha() and len(piece) < _SEVERAL and not triple
        if not short and (not piece.isprintable() or self._cleaned(piece) != piece):
            return WORK
        kind = RETWEETS if low.endswith("rt") else 0
        if _LETTER.fullmatch(piece):
            kind |= ALONE
        return kind | RARE if low not in common() and low.strip(EDGES).isalpha() else kind


def _shown(piece: str, kind: int) -> str:
    return "@user" if kind == HANDLE else "url" if kind == LINK else name(piece)


def _without_odd(text: str) -> str:
    return text if text.isascii() else _ODD.sub(_plain, text)


def _plain(odd: re.Match[str]) -> str:
    return _PLAIN_FOR_ODD[odd[0]]


def _edited(piece: str, edits: list[Edit]) -> str:
    trace = Trace(piece, mapped=False)
    trace.edit(edits)
    return trace.text


def _is_picture(piece: str) -> bool:
    """Whether it is one emoji that has a name."""
    units: dict[str, int] = {}
    one = [(0, len(piece), chr(FIRST))]
    return find(piece, units) == one and [*units] == [piece] and name(piece).strip() != ""


def _apart(pieces: list[str], kinds: bytes) -> bool:
    """Whether no pass sees something in two neighbours, or in many handles."""
    if kinds.count(HANDLE) >= MANY or kinds.count(PICTURE) >= MANY or _TOGETHER.search(kinds):
        return False
    for match in _RARE_TWICE.finditer(kinds):
        at = match.start()
        if _halves(pieces[at].lower(), pieces[at + 1].lower()):
            return False
    return True


def _halves(first: str, second: str) -> bool:
    """Whether two rare words are one that was cut in two: it must be known, to begin with."""
    whole = _half(first) + _half(second)
    return whole in lexicon().counts and bool(divided(f"{first} {second}"))


def _half(low: str) -> str:
    return low.strip(EDGES)
