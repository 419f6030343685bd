"""Many comparisons at once: p-values that stay honest when the smallest is looked at.

Holm (1979): the smallest of m p-values is multiplied by m, the next by m − 1 and so on, and none
may fall below one before it. The chance that any true null hypothesis is rejected at α stays below
α, whatever the dependence between the comparisons.

The p-value of a difference comes from its paired bootstrap draws: twice the smaller share of draws
on either side of 0, counting the observed one too, so that it is never 0. With B draws it is at
least 2 / (B + 1): after Holm over m comparisons nothing can pass α unless B + 1 ≥ 2 m / α (for 30
comparisons and α = .05, 1,200 draws).

>>> holm([0.01, 0.04, 0.03])
[0.03, 0.06, 0.06]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import BadInput, NotEnoughData


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    given = np.asarray(p, dtype=np.float64)
    wrong = int((~((given >= 0) & (given <= 1))).sum())
    if wrong:
        raise BadInput(f"p: {wrong} of {len(given)} values are outside [0, 1] or NaN")
    order = np.argsort(given, kind="stable")
    steps = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]


def bootstrap_p(draws: ArrayLike) -> float:
    """Two-sided p-value of a difference being 0, from paired bootstrap draws of it.

    >>> bootstrap_p([0.1] * 38 + [-0.1])  # 2 · (1 + 1) / (39 + 1)
    0.1
    """
    drawn = np.asarray(draws, dtype=np.float64)
    if not drawn.size:
        raise NotEnoughData("no draws: a p-value needs some")
    if not np.isfinite(drawn).all():
        missing = int((~np.isfinite(drawn)).sum())
        raise BadInput(f"draws: {missing} of {drawn.size} are no number; leave them out first")
    tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (1 + tail) / (drawn.size + 1))
