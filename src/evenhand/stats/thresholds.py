"""Thresholds: where a detector's two kinds of error are equally frequent.

A post is flagged when its score is at least the threshold. As the threshold falls, the
false-positive rate climbs from 0 to 1 and the false-negative rate falls from 1 to 0; the
equal-error-rate threshold is where they meet. Between two distinct scores both the threshold and
the rate are interpolated on a line, so that one post more or less moves them little. Posts with the
same score are one step: where it is a large one, the rates at the threshold can be far from equal.

At the edges: with one class only there is no such threshold (None). Where the two rates meet above
the highest score (as with a detector that says the same of every post) the threshold is the highest
score, since no number lies between it and nothing flagged.

>>> equal_error([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
EqualError(threshold=0.8, rate=0.5)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.stats._ranking import Floats, rank


@dataclass(frozen=True)
class EqualError:
    """Where false-positive and false-negative rate meet."""

    threshold: float
    rate: float
    """What both rates are there, interpolated."""


def equal_error(truth: ArrayLike, score: ArrayLike) -> EqualError | None:
    """The equal-error-rate threshold; None where a class is missing.

    Args:
        truth: 1 for a positive post, 0 for another.
        score: In [0, 1].
    """
    ranked = rank(truth, score)
    if not 0 < ranked.truth.sum() < len(ranked.truth):
        return None
    hits, alarms = (np.append(0, sums) for sums in ranked.sums(ranked.weight))
    positive, negative = hits[-1], alarms[-1]
    threshold = np.append(ranked.threshold[0], ranked.threshold)
    # False-positive minus false-negative rate, times both classes: whole numbers, so 0 is exact.
    gap = alarms * positive - (positive - hits) * negative
    after = int(np.searchsorted(gap, 0))
    share = -gap[after - 1] / (gap[after] - gap[after - 1])

    def met(values: Floats) -> float:
        return float((1 - share) * values[after - 1] + share * values[after])

    return EqualError(met(threshold), met(alarms) / float(negative))
