"""Precision, recall and F1 from confusion counts.

All figures come from a table of counts (truth × prediction), so that resampling needs only sums.
F1 of a class that is neither true nor predicted anywhere does not exist and is NaN here; it is
left out of the macro average. Callers turn NaN into a null finding before it leaves them.
"""

from __future__ import annotations

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


def f1_by_class(counts: Floats) -> Floats:
    """F1 of each class; ``counts`` may have leading axes (resamples)."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    sizes = counts.sum(axis=-1) + counts.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sizes > 0, 2 * hits / sizes, np.nan)


def macro_f1(counts: Floats) -> Floats:
    """Unweighted mean of F1 over the classes for which it exists."""
    scores = f1_by_class(counts)
    exists = ~np.isnan(scores)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(exists, scores, 0).sum(axis=-1) / exists.sum(axis=-1)
    return mean


def weighted_f1(counts: Floats) -> Floats:
    """Mean of F1 weighted by how often each class is true."""
    support = counts.sum(axis=-1)
    scores = np.nan_to_num(f1_by_class(counts))
    with np.errstate(invalid="ignore"):
        mean: Floats = (scores * support).sum(axis=-1) / support.sum(axis=-1)
    return mean
