"""A detector's refusal of a text, with a reason that does not repeat the text.

A server or a function may quote what it was given: in small letters, escaped, with other signs
between the words, or one word of it. Reason and text are therefore compared by their letters alone,
without case, accents and escapes. What is hidden may be an innocent word that stands in both.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

SAMPLE = 32
"""Of so many texts at most half may be refused; else the detector is broken as a whole."""
_LONGEST = 300
_SHARED = 10
"""So many letters in a row that a reason shares with the text are taken for a quotation."""
_WORD = 4
"""A word of the text with so many letters is hidden wherever it stands."""
_STEM = 5
"""With so many letters also within a longer word, or as a part of one."""
_JOINED = 12
"""So many pieces of a reason may make up a word of the text: ``v-e-r-m-i-n``."""
_QUOTED = re.compile(r"'[^']+'|\"[^\"]+\"|“[^”]+”")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|([\"'/\\nrt]))")
_GAP = "[…]"


@dataclass(frozen=True)
class Refused:
    """The answer of a detector that cannot score a text."""

    reason: str
    """Without the text."""


def without_text(reason: str, text: str) -> str:
    """The reason without what it repeats of the text, in one line of bearable length.

    >>> without_text("KeyError: 'fool'", "You Fool")
    'KeyError: […]'
    >>> without_text("cannot read you-are-all-vermin (line 1)", "You are all vermin")
    'cannot read […] (line 1)'
    """
    texts = dict.fromkeys((" ".join(text.split()), " ".join(unescaped(text).split())))
    plain = _cut(unescaped(reason))
    hidden = plain
    for one in texts:
        hidden = _hidden(hidden, one)
    if hidden == plain:  # No quotation: the reason may stay as it was written.
        hidden = _cut(reason)
        for one in texts:
            hidden = _hidden(hidden, one)
    return hidden[:_LONGEST]


def unescaped(written: str) -> str:
    r"""What was meant, however it was escaped for HTML, JSON or a URL, also twice.

    >>> unescaped(r"caf\\u00e9 &amp;lt; a%20b")
    'café < a b'
    """
    for _ in range(3):
        meant = unquote(html.unescape(_ESCAPED.sub(_meant, written)), errors="replace")
        # Halves of a character, as JSON writes what is beyond the first 65,536.
        meant = meant.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if meant == written:
            break
        written = meant
    return written


def _meant(escape: re.Match[str]) -> str:
    number = escape[1] or escape[2] or escape[3]
    if number is None:
        return {"n": "\n", "r": "\r", "t": "\t"}.get(escape[4], escape[4])
    return chr(int(number, 16)) if int(number, 16) <= 0x10FFFF else "\ufffd"


def _cut(reason: str) -> str:
    """One line that ends with a whole word, so that no half of one escapes."""
    line = " ".join(reason.split())
    return line if len(line) <= 2 * _LONGEST else line[: 2 * _LONGEST].rsplit(" ", 1)[0]


def _hidden(reason: str, text: str) -> str:
    """The reason with a gap for each quotation."""
    folded = text.casefold()
    reason = _QUOTED.sub(lambda q: _GAP if q[0][1:-1].casefold() in folded else q[0], reason)
    if len(text) > 2:
        reason = re.sub(re.escape(text), _GAP, reason, flags=re.IGNORECASE)
    spans = sorted([*_words(reason, text), *_runs(reason, text)], reverse=True)
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        # Neighbours with no letter between them share a gap.
        if merged and not _letters(reason[end : merged[-1][0]]):
            end = max(end, merged.pop()[1])
        merged.append((start, end))
    for start, end in merged:
        reason = f"{reason[:start]}{_GAP}{reason[end:]}"
    return reason


def _words(reason: str, text: str) -> Iterator[tuple[int, int]]:
    """Where words of the text stand, whole, in pieces, or in another word."""
    whole = _letters(text)
    words = {_letters(word) for word in text.split()} | {word for _, _, word in _pieces(text)}
    words = {word for word in words if len(word) >= _WORD} | ({whole} if len(text) > 2 else set())
    stems = [word for word in words if len(word) >= _STEM]
    pieces = list(_pieces(reason))
    for first, (start, end, piece) in enumerate(pieces):
        if any(stem in piece or (len(piece) >= _STEM and piece in stem) for stem in stems):
            yield start, end
        joined = ""
        for _, end_of_last, letters in pieces[first : first + _JOINED]:
            joined += letters
            if joined in words:
                yield start, end_of_last


def _runs(reason: str, text: str) -> Iterator[tuple[int, int]]:
    """Where many letters in a row are those of the text, whatever is between them."""
    placed = [(at, letter) for at, sign in enumerate(reason) for letter in _letters(sign)]
    letters = "".join(letter for _, letter in placed)
    known = _letters(text)
    rows = {known[at : at + _SHARED] for at in range(len(known) - _SHARED + 1)}
    for at in range(len(letters) - _SHARED + 1):
        if letters[at : at + _SHARED] in rows:
            yield placed[at][0], placed[at + _SHARED - 1][0] + 1


def _pieces(written: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and letters of each unbroken row of letters."""
    start = 0
    for at in range(len(written) + 1):
        if at == len(written) or not (_letters(written[at]) or unicodedata.combining(written[at])):
            if letters := _letters(written[start:at]):
                yield start, at, letters
            start = at + 1


def _letters(written: str) -> str:
    """Letters and digits, without case and accents."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", written).casefold())
    return "".join(sign for sign in plain if sign.isalnum())
