"""A detector that is an encoder saved as ONNX: it scores without torch.

A task of two answers gives an attribute a margin, the logit of yes over no; its probability is the
logistic of the margin or, where the detector was calibrated, of a line through it
(:mod:`evenhand.models.calibration`). A task of several classes gives their softmax.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from evenhand.models.calibration import Calibration
from evenhand.models.encoder import Encoder
from evenhand.models.front_end import FrontEnd
from evenhand.models.protocol import Arrays, Probabilities, Record, Trained

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EncoderDetector(Trained):
    """Front end, encoder, and what its numbers mean."""

    encoder: Encoder
    front_end: FrontEnd
    calibrations: Mapping[str, Calibration]
    """By attribute; empty where nothing was calibrated."""

    @property
    def is_classes(self) -> bool:
        """Whether the attributes are classes of which one applies."""
        return bool(self.record.recipe.classes)

    def margins(self, texts: Sequence[str]) -> Floats:
        """How far yes is above no for each attribute, or a number for each class."""
        return self.encoder.logits(self.front_end.texts(texts)).astype(np.float64)

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        margins = self.margins(texts)
        if self.is_classes:
            p: Probabilities = softmax(margins, axis=1)
            return p
        columns = [
            self.calibrations[name].probability(column)
            if name in self.calibrations
            else expit(column)
            for name, column in zip(self.attributes, margins.T, strict=True)
        ]
        return np.stack(columns, axis=1)

    def calibrated(self, found: Mapping[str, Calibration]) -> Self:
        """The same detector, calibrated."""
        return replace(self, calibrations=dict(found))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        about = {name: found.to_json() for name, found in sorted(self.calibrations.items())}
        return {**self.encoder.arrays(), "calibrations": _bytes(about)}

    @classmethod
    def restore(cls, record: Record, arrays: Arrays, front_end: FrontEnd) -> Self:
        """The detector that gave these arrays."""
        length = int(record.provenance["length"])
        about = json.loads(arrays["calibrations"].tobytes())
        found = {name: Calibration.from_json(value) for name, value in about.items()}
        return cls(record, Encoder.restore(arrays, length), front_end, found)


def _bytes(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value, sort_keys=True).encode(), dtype=np.uint8)
