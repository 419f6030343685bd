"""The data behind the sentences made for training: identities, slurs, signs, lists, kinds."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

SLOT = re.compile(r"\{(\w+)\}")
TERM_SLOTS = ("many", "one", "adj")
"""The forms of an identity term: a group, a member, the adjective."""
SLUR_SLOTS = {"slur": "one", "slurs": "many"}


@cache
def source() -> Mapping[str, Any]:
    """The data file as it stands."""
    place = files("evenhand.models").joinpath("sources", "synthetic.toml")
    found: Mapping[str, Any] = tomllib.loads(place.read_text(encoding="utf-8"))
    return found


def slots(text: str) -> tuple[str, ...]:
    """The slots of a template, in order.

    >>> slots("{a} {one} lives in {city}")
    ('a', 'one', 'city')
    """
    return tuple(SLOT.findall(text))


def words(slot: str, who: str | None) -> list[str]:
    """What may fill a slot of a sentence about an identity, or about nobody."""
    if slot in SLUR_SLOTS:
        return [source()["slurs"][who][SLUR_SLOTS[slot]]]
    if slot == "sign":
        return [source()["signs"][who]]
    if slot not in TERM_SLOTS:
        return list(source()["lists"][slot])
    found = source()["identities"][who][slot]
    return [found] if isinstance(found, str) else list(found)
