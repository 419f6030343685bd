"""A plan: which corpora a detector of several attributes learns from, and how.

A plan is a TOML file, one of ours by name or a user's by path::

    attributes = ["HATE", "TOXICITY"]

    [options]                  # of the recipe
    epochs = 3

    [[corpus]]
    name = "hatemojibuild"     # a registered name, a file or a folder
    times = 4.0                # how often a post is read in an epoch
    yes.HATE = ["1"]           # the labels that mean yes; every other label means no

An attribute that a corpus does not name is not labelled by it. :mod:`evenhand.models.material`
reads the corpora.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Self, TypeVar, get_type_hints

from evenhand.core.errors import BadInput
from evenhand.models.options import expected, fits, unknown
from evenhand.models.synthetic import templates

T = TypeVar("T")
_TABLES: dict[str, Any] = {
    "options": dict, "calibrate": dict, "perspective": dict, "ships": bool,
}  # fmt: skip
APART = ("author", "twin", "template", "duplicate")
SYNTHETIC = "synthetic"
"""The corpus and the source of sentences of our own."""
_MOST_VERSIONS = 100
_TAKEN = frozenset((
    "id", "source", "text", "weight", "family", "split", "kin", "times", "counts", "swapped",
    "gendered", "corpus", "key", "new", "place", "mate",
))  # fmt: skip
"""Names of columns beside those of attributes."""


@dataclass(frozen=True, kw_only=True)
class Remade:
    """What is made of texts for teachers to answer, since nobody labelled it."""

    spliced: float = 0.0
    """How often in an epoch a post is read whose second half is another post's (above 1: that of
    several)."""
    varied: float = 0.0
    """How often in an epoch a post is read with other words for some of its words (above 1: with
    several such sets)."""
    versions: int = 1
    """How many texts are at least made of a post in either way; which of them are read is drawn
    anew in every epoch."""

    def made(self, times: float) -> int:
        """How many texts are made of a post that are read so often in an epoch, all together."""
        return max(self.versions, math.ceil(times)) if times else 0

    def as_written(self) -> Self:
        """The same, and nothing is made of it."""
        return replace(self, spliced=0.0, varied=0.0)


@dataclass(frozen=True, kw_only=True)
class Part(Remade):
    """A corpus of a plan."""

    name: str
    yes: Mapping[str, list[str]] = field(default_factory=dict)
    """Attribute → the labels that mean yes."""
    none_means_no: list[str] = field(default_factory=list)
    """Attributes it has no label for, and that are no where all that it labels is no."""
    taught: list[str] = field(default_factory=list)
    """Attributes that its posts have no label for, and that the teachers answer in its place."""
    times: float = 1.0
    """How often a post is read in an epoch."""
    times_without: float | None = None
    """The same for a post of which no attribute is true."""
    weight: float = 1.0
    """How much a post counts in the loss."""
    swapped: float = 0.0
    """The share of readings in which an identity named in a post is exchanged for another."""
    gendered: float = 0.0
    """The same for posts that name no such identity but men or women: they change places."""
    apart: list[str] = field(default_factory=lambda: list(APART))
    """Posts that share one of these with a held-out post are not trained on."""
    not_in: list[str] = field(default_factory=list)
    """Corpora whose posts are not trained on."""
    held_out: float = 0.1
    """The share of dev posts, and of test posts, where the corpus has no splits of its own."""


@dataclass(frozen=True, kw_only=True)
class Synthetic(Remade):
    """Sentences of our own (:mod:`evenhand.models.synthetic`), half of them hateful."""

    sentences: int
    attribute: str
    left_alone: list[str] = field(default_factory=list)
    """Templates of whose sentences nothing is made, since what came of them was too near a case of
    a suite."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What an attribute is calibrated to."""

    corpora: list[str]
    base_rate: float | None = None
    """The share of yes; None for the corpora's own, weighted."""


