"""A suite as files: templates, slots, identities and a data statement, in TOML.

A suite is a folder with ``suite.toml`` (name, statement, identities, slots, substitutions) and
other TOML files with functionalities and their templates; one file can hold it all. This module
reads and checks; :mod:`evenhand.audits.expansion` makes the cases. Every fault is named with its
file, so that a suite that is being written can be mended in one go.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any

from evenhand.audits.filling import slots
from evenhand.audits.shapes import read_text, toml
from evenhand.audits.suite_card import CARD_KEYS, TEXT, Reading, Shape, read_card
from evenhand.audits.suite_records import Functionality, Slur, Source, Template
from evenhand.audits.suite_wording import CHOICES, OWN_KEYS, read_wording
from evenhand.core.errors import BadInput
from evenhand.data.labels import HATEFUL, OTHER

_MAIN = "suite.toml"
_GOLD = (HATEFUL, OTHER)
_LABELS: Shape = (f"a set → {' or '.join(map(repr, _GOLD))}", {"": ""})
_TABLES: Shape = ("a list of tables, each headed by double brackets", [{}])
_KEYS = ("name", "title", "about", "section", "gold", "template")


Place = Traversable
"""A file or folder: a path, or a resource of a package."""


def read_source(place: Place, slurs: Sequence[Slur]) -> Source:
    """Read a suite from its folder or file; raises with every fault found."""
    documents = dict(_documents(place))
    reading = Reading({slur.one: slur for slur in slurs})
    where = _MAIN if place.is_dir() else place.name
    main = documents.get(where)
    if main is None:
        raise BadInput(
            f"{place.name}: no {_MAIN}; expected the suite's name, statement, identities"
        )
    statement = read_card(main, where, reading)
    found: list[Functionality] = []
    for file, document in documents.items():
        reading.keys(document, ("functionality", *(CARD_KEYS if file == where else ())), file)
        for at, entry in _tables(document, "functionality", file, reading):
            found += _functionality(entry, f"{file}, functionality {_called(entry, at)}", reading)
    _once((each.name for each in found), "functionality", place.name, reading)
    if not (found or reading.faults):
        reading.fault(place.name, "no functionality; expected at least one [[functionality]]")
    if reading.faults:
        raise BadInput(*reading.faults)
    return Source(
        name=main["name"],
        title=main["title"],
        statement=statement,
        identities=reading.identities,
        substitutions=reading.substitutions,
        functionalities=sorted(found, key=lambda functionality: functionality.name),
    )


def _documents(place: Place) -> Iterator[tuple[str, dict[str, Any]]]:
    if not (place.is_file() or place.is_dir()):
        raise BadInput(f"{place}: no such file or folder; expected a suite in TOML")
    inside = [place] if place.is_file() else place.iterdir()
    for file in sorted(inside, key=lambda file: str(file.name)):
        if file is place or file.name.endswith(".toml"):
            yield file.name, toml(read_text(file, file.name), file.name)


def _tables(
    entry: Mapping[str, Any], key: str, where: str, reading: Reading
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The tables of a list with their numbers."""
    for at, table in enumerate(reading.take(entry, key, _TABLES, where), start=1):
        if isinstance(table, dict):
            yield at, table


def _called(entry: Mapping[str, Any], number: int) -> str | int:
    name = entry.get("name")
    return name if isinstance(name, str) and name.strip() else number


def _once(names: Iterable[str], what: str, where: str, reading: Reading) -> None:
    known = [name for name in names if name]
    for name in sorted({name for name in known if known.count(name) > 1}):
        reading.fault(where, f"{what} {name!r} stands there twice; expected once")


def _functionality(
    entry: Mapping[str, Any], where: str, reading: Reading
) -> Iterator[Functionality]:
    before = len(reading.faults)
    name, title, about = (
        reading.take(entry, key, TEXT, where, needed=True) for key in ("name", "title", "about")
    )
    section = reading.take(entry, "section", TEXT, where)
    reading.keys(entry, _KEYS, where)
    gold = _gold(entry, where, reading)
    templates = [
        _template(template, f"{where}, template {_called(template, at)}", gold, reading)
        for at, template in _tables(entry, "template", where, reading)
    ]
    if not entry.get("template"):
        reading.fault(where, "no template; expected at least one [[functionality.template]]")
    _once((template.name for template in templates), "template", where, reading)
    if len(reading.faults) == before:
        yield Functionality(
            name=name,
            title=title,
            about=about,
            section=section,
            gold=gold,
            templates=sorted(templates, key=lambda template: template.name),
        )


def _gold(entry: Mapping[str, Any], where: str, reading: Reading) -> Mapping[str, str]:
    before = len(reading.faults)
    gold: Mapping[str, str] = reading.take(entry, "gold", _LABELS, where, needed=True)
    wrong = not gold or any(label not in _GOLD for label in gold.values())
    if wrong and len(reading.faults) == before:
        reading.fault(where, f"gold is {dict(gold)}; expected {_LABELS[0]}")
    for name in sorted(set(gold) & set(OWN_KEYS)):
        reading.fault(where, f"gold: a set cannot be called {name!r}; rename it")
    return gold


def _template(
    entry: Mapping[str, Any], where: str, gold: Mapping[str, str], reading: Reading
) -> Template:
    before = len(reading.faults)
    name = reading.take(entry, "name", TEXT, where, needed=True)
    shared = {k: v for k, v in entry.items() if k != "name" and k not in gold}
    sets = {
        set_: [
            read_wording(shared, own, f"{where}, {set_}", reading)
            for own in _given(entry[set_], f"{where}, {set_}", reading)
        ]
        for set_ in gold
        if set_ in entry
    }
    if gold and not sets:
        reading.fault(where, f"no text; expected one of the sets {', '.join(gold)}")
    used = {slot for some in sets.values() for wording in some for slot in slots(wording.text)}
    # Without its texts, or without the sets, one cannot tell what is used.
    if gold and len(reading.faults) == before:
        for key in sorted(set(shared) - set(CHOICES) - used):
            reading.fault(
                where, f"{key!r} is neither a set of this functionality nor used as a slot"
            )
    return Template(name=name, sets=sets)


def _given(value: Any, where: str, reading: Reading) -> list[dict[str, Any]]:
    """The texts of a set, each as a table."""
    parts = value if isinstance(value, list) else [value]
    tables = [{"text": part} if isinstance(part, str) else part for part in parts]
    if tables and all(isinstance(table, dict) for table in tables):
        return tables
    reading.fault(
        where,
        f"the set is {reprlib.repr(value)}; expected a text, a table with `text`, or a list of "
        "those",
    )
    return []
