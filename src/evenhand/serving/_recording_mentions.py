"""Which identities a text mentions, by the terms the project has for them.

A mention is a word: nobody is known by it, and texts without one are about people too. Words that
often mean something else ("black", "old") count only before a word for people. English.

>>> mentioned("The old Muslim women on the bus"), mentioned("an old bus")
(('muslim', 'women'), ())
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from evenhand.models._synthetic_source import TERM_SLOTS, source, words


def mentioned(text: str) -> tuple[str, ...]:
    """The identities a text mentions, each once, in order of name."""
    # A letter may look like another in capitals only, so that no term is left.
    found = {_terms().get(_plain(match)) for match in _pattern().finditer(text)}
    return tuple(sorted(who for who in found if who))


def axis_of(identity: str) -> str:
    """What kind of identity it is, such as a religion."""
    return str(source()["identities"][identity]["axis"])


@cache
def _terms() -> Mapping[str, str]:
    """Every term in small letters → its identity."""
    rules = source()["swapping"]
    never = {word.lower() for word in rules["never"]}
    terms: dict[str, str] = {}
    for who in source()["identities"]:
        for word in (word for form in TERM_SLOTS for word in words(form, who)):
            terms.setdefault(word.lower(), who)
    return {word: who for word, who in terms.items() if word not in never}


@cache
def _pattern() -> re.Pattern[str]:
    rules = source()["swapping"]
    people = "|".join(map(re.escape, rules["people"]))
    unclear = {word.lower() for word in rules["unclear"]}
    parts = []
    for term in sorted(_terms(), key=lambda word: (-len(word), word)):
        written = re.escape(term).replace(r"\ ", r"\s+")
        # Only looked at, so that the word for people can be a mention itself.
        parts.append(rf"{written}(?=\s+(?:{people})\b)" if term in unclear else written)
    return re.compile(rf"(?<![\w@#/&-])(?:{'|'.join(parts)})(?![\w-])", re.IGNORECASE)


def _plain(match: re.Match[str]) -> str:
    return " ".join(match[0].lower().split())
