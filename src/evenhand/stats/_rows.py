"""Labelled posts with scores and weights, sorted, and the units that a bootstrap draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.stats._ranking import Codes, Floats, Ranked, rank
from evenhand.stats._units import Names, code_names, make_units
from evenhand.stats.intervals import LEVEL, wilson
from evenhand.stats.weights import effective


@dataclass(frozen=True, eq=False)
class Rows:
    """Posts that have weight, the highest score first."""

    ranked: Ranked
    unit: Codes
    """The cluster of each post, or the post itself."""
    stratum: Codes | None = None

    @classmethod
    def of(
        cls,
        truth: ArrayLike,
        p: ArrayLike,
        weights: ArrayLike | None,
        clusters: Names | None,
        strata: Names | None = None,
    ) -> Rows | None:
        """Check and sort; None where no post has weight."""
        every = rank(truth, p, weights)
        heavy = every.weight > 0
        if not heavy.any():
            return None
        # These are sorted already, so that rank keeps their order.
        ranked = rank(every.truth[heavy], every.score[heavy], every.weight[heavy])
        n, kept = len(every.order), every.order[heavy]
        names = np.arange(n) if clusters is None else clusters
        codes = code_names(names, n, "clusters")[kept]
        inside = None if strata is None else code_names(strata, n, "strata")[kept]
        if inside is not None:
            inside = np.unique(inside, return_inverse=True)[1]
        return cls(ranked, np.unique(codes, return_inverse=True)[1], inside)

    @property
    def weight(self) -> Floats:
        """What each post counts."""
        return self.ranked.weight

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.unit.max()) + 1

    def effective(self, part: slice | NDArray[np.bool_] = slice(None)) -> float:
        """The effective number of units among some posts."""
        held = np.bincount(self.unit[part], self.weight[part])
        return effective(held)

    def wilson(
        self, share: float, part: slice | NDArray[np.bool_], level: float = LEVEL
    ) -> tuple[float, float]:
        """Wilson's interval of a share of some posts, with their effective units as n."""
        n = self.effective(part)
        return wilson(share * n, n, level)

    def resampled(self, rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
        """What each post counts in every resample of the units, inside strata if there are any."""
        units = make_units(self.ranked.kinds(), self.stratum, self.unit)
        for _ in range(resamples):
            yield self.weight * units.draw(rng)
