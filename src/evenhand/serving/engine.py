"""A detector as a server holds it: loaded, warmed up, batched, with the scales it can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.models.evidence import Span
from evenhand.models.loaded import BaseRate, Loaded, Scale
from evenhand.serving.batching import Batcher
from evenhand.serving.mapping import Mapping as RecordedMapping

Floats = NDArray[np.float64]
PROBABILITY = "probability"
PERSPECTIVE_LIKE = "perspective-like"
SCALES = (PROBABILITY, PERSPECTIVE_LIKE)
_WARM_UP = ("Warm up.", "A somewhat longer text, so that the first caller does not wait.")


@dataclass(frozen=True, eq=False)
class Engine:
    """One detector, ready to answer."""

    loaded: Loaded
    batcher: Batcher
    scales: Mapping[str, Mapping[str, Scale]]
    """Scale → attribute → what is shown for a probability."""
    recorded: Mapping[str, float]
    """Thresholds of a recorded mapping, in its scale."""

    @classmethod
    def of(
        cls,
        loaded: Loaded,
        *,
        batch: int,
        patience: float,
        base_rate: BaseRate = None,
        mapping: RecordedMapping | None = None,
    ) -> Engine:
        """Make a detector ready: it has scored once when this returns."""
        scales = {PROBABILITY: loaded.scales(base_rate=base_rate)}
        scales[PERSPECTIVE_LIKE] = _perspective_like(loaded, scales[PROBABILITY], mapping)
        batcher = Batcher(loaded.raw.score, most=batch, patience=patience)
        engine = cls(loaded, batcher, scales, mapping.recorded_thresholds if mapping else {})
        loaded.raw.score(list(_WARM_UP))
        return engine

    @property
    def attributes(self) -> tuple[str, ...]:
        """What it has scores of."""
        return self.loaded.attributes

    def shown(
        self, p: Floats, scale: str, attributes: Sequence[str] | None = None
    ) -> dict[str, list[float]]:
        """What is shown for probabilities: a list for each attribute."""
        known = self.scales[scale]
        wanted = self.attributes if attributes is None else attributes
        return {name: known[name](p[:, self.attributes.index(name)]).tolist() for name in wanted}

    async def evidence(self, text: str, attribute: str, words: int) -> list[Span]:
        """The words that a score goes by; every word costs a score, and waits its turn like one."""
        amount = 1 + min(words, len(text.split()))
        found: list[list[Span]] = await self.batcher.run(
            lambda: self.loaded.evidence([text], attribute=attribute, words=words), amount
        )
        return found[0]

    def thresholds(self, scale: str) -> dict[str, float]:
        """The threshold of each attribute that has one: a recorded or else the shipped one."""
        found = self.loaded.calibrations
        shipped = {
            name: float(show(np.array([found[name].threshold]))[0])
            for name, show in self.scales[scale].items()
            if name in found
        }
        return shipped | dict(self.recorded) if scale == PERSPECTIVE_LIKE else shipped

    def about(self) -> dict[str, Any]:
        """What a reply says of the detector."""
        return {"name": self.loaded.name, "sha256": self.loaded.sha256}


def _perspective_like(
    loaded: Loaded, plain: Mapping[str, Scale], mapping: RecordedMapping | None
) -> dict[str, Scale]:
    """Recorded maps before learned ones; an attribute without either keeps its probability."""
    found = dict(plain)
    with suppress(BadInput):  # a detector without maps answers with its probabilities
        found |= loaded.scales(perspective_like=True)
    if mapping is not None:
        for name in mapping.attributes:
            found[name] = _recorded(mapping, name)
    return found


def _recorded(mapping: RecordedMapping, name: str) -> Scale:
    return lambda p: mapping.apply(name, p)
