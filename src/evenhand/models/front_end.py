"""Texts as a reader sees them, for detectors: disguises undone, emoji in words, links and handles.

What a reader takes for the same word becomes the same word. The cleaned text remembers where in the
original each of its characters came from, so a detector can show which words it went by.

>>> FrontEnd().clean("@Ann you 1d1ot 🤡 https://t.co/x").text
'@user you idiot clown face url'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.models import _characters, _emoji, _posts
from evenhand.models._alike import alike
from evenhand.models._disguise import tokens
from evenhand.models._one_identity import PASSES as ONE_IDENTITY
from evenhand.models._one_identity import passed, sign
from evenhand.models._posts import Handles
from evenhand.models._spacing import divided, spaced, stretched
from evenhand.models._trace import Edit, Trace
from evenhand.models._unchanged import TRIPLE, Unchanged

VERSION: int = 1
"""Raised when a release cleans otherwise than the one before: a saved detector needs its own."""
Emoji = Literal["words", "kept", "dropped"]
Identities = Literal["named", "one"]

_AGAIN = re.compile(r"([^\w\s*])\1{3,}|\*{11,}")
_SPACE = re.compile(r"  +")
_LAYERS = 6
"""More is no text of a reader's."""


@dataclass(frozen=True, eq=False)
class Cleaned:
    """A cleaned text and where it came from."""

    original: str
    text: str
    starts: NDArray[np.int32]
    """For each character of ``text``, where what it came from starts in ``original``."""
    ends: NDArray[np.int32]
    """And where that ends (exclusive)."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the original that a part of the cleaned text (start < end) came from."""
        return int(self.starts[start]), int(self.ends[end - 1])


@dataclass(frozen=True)
class FrontEnd:
    """How texts are cleaned; kept with a saved detector."""

    emoji: Emoji = "words"
    """Emoji become their names in words, stay (with spaces around), or go."""
    undo: bool = True
    """Whether disguised words are undone."""
    identities: Identities = "named"
    """Groups of people are read as they are named, or one word stands for all of them."""
    handles: Handles = "kept"
    """Handles are read as ``@user``, or they go: whom a post is sent to says nothing about it."""

    def __post_init__(self) -> None:
        for name, choices in (
            ("emoji", get_args(Emoji)),
            ("identities", get_args(Identities)),
            ("handles", get_args(Handles)),
        ):
            found = getattr(self, name)
            if found not in choices:
                raise BadInput(f"{name} is {found!r}; expected one of {', '.join(choices)}")

    def clean(self, text: str) -> Cleaned:
        """The text as a reader sees it, with its places in the original."""
        trace = Trace(text, mapped=True)
        if self.handles == "dropped":
            trace.edit(_posts.addresses(text))
        self._clean(trace)
        return Cleaned(text, trace.text, trace.starts, trace.ends)

    def texts(self, texts: Sequence[str]) -> list[str]:
        """The texts as a reader sees them, faster than one by one with their places."""
        if self.handles == "dropped":
            texts = list(map(_posts.without_addresses, texts))
        if self.emoji != "words" and not all(map(str.isascii, texts)):
            return list(map(self._passed, texts))
        told: Iterable[tuple[str, str | None]] = zip(texts, UNCHANGED(texts), strict=True)
        if self.handles == "dropped":  # one may be left that an entity hid
            told = ((text, None if same and "@user" in same else same) for text, same in told)
        if self.identities == "one":  # of an emoji its name does not tell whether it is a sign
            return [
                self._passed(text) if same is None or _emoji.maybe(text) else passed(same)
                for text, same in told
            ]
        return [self._passed(text) if same is None else same for text, same in told]

    def _passed(self, text: str) -> str:
        """The text after all passes."""
        trace = Trace(text, mapped=False)
        self._clean(trace)
        return trace.text

    def _clean(self, trace: Trace) -> None:
        units: dict[str, int] = {}
        before = trace.text
        _plain_characters(trace, units)
        if self.handles == "dropped" and trace.text != before:  # some were written otherwise
            trace.edit(_posts.addresses(trace.text))
        for signs, find in _posts.PASSES:
            if any(sign in trace.text for sign in signs):
                trace.edit(find(trace.text))
        passes = (*_ALWAYS, *_UNDO, _spaces) if self.undo else (*_ALWAYS, _spaces)
        _settle(trace, passes)
        if units:
            trace.edit(_emoji.repeats(trace.text))
            one = {"sign": sign} if self.identities == "one" else {}
            shown = _emoji.show(trace.text, units, self.emoji, **one)
            trace.edit(shown)
            if any(new != new.strip(" ") or not new for _, _, new in shown):
                _settle(trace, passes)  # words that emoji touched stand alone now
        if self.identities == "one":
            for edits in ONE_IDENTITY:
                trace.edit(edits(trace.text))


def _settle(trace: Trace, passes: Iterable[Callable[[str], list[Edit]]]) -> None:
    """Until nothing changes: undoing one thing may bring out another."""
    for _ in range(_LAYERS):
        before = trace.text
        for edits in passes:
            trace.edit(edits(trace.text))
        if trace.text == before:
            return


def _plain_characters(trace: Trace, units: dict[str, int]) -> None:
    """Entities, emoji and unusual characters; again while entities bring new ones."""
    for _ in range(4):
        if not (trace.text.isascii() and trace.text.isprintable()):
            trace.edit(_emoji.find(trace.text, units))
            trace.edit(_characters.fold(trace.text))
            trace.edit(_characters.marks(trace.text))
        edits = _characters.entities(trace.text) if "&" in trace.text else []
        if not edits:
            return
        trace.edit(edits)


def _repeated(text: str) -> list[Edit]:
    """Letters and marks over and over: the word that is meant, and three of a mark."""
    return sorted(stretched(text) + _bounded(text)) if TRIPLE.search(text) else []


def _bounded(text: str) -> list[Edit]:
    """Of the same mark over and over, three."""
    return [(m.start() + (3 if m[1] else 10), m.end(), "") for m in _AGAIN.finditer(text)]


def _spaces(text: str) -> list[Edit]:
    """One space between words, none at the ends."""
    first, last = len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))
    edits: list[Edit] = [(0, first, "")] if first else []
    if "  " in text and first < last:
        edits += [(m.start(), m.end(), " ") for m in _SPACE.finditer(text, first, last)]
    if first < last < len(text):
        edits.append((last, len(text), ""))
    return edits


_ALWAYS = (_posts.crowds, _posts.hashtags, _posts.emphasis, _repeated)
_UNDO = (alike, _characters.marks, spaced, tokens, divided)
"""Letters of other scripts first: they may be among those spaced out."""
# What all passes leave as it is, fewer passes do, too.
UNCHANGED: Unchanged = Unchanged(FrontEnd()._passed)
"""Tells texts that no pass would change."""


def expect_front_end(name: str, made_with: object) -> None:
    """Refuse a detector whose texts were cleaned in another way when it was trained."""
    if made_with != VERSION:
        raise BadInput(
            f"{name}: was trained with version {made_with} of the front end, and this evenhand has "
            f"version {VERSION}; train it again"
        )
