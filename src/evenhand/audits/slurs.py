"""The one list of slurs that suites use, and how they look wherever people read a case.

>>> star("fool", ["fool"]), star("Foolish fools", ["fool"])
('f*ol', 'Foolish f*ols')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from evenhand.audits.shapes import misfit, read_text, toml
from evenhand.audits.suite_records import Slur
from evenhand.core.errors import BadInput

_VOWEL = re.compile("[aeiou]", re.IGNORECASE)


def our_slurs() -> list[Slur]:
    """The slurs that fill a template."""
    return _ours()[0]


def masked_words() -> list[str]:
    """Every word that is masked where people read a case."""
    slurs, others = _ours()
    return [*(word for slur in slurs for word in (slur.one, slur.many)), *others]


@cache
def _ours() -> tuple[list[Slur], list[str]]:
    return read_slurs(files("evenhand.audits").joinpath("sources", "slurs.toml"))


def read_slurs(place: Traversable | Path) -> tuple[list[Slur], list[str]]:
    """The slurs of a file, and further words that are only masked."""
    document = toml(read_text(place, place.name), place.name)
    slurs, masked = document.get("slur"), document.get("masked", [])
    wrong = misfit(slurs, [{"": ""}], "slur") or misfit(masked, [""], "masked")
    try:
        if wrong is None:
            return [Slur(**entry) for entry in document["slur"]], masked
    except TypeError as error:
        wrong = str(error)
    raise BadInput(
        f"{place.name}: {wrong}; expected [[slur]] with one, many, identity, and a list `masked`"
    )


def starred(text: str) -> str:
    """The text with the words of our list starred."""
    return star(text, _words())


@cache
def _words() -> tuple[str, ...]:
    return tuple(masked_words())


def star(text: str, words: Iterable[str], *, within: bool = False) -> str:
    """The text with the first vowel of each of these words, or its plural, replaced.

    ``within`` finds them inside longer words too. The text keeps its length.
    """
    known = tuple(words)
    if not known:
        return text
    return _pattern(known, within).sub(lambda found: _VOWEL.sub("*", found[0], count=1), text)


@cache
def _pattern(words: tuple[str, ...], within: bool) -> re.Pattern[str]:
    known = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(f"(?:{known})" if within else rf"\b(?:{known})s?\b", re.IGNORECASE)
