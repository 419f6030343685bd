"""Intervals from resamples, or the reason why there is none.

A share goes up and down by chance: percentiles of its resamples are its interval. A distance from
evenness or from calibration (a gap between groups, the calibration error) goes up only: it is above
0 by chance, every resample adds to that, and so percentiles lie too high and never reach 0. The
interval of a distance is the distance ± c, where c is a quantile of how far the resamples are from
the sample in that same distance. By the triangle inequality it holds the true distance whenever the
sample is within c of the truth.

Where resamples of a share of 0 or 1, a difference or a distance cannot differ, an interval of no
width would pretend to certainty. None of n units is then unlike the others, and Wilson's interval
for 0 of n ends at w: a share w of units may be as unlike as can be. For a share of 0 or 1 that is
Wilson's interval itself.

Simulated: benchmarks/suite_intervals.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.decisions import FEWEST
from evenhand.stats.intervals import LEVEL, wilson

Floats = NDArray[np.float64]

ALIKE = 1e-12
"""Figures this close are equal: the last bits must not decide."""
_ENOUGH = 0.95


def some_unlike(value: float, n: float, level: float, least: float) -> tuple[float, float]:
    """Where a figure from ``least`` to 1 can be, if as many of n units are unlike as may be."""
    share = wilson(0, n, level)[1]
    return value - share * (value - least), value + share * (1 - value)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The two ends of an interval; where there are none, why."""

    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """What was resampled and how often."""

    unit: str
    units: int
    resamples: int
    level: float = LEVEL
    in_strata: bool = False

    def percentiles(self, drawn: Floats | None) -> Bounds:
        """The interval of a share from its resamples (NaN where it does not exist)."""
        known = self._known(drawn)
        if isinstance(known, Bounds):
            return known
        low, high = np.quantile(known, [(1 - self.level) / 2, (1 + self.level) / 2])
        return self.bounds(float(low), float(high), "percentile bootstrap")

    def share(self, value: float, drawn: Floats | None, n: float | None = None) -> Bounds:
        """As :meth:`percentiles`; where the share is 0 or 1, as :meth:`alike`."""
        if min(value, 1 - value) < ALIKE:
            return self.alike(value, n)
        return self.percentiles(drawn)

    def difference(self, value: float, drawn: Floats | None) -> Bounds:
        """As :meth:`percentiles`; where the resamples of a difference are equal, as alike."""
        found = self.percentiles(drawn)
        if found.low is None or found.high is None or found.high - found.low > ALIKE:
            return found
        return self.alike(value, least=-1.0)

    def alike(self, value: float, n: float | None = None, *, least: float = 0.0) -> Bounds:
        """The interval of a figure from ``least`` to 1 whose resamples cannot differ.

        ``n`` is the number of units that counts, where that is not all of them.
        """
        if self.units < FEWEST:
            return self._too_few()
        many = self.units if n is None else n
        low, high = some_unlike(value, many, self.level, least)
        how = f"all alike, so Wilson's interval with the {many:,.0f} {self.unit} as n"
        return Bounds(low=low, high=high, level=self.level, method=how)

    def around(self, value: float, distances: Floats | None, *, most: float = 1.0) -> Bounds:
        """The interval of a distance up to ``most`` from how far resamples are from the sample."""
        far = self.reach(distances, self.level, most=most)
        if isinstance(far, Bounds):
            return far
        how = f"± the distance that {self.level:.0%} of resamples keep to, bootstrap"
        if distances is not None and np.nanmax(distances) < ALIKE:
            how = "± the reach of Wilson's interval for none, as resamples are alike, bootstrap"
        return self.bounds(max(0.0, value - far), min(most, value + far), how)

    def reach(self, distances: Floats | None, level: float, *, most: float = 1.0) -> float | Bounds:
        """How far from the sample that share of resamples is at most; or why it is not known."""
        known = self._known(distances)
        if isinstance(known, Bounds):
            return known
        if known.max() < ALIKE:
            return most * wilson(0, self.units, level)[1]
        return float(np.quantile(known, level))

    def bounds(self, low: float, high: float, how: str) -> Bounds:
        """An interval, with what was resampled."""
        inside = " within strata (Rao–Wu)" if self.in_strata else ""
        method = f"{how} over {self.unit}{inside}, {self.resamples:,} resamples"
        return Bounds(low=low, high=high, level=self.level, method=method)

    def _too_few(self) -> Bounds:
        return Bounds(why=f"no interval: {self.units} {self.unit}, fewer than {FEWEST}")

    def _known(self, drawn: Floats | None) -> Floats | Bounds:
        """The resamples in which the figure exists; the reason where they are too few."""
        if self.units < FEWEST:
            return self._too_few()
        if drawn is None or not len(drawn):
            return Bounds(why="no interval: no resamples asked for")
        known: Floats = drawn[np.isfinite(drawn)]
        if len(known) < _ENOUGH * len(drawn):
            return Bounds(why=f"no interval: does not exist in many resamples of {self.unit}")
        return known
