"""Maps from a detector's probabilities to the scale of scores that a site has recorded.

A caller of the old service wrote its thresholds in that service's scale. ``evenhand migrate
report`` learns from recorded answers how far up that scale each probability belongs and writes
``mapping.json``; ``evenhand serve --mapping`` gives scores in that scale, so that the caller's
thresholds stay as they are. A map is a line through knots that never falls, and goes exactly
through the chosen threshold: a score is at or above the recorded threshold when the probability is
at or above the chosen one.

The map goes by rank: the probability that a tenth of the recorded texts reach belongs to the
score that a tenth of them reached, so that every threshold flags about as many posts as before.
(A line of mean scores, as :mod:`evenhand.models.perspective_like` has, reaches less far up and
down, and a threshold of .8 would flag fewer posts.) It keeps this detector's order: which posts are
flagged can be others.

>>> line = knots_of([0.1, 0.2, 0.3, 0.4], [0.3, 0.1, 0.9, 0.5], anchor=(0.3, 0.8))
>>> np.interp([0.25, 0.3, 0.4], *zip(*line)).round(3).tolist()
[0.55, 0.8, 0.9]
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping as Table
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import BadInput, Faults
from evenhand.models.calibration import Floats, Knots

FORMAT, VERSION = "evenhand-mapping", 1
_KNOTS = 64


class Known(Protocol):
    """A detector that can be told from others (:class:`evenhand.models.loaded.Loaded`)."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def sha256(self) -> str | None:
        """The checksum of a saved one."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A threshold that keeps what the recorded one did."""

    recorded: float
    """In the recorded scale."""
    p: float
    """In the detector's probability."""
    low: float | None
    high: float | None
    """The interval of ``p``."""
    keep: str
    """What was kept: the flag rate, the precision or the recall."""