@dataclass(frozen=True, kw_only=True)
class Teachers:
    """Detectors whose mean answer is learned beside the labels."""

    attributes: list[str]
    """What they answer."""
    networks: int = 0
    """How many are trained first, on the corpora that label what they answer."""
    detectors: list[str] = field(default_factory=list)
    """Those that are there already, each as it is named everywhere."""
    trust: float = 0.5
    """How much of what is learned of a labelled post is their answer, and not its label."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe, where those that are trained have others than the student."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to learn, from what."""

    name: str
    attributes: tuple[str, ...]
    parts: tuple[Part, ...]
    options: Mapping[str, Any]
    synthetic: Synthetic | None
    teachers: Teachers | None
    calibrate: Mapping[str, Target]
    perspective: str | None
    """The corpus with published Perspective scores, if a map to its scale is learned."""
    ships: bool
    """Whether only corpora may be used whose licence lets a detector ship."""

    def as_written(self) -> Plan:
        """The plan, and nothing is made of its texts."""
        own = self.synthetic.as_written() if self.synthetic else None
        return replace(self, parts=tuple(p.as_written() for p in self.parts), synthetic=own)

    def of_teachers(self, attributes: Collection[str]) -> Plan:
        """What the teachers of these attributes learn: the corpora that label them, and no more."""
        plain = self.as_written()
        parts = [
            replace(
                part,
                yes={a: part.yes[a] for a in part.yes if a in attributes},
                none_means_no=[],
                taught=[],
            )
            for part in plain.parts
        ]
        return replace(
            plain,
            attributes=tuple(a for a in self.attributes if a in attributes),
            parts=tuple(part for part in parts if part.yes),
            synthetic=plain.synthetic
            if plain.synthetic and plain.synthetic.attribute in attributes
            else None,
            teachers=None,
            calibrate={a: self.calibrate[a] for a in self.calibrate if a in attributes},
            perspective=None,
        )

    def without(self, names: list[str]) -> Plan:
        """The plan without some of its corpora."""
        known = [part.name for part in self.parts]
        absent = [name for name in names if name not in known]
        if absent:
            raise BadInput(
                f"--without {', '.join(absent)}: not in plan {self.name}, which has "
                f"{', '.join(known)}"
            )
        parts = tuple(part for part in self.parts if part.name not in names)
        lost = [a for a in self.attributes if not any(a in part.yes for part in parts)]
        if lost:
            raise BadInput(
                f"--without {', '.join(names)}: no other corpus of plan {self.name} labels "
                f"{', '.join(lost)}"
            )
        left = {a: [c for c in of.corpora if c not in names] for a, of in self.calibrate.items()}
        unfounded = [attribute for attribute, corpora in left.items() if not corpora]
        if unfounded:
            raise BadInput(
                f"--without {', '.join(names)}: plan {self.name} calibrates "
                f"{', '.join(unfounded)} to nothing else; name another corpus under [calibrate]"
            )
        calibrate = {a: replace(of, corpora=left[a]) for a, of in self.calibrate.items()}
        return replace(self, parts=parts, calibrate=calibrate)


