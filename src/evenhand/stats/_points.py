"""Threshold, precision, recall and flagged share at points of a detector's scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.stats._ranking import Floats, Ranked
from evenhand.stats._resampled import ALIKE
from evenhand.stats._rows import Rows
from evenhand.stats.weights import effective

Bools = NDArray[np.bool_]

MEASURES = ("threshold", "precision", "recall", "flagged_share")
_DIGITS = range(6, 18)
"""Of a name; 17 tell any two numbers apart."""


@dataclass(frozen=True)
class Point:
    """A threshold, or the share of posts that is to be flagged."""

    value: float
    is_share: bool = False

    def __post_init__(self) -> None:
        if self.is_share and not 0 < self.value <= 1:
            raise BadInput(f"share: is {self.value}; expected more than 0 and at most 1")
        if not 0 <= self.value <= 1:
            raise BadInput(f"threshold: is {self.value}; expected a number from 0 to 1")

    def name(self, digits: int = _DIGITS[0]) -> str:
        """What it is called in a table, with at most so many digits."""
        if self.is_share:
            return f"{100 * self.value:.{digits}g} % flagged"
        return f"{self.value:.{digits}g}"

    def place(self, ranked: Ranked, flagged: Floats) -> int:
        """The last of the distinct scores that is flagged, −1 for none.

        ``flagged`` is the share that each of them flags.
        """
        if not self.is_share:
            return int(np.searchsorted(-ranked.threshold, -self.value, side="right")) - 1
        within = int(np.searchsorted(flagged, self.value + ALIKE, side="right")) - 1
        if within < 0 or flagged[within] <= 0:
            return -1
        # In a resample several scores can flag the same: the highest of them.
        return int(np.searchsorted(flagged, flagged[within]))


def named(points: Sequence[Point]) -> dict[str, Point]:
    """Points by names that tell them apart; refuses the same one twice."""
    for point in points:
        if points.count(point) > 1:
            what = "share" if point.is_share else "threshold"
            raise BadInput(
                f"{what}: {point.value:g} is there {points.count(point)} times; give each once"
            )
    for digits in _DIGITS:
        found = {point.name(digits): point for point in points}
        if len(found) == len(points):
            return found
    raise BadInput("share: two are too close to be told apart; give one of them")


@dataclass(frozen=True)
class Site:
    """Labelled posts, weighted like those of a site."""

    rows: Rows
    base_rate: float | None
    """None for the base rate that the weights give."""

    def factors(self, positive: float, negative: float) -> Floats:
        """What a positive and a negative post count, so that all together count 1.

        NaN where a base rate is wanted of posts of one class.
        """
        if self.base_rate is None:
            return np.full(2, 1 / (positive + negative))
        if not (positive > 0 and negative > 0):
            return np.full(2, np.nan)
        return np.array([self.base_rate / positive, (1 - self.base_rate) / negative])

    def figures(self, weight: Floats, points: Sequence[Point]) -> Floats:
        """Point × measure; NaN where one does not exist."""
        ranked = self.rows.ranked
        hits, alarms = ranked.sums(weight)
        positive, negative = float(hits[-1]), float(alarms[-1])
        of = self.factors(positive, negative)
        flagged = hits * of[0] + alarms * of[1]
        out = np.full((len(points), len(MEASURES)), np.nan)
        for row, point in zip(out, points, strict=True):
            at = -1 if point.is_share and np.isnan(of).any() else point.place(ranked, flagged)
            if at < 0 and point.is_share:
                continue
            hit, alarm = (hits[at], alarms[at]) if at >= 0 else (0.0, 0.0)
            caught, every = hit * of[0], hit * of[0] + alarm * of[1]
            row[0] = ranked.threshold[at] if point.is_share else point.value
            row[1] = caught / every if every > 0 else np.nan
            row[2] = hit / positive if positive > 0 else np.nan
            row[3] = every
        return out

    def effective(self, inside: NDArray[np.bool_]) -> float | None:
        """The effective number of units with posts inside; None where there is none.

        Nor is there one where a base rate is wanted of one class.
        """
        truth, weight = self.rows.ranked.truth, self.rows.weight
        positive = float(weight @ truth)
        of = self.factors(positive, float(weight.sum()) - positive)
        if np.isnan(of).any():
            return None
        counts = weight * np.where(truth == 1, of[0], of[1]) * inside
        return effective(np.bincount(self.rows.unit, counts)) if counts.any() else None

    def extreme(self, measure: str, value: float, threshold: float) -> tuple[float, float]:
        """The interval of a figure that is 0 or 1, whose resamples cannot differ."""
        real, flagged = self.rows.ranked.truth == 1, self.rows.ranked.score >= threshold
        if measure == "recall":
            return self.rows.wilson(value, real)
        if self.base_rate is None:
            return self.rows.wilson(value, flagged if measure == "precision" else slice(None))
        hits, alarms = (np.array(self._rate(flagged, own)) for own in (real, ~real))
        caught, wrong = self.base_rate * hits, (1 - self.base_rate) * alarms
        low, high = caught + wrong
        if measure == "precision":
            low, high = caught / (caught + wrong[::-1])
        return float(low), float(high)

    def _rate(self, flagged: Bools, own: Bools) -> tuple[float, float]:
        """The flagged share of a class: Wilson's interval where it is 0 or 1, else the share."""
        weight = self.rows.weight[own]
        share = float(weight @ flagged[own] / weight.sum())
        if flagged[own].any() and not flagged[own].all():
            return share, share
        return self.rows.wilson(round(share), own)
