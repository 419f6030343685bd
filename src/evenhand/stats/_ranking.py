"""Rows in order of score, so that every threshold's figures are running sums.

Sorted once; a resample is then only another vector of weights. Rows with the same score are one
threshold. Order inside ties is by truth and weight, so that the order of rows changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import BadInput

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_LEVEL = 1 - 1e-12
"""F1 this close to the best is as good: the last bits must not choose the threshold."""

FIGURES = (
    "base_rate",
    "precision",
    "recall",
    "f1",
    "f1_best",
    "precision_best",
    "recall_best",
    "threshold_best",
    "average_precision",
    "auc",
)
"""What :meth:`Ranked.figures` gives, in order."""


@dataclass(frozen=True)
class Ranked:
    """Rows sorted by score, the highest first."""

    order: Codes
    """Row numbers as given."""
    score: Floats
    truth: Floats
    weight: Floats
    ends: Codes | slice
    """The last row of each distinct score."""
    threshold: Floats
    """The distinct scores, the highest first."""

    def kinds(self) -> Codes:
        """Which rows are interchangeable: equal in score, truth and weight."""
        columns = np.stack([self.score, self.truth, self.weight])
        new = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
        return np.concatenate([[0], np.cumsum(new)])

    def sums(self, weight: Floats) -> tuple[Floats, Floats]:
        """Weight of positive and of negative rows flagged at each threshold."""
        positive = weight * self.truth
        return np.cumsum(positive)[self.ends], np.cumsum(weight - positive)[self.ends]

    def figures(self, weight: Floats, cut: float | None, classes_only: bool = False) -> Floats:
        """All measures under these weights; NaN where one does not exist.

        ``cut`` is the threshold of precision, recall and F1. With classes only it is the one
        threshold there is, and there is no curve.
        """
        hits, alarms = self.sums(weight)
        positive, negative = hits[-1], alarms[-1]
        out = np.full(len(FIGURES), np.nan)
        if positive + negative > 0:
            out[0] = positive / (positive + negative)
        if cut is not None:
            at = int(np.searchsorted(-self.threshold, -cut, side="right")) - 1
            hit, alarm = (hits[at], alarms[at]) if at >= 0 else (0.0, 0.0)
            out[1:4] = _point(hit, alarm, positive)
            if classes_only:
                out[4:7] = out[3], out[1], out[2]
        if positive > 0 and not classes_only:
            half = hits / (hits + alarms + positive)
            at = int((half >= half.max() * _LEVEL).argmax())
            precision, recall, f1 = _point(hits[at], alarms[at], positive)
            out[4:8] = f1, precision, recall, self.threshold[at]
            out[8] = _average_precision(hits, alarms)
            if negative > 0:
                out[9] = _auc(hits, alarms)
        return out


def _point(hit: float, alarm: float, positive: float) -> tuple[float, float, float]:
    """Precision, recall and F1 at one threshold."""
    precision = hit / (hit + alarm) if hit + alarm > 0 else np.nan
    if positive <= 0:
        return precision, np.nan, np.nan
    return precision, hit / positive, 2 * hit / (hit + alarm + positive)


def _average_precision(hits: Floats, alarms: Floats) -> float:
    """Sum over thresholds of the gain in recall times precision."""
    flagged = hits + alarms
    start = int(np.searchsorted(flagged, 0, side="right"))  # nothing drawn before: 0 of 0
    gains = np.diff(hits[start:], prepend=0.0)
    return float((gains * hits[start:] / flagged[start:]).sum() / hits[-1])


def _auc(hits: Floats, alarms: Floats) -> float:
    """Area under the ROC curve by trapezia, so that a tie counts one half."""
    area = alarms[0] * hits[0] + (np.diff(alarms) * (hits[1:] + hits[:-1])).sum()
    return float(area / (2 * alarms[-1] * hits[-1]))


def rank(truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None) -> Ranked:
    """Check and sort rows.

    Refuses truth other than 0 and 1, a score outside [0, 1] or NaN, weights that are negative,
    infinite or NaN, and weights that are all 0.
    """
    y, p = _numbers(truth, "truth"), _numbers(score, "score")
    w = np.ones(len(y)) if weights is None else _numbers(weights, "weights")
    if not len(y) == len(p) == len(w):
        raise BadInput(f"{len(y)} truths, {len(p)} scores, {len(w)} weights; expected one each")
    _refuse("truth", ~np.isin(y, (0, 1)), "are neither 0 nor 1")
    _refuse("score", ~((p >= 0) & (p <= 1)), "are outside [0, 1] or NaN")
    _refuse("weights", ~((w >= 0) & np.isfinite(w)), "are negative, infinite or NaN")
    if len(w) and not w.any():
        raise BadInput("weights: all are 0; expected at least one above")
    order = np.lexsort((w, y, -p))
    p, y, w = p[order], y[order], w[order] / max(w.max(initial=0), np.finfo(float).tiny)
    ends = np.flatnonzero(np.diff(p, append=-1.0))
    return Ranked(order, p, y, w, slice(None) if len(ends) == len(p) else ends, p[ends])


def _numbers(values: ArrayLike | Sequence[object], what: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what}: not numbers: {error}") from error
    if array.ndim != 1:
        raise BadInput(f"{what}: has {array.ndim} dimensions; expected a list of numbers")
    return array


def _refuse(what: str, bad: NDArray[np.bool_], how: str) -> None:
    if bad.any():
        raise BadInput(f"{what}: {int(bad.sum())} of {len(bad)} values {how}")
