"""Logistic regression for rows that have a share of each answer, and count unlike much.

The loss is the sum over rows of count × cross-entropy with the row's shares, plus the squares of
the weights over 2c, as in scikit-learn's ``LogisticRegression``, to which it is equal for rows of
one answer (test). L-BFGS, on one thread, from zero or from weights learned before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import log_softmax

Floats = NDArray[np.float64]

_MOST_STEPS, _FLAT = 200, 1e-4
"""Steps taken at most; the slope of the mean loss at which they end."""


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights and bias: a column for yes, or one for each answer."""

    weights: Floats
    bias: Floats

    def margins(self, table: csr_array) -> Floats:
        """One row for each row of the table."""
        margins: Floats = table @ self.weights + self.bias
        return margins


def regression(
    table: csr_array,
    shares: Floats,
    counts: Floats,
    c: float,
    *,
    single: bool,
    start: Learned | None = None,
) -> Learned:
    """Weights of the least loss.

    Args:
        table: A row of features for each text.
        shares: How much of each answer a row has; rows sum to one.
        counts: How much a row counts.
        c: How little large weights cost.
        single: One column, the margin of the second of two answers over the first; otherwise one
            for each answer, with minus infinity as bias where no row has that answer.
        start: Weights to start from.
    """
    # Loaded where something is learned: scoring does without them.
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    there = np.flatnonzero(counts @ shares > 0)
    known = shares if single else shares[:, there]
    size = (table.shape[1] + 1, 1 if single else len(there))
    total = counts.sum()
    turned = table.T

    def loss(flat: Floats) -> tuple[float, Floats]:
        at = flat.reshape(size)
        margins = table @ at[:-1] + at[-1]
        logs = log_softmax(np.hstack([0 * margins, margins]) if single else margins, axis=1)
        off = (counts[:, None] * (np.exp(logs) - known))[:, -size[1] :]
        slope = np.vstack([turned @ off + at[:-1] / c, off.sum(axis=0)])
        lost = (at[:-1] ** 2).sum() / (2 * c) - counts @ (known * logs).sum(axis=1)
        return float(lost / total), slope.ravel() / total

    first = np.zeros(size)
    if start is not None:
        first = np.vstack([start.weights, start.bias])[:, slice(None) if single else there]
    with threadpool_limits(1):  # sums over several threads depend on how many there are
        found = minimize(
            loss,
            first.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MOST_STEPS, "gtol": _FLAT, "ftol": 0},
        ).x.reshape(size)
    if single:
        return Learned(found[:-1], found[-1])
    weights, bias = np.zeros((table.shape[1], shares.shape[1])), np.full(shares.shape[1], -np.inf)
    weights[:, there], bias[there] = found[:-1], found[-1]
    return Learned(weights, bias)
