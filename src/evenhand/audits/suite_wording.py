"""One text of a template in one set: its slots, its regions and what was chosen for it, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.audits.filling import MISSPELLINGS, has_region, slots, stray
from evenhand.audits.suite_card import TEXT, TEXTS, Reading, filler_faults
from evenhand.audits.suite_records import SLUR_SLOTS, Wording

CHOICES = ("identities", "slurs", "substitutions")
OWN_KEYS = ("name", "text", *CHOICES)
"""Keys of a template or text that name no slot."""


def read_wording(
    shared: Mapping[str, Any], own: Mapping[str, Any], where: str, reading: Reading
) -> Wording:
    """A text from its own table and from what its template shares."""
    given = {**shared, **own}
    text = reading.take(given, "text", TEXT, where, needed=True)
    fillers = {key: value for key, value in given.items() if key not in OWN_KEYS}
    lists = {**reading.slots, **fillers}
    for slot in dict.fromkeys(slots(text)):
        if slot in fillers:
            _check_slot(slot, fillers, where, reading)
    wording = Wording(
        text=text,
        lists={slot: lists[slot] for slot in slots(text) if slot in lists},
        identities=_chosen(given, "identities", reading.identities, where, reading),
        slurs=[
            reading.slurs[name] for name in _chosen(given, "slurs", reading.slurs, where, reading)
        ],
        substitutions=_chosen(
            given, "substitutions", reading.substitutions, where, reading, also=MISSPELLINGS
        ),
    )
    for what in _text_faults(wording, {*lists, *SLUR_SLOTS, *reading.forms}, reading):
        reading.fault(where, what)
    for key in sorted(set(own) - {*OWN_KEYS, *slots(text)}):
        reading.fault(where, f"{key!r} is not used as a slot; take it out, or use it")
    if has_region(text) and not (wording.substitutions or "substitutions" in given):
        reading.fault(
            where, "a [[region]] but no substitution; expected one in the suite or in the template"
        )
    return wording


def _check_slot(slot: str, fillers: Mapping[str, Any], where: str, reading: Reading) -> None:
    reading.take(fillers, slot, TEXTS, where)
    if isinstance(fillers[slot], list):
        for what in filler_faults(f"slot {slot!r}", fillers[slot]):
            reading.fault(where, what)
    if slot in reading.forms or slot in SLUR_SLOTS:
        reading.fault(where, f"slot {slot!r} is also filled with identities or slurs; rename it")


def _text_faults(wording: Wording, known: set[str], reading: Reading) -> Iterator[str]:
    used = dict.fromkeys(slots(wording.text))
    for slot in used:
        if slot not in known:
            yield f"unknown placeholder {{{slot}}}; known are {', '.join(sorted(known))}"
    if alone := stray(wording.text):
        yield f"{alone!r} stands alone; expected {{slot}} or [[region]]"
    if wording.has_slurs and reading.forms & set(used):
        for identity in sorted({slur.identity for slur in wording.slurs} - set(reading.identities)):
            yield (
                f"slurs against {identity}, who are no identity of the suite; add the identity, or "
                "name other `slurs`"
            )


def _chosen(
    given: Mapping[str, Any],
    key: str,
    known: Mapping[str, object],
    where: str,
    reading: Reading,
    also: Mapping[str, object] | None = None,
) -> list[str]:
    """The names that were chosen under a key, by default all."""
    if key not in given:
        return list(known)
    chosen = reading.take(given, key, TEXTS, where)
    if given[key] == []:
        reading.fault(where, f"{key} is []; expected at least one, or no such key for all")
    every = [*known, *(also or ())]
    names = [name for name in chosen if isinstance(name, str)]
    for name in names:
        if name not in every:
            reading.fault(where, f"{key}: unknown {name!r}; known are {', '.join(every)}")
    return [name for name in names if name in every]
