"""Ratios of sums over cases, and their differences, with one set of resamples for all of them.

Accuracy, F1 and rates are ratios of sums: Σ top / Σ bottom over cases. Cases of one cluster (the
template they were made from) are alike, so whole clusters are drawn, and every figure sees the same
draws: differences between figures, and between two detectors on the same cases, are then paired.

At the edges: a ratio without cases does not exist. With fewer than ten clusters there is no
interval. Where all cases are right (or all wrong) resamples cannot differ and would pretend to
certainty; the interval is then Wilson's, with the number of clusters as n.

>>> clusters = Clusters.of(["a", "a", "b"], seed=0, resamples=100)
>>> clusters.value(Ratio.share([1, 0, 1], [1, 1, 1]))
0.6666666666666666
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats.decisions import FEWEST
from evenhand.stats.intervals import LEVEL, RESAMPLES, wilson

Floats = NDArray[np.float64]

_ENOUGH = 0.95


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

    @classmethod
    def of(cls, names: Sequence[str], *, seed: int, resamples: int = RESAMPLES) -> Clusters:
        """Clusters by name; the draws do not depend on the order of the cases."""
        known, code = np.unique(np.asarray(names, dtype=np.str_), return_inverse=True)
        return cls(code, len(known), seed, resamples)

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

    def with_cases(self, ratio: Ratio) -> int:
        """How many clusters have a case below the line."""
        return int((self._sums((ratio.bottom != 0).astype(np.float64)) > 0).sum())


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
    many = clusters.with_cases(ratio)
    if value in (0.0, 1.0) and many >= FEWEST:
        low, high = wilson(round(value * many), many)
        how = f"{how}; all alike, so Wilson's interval with the {many} {unit} as n"
        return _found(measure, value, (low, high), n, group, how, unit, cases)
    drawn = clusters.draws(ratio)
    return _resampled(measure, value, drawn, many, clusters, n, group, how, unit, cases)


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
    values = [clusters.value(ratio) for ratio in (first, second)]
    if values[0] is None or values[1] is None:
        return Finding(measure=measure, value=None, n=n, group=group, why=why, unit=unit)
    many = min(clusters.with_cases(ratio) for ratio in (first, second))
    drawn = clusters.draws(first) - clusters.draws(second)
    value = values[0] - values[1]
    return _resampled(measure, value, drawn, many, clusters, n, group, how, unit, cases)


def _resampled(
    measure: str,
    value: float,
    drawn: Floats,
    many: int,
    clusters: Clusters,
    n: int,
    group: Mapping[str, str | int],
    how: str,
    unit: str,
    cases: Sequence[str],
) -> Finding:
    known = drawn[np.isfinite(drawn)]
    if many < FEWEST or len(known) < _ENOUGH * clusters.resamples or not len(known):
        why = f"no interval: {many} {unit}, fewer than {FEWEST}"
        if many >= FEWEST:
            why = f"no interval: the figure does not exist in many resamples of {unit}"
        return Finding(
            measure=measure,
            value=value,
            n=n,
            group=group,
            method=how,
            unit=unit,
            why=why,
            cases=cases,
        )
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    how = f"{how}; percentile bootstrap over {unit}, {clusters.resamples:,} resamples"
    return _found(measure, value, (float(low), float(high)), n, group, how, unit, cases)


def _found(
    measure: str,
    value: float,
    interval: tuple[float, float],
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
        low=interval[0],
        high=interval[1],
        level=LEVEL,
        method=how,
        unit=unit,
        cases=cases,
    )