def plan_names() -> list[str]:
    """The plans of our own."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in (files("evenhand.models") / "plans").iterdir()
        if entry.name.endswith(".toml")
    )


def find_plan(name: str) -> Plan:
    """A plan by name or path."""
    if name in plan_names():
        text = (files("evenhand.models") / "plans" / f"{name}.toml").read_text(encoding="utf-8")
        return _plan(name, text, name)
    path = Path(name)
    if not path.is_file():
        raise BadInput(
            f"no plan {name!r}: expected a TOML file, or one of {', '.join(plan_names())}"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    return _plan(path.stem, text, str(path))


def _plan(name: str, text: str, where: str) -> Plan:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{where}: is no TOML: {error}") from error
    faults = list[str]()
    known = (
        "attributes", "options", "corpus", "synthetic", "teachers", "calibrate", "perspective",
        "ships",
    )  # fmt: skip
    faults += [
        f"{where}: {unknown(key, dict.fromkeys(known))}" for key in found if key not in known
    ]
    wrong = [
        f"{where}: {key} is {found[key]!r}; expected {expected(kind)}"
        for key, kind in _TABLES.items()
        if not fits(found.get(key, kind()), kind)
    ]
    if wrong:
        raise BadInput(*faults, *wrong)
    attributes = found.get("attributes")
    if not (attributes and fits(attributes, list[str]) and len(set(attributes)) == len(attributes)):
        raise BadInput(f"{where}: attributes is missing or no list of names, each once")
    rows = found.get("corpus")
    if not (isinstance(rows, list) and rows):
        raise BadInput(f"{where}: has no [[corpus]] to learn from")
    parts = [
        _made(Part, row, f"{where}: corpus {number}", faults) for number, row in enumerate(rows, 1)
    ]
    synthetic = (
        _made(Synthetic, found["synthetic"], f"{where}: synthetic", faults)
        if "synthetic" in found
        else None
    )
    teachers = (
        _made(Teachers, found["teachers"], f"{where}: teachers", faults)
        if "teachers" in found
        else None
    )
    targets = {
        key: _made(Target, row, f"{where}: calibrate {key}", faults)
        for key, row in found.get("calibrate", {}).items()
    }
    twice = [
        name for name, many in Counter(part.name for part in parts if part).items() if many > 1
    ]
    faults += [f"{where}: corpus {name} stands twice" for name in twice]
    about = found.get("perspective", {})
    if about and not (about.keys() == {"scores"} and fits(about["scores"], str)):
        faults.append(f'{where}: perspective is {about!r}; expected scores = "a corpus"')
    faults += [
        f"{where}: attribute {a!r} has the name of a column of ours; call it {a.upper()}"
        for a in attributes
        if a in _TAKEN
    ]
    # Also of corpora that are faulty otherwise: what follows from a fault is none.
    written = [row["yes"] for row in rows if isinstance(row, dict) and "yes" in row]
    named = {a for yes in written if isinstance(yes, dict) for a in yes}
    faults += [
        f"{where}: no corpus labels {a}; give one yes.{a}" for a in attributes if a not in named
    ]
    faults += [
        f"{where}: {a} is not among attributes ({', '.join(attributes)})"
        for a in sorted({*named, *targets} - set(attributes))
    ]
    faults += [
        f"{where}: {part.name}: none_means_no names {a}; expected an attribute of the plan that "
        "the corpus does not label"
        for part in parts
        if part
        for a in part.none_means_no
        if a in part.yes or a not in attributes or not part.yes
    ]
    faults += [
        f"{where}: {part.name}: yes.{a} names no label; every other label means no"
        for part in parts
        if part
        for a, labels in part.yes.items()
        if not labels
    ]
    if all(parts):
        faults += _unfounded(where, [part for part in parts if part], targets)
    if synthetic and synthetic.attribute not in attributes:
        faults.append(
            f"{where}: synthetic: {synthetic.attribute} is not among attributes "
            f"({', '.join(attributes)})"
        )
    faults += _untaught(where, [part for part in parts if part], teachers, named)
    faults += _unmakeable(where, parts, synthetic, teachers)
    if faults:
        raise BadInput(*faults)
    return Plan(
        name=name,
        attributes=tuple(attributes),
        parts=tuple(part for part in parts if part),
        options=found.get("options", {}),
        synthetic=synthetic,
        teachers=teachers,
        calibrate={key: target for key, target in targets.items() if target},
        perspective=about.get("scores"),
        ships=found.get("ships", False),
    )


def _unfounded(where: str, parts: list[Part], targets: Mapping[str, Target | None]) -> list[str]:
    """What is wrong with what attributes are calibrated to."""
    faults = []
    for attribute, target in targets.items():
        labelling = [part.name for part in parts if attribute in part.yes]
        if target is None or not labelling:
            continue  # said already
        if not target.corpora or set(target.corpora) - set(labelling):
            faults.append(
                f"{where}: calibrate {attribute}: corpora are {', '.join(target.corpora) or 'none'}"
                f"; expected some that label it here: {', '.join(labelling)}"
            )
    return faults


def _untaught(
    where: str, parts: list[Part], teachers: Teachers | None, named: set[str]
) -> list[str]:
    """What is wrong with what teachers are to answer."""
    answered = set(teachers.attributes) if teachers else set[str]()
    faults = [f"{where}: the teachers answer {a}, which no corpus labels" for a in answered - named]
    if teachers and teachers.networks < 0:
        faults.append(f"{where}: teachers: networks is {teachers.networks}; expected 0 or more")
    elif teachers and not (teachers.networks or teachers.detectors):
        faults.append(f"{where}: teachers: there are none; give networks or detectors")
    if teachers and not teachers.attributes:
        faults.append(f"{where}: teachers: attributes is empty; name what they answer")
    for part in parts:
        if not (part.yes or part.taught):
            faults.append(f"{where}: {part.name} teaches nothing; give it yes or taught")
        faults += [
            f"{where}: {part.name}: no teacher answers {a}; name it under [teachers] attributes"
            for a in part.taught
            if a not in answered
        ]
        faults += [
            f"{where}: {part.name} labels {a}, so the teachers do not; take it out of taught"
            for a in part.taught
            if a in part.yes
        ]
    return sorted(faults)


def _unmakeable(
    where: str,
    parts: Sequence[Part | None],
    synthetic: Synthetic | None,
    teachers: Teachers | None,
) -> list[str]:
    """What is wrong with what is made of texts, such as that nobody answers for it."""
    answered = set(teachers.attributes) if teachers else set[str]()
    remade: list[tuple[str, Remade, set[str]]] = [
        (part.name, part, {*part.yes, *part.taught}) for part in parts if part
    ]
    faults = [
        f"{where}: corpus {name} has the name of sentences of our own; call it otherwise"
        for name, _, _ in remade
        if name == SYNTHETIC
    ]
    if synthetic:
        remade.append((SYNTHETIC, synthetic, {synthetic.attribute}))
        known = {template.name for template in templates()} if synthetic.left_alone else set()
        faults += [
            f"{where}: synthetic: left_alone names {name}; no template is called so"
            for name in synthetic.left_alone
            if name not in known
        ]
    for name, what, attributes in remade:
        faults += [
            f"{where}: {name} is {how}, but no teacher answers for it"
            for how in ("spliced", "varied")
            if getattr(what, how) and not answered & attributes
        ]
        if what.versions > 1 and not (what.spliced or what.varied):
            faults.append(f"{where}: {name} has versions; give it spliced or varied, too")
    return faults


def _made(kind: type[T], row: Any, where: str, faults: list[str]) -> T | None:
    """A part of a plan from its table; what is wrong with it joins the faults."""
    if not isinstance(row, dict):
        faults.append(f"{where}: is {row!r}; expected a table")
        return None
    types = get_type_hints(kind)
    needed = [
        part.name
        for part in fields(kind)  # type: ignore[arg-type]
        if part.default is MISSING and part.default_factory is MISSING
    ]
    before = len(faults)
    faults += [f"{where}: {unknown(key, types)}" for key in row if key not in types]
    faults += [f"{where}: {key} is missing" for key in needed if key not in row]
    for key in ("times", "times_without", "weight"):
        if not (fits(row.get(key, 1.0), float) and row.get(key, 1.0) >= 0):
            faults.append(f"{where}: {key} is {row[key]!r}; expected a number of 0 or more")
    for key in ("swapped", "gendered", "trust"):
        if not (fits(row.get(key, 0.1), float) and 0 <= row.get(key, 0.1) < 1):
            faults.append(f"{where}: {key} is {row[key]!r}; expected a share from 0 to below 1")
    for key in ("held_out", "base_rate"):
        if not (fits(row.get(key, 0.1), float) and 0 < row.get(key, 0.1) < 1):
            faults.append(f"{where}: {key} is {row[key]!r}; expected a share between 0 and 1")
    if not (fits(row.get("sentences", 1), int) and row.get("sentences", 1) > 0):
        faults.append(f"{where}: sentences is {row['sentences']!r}; expected a number above 0")
    if fits(row.get("apart"), list[str]):
        faults += [
            f"{where}: apart has {what!r}; expected some of {', '.join(APART)}"
            for what in row["apart"]
            if what not in APART
        ]
    for key, least, number in (("spliced", 0, float), ("varied", 0, float), ("versions", 1, int)):
        if not (fits(row.get(key, 1), number) and least <= row.get(key, 1) <= _MOST_VERSIONS):
            asked = f"expected a number from {least} to {_MOST_VERSIONS}"
            faults.append(f"{where}: {key} is {row[key]!r}; {asked}")
    if len(faults) == before:
        faults += [
            f"{where}: {key} is {value!r}; expected {expected(types[key])}"
            for key, value in row.items()
            if not fits(value, types[key])
        ]
    return kind(**row) if len(faults) == before else None
