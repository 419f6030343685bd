"""A post cut into two halves, so that halves of different posts can be put together.

What comes of it is a text nobody wrote, about as long and in the same words as the posts it is made
of. Its label is not known; a teacher can say what it takes it for.
"""

from __future__ import annotations

import re

_PLACES = (
    re.compile(r"(?<=[.!?…])\s+"),
    re.compile(r"(?<=[,;:–—-])\s+"),
    re.compile(r"\s+(?=(?:and|but|or|because|so|when|if|that|who|while|then)\b)", re.IGNORECASE),
    re.compile(r"\s+"),
)
"""Where a text is cut: between sentences, else between clauses, before a joining word, anywhere."""
_MIDDLE = (0.25, 0.75)
"""Which part of a text is its middle."""


def halved(text: str) -> tuple[str, str]:
    """The two halves of a text, cut at the best place near its middle.

    >>> halved("I saw them. They were late again")
    ('I saw them.', 'They were late again')
    >>> halved("alone")
    ('alone', '')
    """
    low, high = (share * len(text) for share in _MIDDLE)
    for places in _PLACES:
        found = [match for match in places.finditer(text) if low <= match.start() <= high]
        if found:
            best = min(found, key=lambda match: abs(match.start() - len(text) / 2))
            return text[: best.start()], text[best.end() :]
    return text, ""
