"""What a suite is made of, as it is written down: functionalities, their templates, slurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.audits.filling import slots
from evenhand.data.corpus import Statement

SLUR_SLOTS = ("slur", "slurs")
"""The slots for one slur and for its plural."""


@dataclass(frozen=True, kw_only=True)
class Slur:
    """A slur and the people it is used against."""

    one: str
    many: str
    identity: str


@dataclass(frozen=True, kw_only=True)
class Wording:
    """One text of a template in one set, with what fills it."""

    text: str
    lists: Mapping[str, Sequence[str]]
    """Fillers by slot."""
    identities: Sequence[str]
    slurs: Sequence[Slur]
    substitutions: Sequence[str]

    @property
    def has_slurs(self) -> bool:
        """Whether slurs fill the text."""
        return any(slot in SLUR_SLOTS for slot in slots(self.text))


@dataclass(frozen=True, kw_only=True)
class Template:
    """What is said in each set; all its cases belong together."""

    name: str
    sets: Mapping[str, Sequence[Wording]]


@dataclass(frozen=True, kw_only=True)
class Functionality:
    """One thing a detector must get right, with one gold label in each set."""

    name: str
    title: str
    about: str
    section: str
    gold: Mapping[str, str]
    templates: Sequence[Template] = ()


@dataclass(frozen=True, kw_only=True)
class Source:
    """A suite as it is written down."""

    name: str
    title: str
    statement: Statement
    identities: Mapping[str, Mapping[str, str]]
    """Identity → its forms by name."""
    substitutions: Mapping[str, Mapping[str, str]]
    functionalities: Sequence[Functionality]
