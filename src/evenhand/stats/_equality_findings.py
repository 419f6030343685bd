"""Rates and equality differences as findings: intervals, values by chance, p-values, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._error_rates import KINDS, Floats, Key, all_figures
from evenhand.stats._resampled import ALIKE, Bounds, Resampling
from evenhand.stats.intervals import LEVEL, resampled_sums

SHUFFLED, SWAPPED = "shuffled", "swapped"
DEALS = {SHUFFLED: "the groups within frames", SWAPPED: "whole terms within pairs"}
"""How groups are dealt out anew: ending of the measure → what is permuted."""


@dataclass(frozen=True, kw_only=True)
class Reporter:
    """Turns counts and permutations of them into findings."""

    cells: Floats
    """Counts by cluster, run, group and cell."""
    groups: tuple[str, ...]
    group: Mapping[str, str | int]
    unit: str
    seed: int
    resamples: int

    @cached_property
    def values(self) -> dict[Key, Floats]:
        """Every figure by measure and group."""
        return all_figures(self.cells.sum(axis=0), self.groups)

    @property
    def over(self) -> str:
        """Over how many runs a figure is the mean."""
        runs = self.cells.shape[1]
        return f"mean over {runs} runs" if runs > 1 else "one run"

    def figures(self) -> list[Finding]:
        """Rates and differences with intervals over clusters."""
        drawn = self._drawn()
        return [self._finding(key, float(v), drawn.get(key)) for key, v in self.values.items()]

    def _drawn(self) -> dict[Key, Floats]:
        """Every rate in every resample of clusters, and how far its differences are from ours."""
        if not self.resamples:
            return {}
        flat, own = self.cells.reshape(len(self.cells), -1), self.cells.sum(axis=0)
        sums = resampled_sums(flat, stream(self.seed, "equality"), self.resamples)
        parts = [all_figures(s.reshape(-1, *own.shape), self.groups, own) for s in sums]
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}

    def _finding(self, key: Key, value: float, drawn: Floats | None) -> Finding:
        measure, name = key
        own = self.group if name is None else {**self.group, "group": name}
        n, why = self._rows(measure, name)
        if np.isnan(value):
            return Finding(measure=measure, value=None, n=n, group=own, why=why, unit="posts")
        bounds = self._interval(key, value, drawn)
        return Finding(
            measure=measure,
            value=value,
            n=n,
            group=own,
            low=bounds.low,
            high=bounds.high,
            level=bounds.level,
            method="; ".join(filter(None, [self.over, bounds.method])),
            unit=self.unit,
            why=bounds.why,
        )

    def _interval(self, key: Key, value: float, drawn: Floats | None) -> Bounds:
        measure, name = key
        kind = _kind(measure)
        rate, difference, _ = KINDS[kind]
        posts = self.cells[:, 0, :, 2 * kind]
        if name is not None:
            posts = posts[:, [self.groups.index(name)]]
        elif measure == rate:
            posts = posts.sum(axis=1, keepdims=True)
        resampling = Resampling(
            unit=self.unit,
            units=int((posts > 0).sum(axis=0).min()),
            resamples=self.resamples,
        )
        if measure == rate:
            return resampling.share(value, drawn)
        # A sum of distances of k groups from the rate overall is below k − 1.
        most = max(1.0, len(self.groups) - 1.0) if measure == difference else 1.0
        return resampling.around(value, drawn, most=most)

    def by_chance(self, ending: str, drawn: Floats) -> list[Finding]:
        """The differences when groups are dealt out anew, from one row per permutation."""
        found = []
        for kind, (_, measure, _) in enumerate(KINDS):
            n = self._rows(measure, None)[0]
            nothing = Finding(
                measure=f"{measure}_{ending}",
                value=None,
                n=n,
                group=self.group,
                why=self._why_not_dealt(measure),
            )
            if np.isnan(drawn[:, kind]).any():
                found.append(nothing)
                continue
            low, high = np.quantile(drawn[:, kind], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            found.append(
                replace(
                    nothing,
                    value=float(drawn[:, kind].mean()),
                    low=float(low),
                    high=float(high),
                    method=f"{self.over}; mean of {len(drawn):,} permutations of {DEALS[ending]}; "
                    f"low and high hold {LEVEL:.0%} of them, no confidence interval",
                    unit="permutations",
                    why=None,
                )
            )
        return found

    def p_values(self, shuffled: Floats) -> list[Finding]:
        """How often shuffled groups are as uneven as these or more."""
        found = []
        for kind, (_, measure, _) in enumerate(KINDS):
            observed, drawn = float(self.values[measure, None]), shuffled[:, kind]
            exists = not np.isnan(observed) and not np.isnan(drawn).any()
            as_large = int((drawn >= observed - ALIKE).sum())
            found.append(
                Finding(
                    measure=f"{measure}_p",
                    value=(1 + as_large) / (1 + len(drawn)) if exists else None,
                    n=len(drawn),
                    group=self.group,
                    method=f"{self.over}; (1 + permutations of {DEALS[SHUFFLED]} with a sum at "
                    "least as large) / (1 + permutations)",
                    unit="permutations",
                    why="a p-value has no interval" if exists else self._why_not_dealt(measure),
                )
            )
        return found

    def _why_not_dealt(self, measure: str) -> str:
        """Why there is no figure by chance: none at all, or none in some permutations."""
        if np.isnan(self.values[measure, None]):
            return self._rows(measure, None)[1]
        return f"some permutations leave a group without {KINDS[_kind(measure)][2]} posts"

    def _rows(self, measure: str, name: str | None) -> tuple[int, str]:
        """How many posts a figure rests on, and why there is none where there is none."""
        kind = _kind(measure)
        counts = self.cells[:, 0, :, 2 * kind].sum(axis=0)
        needed = KINDS[kind][2]
        if name is not None:
            return int(counts[self.groups.index(name)]), f"no {needed} posts of {name}"
        without = [g for g, count in zip(self.groups, counts, strict=True) if not count]
        where = f" of {', '.join(without)}" if counts.any() else ""
        return int(counts.sum()), f"no {needed} posts{where}"


def _kind(measure: str) -> int:
    """The place in ``KINDS`` of a rate or a difference."""
    return int(measure.startswith("fn"))
