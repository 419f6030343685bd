"""Ratios of sums over cases, and their differences, with one set of resamples for all of them.

Accuracy, F1 and rates are ratios of sums: Σ top / Σ bottom over cases. Cases of one cluster (the
template they were made from) are alike, so whole clusters are drawn, and every figure sees the same
draws: differences between figures, and between two detectors on the same cases, are then paired.

At the edges: a ratio without cases does not exist. With fewer than ten clusters there is no
interval. Where all cases are right (or all wrong) resamples cannot differ and would pretend to
certainty; the interval is then Wilson's, with the number of clusters as n. Percentiles of few
clusters are too narrow near 0 and 1 in the same way: where it is known how alike the cases of a
cluster are (learned from all cases, :meth:`Clusters.of`), the interval of a share of fewer than
thirty clusters is at least Wilson's with n counted down accordingly. For a difference of two
figures that are all alike both intervals are squared and added (Newcombe 1998). Where every cluster
has the same difference, as many clusters may be otherwise as Wilson's interval allows: two figures
that are equal in all cases are 0 apart, give or take that, since nothing says that they are equal
in the next one.

>>> clusters = Clusters.of(["a", "a", "b"], seed=0, resamples=100)
>>> clusters.value(Ratio.share([1, 0, 1], [1, 1, 1]))
0.6666666666666666
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._resampled import ALIKE, Bounds, Resampling, some_unlike
from evenhand.stats.intervals import RESAMPLES, wilson

Floats = NDArray[np.float64]
_MANY = 30
"""With so many clusters the percentiles of resamples can be trusted alone."""


@dataclass(frozen=True, eq=False)
class Ratio:
    """What every case adds above and below the line."""

    top: Floats
    bottom: Floats

    @classmethod
    def share(cls, yes: ArrayLike, among: ArrayLike) -> Ratio:
        """The share of those ``among`` which are ``yes``."""
        inside = np.asarray(among, dtype=np.float64)
        return cls(np.asarray(yes, dtype=np.float64) * inside, inside)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which case belongs to which cluster, and how often each cluster is drawn."""

    code: NDArray[np.int64]
    size: int
    seed: int
    resamples: int
    alike: float = 1.0
    """How alike the cases of a cluster are, between 0 (not at all) and 1 (as one case)."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        *,
        seed: int,
        resamples: int = RESAMPLES,
        outcome: ArrayLike | None = None,
        within: Sequence[str] | None = None,
    ) -> Clusters:
        """Clusters by name; the draws do not depend on the order of the cases.

        From the ``outcome`` of the cases (0 or 1) it is learned how alike those of a cluster are,
        beyond what they share with all cases of their kind (``within``).
        """
        known, code = np.unique(np.asarray(names, dtype=np.str_), return_inverse=True)
        alike = 1.0
        if outcome is not None:
            kinds = np.asarray(within if within is not None else [""] * len(code), dtype=np.str_)
            alike = _alikeness(np.asarray(outcome, dtype=np.float64), code, kinds)
        return cls(code, len(known), seed, resamples, alike)

    @cached_property
    def _times(self) -> Floats:
        even = np.full(self.size, 1 / self.size)
        drawn = stream(self.seed, "ratios").multinomial(self.size, even, size=self.resamples)
        return drawn.astype(np.float64)

    def _sums(self, values: Floats) -> Floats:
        return np.bincount(self.code, weights=values, minlength=self.size).astype(np.float64)

    def value(self, ratio: Ratio) -> float | None:
        """The ratio over all cases; None where nothing stands below the line."""
        bottom = float(ratio.bottom.sum())
        return float(ratio.top.sum()) / bottom if bottom else None

    def draws(self, ratio: Ratio) -> Floats:
        """The ratio in every resample, NaN where it does not exist."""
        top, bottom = (self._times @ self._sums(side) for side in (ratio.top, ratio.bottom))
        found: Floats = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
        return found

    def spread(self, ratio: Ratio) -> float:
        """The standard deviation of the resamples; 0 where they differ in the last bits only."""
        drawn = self.draws(ratio)
        found = float(np.std(drawn[np.isfinite(drawn)]))
        return found if found > ALIKE else 0.0

    def effective(self, ratio: Ratio) -> float:
        """How many cases that have nothing to do with each other the ratio is worth."""
        sizes = self._sums((ratio.bottom != 0).astype(np.float64))
        n = float(sizes.sum())
        return n / (1 + (float((sizes**2).sum()) / n - 1) * self.alike) if n else 0.0

    def with_cases(self, ratio: Ratio) -> int:
        """How many clusters have a case below the line."""
        return int((self._sums((ratio.bottom != 0).astype(np.float64)) > 0).sum())

    def resampling(self, unit: str, *ratios: Ratio) -> Resampling:
        """What intervals are made of; the ratio that rests on the fewest clusters counts."""
        units = min(self.with_cases(ratio) for ratio in ratios)
        return Resampling(unit=unit, units=units, resamples=self.resamples)


def ratio_finding(
    measure: str,
    ratio: Ratio,
    clusters: Clusters,
    *,
    unit: str,
    group: Mapping[str, str | int],
    how: str = "share of cases",
    why: str = "no such case",
    cases: Sequence[str] = (),
) -> Finding:
    """A ratio as a finding, its interval over clusters."""
    n = int((ratio.bottom != 0).sum())
    value = clusters.value(ratio)
    if value is None:
        return Finding(measure=measure, value=None, n=0, group=group, why=why, unit=unit)
    bounds = clusters.resampling(unit, ratio).share(value, clusters.draws(ratio))
    if clusters.alike < 1 and (clusters.with_cases(ratio) < _MANY or value in (0.0, 1.0)):
        bounds = _not_too_narrow(value, bounds, clusters.effective(ratio))
    return _found(measure, value, bounds, n, group, how, unit, cases)


def _not_too_narrow(value: float, bounds: Bounds, effective: float) -> Bounds:
    """At least as wide as Wilson's interval with the effective number of cases as n.

    Near 0 and 1 a handful of clusters hardly differ between resamples, so that percentiles alone
    hold the truth too rarely; where all cases are alike they do not differ at all.
    """
    if bounds.low is None or bounds.high is None:
        return bounds
    low, high = wilson(value * effective, effective)
    if value not in (0.0, 1.0):
        low, high = min(low, bounds.low), max(high, bounds.high)
    method = f"not narrower than Wilson's with {effective:.0f} unlike cases as n"
    if value in (0.0, 1.0):
        method = f"all alike: Wilson's interval with {effective:.0f} unlike cases as n"
    else:
        method = f"{bounds.method}; {method}"
    return replace(bounds, low=low, high=high, method=method)


def _alikeness(outcome: Floats, code: NDArray[np.int64], kinds: NDArray[np.str_]) -> float:
    """The correlation of outcomes inside clusters, by analysis of variance, kinds kept apart."""
    _, kind = np.unique(kinds, return_inverse=True)
    _, cell = np.unique(kind.astype(np.int64) * (int(code.max()) + 1) + code, return_inverse=True)
    size = np.bincount(cell).astype(np.float64)
    mean = np.bincount(cell, weights=outcome) / size
    of_cell = np.zeros(len(size), dtype=np.int64)
    of_cell[cell] = kind
    total = np.bincount(kind).astype(np.float64)
    overall = np.bincount(kind, weights=outcome) / total
    freedom = len(size) - len(total)
    inside = len(outcome) - len(size)
    if freedom < 1 or inside < 1:
        return 1.0
    between = float((size * (mean - overall[of_cell]) ** 2).sum()) / freedom
    within = float((size * mean * (1 - mean)).sum()) / inside
    usual = float(total.sum() - (np.bincount(of_cell, weights=size**2) / total).sum()) / freedom
    spread = between + (usual - 1) * within
    return float(np.clip((between - within) / spread, 0.0, 1.0)) if spread > 0 else 1.0


def difference_finding(
    measure: str,
    first: Ratio,
    second: Ratio,
    clusters: Clusters,
    *,
    unit: str,
    group: Mapping[str, str | int],
    how: str,
    why: str = "one side has no case",
    cases: Sequence[str] = (),
) -> Finding:
    """The first ratio minus the second, clusters drawn jointly."""
    n = int(((first.bottom != 0) | (second.bottom != 0)).sum())
    one, other = clusters.value(first), clusters.value(second)
    if one is None or other is None:
        return Finding(measure=measure, value=None, n=n, group=group, why=why, unit=unit)
    if {one, other} <= {0.0, 1.0}:
        bounds = _newcombe(one, other, *(clusters.resampling(unit, r) for r in (first, second)))
    else:
        drawn = clusters.draws(first) - clusters.draws(second)
        bounds = clusters.resampling(unit, first, second).difference(one - other, drawn)
    return _found(measure, one - other, bounds, n, group, how, unit, cases)


def alike_difference(value: float, clusters: int, level: float) -> tuple[float, float]:
    """The interval of a difference that is the same in every one of so many clusters."""
    return some_unlike(value, clusters, level, -1.0)


def _newcombe(one: float, other: float, first: Resampling, second: Resampling) -> Bounds:
    """The interval of a difference of two shares that are each 0 or 1."""
    a, b = first.alike(one), second.alike(other)
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return b if a.why is None else a
    value = one - other
    return replace(
        a,
        low=max(-1.0, value - math.hypot(one - a.low, b.high - other)),
        high=min(1.0, value + math.hypot(a.high - one, other - b.low)),
        method=f"both sides all alike: square and add (Newcombe) of Wilson's intervals with "
        f"{first.units} and {second.units} {first.unit} as n",
    )


def _found(
    measure: str,
    value: float,
    bounds: Bounds,
    n: int,
    group: Mapping[str, str | int],
    how: str,
    unit: str,
    cases: Sequence[str],
) -> Finding:
    return Finding(
        measure=measure,
        value=value,
        n=n,
        group=group,
        low=bounds.low,
        high=bounds.high,
        level=bounds.level,
        method="; ".join(filter(None, [how, bounds.method])),
        unit=unit,
        why=bounds.why,
        cases=cases,
    )
