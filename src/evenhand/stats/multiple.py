"""Many comparisons at once: p-values that stay honest when the smallest is looked at.

Holm (1979): the smallest of m p-values is multiplied by m, the next by m − 1 and so on, and none
may fall below one before it. The chance that any true null hypothesis is rejected at α stays below
α, whatever the dependence between the comparisons. The p-values themselves come from whoever asks.

>>> holm([0.01, 0.04, 0.03])
[0.03, 0.06, 0.06]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.core.errors import BadInput


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
