"""A post cut into two halves, so that halves of different posts can be put together.

What comes of it is a text nobody wrote, about as long and in the same words as the posts it is made
of. Its label is not known; a teacher can say what it takes it for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_PLACES = (
    re.compile(r"(?<=[.!?…])\s+"),
    re.compile(r"(?<=[,;:–—-])\s+"),
    re.compile(r"\s+(?=(?:and|but|or|because|so|when|if|that|who|while|then)\b)", re.IGNORECASE),
    re.compile(r"\s+"),
)
"""Where a text is cut: between sentences, else between clauses, before a joining word, anywhere."""
_MIDDLE = (0.25, 0.75)
"""Which part of a text is its middle."""


def spliced(texts: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Of each text the first half, and the second of another: a permutation says whose.

    >>> spliced(["I saw them. They were late", "Look! It rains"], np.random.default_rng(3))
    ['I saw them. It rains', 'Look! They were late']
    """
    halves = [halved(text) for text in texts]
    other = rng.permutation(len(halves)).tolist()
    return [
        f"{first} {halves[at][1]}".strip() for (first, _), at in zip(halves, other, strict=True)
    ]


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
