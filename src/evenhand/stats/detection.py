"""A detector against people: precision, recall, F1, F1*, average precision, ROC-AUC.

All of them weighted, with ties in the score grouped, and with intervals from one set of bootstrap
resamples: rows are sorted by score once, a resample is a vector of weights, and every measure comes
from running sums. Average precision and AUC equal scikit-learn's.

F1* (``f1_best``) takes the threshold that is best on the very rows it is reported on, and so
flatters every detector; it is found anew in each resample and stands beside F1 at a threshold
chosen elsewhere. A post is flagged when its score is at least the threshold.

At the edges: without positives recall, F1, F1* and average precision do not exist, without both
classes AUC does not, and without anything flagged precision does not. A detector that gives classes
only has one threshold, so its F1* is its F1, and has neither average precision nor AUC.

>>> average_precision([1, 0, 1], [0.9, 0.8, 0.7])  # (1/1 + 2/3) / 2
0.8333333333333333
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._detection_findings import Setting, findings
from evenhand.stats._ranking import FIGURES, Floats, Ranked, rank
from evenhand.stats._units import Names, Units, code_names, make_units
from evenhand.stats.intervals import LEVEL, RESAMPLES


@dataclass(frozen=True)
class Best:
    """F1*, and what belongs to the threshold at which it is reached."""

    f1: float
    precision: float
    recall: float
    threshold: float
    """The highest of the thresholds that reach it."""


@dataclass(frozen=True)
class Curve:
    """Points of a curve, one per distinct score, from the strictest threshold to the mildest.

    The first point flags nothing: its threshold is infinite and its precision 1 by convention.
    """

    x: Floats
    y: Floats
    threshold: Floats


def precision(
    truth: ArrayLike, score: ArrayLike, threshold: float, weights: ArrayLike | None = None
) -> float | None:
    """Share of flagged posts that are positive; None where nothing is flagged."""
    return _figure("precision", truth, score, weights, threshold)


def recall(
    truth: ArrayLike, score: ArrayLike, threshold: float, weights: ArrayLike | None = None
) -> float | None:
    """Share of positive posts that are flagged; None without positives."""
    return _figure("recall", truth, score, weights, threshold)


def f1(
    truth: ArrayLike, score: ArrayLike, threshold: float, weights: ArrayLike | None = None
) -> float | None:
    """Harmonic mean of precision and recall; None without positives, 0 without a hit."""
    return _figure("f1", truth, score, weights, threshold)


def f1_best(truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None) -> Best | None:
    """The largest F1 over all thresholds on these rows (F1*); None without positives."""
    figures = _figures(truth, score, weights)
    if figures is None or np.isnan(figures[4]):
        return None
    return Best(*(float(figure) for figure in figures[4:8]))


def average_precision(
    truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None
) -> float | None:
    """Precision averaged over the recall gained at each threshold; None without positives."""
    return _figure("average_precision", truth, score, weights)


def auc(truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Chance that a positive post outscores a negative one, a tie counting one half."""
    return _figure("auc", truth, score, weights)


def pr_curve(truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None) -> Curve:
    """Recall (x) and precision (y); refuses rows without positives."""
    hits, alarms, threshold = _points(truth, score, weights)
    if not hits[-1] > 0:
        raise BadInput("pr_curve: no positive rows; recall does not exist")
    return Curve(
        np.append(0, hits / hits[-1]),
        np.append(1, hits / (hits + alarms)),
        np.append(np.inf, threshold),
    )


def roc_curve(truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None = None) -> Curve:
    """False-positive rate (x) and recall (y); refuses rows of one class."""
    hits, alarms, threshold = _points(truth, score, weights)
    if not (hits[-1] > 0 and alarms[-1] > 0):
        raise BadInput("roc_curve: rows of one class only; a rate does not exist")
    return Curve(
        np.append(0, alarms / alarms[-1]),
        np.append(0, hits / hits[-1]),
        np.append(np.inf, threshold),
    )


