"""One-way intraclass correlations, for any number of votes per post.

McGraw and Wong 1996, unbalanced as in Donner 1986: with T posts of n votes, N in all, mean
squares between and within posts B and W and k₀ = (N − Σn²/N)/(T − 1),

- ``icc_1_1`` = (B − W)/(B + (k₀ − 1)W): the reliability of one vote;
- ``icc_1_k`` = (B − W)/B: that of the mean of k₀ votes.

Delisle et al. 2018 print the first under the name icc(1,k). Posts with a single vote are left
out. Weighted: a post counts as often as its weight says, weights in mean 1. Where all answers are
the same there is no figure, nor ``icc_1_k`` where the posts' means are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.ballots import Tally
from evenhand.stats.krippendorff import centred

Floats = NDArray[np.float64]

_NOTHING = 1e-12
"""A sum of squares below this share of the total is rounding, not variance."""


@dataclass(frozen=True)
class OneWay:
    """One-way analysis of variance, by resample; NaN with fewer than two posts or no variance."""

    between: Floats
    within: Floats
    k0: Floats
    """Votes per post, in the mean that makes the variance components right."""


def one_way(tally: Tally) -> OneWay:
    """Mean squares between and within posts."""
    ballots = tally.ballots
    if ballots.classes.values is None:
        raise ValueError("an analysis of variance needs classes with values")
    values = centred(tally, ballots.classes.values)
    size = np.maximum(ballots.size, 1)
    sums, squares = ballots.counts @ values, ballots.counts @ values**2
    posts, votes = tally.posts, tally.votes
    with np.errstate(invalid="ignore", divide="ignore"):
        within = tally.pairs @ (squares - sums**2 / size)
        between = tally.pairs @ (sums**2 / size) - (tally.pairs @ sums) ** 2 / votes
        between = np.where(between > _NOTHING * (between + within), between, 0)
        exists = tally.several & (posts > 1)
        k0 = (votes - tally.pairs @ size.astype(np.float64) ** 2 / votes) / (posts - 1)
        return OneWay(
            np.where(exists, between / (posts - 1), np.nan),
            np.where(exists, within / (votes - posts), np.nan),
            np.where(exists, k0, np.nan),
        )


def icc_1_1(tally: Tally) -> Floats:
    """Reliability of one vote."""
    found = one_way(tally)
    return quotient(found.between - found.within, found.between + (found.k0 - 1) * found.within)


def icc_1_k(tally: Tally) -> Floats:
    """Reliability of the mean of k₀ votes."""
    found = one_way(tally)
    return quotient(found.between - found.within, found.between)


def quotient(above: Floats, below: Floats) -> Floats:
    """``above`` / ``below``, NaN where ``below`` is 0."""
    result = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below != 0)
    return result
