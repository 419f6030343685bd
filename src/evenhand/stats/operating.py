"""What a detector does at a threshold: precision, recall and the share of posts it flags.

At fixed thresholds, and at the one that flags a wanted share of posts ("your flag rate"). A post
is flagged when its score is at least the threshold.

How many flagged posts are positive depends on how many posts are. So posts can have the weights of
a population, or be weighted anew so that positive posts make a given share of all (``base_rate``):
precision and flagged share change, recall does not. That speaks of a site with that base rate only
if its posts of each class are like these.

Posts with the same score are flagged together. The threshold for a share is the lowest that flags
at most that share, so fewer may be flagged than was asked for; where even the posts with the
highest score are more, there is none. It is found anew in every resample.

Intervals are percentiles of resamples. Where all posts of a class are flagged, or none is,
resamples cannot differ, and a figure of 0 or 1 would look certain: the rate of that class then has
Wilson's interval, and the figure the interval that follows. A hundred negative posts without a
false alarm say little about precision where one post in a hundred is positive.

At the edges: where nothing is flagged precision does not exist, without positives recall does not,
and a base rate needs both classes. A detector that gives classes only has the one threshold 0.5; at
any other its figures would be the same under another name, so there are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._points import MEASURES, Point, Site, named
from evenhand.stats._ranking import Floats
from evenhand.stats._resampled import ALIKE, Bounds, Resampling
from evenhand.stats._rows import Rows
from evenhand.stats._units import Names
from evenhand.stats.decisions import FEWEST
from evenhand.stats.intervals import LEVEL, RESAMPLES

THRESHOLDS = (0.5, 0.7, 0.9)
_ONLY = Point(0.5)
"""The point of a detector that gives classes."""


def operating(
    truth: ArrayLike,
    p: ArrayLike,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    shares: Sequence[float] = (),
    weights: ArrayLike | None = None,
    base_rate: float | None = None,
    classes_only: bool = False,
    strata: Names | None = None,
    clusters: Names | None = None,
    group: Mapping[str, str | int] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    unit: str | None = None,
) -> list[Finding]:
    """Threshold, precision, recall and flagged share at every point, named by ``at``.

    Args:
        truth: 1 for a positive post, 0 for another.
        p: Scores, in [0, 1]; 0 or 1 with ``classes_only``.
        thresholds: Fixed ones, each once.
        shares: Of posts to be flagged, each once.
        weights: What each post counts; without them each counts 1.
        base_rate: The share of positive posts to weight to.
        classes_only: The detector gives classes and no scores.
        strata: Resampling stays inside these (rescaled after Rao and Wu); two units or more each.
        clusters: Rows with the same name are drawn together; each inside one stratum.
        group: Added to every finding.
        seed: Of the resamples.
        resamples: How many; 0 for no intervals.
        unit: What a cluster is ("authors"); posts where there are none.
    """
    if base_rate is not None and not 0 < base_rate < 1:
        raise BadInput(f"base rate: is {base_rate}; expected a share between 0 and 1")
    names = named([*(Point(t) for t in thresholds), *(Point(s, is_share=True) for s in shares)])
    points, own = list(names.values()), dict(group or {})
    rows = Rows.of(truth, p, weights, clusters, strata)
    if rows is None:
        return [_nothing(m, {**own, "at": x}, 0, "no posts") for x in names for m in MEASURES]
    if classes_only and not np.isin(rows.ranked.score, (0, 1)).all():
        raise BadInput("p: expected 0 or 1 from a detector that gives classes only")
    site = Site(rows, base_rate)
    resampling = Resampling(
        unit=unit or ("posts" if clusters is None else "clusters"),
        units=rows.units,
        resamples=resamples,
        in_strata=strata is not None,
    )
    many = weights is not None or base_rate is not None
    reporter = _Reporter(site, resampling, classes_only, many, own)
    every = rows.resampled(stream(seed, "operating"), resamples)
    drawn = np.array([site.figures(weight, points) for weight in every])
    drawn = drawn.reshape(-1, len(points), len(MEASURES))
    values = site.figures(rows.weight, points)
    return [
        reporter.finding(name, point, at, values[number], drawn[:, number])
        for number, (name, point) in enumerate(names.items())
        for at in range(len(MEASURES))
    ]


def _nothing(measure: str, group: Mapping[str, str | int], n: int, why: str) -> Finding:
    return Finding(measure=measure, value=None, n=n, group=group, why=why)


@dataclass(frozen=True)
class _Reporter:
    """Figures at points as findings: intervals, reasons."""

    site: Site
    resampling: Resampling
    classes_only: bool
    weighted: bool
    group: Mapping[str, str | int]

    def finding(self, name: str, point: Point, at: int, values: Floats, drawn: Floats) -> Finding:
        group = {**self.group, "at": name}
        rests_on = self._posts(MEASURES[at], values[0])
        n = int(rests_on.sum())
        why = self._why_missing(point, at, values)
        if why:
            return _nothing(MEASURES[at], group, n, why)
        bounds = self._interval(point, at, values, drawn[:, at])
        told = [self._how(point), bounds.method]
        return Finding(
            measure=MEASURES[at],
            value=float(values[at]),
            n=n,
            group=group,
            low=bounds.low,
            high=bounds.high,
            level=bounds.level,
            method="; ".join(filter(None, told)) or "counted",
            unit=self.resampling.unit,
            weighted=self.weighted,
            n_effective=self.site.effective(rests_on),
            why=bounds.why,
        )

    def _posts(self, measure: str, threshold: float) -> NDArray[np.bool_]:
        """Which posts a figure rests on; NaN flags nothing."""
        ranked = self.site.rows.ranked
        if measure == "precision":
            return np.asarray(ranked.score >= threshold, dtype=np.bool_)
        if measure == "recall":
            return np.asarray(ranked.truth == 1, dtype=np.bool_)
        return np.ones(len(ranked.score), dtype=np.bool_)

    def _why_missing(self, point: Point, at: int, values: Floats) -> str | None:
        if self.classes_only and point != _ONLY:
            return "the detector gives classes only: nothing but a threshold of 0.5 has a meaning"
        if not np.isnan(values[at]):
            return None
        truth = self.site.rows.ranked.truth
        if self.site.base_rate is not None and (point.is_share or MEASURES[at] != "recall"):
            for name, known in (("positive", truth.any()), ("negative", not truth.all())):
                if not known:
                    return f"no {name} posts: they cannot be weighted to a base rate"
        if np.isnan(values[0]):
            return "more posts than that have the highest score, and are flagged together"
        return "nothing is flagged" if MEASURES[at] == "precision" else "no positive posts"

    def _interval(self, point: Point, at: int, values: Floats, drawn: Floats) -> Bounds:
        measure, value = MEASURES[at], float(values[at])
        if measure == "threshold" and not point.is_share:
            return Bounds(why="no interval: given")
        alike = measure != "threshold" and min(value, 1 - value) < ALIKE
        if not alike or self.resampling.units < FEWEST:
            return self.resampling.percentiles(drawn)
        low, high = self.site.extreme(measure, round(value), float(values[0]))
        return Bounds(
            low=low,
            high=high,
            level=LEVEL,
            method=f"all alike: Wilson with the effective number of {self.resampling.unit} as n",
        )

    def _how(self, point: Point) -> str:
        rate = self.site.base_rate
        weighted = "" if rate is None else f"weighted to a base rate of {100 * rate:g} %"
        asked = "at most that share: posts with the same score go together"
        return "; ".join(filter(None, [weighted, asked if point.is_share else ""]))
