"""Emoji as units: each sequence becomes one private character, and later its name in words.

Skin tones, joined sequences, flags, keycaps: a reader sees one picture. While a text is cleaned it
holds one character of a private plane for each, so that passes over words can see an emoji inside a
word. Keycaps and letter emoji are read as the digits and letters they show; regional letters are a
flag where they stand in pairs that are flags, letters otherwise.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

import emoji
import regex

from evenhand.models._lexicon import lexicon
from evenhand.models._trace import Edit, apart

FIRST = 0x100000
LAST = 0x10FFFD
ONE = f"[{chr(FIRST)}-{chr(LAST)}]"
"""Pattern of one emoji in a text being cleaned."""
_TONES = "\U0001f3fb-\U0001f3ff"
_PICTURE = r"(?:(?=[^\x00-\x7f©®™‼⁉↔-↪])\p{Extended_Pictographic}|[©®™‼⁉↔-↪](?=\ufe0f))"
_PART = rf"{_PICTURE}[\ufe0e\ufe0f]?[{_TONES}]?\ufe0f?[\U000e0020-\U000e007f]*\u20e3?"
_FOUND = regex.compile(
    rf"(?P<keycap>[0-9#*]\ufe0f?\u20e3)|(?P<flags>\p{{Regional_Indicator}}+)"
    rf"|(?P<emoji>{_PART}(?:\u200d{_PART})*|[{_TONES}])|(?P<private>[\ue000-\uf8ff\U000f0000-\U0010ffff])"
)
_MAYBE = re.compile(r"[\u200d\u20e3\u2139\u231a-\u3299\ue000-\uf8ff\ufe0f\U0001f000-\U0010ffff]")
_LETTERS = {
    "🅰": "A", "🅱": "B", "🅾": "O", "🅿": "P", "Ⓜ": "M", "ℹ": "i", "🆎": "AB", "🆑": "CL",
    "🆒": "cool", "🆓": "free", "🆔": "ID", "🆕": "new", "🆗": "OK", "🆘": "SOS", "🆙": "up",
    "🆚": "vs", "🔟": "10",
}  # fmt: skip
_IN_WORDS = {"⭕": "0", "❌": "x", "✖": "x", "❎": "x", "❗": "!", "❕": "!", "💲": "$", "➕": "+",
             "💰": "$"}  # fmt: skip
_ONE = re.compile(ONE)
_PLAIN = re.compile(rf"[\ufe0e\ufe0f{_TONES}]")
_TONED = re.compile(r" ?(?:medium )?(?:light|medium|dark) skin tone")
_SPACES = re.compile(r"[^\w]+|_")
_REPEATED = re.compile(rf"(({ONE})(?: *\2){{2}})(?: *\2)+")


def maybe(text: str) -> bool:
    """Whether there may be an emoji in a text; where not, there is none."""
    return not text.isascii() and _MAYBE.search(text) is not None


def find(text: str, units: dict[str, int]) -> list[Edit]:
    """Edits that put one private character for each emoji; ``units`` grows by the new ones.

    Private characters already there are not a reader's business and go.
    """
    maybe = _MAYBE.search(text)
    if not maybe:
        return []
    edits = []
    # From one before: a keycap starts with a digit.
    for match in _FOUND.finditer(text, pos=max(0, maybe.start() - 1)):
        start, end = match.span()
        kind, found = match.lastgroup, match[0]
        if kind == "keycap":
            new = found[0]
        elif kind == "flags":
            new = _flags(found, units, _beside(text, start, end))
        elif kind == "private":
            new = ""
        else:
            plain = _PLAIN.sub("", found)
            new = _LETTERS.get(plain, "")
            if not new and plain in _IN_WORDS and _beside(text, start, end) == 2:
                new = _IN_WORDS[plain]
            new = new or _private(found, units)
        edits.append((start, end, new))
    return edits


def _beside(text: str, start: int, end: int) -> int:
    """On how many sides a letter touches."""
    return (start > 0 and text[start - 1].isalpha()) + (end < len(text) and text[end].isalpha())


def _flags(run: str, units: dict[str, int], touching: int) -> str:
    letters = "".join(chr(ord(c) - 0x1F1E6 + ord("A")) for c in run)
    pairs = [run[i : i + 2] for i in range(0, len(run), 2)]
    word = len(run) > 3 and lexicon().counts.get(letters.lower(), 0) > 0
    if touching or word or not all(pair in emoji.EMOJI_DATA for pair in pairs):
        return letters
    return "".join(_private(pair, units) for pair in pairs)


def _private(sequence: str, units: dict[str, int]) -> str:
    """The character that stands for a sequence in this text."""
    if len(units) > LAST - FIRST and sequence not in units:
        return " "
    return chr(FIRST + units.setdefault(sequence, len(units)))


def repeats(text: str) -> list[Edit]:
    """Of one emoji over and over, three."""
    return [(m.end(1), m.end(), "") for m in _REPEATED.finditer(text)]


def show(
    text: str,
    units: dict[str, int],
    how: str,
    sign: Callable[[str], str | None] = lambda plain: None,
) -> list[Edit]:
    """Private characters become names in words, the emoji themselves, or a space.

    Where ``sign`` has a word for an emoji (without tones), that is said of it in place of its name.
    """
    sequences = list(units)
    edits = []
    for match in _ONE.finditer(text):
        sequence = sequences[ord(match[0]) - FIRST]
        new = "" if how == "dropped" else sign(_PLAIN.sub("", sequence))
        if new is None:
            new = name(sequence) if how == "words" else sequence
        edits.append(apart(text, match.start(), match.end(), new))
    return edits


@lru_cache(1 << 13)
def name(sequence: str) -> str:
    """The name of an emoji in words; of parts joined in a way nobody named, the names of the parts.

    >>> name("🤡"), name("👍🏽"), name("🇫🇷")
    ('clown face', 'thumbs up', 'France')
    """
    plain = _PLAIN.sub("", sequence)
    if named := _names().get(plain):
        return named
    parts = [part for part in plain.split("\u200d") if part]
    if len(parts) > 1:
        return " ".join(name(part) for part in parts)
    known = _names().get(plain[:1]) or unicodedata.name(plain[:1], "").lower()
    return _SPACES.sub(" ", known).strip()


@lru_cache(1)
def _names() -> dict[str, str]:
    """Names by sequence without tones and variation selectors."""
    found: dict[str, str] = {}
    for sequence, facts in emoji.EMOJI_DATA.items():
        plain = _PLAIN.sub("", sequence)
        if plain == sequence or plain not in found:
            words = _SPACES.sub(" ", facts["en"].strip(":")).strip()
            # Some are known with two tones only, and a tone by itself is plain.
            found[plain] = _TONED.sub("", words) or "skin tone"
    return found
