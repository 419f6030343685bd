"""A detector that is an encoder saved as ONNX: it scores without torch.

A task of two answers gives an attribute a margin, the logit of yes over no; its probability is the
logistic of the margin or, where the detector was calibrated, of a line through it
(:mod:`evenhand.models.calibration`). A task of several classes gives their softmax.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from evenhand.models.calibration import Calibration, packed, probabilities, unpacked
from evenhand.models.encoder import Encoder
from evenhand.models.front_end import FrontEnd, expect_front_end
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
        return probabilities(margins, self.attributes, self.calibrations)

    def calibrated(self, found: Mapping[str, Calibration]) -> Self:
        """The same detector, calibrated."""
        return replace(self, calibrations=dict(found))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {**self.encoder.arrays(), "calibrations": packed(self.calibrations)}

    @classmethod
    def restore(cls, record: Record, arrays: Arrays, front_end: FrontEnd) -> Self:
        """The detector that gave these arrays."""
        expect_front_end(record.name, record.provenance.get("front_end"))
        encoder = Encoder.restore(arrays, int(record.provenance["length"]))
        return cls(record, encoder, front_end, unpacked(arrays["calibrations"]))
