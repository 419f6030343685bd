"""How a detector's scores relate to recorded ones, for one attribute: every figure, with intervals.

Texts are resampled; ranks are those of all texts, the threshold is chosen anew in every resample.
Rows come sorted by id, so that their order in the recording changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import kendalltau

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats.decisions import FEWEST
from evenhand.stats.intervals import LEVEL, RESAMPLES, wilson
from evenhand.studies.migrate_map import map_of
from evenhand.studies.migrate_pairs import (
    GONE,
    KEPT,
    NEWLY,
    UNIT,
    Bools,
    Floats,
    Keep,
    Migrated,
    Pairs,
    clearest,
    flips,
    groups_of,
)
from evenhand.studies.migrate_parts import curve, decisions, flips_of, judged
from evenhand.studies.migrate_thresholds import FLAG_RATE, PRECISION, Ranking

_TAU_RESAMPLES, _TAU_MOST = 200, 20_000
_RESAMPLED = ("spearman", "threshold", "before", "after", "kept", "newly", "gone")


def migrated(
    pairs: Pairs, recorded_threshold: float, keep: Keep, *, seed: int, resamples: int = RESAMPLES
) -> Migrated:
    """Every figure of one attribute."""
    before = np.asarray(pairs.old >= recorded_threshold)
    site = _Site(pairs, before, keep)
    whole, drawn = site.figures(np.ones(len(before))), site.resampled(seed, resamples)
    threshold = float(whole["threshold"]) if np.isfinite(whole["threshold"]) else None
    why = None if threshold is not None else _why(pairs, before, recorded_threshold, keep)
    group = {"attribute": pairs.attribute}
    base = Finding(measure="spearman", value=0.0, n=len(before), group=group, unit=UNIT)
    none = "all scores are equal"
    found = [
        _drawn(base, "spearman", whole["spearman"], drawn["spearman"], none),
        _tau(base, pairs, seed, min(resamples, _TAU_RESAMPLES)),
        _drawn(base, "threshold", whole["threshold"], drawn["threshold"], why, how=site.how()),
    ]
    for name, measure, scores in (
        ("before", "flagged_share", "recorded"),
        ("after", "flagged_share", "new"),
        ("kept", KEPT, ""),
        ("newly", NEWLY, ""),
        ("gone", GONE, ""),
    ):
        own = replace(base, group={**group, **({"scores": scores} if scores else {})})
        found.append(_drawn(own, measure, whole[name], drawn[name], why))
    groups = groups_of(pairs.mentions)
    result = Migrated(pairs, recorded_threshold, threshold, why, (), None, groups)
    if threshold is not None:
        found = [_with_cases(finding, result) for finding in found]
        for (kind, name), inside in groups.items():
            found += flips_of(result, inside, {**group, kind: name})
        found += judged(result, base)
    found += curve(pairs, base) + decisions(pairs, before, base)
    made, distances = map_of(result, keep, (found[2].low, found[2].high), seed)
    return replace(result, findings=[*found, *distances], map=made)


class _Site:
    """Everything that is resampled, sorted once."""

    def __init__(self, pairs: Pairs, before: Bools, keep: Keep) -> None:
        self._pairs, self._before, self._keep = pairs, before, keep
        self._by_labels = keep.what != FLAG_RATE and bool(pairs.labelled.any())
        rows = pairs.labelled if self._by_labels else np.ones(len(before), dtype=np.bool_)
        truth = pairs.truth[rows] if self._by_labels else None
        self._rows = rows
        self._ranking = Ranking.of(pairs.new[rows], before[rows], truth)
        self._ranks = pairs.ranks()
        self._constant = bool(pairs.new.min() == pairs.new.max())

    def how(self) -> str:
        """What the threshold keeps, in words."""
        keep = self._keep
        if keep.what == FLAG_RATE:
            return "keeps the flag rate"
        if self._by_labels:
            return f"keeps the {keep.what} against labels"
        return f"{keep.what} of {keep.share:g} against the old decisions (there are no labels)"

    def figures(self, weight: Floats) -> dict[str, float]:
        """All figures under these weights; NaN where one does not exist."""
        pairs, before, keep = self._pairs, self._before, self._keep
        share = None if self._by_labels or keep.what == FLAG_RATE else keep.share
        threshold = np.nan
        if not self._constant:
            threshold = self._ranking.threshold(weight[self._rows], keep.what, share=share)
        total = float(weight.sum())
        found = dict.fromkeys(_RESAMPLED, np.nan) | {
            "spearman": _correlation(*self._ranks, weight),
            "threshold": threshold,
            "before": float(weight @ before) / total,
        }
        if np.isfinite(threshold):
            after = pairs.new >= threshold
            for name, which in (
                ("after", after),
                ("kept", after == before),
                ("newly", after & ~before),
                ("gone", before & ~after),
            ):
                found[name] = float(weight @ which) / total
        return found

    def resampled(self, seed: int, resamples: int) -> dict[str, Floats]:
        """All figures in every resample; none of fewer texts than an interval needs."""
        n = len(self._before)
        rng = stream(seed, "migrate", self._pairs.attribute)
        rows = [
            self.figures(np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64))
            for _ in range(resamples if n >= FEWEST else 0)
        ]
        return {name: np.array([row[name] for row in rows]) for name in _RESAMPLED}


def _correlation(a: Floats, b: Floats, weight: Floats) -> float:
    w = weight / weight.sum()
    x, y = a - w @ a, b - w @ b
    below = float(np.sqrt((w @ (x * x)) * (w @ (y * y))))
    return float(w @ (x * y)) / below if below > 1e-12 else np.nan


def _drawn(
    base: Finding, measure: str, value: float, drawn: Floats, missing: str | None, how: str = ""
) -> Finding:
    """A figure with the interval of its resamples, or why it has none."""
    own = replace(base, measure=measure)
    if not np.isfinite(value):
        return replace(own, value=None, why=missing or "does not exist")
    known = drawn[np.isfinite(drawn)]
    if not len(drawn) or len(known) < 0.95 * len(drawn):
        few = f"no interval: fewer than {FEWEST} {UNIT}, or no resamples asked for"
        many = f"no interval: does not exist in many resamples of {UNIT}"
        why = many if len(drawn) else few
        return replace(own, value=float(value), method=how or "as counted", why=why)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    method = f"percentile bootstrap over {UNIT}, {len(drawn):,} resamples"
    if measure.endswith("share") and value in (0.0, 1.0):
        low, high = wilson(value * base.n, base.n)
        method = f"all alike: Wilson's interval with the {base.n:,} {UNIT} as n"
    return replace(
        own,
        value=float(value),
        low=float(low),
        high=float(high),
        level=LEVEL,
        method="; ".join(filter(None, [how, method])),
    )


def _tau(base: Finding, pairs: Pairs, seed: int, resamples: int) -> Finding:
    """Kendall's τ-b; its resamples are dear, so that large recordings have no interval."""
    n = base.n
    unlike = min(len(np.unique(pairs.old)), len(np.unique(pairs.new))) > 1
    value = float(kendalltau(pairs.old, pairs.new).statistic) if unlike else np.nan
    drawn = np.array([])
    if unlike and FEWEST <= n <= _TAU_MOST:
        rng = stream(seed, "migrate", "tau", pairs.attribute)
        rows = [rng.integers(n, size=n) for _ in range(resamples)]
        drawn = np.array([kendalltau(pairs.old[at], pairs.new[at]).statistic for at in rows])
    found = _drawn(base, "kendall_tau", value, drawn, "all scores are equal")
    if n > _TAU_MOST and found.value is not None:
        return replace(found, why="no interval: so many texts; that of spearman stands beside it")
    return found


def _why(pairs: Pairs, before: Bools, recorded_threshold: float, keep: Keep) -> str:
    """Why there is no threshold."""
    if pairs.new.min() == pairs.new.max():
        return "all new scores are equal"
    if not before.any():
        return f"no recorded score reaches {recorded_threshold:g}: there is nothing to keep"
    if keep.what != FLAG_RATE and pairs.labelled.any() and not (pairs.truth == 1).any():
        return "no text is labelled positive"
    if keep.what == PRECISION:
        return "no threshold has that precision"
    return "more texts than that have the highest score, and are flagged together"


def _with_cases(finding: Finding, result: Migrated) -> Finding:
    if finding.measure not in (NEWLY, GONE):
        return finding
    return replace(finding, cases=clearest(result, flips(result)[finding.measure]))
