"""Two detectors in one: ``evenhand-fast`` decides the clear cases, ``evenhand-base`` the rest.

From the fast scores of a text those of the base detector are estimated, by a line through their log
odds. A text is clear where every estimate lies outside the *band* of its attribute, which spans the
base detector's threshold; it keeps the estimates. Any other is scored by the base detector, in all
attributes. Line and bands were chosen on dev posts by ``tools/cascade.py`` and lie beside the two
detectors as ``cascade.json``, with how often decisions agreed on other dev posts. They belong to
these two detectors: with any other they are refused. For one attribute alone there is a band of its
own, which asks for fewer texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evenhand.core.errors import BadInput
from evenhand.core.provenance import sha256
from evenhand.models.calibration import Calibration
from evenhand.models.loaded import Calibrated, Loaded, load
from evenhand.models.protocol import Detector, Probabilities
from evenhand.models.saving import ABOUT
from evenhand.models.shipped import BASE, BOX, FAST, folder_of, shipped

Floats = NDArray[np.float64]
CASCADE = "evenhand-cascade"
"""What the cascade of the detectors in the box is called."""
BANDS = "cascade.json"
FORMAT = 1
Band = tuple[float, float]
"""Estimates from the first to below the second are asked for again."""
_CLOSEST = 1e-6
"""To 0 and 1, so that log odds are finite."""


@dataclass(frozen=True, eq=False)
class Cascade:
    """A detector that asks a better one where it is not sure."""

    fast: Detector
    base: Detector
    bands: Mapping[str, Band]
    """By attribute; one without a band is never asked for again."""
    slopes: Floats
    """From each fast log odds (rows) to each estimate's."""
    bias: Floats
    name: str = CASCADE
    about: Mapping[str, Any] | None = None
    """How the bands were chosen."""

    def __post_init__(self) -> None:
        if self.fast.attributes != self.base.attributes:
            raise BadInput(
                f"{self.fast.name} has {', '.join(self.fast.attributes)} and {self.base.name} "
                f"{', '.join(self.base.attributes)}; a cascade needs the same attributes"
            )
        for name, (low, high) in self.bands.items():
            threshold = self.calibrations[name].threshold if name in self.calibrations else None
            if threshold is None or not low <= threshold <= high:
                raise BadInput(
                    f"the band of {name} is {low} to {high} and the threshold {threshold}; "
                    "expected a band around the threshold"
                )

    @property
    def attributes(self) -> tuple[str, ...]:
        """What both have scores of."""
        return self.base.attributes

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Where it comes from."""
        return {"cascade": [self.fast.name, self.base.name], **(self.about or {})}

    @cached_property
    def calibrations(self) -> Mapping[str, Calibration]:
        """Those of the base detector; its map to Perspective-like scores is of its scores only."""
        known = self.base.calibrations if isinstance(self.base, Calibrated) else {}
        return {name: replace(found, perspective=None) for name, found in known.items()}

    @property
    def sha256(self) -> str:
        """Of everything that decides: the bands and the checksums of both detectors."""
        line = [self.slopes.tolist(), self.bias.tolist()]
        told = json.dumps([self.provenance, dict(self.bands), line, detectors()], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        p = self.estimated(self.fast.score(texts))
        unclear = np.flatnonzero(self.unclear(p)).tolist()
        if unclear:
            p[unclear] = self.base.score([texts[number] for number in unclear])
        return p

    def deciding(self, texts: Sequence[str]) -> list[Detector]:
        """Who scores each text: the base detector, or the fast one's estimates."""
        asked = self.unclear(self.estimated(self.fast.score(texts)))
        sure = _Estimates(self, self.name, self.attributes, self.provenance)
        return [self.base if unclear else sure for unclear in asked.tolist()]

    def estimated(self, p: Probabilities) -> Probabilities:
        """What the base detector would say, as far as fast scores tell."""
        estimates: Probabilities = expit(log_odds(p) @ self.slopes + self.bias)
        return estimates

    def unclear(self, p: Probabilities) -> NDArray[np.bool_]:
        """Which texts the base detector is asked for, by the estimates."""
        asked = np.zeros(len(p), dtype=np.bool_)
        for column, name in enumerate(self.attributes):
            if name in self.bands:
                low, high = self.bands[name]
                asked |= (p[:, column] >= low) & (p[:, column] < high)
        return asked

    @classmethod
    def in_the_box(cls, attribute: str | None = None) -> Self:
        """That of the detectors in the box; with ``attribute``, sure of that one only."""
        path = BOX / BANDS
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            part = about["alone"][attribute] if attribute else about["together"]
            bands = {name: (float(low), float(high)) for name, (low, high) in part["bands"].items()}
            slopes, bias = np.array(about["slopes"], float), np.array(about["bias"], float)
            made_for, made = dict(about["detectors"]), int(about["format"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(
                f"{path}: has no bands{f' of {attribute}' if attribute else ''} "
                f"({type(error).__name__}). Install evenhand again, or choose bands by "
                "tools/cascade.py"
            ) from error
        if made != FORMAT:
            raise BadInput(f"{path}: format {made}; this version reads {FORMAT}. Upgrade evenhand")
        found = detectors()
        for name, checksum in found.items():
            if made_for.get(name) != checksum:
                raise BadInput(
                    f"{path}: its bands were chosen for another {name} (SHA-256 "
                    f"{str(made_for.get(name))[:12]}, found {checksum[:12]}), so how often "
                    "decisions agree is not known. Choose bands again by tools/cascade.py, or "
                    f"score with {BASE} or {FAST} alone"
                )
        return cls(shipped(FAST), shipped(BASE), bands, slopes, bias, about=part)


@dataclass(frozen=True, eq=False)
class _Estimates:
    """What a cascade says of texts that are clear."""

    cascade: Cascade
    name: str
    attributes: tuple[str, ...]
    provenance: Mapping[str, Any]

    def score(self, texts: Sequence[str]) -> Probabilities:
        return self.cascade.estimated(self.cascade.fast.score(texts))


def log_odds(p: Probabilities) -> Floats:
    """Of probabilities, kept finite."""
    inside = np.clip(p, _CLOSEST, 1 - _CLOSEST)
    odds: Floats = np.log(inside / (1 - inside))
    return odds


def detectors() -> dict[str, str]:
    """The checksum of the document of each detector in the box, which holds those of its files."""
    return {name: sha256(folder_of(name) / ABOUT) for name in (FAST, BASE)}


def opened(name: str, *, attribute: str | None = None) -> Loaded:
    """The detector of this name, the cascade of those in the box among them."""
    if name == CASCADE:
        return Loaded(Cascade.in_the_box(attribute))
    return load(name, attribute=attribute)
