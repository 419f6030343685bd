"""What the whole of a suite shares: its card, identities, slots and substitutions, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.audits.filling import MISSPELLINGS, marked
from evenhand.audits.shapes import misfit, name_fault
from evenhand.audits.suite_records import SLUR_SLOTS, Slur
from evenhand.core.errors import Fault
from evenhand.data.corpus import Statement

Shape = tuple[str, Any]
"""What is expected, in words and as a shape."""
TEXT: Shape = ("a text", "")
TEXTS: Shape = ("a list of texts", [""])
_SHAPES: Mapping[str, Shape] = {
    "name": TEXT,
    "title": TEXT,
    "statement": ("a table of texts", {"": ""}),
    "identities": ("a table of identities, each a table of texts: its forms", {"": {"": ""}}),
    "slots": ("a table of lists of texts", {"": [""]}),
    "substitutions": (
        "a table of substitutions, each a table: a letter, and the text that is written for it",
        {"": {"": ""}},
    ),
}
CARD_KEYS = tuple(_SHAPES)


@dataclass
class Reading:
    """Faults met so far, and what the whole suite shares."""

    slurs: Mapping[str, Slur]
    faults: list[Fault] = field(default_factory=list)
    identities: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    slots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    substitutions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def fault(self, where: str, what: str) -> None:
        """Remember a fault."""
        self.faults.append(Fault(where, what))

    def take(
        self, entry: Mapping[str, Any], key: str, shape: Shape, where: str, *, needed: bool = False
    ) -> Any:
        """What stands under a key, or something empty of its kind; a fault if it does not fit."""
        words, example = shape
        empty = type(example)()
        if key not in entry:
            if needed:
                self.fault(where, f"{key} is missing; expected {words}")
            return empty
        value = entry[key]
        wrong = misfit(value, example, key)
        if wrong:
            self.fault(where, f"{wrong}; expected {words}")
        return value if isinstance(value, type(empty)) else empty

    def keys(self, entry: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        """A fault for every key that is not known."""
        for key in sorted(set(entry) - set(known)):
            self.fault(where, f"unknown key {key!r}; expected one of {', '.join(sorted(known))}")

    @property
    def forms(self) -> set[str]:
        """The names of the identities' forms."""
        return {form for forms in self.identities.values() for form in _table(forms)}


def read_card(main: Mapping[str, Any], where: str, reading: Reading) -> Statement:
    """Check what the whole suite shares, and keep it in the reading."""
    taken = {
        key: reading.take(main, key, shape, where, needed=key in ("name", "title"))
        for key, shape in _SHAPES.items()
    }
    reading.identities = taken["identities"]
    reading.slots = taken["slots"]
    reading.substitutions = taken["substitutions"]
    parts = Statement.__dataclass_fields__
    reading.keys(taken["statement"], list(parts), f"{where}, statement")
    if taken["name"] and (wrong := name_fault(taken["name"])):
        reading.fault(where, wrong)
    for what in (*_form_faults(reading), *_slot_faults(reading), *_substitution_faults(reading)):
        reading.fault(where, what)
    return Statement(**{key: text for key, text in taken["statement"].items() if key in parts})


def _form_faults(reading: Reading) -> Iterator[str]:
    for name, given in reading.identities.items():
        missing = sorted(reading.forms - set(_table(given)))
        if missing:
            yield f"identity {name!r} has no form {', '.join(missing)}; all need the same forms"
        if _table(given):
            yield from filler_faults(f"identity {name!r}", list(given.values()))
    for name in sorted({*reading.slots, *SLUR_SLOTS} & reading.forms):
        yield f"{name!r} is both a slot and a form of an identity; rename one"


def _slot_faults(reading: Reading) -> Iterator[str]:
    for name in sorted(set(reading.slots) & set(SLUR_SLOTS)):
        yield f"slot {name!r} is the name of a built-in one; rename it"
    for name, fillers in reading.slots.items():
        if isinstance(fillers, list):
            yield from filler_faults(f"slot {name!r}", fillers)


def _substitution_faults(reading: Reading) -> Iterator[str]:
    for name, given in reading.substitutions.items():
        if name in MISSPELLINGS:
            yield f"substitution {name!r} is the name of a built-in one; rename it"
        if given == {}:
            yield f"substitution {name!r} is empty; expected a letter and what is written for it"
        for key in _table(given):
            if key != key.lower():
                yield (
                    f"substitution {name!r} has the key {key!r}; expected {key.lower()!r}: "
                    "letters are found in either case"
                )


def filler_faults(name: str, fillers: Sequence[object]) -> Iterator[str]:
    """What is wrong with the texts that fill a slot, if they are texts at all."""
    if not fillers:
        yield f"{name} has nothing to fill it; expected at least one text"
    for filler in fillers:
        if isinstance(filler, str) and marked(filler):
            yield f"{name} is filled with {filler!r}; expected no brace or bracket in a filler"


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