def _points(
    truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    ranked = rank(truth, score, weights)
    if not len(ranked.order):
        raise BadInput("no rows: a curve needs some")
    hits, alarms = ranked.sums(ranked.weight)
    moves = np.diff(hits + alarms, prepend=0) > 0  # a score with no weight is no point
    return hits[moves], alarms[moves], ranked.threshold[moves]


def _figures(
    truth: ArrayLike, score: ArrayLike, weights: ArrayLike | None, cut: float | None = None
) -> Floats | None:
    ranked = rank(truth, score, weights)
    return ranked.figures(ranked.weight, cut) if len(ranked.order) else None


def _figure(
    name: str,
    truth: ArrayLike,
    score: ArrayLike,
    weights: ArrayLike | None,
    cut: float | None = None,
) -> float | None:
    figures = _figures(truth, score, weights, cut)
    value = np.nan if figures is None else float(figures[FIGURES.index(name)])
    return None if np.isnan(value) else value


def detection(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    threshold: float | None = None,
    classes_only: bool = False,
    strata: Names | None = None,
    clusters: Names | None = None,
    group: Mapping[str, str | int] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    unit: str | None = None,
    posts: Sequence[str] | None = None,
) -> list[Finding]:
    """All measures of a detector against people, with intervals from one set of resamples.

    Args:
        truth: 1 for a positive post, 0 for another.
        score: In [0, 1]; 0 or 1 with ``classes_only``.
        weights: What each post counts; without them each counts 1.
        threshold: Chosen on other rows (dev). Without it precision, recall and F1 are null.
        classes_only: The detector gives classes and no scores.
        strata: Resampling stays inside these (rescaled after Rao and Wu); two units or more each.
        clusters: Rows with the same name are drawn together; each inside one stratum.
        group: Added to every finding.
        seed: Of the resamples.
        resamples: How many; 0 for no intervals.
        level: Of the intervals.
        unit: What a cluster is ("authors"); posts where there are none.
        posts: Ids, for cases: wrongly flagged posts with precision, missed ones with recall.
    """
    ranked = rank(truth, score, weights)
    n = len(ranked.order)
    if posts is not None and len(posts) != n:
        raise BadInput(f"posts: {len(posts)} ids for {n} rows; expected one each")
    units = _units(ranked, strata, clusters) if n else None
    setting = Setting(
        group=dict(group or {}),
        cut=_cut(ranked, threshold, classes_only),
        classes_only=classes_only,
        weighted=weights is not None,
        unit=unit or ("posts" if clusters is None else "clusters"),
        units=units.count if units else 0,
        in_strata=strata is not None,
        resamples=resamples,
        level=level,
    )
    if units is None:
        return findings(ranked, setting, np.full(len(FIGURES), np.nan), None, None)
    values = ranked.figures(ranked.weight, setting.cut, classes_only)
    drawn = _resample(ranked, units, setting, seed) if resamples and units.count > 1 else None
    return findings(ranked, setting, values, drawn, posts)


def _units(ranked: Ranked, strata: Names | None, clusters: Names | None) -> Units:
    n = len(ranked.order)
    stratum = None if strata is None else code_names(strata, n, "strata")[ranked.order]
    cluster = None if clusters is None else code_names(clusters, n, "clusters")[ranked.order]
    return make_units(ranked.kinds(), stratum, cluster)


def _cut(ranked: Ranked, threshold: float | None, classes_only: bool) -> float | None:
    if classes_only:
        if not np.isin(ranked.score, (0, 1)).all():
            raise BadInput("score: expected 0 or 1 from a detector that gives classes only")
        return 0.5
    if threshold is not None and not np.isfinite(threshold):
        raise BadInput(f"threshold: is {threshold}; expected a number")
    return threshold


def _resample(ranked: Ranked, units: Units, setting: Setting, seed: int) -> Floats:
    rng = stream(seed, "detection")
    drawn = np.empty((setting.resamples, len(FIGURES)))
    for row in drawn:
        weight = ranked.weight * units.draw(rng)
        row[:] = ranked.figures(weight, setting.cut, setting.classes_only)
    return drawn
