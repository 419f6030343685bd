"""Whether a score is a probability: reliability by bin, calibration error, Brier score.

Posts are put in bins by score; in each, the mean score stands beside the share of posts that are
positive. The calibration error is the mean over posts of how far the two are apart in their bin
(ECE). Calibration is to a base rate: a score that is calibrated where half of the posts are
positive is not where one in a hundred is. So the base rate is always there, and
:func:`at_base_rate` maps a score from one to another.

Bins hold equally many posts, not equal ranges of scores. On real posts nearly all scores are near
0: equal ranges would put these into one bin, where scores too high and too low cancel, and leave
others with a handful. Weights change what a post counts, not its bin. Posts with the same score
are in one bin, that of their middle rank, so there may be fewer bins than asked for. Resamples
keep the bins.

The error is above 0 by chance: beside it stands its mean when truths are drawn from the scores
themselves, as for a detector that is perfectly calibrated. Its interval is that of a distance
(:mod:`evenhand.stats._resampled`).

At the edges: posts without weight are left out, and without posts nothing exists. Where all posts
are of one class the base rate has Wilson's interval. The 0 and 1 of a detector that gives classes
only are no probabilities: it has no error and no Brier score.

>>> low, high = reliability([0, 0, 1, 1], [0.1, 0.3, 0.5, 0.9], bins=2)
>>> (low.mean, low.share), (high.mean, high.share)
((0.2, 0.0), (0.7, 1.0))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._bins import Bin, Binned
from evenhand.stats._ranking import Floats
from evenhand.stats._resampled import Bounds, Resampling
from evenhand.stats._rows import Rows
from evenhand.stats._units import Names
from evenhand.stats.intervals import LEVEL, RESAMPLES

BINS = 10
_FIGURES = ("base_rate", "brier", "calibration_error", "calibration_error_chance")
_CLASSES_ONLY = "the detector gives classes only: 0 and 1 are no probabilities"


def reliability(
    truth: ArrayLike,
    p: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: int = BINS,
    clusters: Names | None = None,
) -> list[Bin]:
    """Bins of equally many posts, from the lowest scores to the highest.

    ``clusters`` are posts that are alike (of one author): each then counts as one unit.
    """
    binned = _binned(Rows.of(truth, p, weights, clusters), bins)
    return [] if binned is None else binned.bins()


def _binned(rows: Rows | None, bins: int) -> Binned | None:
    if bins < 1:
        raise BadInput(f"bins: is {bins}; expected at least 1")
    return None if rows is None else Binned.of(rows, bins)


def _brier(rows: Rows, weight: Floats) -> float:
    return float(weight @ (rows.ranked.truth - rows.ranked.score) ** 2 / weight.sum())


def _base_rate(rows: Rows, weight: Floats) -> float:
    return float(weight @ rows.ranked.truth / weight.sum())


def at_base_rate(p: ArrayLike, trained: float, wanted: float) -> Floats:
    """Scores calibrated at base rate ``trained``, mapped to base rate ``wanted``.

    The odds are multiplied by the ratio of the odds of the two rates. That is right if only the
    share of positive posts differs, and posts of each class are alike in both places.

    >>> at_base_rate([0.5, 0.99], trained=0.5, wanted=0.01).round(2).tolist()
    [0.01, 0.5]
    """
    for name, rate in (("trained", trained), ("wanted", wanted)):
        if not 0 < rate < 1:
            raise BadInput(f"{name}: base rate is {rate}; expected a share between 0 and 1")
    scores = np.asarray(p, dtype=np.float64)
    if not ((scores >= 0) & (scores <= 1)).all():
        raise BadInput("p: some values are outside [0, 1] or NaN; expected scores")
    positive, negative = scores * wanted * (1 - trained), (1 - scores) * (1 - wanted) * trained
    mapped: Floats = positive / (positive + negative)
    return mapped


def calibration(
    truth: ArrayLike,
    p: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: int = BINS,
    classes_only: bool = False,
    strata: Names | None = None,
    clusters: Names | None = None,
    group: Mapping[str, str | int] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    unit: str | None = None,
) -> list[Finding]:
    """Base rate, Brier score, calibration error, that of chance, and every bin.

    Args:
        truth: 1 for a positive post, 0 for another.
        p: Scores, in [0, 1].
        weights: What each post counts; without them each counts 1.
        bins: How many are wanted.
        classes_only: The detector gives classes and no scores.
        strata: Resampling stays inside these (rescaled after Rao and Wu); two units or more each.
        clusters: Rows with the same name are drawn together; each inside one stratum.
        group: Added to every finding.
        seed: Of resamples and drawn truths.
        resamples: How many, of both; 0 for no intervals.
        unit: What a cluster is ("authors"); posts where there are none.
    """
    binned = _binned(Rows.of(truth, p, weights, clusters, strata), bins)
    own = dict(group or {})
    if binned is None:
        return [Finding(measure=m, value=None, n=0, group=own, why="no posts") for m in _FIGURES]
    rows = binned.rows
    resampling = Resampling(
        unit=unit or ("posts" if clusters is None else "clusters"),
        units=rows.units,
        resamples=resamples,
        in_strata=strata is not None,
    )
    reporter = _Reporter(rows, resampling, weights is not None, own)
    drawn = _resampled(binned, stream(seed, "calibration"), resamples)
    share = _base_rate(rows, rows.weight)
    bounds = resampling.share(share, drawn[:, 2], rows.effective())
    found = [reporter.overall("base_rate", share, bounds)]
    if classes_only:
        none = Bounds(why=_CLASSES_ONLY)
        return found + [reporter.overall(measure, None, none) for measure in _FIGURES[1:]]
    squared, error, parts = _brier(rows, rows.weight), binned.error(), binned.bins()
    how = f"{len(parts)} bins of equally many posts"
    apart = resampling.around(error, drawn[:, 0])
    return [
        *found,
        reporter.overall("brier", squared, resampling.percentiles(drawn[:, 1])),
        reporter.overall("calibration_error", error, apart, how),
        reporter.by_chance(binned, stream(seed, "calibrated"), how),
        *(each for at, part in enumerate(parts) for each in reporter.bin(at + 1, part)),
    ]


def _resampled(binned: Binned, rng: np.random.Generator, resamples: int) -> Floats:
    """Of resamples: how far their gaps are from those of the sample, Brier score, base rate."""
    rows, own = binned.rows, binned.gaps(binned.rows.weight)
    drawn = [
        (np.abs(binned.gaps(weight) - own).sum(), _brier(rows, weight), _base_rate(rows, weight))
        for weight in rows.resampled(rng, resamples)
    ]
    return np.array(drawn).reshape(-1, 3)


@dataclass(frozen=True)
class _Reporter:
    """Figures as findings."""

    rows: Rows
    resampling: Resampling
    weighted: bool
    group: Mapping[str, str | int]

    def overall(self, measure: str, value: float | None, bounds: Bounds, how: str = "") -> Finding:
        mean = "weighted mean" if self.weighted else "mean"
        return Finding(
            measure=measure,
            value=value,
            n=len(self.rows.weight),
            group=self.group,
            low=bounds.low,
            high=bounds.high,
            level=bounds.level,
            method="; ".join(filter(None, [how or mean, bounds.method])),
            unit=self.resampling.unit,
            weighted=self.weighted,
            n_effective=self.rows.effective(),
            why=bounds.why,
        )

    def by_chance(self, binned: Binned, rng: np.random.Generator, how: str) -> Finding:
        measure, times = "calibration_error_chance", self.resampling.resamples
        if not times:
            return self.overall(measure, None, Bounds(why="no resamples asked for"))
        chance = binned.by_chance(rng, times)
        low, high = np.quantile(chance, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        told = (
            f"mean of {times:,} draws of truths from the scores; low and high hold {LEVEL:.0%} of "
            "them, no confidence interval"
        )
        bounds = Bounds(low=float(low), high=float(high), method=told)
        return self.overall(measure, float(chance.mean()), bounds, how)

    def bin(self, number: int, part: Bin) -> list[Finding]:
        """Share of positive posts and mean score of a bin."""
        scores = f"scores {part.lowest:.4f} to {part.highest:.4f}"
        share = Finding(
            measure="reliability",
            value=part.share,
            n=part.n,
            group={**self.group, "bin": number},
            low=part.low,
            high=part.high,
            level=LEVEL,
            method=f"{scores}; Wilson with the effective number of {self.resampling.unit} as n",
            unit=self.resampling.unit,
            weighted=self.weighted,
            n_effective=part.n_effective,
        )
        mean = replace(share, measure="score_mean", value=part.mean, low=None, high=None)
        return [share, replace(mean, level=None, method=scores, why="no interval: not estimated")]
