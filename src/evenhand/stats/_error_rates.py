"""False-positive and false-negative rates of groups from counts, and how far they lie apart.

Counts end with the axes run, group and cell; the cells are negative posts,
false alarms, positive posts and misses. A rate without posts is NaN here, and its
finding says why.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KINDS = (("fpr", "fped", "negative"), ("fnr", "fned", "positive"))
"""Rate, difference, and the posts without which there is neither."""
_ENDINGS = ("", "_mean", "_max")

Key = tuple[str, str | None]


def rates(counts: Floats) -> Floats:
    """False-positive and false-negative rate from the last axis; NaN where one does not exist."""
    of, wrong = counts[..., 0::2], counts[..., 1::2]
    found: Floats = np.divide(wrong, of, out=np.full(of.shape, np.nan), where=of > 0)
    return found


def differences(counts: Floats, around: Floats | None = None) -> Floats:
    """Sum, mean and largest (first axis) over groups of FPED and FNED (last), mean over runs.

    With ``around``, how far the rates of groups less the rate overall are from those of these
    counts, summed up the same way: the difference itself is no farther from theirs.
    """
    apart = _apart(counts) if around is None else _apart(counts) - _apart(around)
    gaps = np.abs(apart)
    ways = [gaps.sum(axis=-2), gaps.mean(axis=-2), gaps.max(axis=-2)]
    return np.stack([way.mean(axis=-2) for way in ways])


def _apart(counts: Floats) -> Floats:
    apart: Floats = rates(counts.sum(axis=-2, keepdims=True)) - rates(counts)
    return apart


def all_figures(
    counts: Floats, groups: Sequence[str], around: Floats | None = None
) -> dict[Key, Floats]:
    """Every figure by measure and group (None: overall), averaged over runs.

    ``around`` is for :func:`differences`.
    """
    overall = rates(counts.sum(axis=-2)).mean(axis=-2)
    by_group = rates(counts).mean(axis=-3)
    gaps = differences(counts, around)
    found: dict[Key, Floats] = {}
    for kind, (rate, measure, _) in enumerate(KINDS):
        found[rate, None] = overall[..., kind]
        for at, name in enumerate(groups):
            found[rate, name] = by_group[..., at, kind]
        for way, ending in enumerate(_ENDINGS):
            found[measure + ending, None] = gaps[way, ..., kind]
    return found
