"""A layer's weights as whole numbers of eight bits.

Without VNNI a processor multiplies unsigned by signed bytes, adds two neighbouring products in
sixteen bits and cuts off what does not fit. So a column's step is chosen such that two neighbouring
weights of the same sign add up to at most 128: 255 × 128 fits. Most weights keep eight bits, where
the usual remedy is seven for all.

Rounding is corrected as it goes on (Frantar et al. 2023, GPTQ): what one weight loses the following
ones make good, as far as the layer's inputs go together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOP = 127
"""The highest weight."""
PAIR = 128
"""The most that two neighbouring weights of the same sign add up to."""
_DAMPING = 0.01
"""Of the inputs' mean square, added to each: what was hardly seen corrects little."""
_ROWS = 64
"""Weights of so many inputs are corrected one by one, those behind them all at once."""


@dataclass
class Seen:
    """What a layer's inputs were like, channel by channel."""

    count: int
    lowest: Floats
    highest: Floats
    total: Floats
    products: Floats
    """Of each channel with each, summed."""

    @classmethod
    def nothing(cls, channels: int) -> Seen:
        """Before the first input."""
        low, high = np.full(channels, np.inf), np.full(channels, -np.inf)
        return cls(0, low, high, np.zeros(channels), np.zeros((channels, channels)))

    def add(self, values: NDArray[np.float32]) -> None:
        """See some more, one row per token."""
        self.count += len(values)
        self.lowest = np.minimum(self.lowest, values.min(axis=0))
        self.highest = np.maximum(self.highest, values.max(axis=0))
        self.total += values.sum(axis=0, dtype=np.float64)
        self.products += values.T @ values

    @property
    def mean(self) -> Floats:
        """Of each channel."""
        return self.total / self.count

    @property
    def mean_products(self) -> Floats:
        """Of each channel with each."""
        return self.products / self.count


def rounded(weights: Floats, products: Floats) -> tuple[Floats, Floats]:
    """Whole numbers for weights (one row per input) and each column's step.

    ``products`` are the inputs' mean products, of each with each.
    """
    steps = _steps(weights)
    damped = products + np.eye(len(products)) * (np.diag(products).mean() * _DAMPING + 1e-12)
    spread = np.linalg.cholesky(np.linalg.inv(damped)).T
    left, numbers, lost = weights / steps, np.zeros_like(weights), np.zeros_like(weights)
    for start in range(0, len(weights), _ROWS):
        end = min(start + _ROWS, len(weights))
        for row in range(start, end):
            numbers[row] = _fitting(left[row], numbers[row - 1] if row % 2 else None)
            lost[row] = (left[row] - numbers[row]) / spread[row, row]
            left[row + 1 : end] -= np.outer(spread[row, row + 1 : end], lost[row])
        left[end:] -= spread[start:end, end:].T @ lost[start:end]
    return numbers, steps


def _steps(weights: Floats) -> Floats:
    second = weights[1::2]
    first = weights[0::2][: len(second)]
    sums = np.where(first * second > 0, np.abs(first + second), 0).max(axis=0, initial=0)
    # Either of two neighbours may be rounded up by half a step.
    steps = np.maximum(np.abs(weights).max(axis=0) / TOP, sums / (PAIR - 1))
    return np.where(steps > 0, steps, 1).astype(np.float32).astype(np.float64)


def _fitting(wanted: Floats, before: Floats | None) -> Floats:
    """The nearest whole numbers that fit beside the neighbours before them."""
    number = np.clip(np.rint(wanted), -TOP, TOP)
    if before is None:
        return number
    cut = np.sign(number) * np.minimum(np.abs(number), PAIR - np.abs(before))
    return np.where(number * before > 0, cut, number)
