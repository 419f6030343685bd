"""The threshold of new scores that keeps what an old threshold did.

Posts are sorted by their new score once; a resample is another vector of weights. Posts with the
same score go together. The threshold that keeps the *flag rate* is the lowest that flags at most as
many posts as before; *precision*: the lowest at which the share of flagged posts that are positive
is at least the old one; *recall*: the highest at which the share of positive posts that are flagged
is at least the old one. Positive is what people said; without labels it is what the old threshold
flagged, and then the precision or recall to keep is given, since that of the old decisions against
themselves is 1.

>>> rows = Ranking.of([0.9, 0.7, 0.6, 0.2], [1, 0, 1, 0])
>>> rows.threshold(np.ones(4), "flag-rate"), rows.threshold(np.ones(4), "recall", share=1.0)
(0.7, 0.6)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FLAG_RATE, PRECISION, RECALL = KEEP = ("flag-rate", "precision", "recall")
_ALIKE = 1e-12

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Posts by new score, the highest first, with old decisions and truth."""

    order: Ints
    old: Floats
    """1 where the old threshold flagged."""
    truth: Floats | None
    ends: Ints
    """The last post of each distinct score."""
    scores: Floats
    """The distinct scores."""

    @classmethod
    def of(cls, new: ArrayLike, old: ArrayLike, truth: ArrayLike | None = None) -> Ranking:
        """Sort posts; ``old`` and ``truth`` are 0 or 1."""
        p = np.asarray(new, dtype=np.float64)
        order = np.argsort(-p, kind="stable")
        ends = np.flatnonzero(np.diff(p[order], append=-1.0))
        flagged = np.asarray(old, dtype=np.float64)[order]
        said = None if truth is None else np.asarray(truth, dtype=np.float64)[order]
        return cls(order, flagged, said, ends, p[order][ends])

    def threshold(self, weight: Floats, keep: str, *, share: float | None = None) -> float:
        """The threshold under these weights (in the order posts came); NaN where there is none."""
        w = weight[self.order]
        flagged = np.cumsum(w)[self.ends]
        if keep == FLAG_RATE:
            wanted = float(w @ self.old) + _ALIKE * flagged[-1]
            at = int(np.searchsorted(flagged, wanted, side="right")) - 1
            return float(self.scores[at]) if at >= 0 and w @ self.old > 0 else np.nan
        positive = self.old if self.truth is None else self.truth
        hits = np.cumsum(w * positive)[self.ends]
        wanted = self.kept(w, keep) if share is None else share
        if not hits[-1] > 0 or not np.isfinite(wanted):
            return np.nan
        if keep == PRECISION:
            reached = hits >= (wanted - _ALIKE) * flagged
            places = np.flatnonzero(reached & (flagged > 0))
            return float(self.scores[places[-1]]) if len(places) else np.nan
        return float(self.scores[int((hits >= (wanted - _ALIKE) * hits[-1]).argmax())])

    def kept(self, w: Floats, keep: str) -> float:
        """The old precision or recall against labels, weights in order of score."""
        positive = self.old if self.truth is None else self.truth
        below = float(w @ (self.old if keep == PRECISION else positive))
        return float(w @ (self.old * positive)) / below if below else np.nan
