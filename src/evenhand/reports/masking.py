"""Texts without the names of people: handles, links and e-mail addresses are replaced.

What is replaced is generous on purpose (a word with dots after an @ goes as a whole): losing half
a word is better than printing a name. Names written out in the text itself are not found; a masked
text is still not anonymous.

>>> mask("RT @Jane_D: write to jane@example.org or see https://t.co/Ab1")
'RT @user: write to [e-mail] or see [link]'
"""

from __future__ import annotations

import re

_INVISIBLE = "[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]*"
_AT = f"[@＠﹫]{_INVISIBLE}"
_DOMAINS = "com|org|net|info|edu|gov|io|co|me|tv|uk|us|de|fr|ca|au|eu|ly|gl|be|social|app|news"

_EMAIL = re.compile(rf"[\w.+%-]+{_AT}[\w-]+(?:\.[\w-]+)+")
_LINK = re.compile(
    r"(?:[a-z][a-z0-9+]*://|www\.)\S+"
    r"|(?<!@)\b(?:[\w-]+\.)+[a-z]{2,}/\S*"
    rf"|(?<!@)\b(?:[\w-]+\.)+(?:{_DOMAINS})\b",
    re.IGNORECASE,
)
_HANDLE = re.compile(rf"(?:{_AT}\w+(?:[.-]\w+)*)+")
_HANDLE_FIRST = re.compile(rf"(?<!\w){_HANDLE.pattern}")
_REDDIT = re.compile(r"(?<![\w/])/?u/[\w-]{3,}", re.IGNORECASE)


PATTERNS = (
    (_REDDIT, "handle"),
    # A handle with a server (@jane@example.org) has to go before e-mail addresses are looked for.
    (_HANDLE_FIRST, "handle"),
    (_EMAIL, "email"),
    (_LINK, "link"),
    (_HANDLE, "handle"),
)
"""What is replaced, in this order, and what it is."""
_SHOWN = {"handle": "@user", "email": "[e-mail]", "link": "[link]"}


def mask(text: str) -> str:
    """The text with @user for handles, [link] for links and [e-mail] for e-mail addresses."""
    for pattern, kind in PATTERNS:
        text = pattern.sub(_SHOWN[kind], text)
    return text
