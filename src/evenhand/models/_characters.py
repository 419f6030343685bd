"""Characters as a reader sees them: entities, look-alike forms of letters, what cannot be seen.

Letters in other forms (wide, bold, circled, small capitals) are folded where a plain letter looks
the same; ordinary accents are left to the tokenizer, marks that strike through or pile up are not.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

from evenhand.models._trace import Edit

_AMPERSAND = r"&(?:amp;|#0*38;|#[xX]0*26;)*"
_NAME = r"#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};|(?:amp|lt|gt|quot|nbsp)\b"
_ENTITY = re.compile(f"{_AMPERSAND}(?:{_NAME})|&(?:amp;|#0*38;|#[xX]0*26;)+")
_FIRST_AMPERSANDS = re.compile(_AMPERSAND)
_ODD = re.compile("[\x00-\x1f\x7f-\U0010ffff]+")
_SAME = {
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'", "ʼ": "'", "`": "'", "´": "'",
    "“": '"', "”": '"', "„": '"', "″": '"', "«": '"', "»": '"',
    "‐": "-", "‑": "-", "‒": "-", "−": "-", "⁃": "-",
    "∗": "*", "⁎": "*", "✱": "*", "✲": "*", "✻": "*", "﹡": "*", "⋆": "*", "٭": "*",
    "•": "*", "●": "*", "∙": "*", "·": "·", "‧": "·", "⁄": "/", "∕": "/",
    "ı": "i", "ȷ": "j", "ɑ": "a", "ɡ": "g", "ɩ": "i", "ʟ": "L", "ℓ": "l", "ⅼ": "l",
    "×": "x", "™": "™", "©": "©", "®": "®",
}  # fmt: skip
_SMALL = re.compile(r"LATIN LETTER SMALL CAPITAL ([A-Z])$")
_BOXED = re.compile(r"(?:SQUARED|CIRCLED) LATIN (?:CAPITAL|SMALL) LETTER ([A-Z])$")
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def entities(text: str) -> list[Edit]:
    """HTML entities, also escaped more than once, become what they stand for."""
    edits = []
    for match in _ENTITY.finditer(text):
        one = _FIRST_AMPERSANDS.sub("&", match[0], count=1)
        new = "&" if one == "&" else html.unescape(one)
        if new != match[0]:
            edits.append((match.start(), match.end(), _drop_private(new)))
    return edits


def _drop_private(text: str) -> str:
    return "".join(c for c in text if unicodedata.category(c) != "Co")


def fold(text: str) -> list[Edit]:
    """Every character that is not plain ASCII, as a reader sees it."""
    return [
        (at, at + 1, new)
        for match in _ODD.finditer(text)
        for at, char in enumerate(match[0], match.start())
        if (new := _seen(char)) != char
    ]


def marks(text: str) -> list[Edit]:
    """Accents join their letter; marks that make no letter with a Latin one are no accents."""
    if text.isascii():
        return []
    edits: list[Edit] = []
    for match in _MARKS.finditer(text):
        start, end = match.span()
        base = text[start - 1] if start else " "
        if base > "\u024f" and not "\u1e00" <= base <= "\u1eff":
            continue
        letter = unicodedata.normalize("NFC", base + match[0][:3])
        new = letter if len(letter) == 1 and end - start < 4 else base
        edits.append((start - 1, end, new) if start else (start, end, ""))
    return edits


@lru_cache(1 << 14)
def _seen(char: str) -> str:
    """One character as seen; "" for what is not seen, and for a mark that is no accent."""
    if char in _SAME:
        return _SAME[char]
    if char.isspace():
        return " "
    kind = unicodedata.category(char)
    if kind in ("Cc", "Cf", "Cs") or "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0000":
        return char if char >= "\U00100000" else ""
    if char in "ㅤᅟᅠﾠ⠀":  # blank letters
        return " "
    plain = unicodedata.normalize("NFKC", char)
    if plain != char and plain.isascii() and plain.isprintable():
        # Not (a) but a: brackets around an enclosed letter are its frame.
        return plain.strip("()") if len(plain) == 3 and plain[1].isalpha() else plain
    if plain != char and len(plain) == 1 and unicodedata.decomposition(char).startswith("<"):
        return plain
    name = unicodedata.name(char, "")
    boxed = _SMALL.search(name) or _BOXED.search(name)
    return boxed[1] if boxed else char
