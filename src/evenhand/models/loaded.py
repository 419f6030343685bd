"""A detector as people use it: texts in, a probability of each attribute out.

``evenhand.load()`` is the detector in the box; any other goes by the names that
:mod:`evenhand.models.find` knows. Commands, servers and notebooks all score through this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.core.provenance import sha256
from evenhand.models.calibration import Calibration
from evenhand.models.evidence import MOST_WORDS, Span, evidence
from evenhand.models.find import detector
from evenhand.models.protocol import Detector, Trained
from evenhand.models.saving import ABOUT, CARD
from evenhand.models.scoring import KnowsPosts
from evenhand.models.shipped import BASE, MOST_BYTES, folder_of

Floats = NDArray[np.float64]
BaseRate = float | Mapping[str, float] | None
"""The share of posts with the attribute where texts come from: of every attribute, or by name."""

Scale = Callable[[Floats], Floats]
"""From a detector's probability to what is shown for it; rising, so that decisions stay."""


@runtime_checkable
class Calibrated(Protocol):
    """A detector that says which base rate its probabilities are for."""

    @property
    def calibrations(self) -> Mapping[str, Calibration]:
        """By attribute."""


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """A detector that scores texts."""

    raw: Detector
    """The detector itself: its ``score`` gives an array."""
    folder: Path | None = None
    """Where it was loaded from, if it is a saved one."""

    def __repr__(self) -> str:
        return f"<detector {self.name} of {', '.join(self.attributes)}>"

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.raw.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """What it has scores of."""
        return self.raw.attributes

    @property
    def calibrations(self) -> Mapping[str, Calibration]:
        """Base rate and shipped threshold by attribute; empty where the detector has none."""
        return self.raw.calibrations if isinstance(self.raw, Calibrated) else {}

    @property
    def card(self) -> Path | None:
        """Its model card, where it has one."""
        path = self.folder / CARD if self.folder else None
        return path if path and path.is_file() else None

    @property
    def written_by(self) -> str | None:
        """The version of Evenhand that saved it."""
        if self.folder is None:
            return None
        return str(json.loads((self.folder / ABOUT).read_text(encoding="utf-8"))["evenhand"])

    @property
    def sha256(self) -> str | None:
        """The checksum of the saved detector's document, which holds those of its other files.

        Of a cascade of such detectors that of all that decides.
        """
        if self.folder is None:
            return getattr(self.raw, "sha256", None)
        return sha256(self.folder / ABOUT)

    def score(
        self,
        texts: Iterable[str],
        *,
        base_rate: BaseRate = None,
        perspective_like: bool = False,
    ) -> list[dict[str, float]]:
        """One mapping from attribute to probability for each text.

        Args:
            texts: A list of texts.
            base_rate: Map probabilities to another share of posts with the attribute.
            perspective_like: Give Perspective-like scores, of the attributes that have them.
        """
        scales = self.scales(base_rate=base_rate, perspective_like=perspective_like)
        found = listed(texts)
        if not found:
            return []
        p = self.raw.score(found)
        columns = [scales[name](p[:, self.attributes.index(name)]).tolist() for name in scales]
        return [dict(zip(scales, row, strict=True)) for row in zip(*columns, strict=True)]

    def evidence(
        self, texts: Iterable[str], *, attribute: str | None = None, words: int = MOST_WORDS
    ) -> list[list[Span]]:
        """The words of each text by what leaving them out does (:mod:`evenhand.models.evidence`).

        Weights are of the detector's own probability, whatever scale scores are shown in.
        """
        return evidence(self.raw, listed(texts), attribute=attribute, words=words)

    def thresholds(
        self, *, base_rate: BaseRate = None, perspective_like: bool = False
    ) -> dict[str, float]:
        """The shipped threshold of each calibrated attribute, in the scale that scores are in."""
        scales = self.scales(base_rate=base_rate, perspective_like=perspective_like)
        return {
            name: float(scale(np.array([self.calibrations[name].threshold]))[0])
            for name, scale in scales.items()
            if name in self.calibrations
        }

    def scales(
        self, *, base_rate: BaseRate = None, perspective_like: bool = False
    ) -> dict[str, Scale]:
        """What is shown for the probability of each attribute."""
        if base_rate is not None and perspective_like:
            raise BadInput("a base rate and Perspective-like scores are two scales; choose one")
        if perspective_like:
            return self._perspective_like()
        rates = self._rates(base_rate)
        return {name: self._at(name, rates.get(name)) for name in self.attributes}

    def _at(self, attribute: str, rate: float | None) -> Scale:
        if rate is None:
            return lambda p: p
        return lambda p: self.calibrations[attribute].at_base_rate(p, rate)

    def _rates(self, base_rate: BaseRate) -> dict[str, float]:
        """The rate wanted for each attribute that has one."""
        if base_rate is None:
            return {}
        if isinstance(base_rate, Mapping):
            rates = dict(base_rate)
        else:
            rates = dict.fromkeys(self.attributes, base_rate)
        expect_attributes(self, rates)
        absent = [name for name in rates if name not in self.calibrations]
        if absent:
            raise BadInput(
                f"{self.name} is not calibrated for {', '.join(absent)}, so that the base rate of "
                "its scores is not known and they cannot be mapped to another; leave the base "
                "rate away, or use a detector in the box"
            )
        wrong = [f"{name}={rate}" for name, rate in rates.items() if not 0 < rate < 1]
        if wrong:
            raise BadInput(
                f"base rate {', '.join(wrong)}; expected a share above 0 and below 1, such as 0.01 "
                "for one post in a hundred"
            )
        return rates

    def _perspective_like(self) -> dict[str, Scale]:
        known = {
            name: calibration.perspective_like
            for name, calibration in self.calibrations.items()
            if calibration.perspective is not None
        }
        if not known:
            raise BadInput(
                f"{self.name} has no map to Perspective-like scores; use its probabilities"
            )
        return {name: known[name] for name in self.attributes if name in known}


def load(name: str = BASE, *, attribute: str | None = None) -> Loaded:
    """The detector of this name, by default the one in the box.

    Args:
        name: ``evenhand-base``, ``evenhand-fast``, a saved folder, ``hf:FOLDER``,
            ``perspective:URL``, ``openai:URL`` or ``python:module:function``.
        attribute: What a server is asked for, or a transformers folder is judged by.
    """
    found = detector(name, attribute=attribute)
    if isinstance(found, KnowsPosts):
        raise BadInput(
            f"{name} has scores of the posts it knows and cannot score other texts; name a "
            "detector that reads texts"
        )
    if not isinstance(found, Trained):
        return Loaded(found)
    return Loaded(found, folder_of(name) if name in MOST_BYTES else Path(name))


def listed(texts: Iterable[str]) -> list[str]:
    """Texts as a list; refuses one text in place of a list, and what is no text."""
    if isinstance(texts, str | bytes):
        raise BadInput("found one text where a list of texts is expected; write [text]")
    found = list(texts)
    for number, text in enumerate(found, start=1):
        if not isinstance(text, str):
            raise BadInput(f"text {number} is a {type(text).__name__}; expected a text")
    return found


def expect_attributes(loaded: Loaded, names: Iterable[str]) -> None:
    """Refuse an attribute the detector does not have."""
    unknown = [name for name in names if name not in loaded.attributes]
    if unknown:
        raise BadInput(
            f"{loaded.name} has no attribute {', '.join(map(repr, unknown))}; found "
            f"{', '.join(loaded.attributes)}"
        )
