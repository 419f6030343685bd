"""Gwet's AC1 for any number of votes per post, also posts with one.

AC1 = (P̄ − e)/(1 − e) with e = Σ π(1 − π)/(q − 1) over q classes. P̄ is the mean over posts with two
votes or more of the share of agreeing pairs; π the mean over *all* posts of a class's share of
the votes (Gwet 2008; Handbook of Inter-Rater Reliability, 4th ed. 2014, on missing ratings). Posts
with a single vote therefore count towards chance only. With all votes alike AC1 is 1 where more
classes were on offer; with a single class it does not exist.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.ballots import Tally, ratio
from evenhand.stats.fleiss import percent_agreement

Floats = NDArray[np.float64]


def gwet_ac1(tally: Tally) -> Floats:
    """Gwet's AC1, by resample."""
    ballots = tally.ballots
    classes = len(ballots.classes.labels)
    if classes < 2:
        return np.full(len(tally.many), np.nan)
    shares = tally.many @ (ballots.counts * (1 / ballots.size[:, None]))
    share = ratio(shares, tally.many.sum(axis=1)[:, None])
    chance = (share * (1 - share)).sum(axis=1) / (classes - 1)
    return 1 - ratio(1 - percent_agreement(tally), 1 - chance)
