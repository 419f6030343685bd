"""Slurs with their first vowel starred, for wherever people read a case of a suite.

>>> star("fool", ["fool"]), star("Foolish fools", ["fool"])
('f*ol', 'Foolish f*ols')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from evenhand.audits.suites import masked_words

_VOWEL = re.compile("[aeiou]", re.IGNORECASE)


def starred(text: str) -> str:
    """The text with the words of our list starred."""
    return star(text, _words())


@cache
def _words() -> tuple[str, ...]:
    return tuple(masked_words())


def star(text: str, words: Iterable[str]) -> str:
    """The text with the first vowel of each of these words, or its plural, replaced."""
    known = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    if not known:
        return text
    pattern = rf"\b(?:{known})s?\b"
    return re.sub(
        pattern, lambda found: _VOWEL.sub("*", found[0], count=1), text, flags=re.IGNORECASE
    )
