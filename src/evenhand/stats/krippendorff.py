"""Krippendorff's alpha: nominal, ordinal, interval, and for sets of labels.

α = 1 − D_o/D_e. D_o is the disagreement of pairs of votes within posts, a post's pairs weighted
by 1/(n − 1); D_e that of all pairs of votes on posts with two votes or more (Krippendorff 2018,
chapter 12; all coincidences are summed, nothing is approximated). Disagreement of two votes is

- nominal: 1 where they differ;
- interval: the squared difference of what they are worth;
- ordinal: the squared difference of their midranks among all votes, which is the number of votes
  between them and so changes with every resample;
- set: the MASI distance (Passonneau 2006), as it is, not squared.

Weighted: a post's votes count as often as its weight says, weights in mean 1 (so that N − 1 keeps
its meaning). Where all votes are the same answer nothing could disagree and α does not exist.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.answers import Scale
from evenhand.stats.ballots import Tally, ratio

Floats = NDArray[np.float64]


def krippendorff_alpha(tally: Tally, scale: Scale) -> Floats:
    """Krippendorff's alpha on this scale, by resample."""
    classes = tally.ballots.classes
    if scale == "set" and classes.distance is not None:
        observed, chance = _by_distance(tally, classes.distance)
    elif scale == "interval" and classes.values is not None:
        observed, chance = _squared(tally, centred(tally, classes.values)[None])
    elif scale == "ordinal":
        before = np.cumsum(tally.by_class, axis=1) - tally.by_class / 2
        observed, chance = _squared(tally, before - tally.votes[:, None] / 2)
    else:
        observed, chance = _nominal(tally)
    chance = np.where(tally.several, chance, 0)
    return 1 - ratio((tally.votes - 1) * observed, chance)


def centred(tally: Tally, values: Floats) -> Floats:
    """Values moved to have their middle at 0, so that squares stay small."""
    used = values[tally.ballots.counts.sum(axis=0) > 0]
    return values - (used.min() + used.max()) / 2 if len(used) else values


def _squared(tally: Tally, worth: Floats) -> tuple[Floats, Floats]:
    """Summed squared differences within posts and overall; ``worth``: resamples (or 1) × classes.

    Σ over ordered pairs of (x − y)² is 2 (n Σx² − (Σx)²).
    """
    counts, size = tally.ballots.counts, tally.ballots.size
    linear, square = (counts @ worth.T).T, (counts @ (worth**2).T).T
    within = 2 * (size * square - linear**2) / np.maximum(size - 1, 1)
    observed = (tally.pairs * within).sum(axis=1)
    totals = tally.by_class
    overall = tally.votes * (totals * worth**2).sum(axis=1) - (totals * worth).sum(axis=1) ** 2
    return observed, 2 * overall


def _nominal(tally: Tally) -> tuple[Floats, Floats]:
    counts, size = tally.ballots.counts, tally.ballots.size
    within = (size**2 - (counts * counts).sum(axis=1)) / np.maximum(size - 1, 1)
    before = np.cumsum(tally.by_class, axis=1) - tally.by_class
    return tally.pairs @ within, 2 * (tally.by_class * before).sum(axis=1)


def _by_distance(tally: Tally, distance: Floats) -> tuple[Floats, Floats]:
    counts, size = tally.ballots.counts, tally.ballots.size
    within = (counts * (counts @ distance)).sum(axis=1) / np.maximum(size - 1, 1)
    overall = ((tally.by_class @ distance) * tally.by_class).sum(axis=1)
    return tally.pairs @ within, overall