@dataclass(frozen=True, kw_only=True)
class AttributeMap:
    """The map of one attribute."""

    knots: Knots
    n: int
    """Distinct texts it was learned from."""
    threshold: Chosen | None
    difference: tuple[float | None, float | None, float | None]
    """Mean distance of mapped scores from recorded ones on texts kept apart, and its interval."""


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """What ``mapping.json`` holds."""

    detector: str
    sha256: str | None
    """Of the detector; None for one that is not saved."""
    maps: Table[str, AttributeMap]
    about: Table[str, Any]
    """The recording: name, checksum, rows, first and last day; the version that made the map."""

    @classmethod
    def read(cls, path: Path, *, detector: Known | None = None) -> Self:
        """The mapping in a file; refuses one that is damaged or made for another detector."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from error
        except ValueError as error:
            raise BadInput(f"{path}: not JSON: {error}") from error
        found = cls.from_json(document, str(path))
        if detector is not None:
            found.expect(detector, str(path))
        return found

    def expect(self, detector: Known, where: str = "the mapping") -> None:
        """Refuse another detector than the one the map was learned for."""
        same = self.sha256 == detector.sha256
        if same and (self.sha256 is not None or self.detector == detector.name):
            return
        raise BadInput(
            f"{where}: made for {_named(self.detector, self.sha256)}, but the detector is "
            f"{_named(detector.name, detector.sha256)}. Each detector has its own scale: run "
            f"`evenhand migrate report … --detector {detector.name}` again, or serve "
            f"{self.detector}"
        )

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those with a map."""
        return tuple(self.maps)

    @property
    def thresholds(self) -> dict[str, float]:
        """The chosen threshold of each attribute that has one, in the detector's probability."""
        return {name: m.threshold.p for name, m in self.maps.items() if m.threshold}

    @property
    def recorded_thresholds(self) -> dict[str, float]:
        """The same in the recorded scale: what callers compare mapped scores with."""
        return {name: m.threshold.recorded for name, m in self.maps.items() if m.threshold}

    def apply(self, attribute: str, p: ArrayLike) -> NDArray[np.float64]:
        """Scores in the recorded scale; never falling, in [0, 1]."""
        if attribute not in self.maps:
            known = ", ".join(self.maps) or "none"
            raise BadInput(f"the mapping has no map of {attribute}; it has {known}")
        known_p, scores = zip(*self.maps[attribute].knots, strict=True)
        mapped: Floats = np.interp(np.asarray(p, dtype=np.float64), known_p, scores)
        return mapped

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "detector": {"name": self.detector, "sha256": self.sha256},
            "about": dict(self.about),
            "attributes": {
                name: asdict(found) | {"knots": [list(knot) for knot in found.knots]}
                for name, found in self.maps.items()
            },
        }

    @classmethod
    def from_json(cls, document: Any, where: str) -> Self:
        """What :meth:`to_json` gave; every fault is named."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadInput(
                f"{where}: is no mapping; expected the mapping.json of `evenhand migrate report`"
            )
        if document.get("version") != VERSION:
            raise BadInput(
                f"{where}: has version {document.get('version')!r}; this evenhand reads "
                f"{VERSION}. Make it again with `evenhand migrate report`"
            )
        faults = Faults(where)
        try:
            detector = document["detector"]
            name, sha256 = str(detector["name"]), detector["sha256"]
            entries, about = dict(document["attributes"]), dict(document["about"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{where}: has no {error}; make it again") from error
        if not entries:
            faults.add("has no attribute; make it again from more recorded texts")
        maps = {}
        for attribute, entry in entries.items():
            try:
                maps[attribute] = _attribute(entry)
            except (KeyError, TypeError, ValueError) as error:
                faults.add(f"{attribute}: {error}; make it again")
        faults.raise_if_any()
        return cls(detector=name, sha256=sha256, maps=maps, about=about)


def _named(name: str, sha256: str | None) -> str:
    return f"{name} (SHA-256 {sha256[:12]})" if sha256 else f"{name} (not a saved detector)"


def _attribute(entry: Any) -> AttributeMap:
    knots = tuple((float(p), float(score)) for p, score in entry["knots"])
    p, scores = zip(*knots, strict=True)
    for what, values in (("probabilities", p), ("scores", scores)):
        if not all(0 <= value <= 1 for value in values):
            raise ValueError(f"some {what} of its knots are outside [0, 1]")
    if len(p) < 2 or any(b <= a for a, b in zip(p, p[1:], strict=False)):
        raise ValueError("its knots are fewer than two or not in order")
    if any(b < a for a, b in zip(scores, scores[1:], strict=False)):
        raise ValueError("its scores fall somewhere; a map never falls")
    threshold = entry["threshold"]
    chosen = None if threshold is None else Chosen(**threshold)
    if chosen and not all(0 <= at <= 1 for at in (chosen.recorded, chosen.p)):
        raise ValueError("its threshold is outside [0, 1]")
    value, low, high = entry["difference"]
    return AttributeMap(
        knots=knots, n=int(entry["n"]), threshold=chosen, difference=(value, low, high)
    )


def knots_of(
    p: ArrayLike, recorded: ArrayLike, *, anchor: tuple[float, float] | None = None
) -> Knots:
    """A line that gives equally many texts each score or more, through ``anchor`` exactly.

    Beyond what was recorded it goes to (0, 0) and (1, 1). Knots that would contradict the anchor
    (below it with a score that is not lower, or above it with one that is) are left out.
    """
    ours, theirs = (np.sort(np.asarray(values, dtype=np.float64)) for values in (p, recorded))
    places = np.linspace(0, 1, min(_KNOTS, len(ours)))
    quantiles = (np.quantile(x, places) for x in (ours, theirs))
    knots = [(float(f"{a:.6g}"), round(float(b), 4)) for a, b in zip(*quantiles, strict=True)]
    if anchor is not None:
        at, score = anchor
        knots = [
            *((a, b) for a, b in knots if a < at and b < score),
            (float(at), float(score)),
            *((a, b) for a, b in knots if a > at and b > score),
        ]
    line = [(0.0, 0.0), *((a, b) for a, b in knots if 0 < a < 1), (1.0, 1.0)]
    if anchor is not None and anchor[0] in (0.0, 1.0):
        line[0 if anchor[0] == 0 else -1] = (float(anchor[0]), float(anchor[1]))
    # Where many texts share a probability, the middle of their scores stands for them.
    by_p: dict[float, list[float]] = {}
    for a, b in line:
        by_p.setdefault(a, []).append(b)
    return tuple((a, math.fsum(b) / len(b)) for a, b in sorted(by_p.items()))
