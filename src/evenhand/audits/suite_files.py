"""A suite as files: templates, slots, identities and a data statement, in TOML.

A suite is a folder with ``suite.toml`` (name, statement, identities, slots, substitutions) and
other TOML files with functionalities and their templates; one file can hold it all. This module
reads and checks; :mod:`evenhand.audits.expansion` makes the cases. Every fault is named with its
file, so that a suite that is being written can be mended in one go.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any

from evenhand.audits.filling import MISSPELLINGS, slots
from evenhand.core.errors import BadInput, Fault
from evenhand.data.corpus import Statement
from evenhand.data.labels import HATEFUL, OTHER

_MAIN = "suite.toml"
_GOLD = (HATEFUL, OTHER)
_SLURS = ("slur", "slurs")
_CHOICES = ("identities", "slurs", "substitutions")
_SUITE_KEYS = {"name", "title", "statement", "identities", "slots", "substitutions"}
_KEYS = {"name", "title", "about", "section", "gold", "template"}


Place = Traversable
"""A file or folder: a path, or a resource of a package."""


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


@dataclass
class _Reading:
    """Faults met so far, and what the whole suite shares."""

    slurs: Mapping[str, Slur]
    faults: list[Fault] = field(default_factory=list)
    identities: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    slots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    substitutions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def fault(self, where: str, what: str) -> None:
        self.faults.append(Fault(where, what))

    @property
    def forms(self) -> set[str]:
        return {form for forms in self.identities.values() for form in forms}


def read_source(place: Place, slurs: Sequence[Slur]) -> Source:
    """Read a suite from its folder or file; raises with every fault found."""
    documents = dict(_documents(place))
    reading = _Reading({slur.one: slur for slur in slurs})
    main = documents.get(_MAIN) if place.is_dir() else next(iter(documents.values()))
    if main is None:
        raise BadInput(
            f"{place.name}: no {_MAIN}; expected the suite's name, statement, identities"
        )
    where = _MAIN if place.is_dir() else place.name
    statement = _shared(main, where, reading)
    found: list[Functionality] = []
    for file, document in documents.items():
        allowed = {"functionality", *(_SUITE_KEYS if document is main else ())}
        for key in sorted(set(document) - allowed):
            reading.fault(
                file, f"unknown key {key!r}; expected one of {', '.join(sorted(allowed))}"
            )
        for number, entry in enumerate(document.get("functionality", ()), start=1):
            found += _functionality(entry, file, number, reading)
    names = [functionality.name for functionality in found]
    for name in sorted({name for name in names if names.count(name) > 1}):
        reading.fault(place.name, f"functionality {name!r} stands there twice; expected once")
    if not found:
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


def read_slurs(place: Place) -> tuple[list[Slur], list[str]]:
    """The slurs of a file, and further words that are only masked."""
    document = _toml(place)
    try:
        return [Slur(**entry) for entry in document["slur"]], list(document.get("masked", ()))
    except (KeyError, TypeError) as error:
        raise BadInput(
            f"{place.name}: {error}; expected [[slur]] with one, many, identity"
        ) from None


def _documents(place: Place) -> Iterator[tuple[str, dict[str, Any]]]:
    if place.is_file():
        yield place.name, _toml(place)
        return
    if not place.is_dir():
        raise BadInput(f"{place}: no such file or folder; expected a suite in TOML")
    for file in sorted(place.iterdir(), key=lambda file: str(file.name)):
        if file.name.endswith(".toml"):
            yield file.name, _toml(file)


def _toml(place: Place) -> dict[str, Any]:
    try:
        return tomllib.loads(place.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{place.name}: not TOML: {error}") from error


def _shared(main: Mapping[str, Any], where: str, reading: _Reading) -> Statement:
    """Check what the whole suite shares."""
    for key in ("name", "title"):
        if not isinstance(main.get(key), str):
            reading.fault(where, f"{key} is missing; expected a text")
    known = set(Statement.__dataclass_fields__)
    statement = main.get("statement", {})
    for key in sorted(set(statement) - known):
        reading.fault(where, f"statement: unknown key {key!r}; expected {', '.join(sorted(known))}")
    reading.identities = main.get("identities", {})
    reading.slots = main.get("slots", {})
    reading.substitutions = main.get("substitutions", {})
    for name, forms in reading.identities.items():
        if set(forms) != reading.forms:
            missing = ", ".join(sorted(reading.forms - set(forms)))
            reading.fault(
                where, f"identity {name!r} has no form {missing}; all need the same forms"
            )
    for name in sorted((set(reading.slots) | set(_SLURS)) & reading.forms):
        reading.fault(where, f"{name!r} is both a slot and a form of an identity; rename one")
    for name in sorted(set(reading.substitutions) & set(MISSPELLINGS)):
        reading.fault(where, f"substitution {name!r} is the name of a built-in one; rename it")
    return Statement(**{key: text for key, text in statement.items() if key in known})


def _functionality(
    entry: Mapping[str, Any], file: str, number: int, reading: _Reading
) -> Iterator[Functionality]:
    name = entry.get("name")
    where = f"{file}, functionality {name or number}"
    before = len(reading.faults)
    for key in ("name", "title", "about"):
        if not isinstance(entry.get(key), str):
            reading.fault(where, f"{key} is missing; expected a text")
    for key in sorted(set(entry) - _KEYS):
        reading.fault(where, f"unknown key {key!r}; expected one of {', '.join(sorted(_KEYS))}")
    gold = entry.get("gold", {})
    if not gold or not set(gold.values()) <= set(_GOLD):
        reading.fault(where, f"gold is {gold}; expected a set → {' or '.join(map(repr, _GOLD))}")
    templates = [
        _template(template, f"{where}, template {template.get('name', at)}", gold, reading)
        for at, template in enumerate(entry.get("template", ()), start=1)
    ]
    if not templates:
        reading.fault(where, "no template; expected at least one [[functionality.template]]")
    names = [template.name for template in templates]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        reading.fault(where, f"template {twice!r} stands there twice; expected once")
    if len(reading.faults) == before:
        yield Functionality(
            name=entry["name"],
            title=entry["title"],
            about=entry["about"],
            section=entry.get("section", ""),
            gold=gold,
            templates=sorted(templates, key=lambda template: template.name),
        )


def _template(
    entry: Mapping[str, Any], where: str, gold: Mapping[str, str], reading: _Reading
) -> Template:
    if not isinstance(entry.get("name"), str):
        reading.fault(where, "name is missing; expected a text")
    shared = {k: v for k, v in entry.items() if k != "name" and k not in gold}
    sets: dict[str, list[Wording]] = {}
    for name in gold:
        if name in entry:
            given = entry[name] if isinstance(entry[name], list) else [entry[name]]
            texts = [{"text": one} if isinstance(one, str) else one for one in given]
            sets[name] = [
                _wording({**shared, **text}, f"{where}, {name}", reading) for text in texts
            ]
    if not sets:
        reading.fault(where, f"no text; expected one of the sets {', '.join(gold)}")
    used = {slot for some in sets.values() for wording in some for slot in slots(wording.text)}
    for key in sorted(set(shared) - set(_CHOICES) - used):
        reading.fault(where, f"{key!r} is neither a set of this functionality nor used as a slot")
    return Template(name=entry.get("name", ""), sets=sets)


def _wording(given: Mapping[str, Any], where: str, reading: _Reading) -> Wording:
    text = given.get("text")
    if not isinstance(text, str) or not text:
        reading.fault(where, f"text is {text!r}; expected a text")
        text = "-"
    lists = {**reading.slots, **{k: v for k, v in given.items() if k not in (*_CHOICES, "text")}}
    known = {*lists, *_SLURS, *reading.forms}
    for slot in slots(text):
        if slot not in known:
            reading.fault(
                where, f"unknown placeholder {{{slot}}}; known are {', '.join(sorted(known))}"
            )
        elif slot in lists and not _is_list(lists[slot]):
            reading.fault(where, f"slot {slot!r} is {lists[slot]!r}; expected a list of texts")
    return Wording(
        text=text,
        lists={slot: lists[slot] for slot in slots(text) if slot in lists},
        identities=_chosen(given, "identities", reading.identities, where, reading),
        slurs=[
            reading.slurs[name] for name in _chosen(given, "slurs", reading.slurs, where, reading)
        ],
        substitutions=_chosen(
            given,
            "substitutions",
            reading.substitutions,
            where,
            reading,
            also=MISSPELLINGS,
        ),
    )


def _is_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)


def _chosen(
    given: Mapping[str, Any],
    key: str,
    known: Mapping[str, object],
    where: str,
    reading: _Reading,
    also: Mapping[str, object] | None = None,
) -> list[str]:
    """The names that were chosen under a key, by default all."""
    chosen = given.get(key)
    if chosen is None:
        return list(known)
    every = [*known, *(also or ())]
    for name in chosen:
        if name not in every:
            reading.fault(where, f"{key}: unknown {name!r}; known are {', '.join(every)}")
    return [name for name in chosen if name in every]


def slurs_of(wording: Wording) -> bool:
    """Whether slurs fill a text."""
    return any(slot in _SLURS for slot in slots(wording.text))
