"""Precision, recall and F1 from confusion counts.

All figures come from a table of counts (truth × prediction), so that resampling needs only sums.
F1 of a class that is neither true nor predicted anywhere does not exist and is NaN here; it is
left out of the macro average. Callers turn NaN into a null finding before it leaves them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def confusion(truth: Codes, predicted: Codes, classes: int) -> Floats:
    """Counts, truth in rows and prediction in columns.

    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    flat = np.bincount(truth * classes + predicted, minlength=classes * classes)
    return flat.reshape(classes, classes).astype(np.float64)


def precision_by_class(counts: Floats) -> Floats:
    """Share of the rows predicted to be of a class that are; NaN where none is predicted."""
    return _ratio(_hits(counts), counts.sum(axis=-2))


def recall_by_class(counts: Floats) -> Floats:
    """Share of the rows of a class that are predicted to be; NaN where there is none."""
    return _ratio(_hits(counts), counts.sum(axis=-1))


def f1_by_class(counts: Floats) -> Floats:
    """F1 of each class; ``counts`` may have leading axes (resamples)."""
    return _ratio(2 * _hits(counts), counts.sum(axis=-1) + counts.sum(axis=-2))


def macro(scores: Floats) -> Floats:
    """Unweighted mean over the classes for which the figure exists."""
    exists = ~np.isnan(scores)
    return _ratio(np.where(exists, scores, 0).sum(axis=-1), exists.sum(axis=-1))


def weighted(scores: Floats, counts: Floats) -> Floats:
    """Mean over the classes weighted by how often each is true; a missing figure counts as 0."""
    support = counts.sum(axis=-1)
    return _ratio((np.nan_to_num(scores) * support).sum(axis=-1), support.sum(axis=-1))


def macro_f1(counts: Floats) -> Floats:
    """Unweighted mean of F1 over the classes for which it exists."""
    return macro(f1_by_class(counts))


def weighted_f1(counts: Floats) -> Floats:
    """Mean of F1 weighted by how often each class is true."""
    return weighted(f1_by_class(counts), counts)


def micro_f1(counts: Floats) -> Floats:
    """F1 over all decisions: with one class per row the share of right ones, which is accuracy."""
    return _ratio(_hits(counts).sum(axis=-1), counts.sum(axis=(-2, -1)))


_BY_CLASS = {"precision": precision_by_class, "recall": recall_by_class, "f1": f1_by_class}
MAIN = ("macro_f1", "weighted_f1", "micro_f1")


def all_figures(counts: Floats, names: Sequence[str]) -> dict[tuple[str, str | None], Floats]:
    """Every figure by measure and class; None for a figure over all classes."""
    found: dict[tuple[str, str | None], Floats] = {("micro_f1", None): micro_f1(counts)}
    for measure, by_class in _BY_CLASS.items():
        scores = by_class(counts)
        found[f"macro_{measure}", None] = macro(scores)
        found[f"weighted_{measure}", None] = weighted(scores, counts)
        for number, name in enumerate(names):
            found[measure, name] = scores[..., number]
    first = [(measure, None) for measure in MAIN]
    return {key: found[key] for key in [*first, *(key for key in found if key not in first)]}


def _hits(counts: Floats) -> Floats:
    return np.diagonal(counts, axis1=-2, axis2=-1)


def _ratio(above: Floats, below: Floats) -> Floats:
    """The ratio, NaN where nothing stands below."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Floats = np.where(below > 0, above / below, np.nan)
    return ratio
