"""A share estimated from few labels and many scores: prediction-powered, with a tuned λ.

    θ_λ = λ Σ_d p_W(d) mean_{C,d}(f) + Σ w (y − λ f) / Σ w

The detector's scores f on everything the provider gave (C) stand for the population, and the
labelled posts correct what the detector gets wrong. λ is chosen to make the variance least, between
0 (the scores are worthless: the plain weighted estimate) and 1; untuned, a poor detector doubles
the error. The variance comes from linearisation within the cells and has both samples in it: the
scores of C, and the flagged shares that the weights take from C.

Source: Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (the tuning). Different:
weights and strata. The scores must come from a detector that was not trained on the labelled
posts; callers refuse others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.stats.resampling import Floats, Ints


@dataclass(frozen=True)
class Powered:
    """A prediction-powered estimate."""

    value: float
    low: float
    high: float
    error: float
    """Standard error."""
    lam: float
    """λ: how far the scores were used."""


def prediction_powered(
    truth: Floats,
    scores: Floats,
    weights: Floats,
    cells: Ints,
    *,
    all_scores: Floats,
    all_strata: Ints,
    volumes: Floats,
    flags: Flags | None = None,
    lam: float | None = None,
    level: float = 0.95,
) -> Powered:
    """The share, from labelled posts (truth, scores, weights, cells) and all scored ones.

    ``all_strata`` are positions in ``volumes``. ``flags`` says how the weights hang on what the
    provider gave; without it the weights count as known. ``lam`` fixes λ instead of tuning it.
    """
    for name, values in (("scores", scores), ("all_scores", all_scores)):
        if not np.isfinite(values).all():
            raise BadInput(f"{name} contain values that are not numbers")
    if len(truth) < 2:
        raise NotEnoughData("prediction-powered estimates need at least two labelled posts")
    share = volumes / volumes.sum()
    mass = weights / weights.sum()
    truth_errors = _linear(truth, mass, cells)
    score_errors = _linear(scores, mass, cells)
    mean_all, variance_all = _stratified_mean(all_scores, all_strata, share)
    counted = 0.0
    if flags is not None:
        sizes = np.bincount(all_strata, minlength=len(share))
        counted = flags.variance(truth, mass, cells, share, sizes)
        # The scores' own flagged part cancels against that of the weights.
        variance_all -= min(variance_all, flags.variance(scores, mass, cells, share, sizes))
    cross = float((truth_errors * score_errors).sum())
    spread = float((score_errors**2).sum()) + variance_all
    if lam is None:
        lam = float(np.clip(cross / spread, 0.0, 1.0)) if spread > 0 else 0.0
    value = lam * mean_all + float((mass * (truth - lam * scores)).sum())
    residual = truth_errors - lam * score_errors
    error = float(np.sqrt((residual**2).sum() + counted + lam**2 * variance_all))
    half = float(ndtri(0.5 + level / 2)) * error
    return Powered(value, value - half, value + half, error, lam)


@dataclass(frozen=True)
class Flags:
    """The flagged shares the weights rest on, counted per stratum on the first sample."""

    flagged: Floats
    """Share of the first sample's posts that are flagged, per stratum."""
    flag_cell: Ints
    """The weighing cell of a stratum's flagged posts; −1 where there is none."""
    rest_cell: Ints

    def variance(
        self, values: Floats, mass: Floats, cells: Ints, share: Floats, sizes: Ints
    ) -> float:
        """Variance of a weighted mean that comes from counting the flagged shares on a sample."""
        many = max(int(cells.max()), int(self.flag_cell.max()), int(self.rest_cell.max())) + 1
        weight = np.bincount(cells, mass, minlength=many)
        mean = np.bincount(cells, mass * values, minlength=many) / np.where(weight > 0, weight, 1)
        both = (self.flag_cell >= 0) & (self.rest_cell >= 0)
        gap = np.where(both, mean[self.flag_cell] - mean[self.rest_cell], 0.0)
        spread = self.flagged * (1 - self.flagged) / np.maximum(sizes, 1)
        return float((share**2 * gap**2 * spread).sum())


def _stratified_mean(values: Floats, strata: Ints, share: Floats) -> tuple[float, float]:
    """Mean over the population and its variance, the strata weighed by their volumes."""
    size = np.bincount(strata, minlength=len(share)).astype(float)
    empty = int(((size == 0) & (share > 0)).sum())
    if empty:
        raise NotEnoughData(f"{empty} strata have a volume but no scored post")
    safe = np.maximum(size, 1)
    mean = np.bincount(strata, values, minlength=len(share)) / safe
    squares = np.bincount(strata, (values - mean[strata]) ** 2, minlength=len(share))
    variance = np.where(size > 1, squares / np.maximum(size - 1, 1), 0.0)
    return float(share @ mean), float((share**2 * variance / safe).sum())


def _linear(values: Floats, mass: Floats, cells: Ints) -> Floats:
    """Linearised deviations of a weighted mean, centred and rescaled within cells.

    The sum of their squares is the variance of the mean under sampling within cells.
    """
    deviation = mass * (values - float((mass * values).sum()))
    size = np.bincount(cells).astype(float)
    mean = np.bincount(cells, deviation) / np.maximum(size, 1)
    factor = np.where(size > 1, size / np.maximum(size - 1, 1), 1.0)
    linear: Floats = (deviation - mean[cells]) * np.sqrt(factor[cells])
    return linear
