"""Rates and equality differences as findings: intervals, values by chance, p-values, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._error_rates import KINDS, Floats, Key, all_figures
from evenhand.stats.intervals import LEVEL, resampled_sums

SHUFFLED, SWAPPED = "shuffled", "swapped"
DEALS = {SHUFFLED: "the groups within frames", SWAPPED: "whole terms within pairs"}
"""How groups are dealt out anew: ending of the measure → what is permuted."""
_ENOUGH = 0.95
_SAME = 1e-12
"""Sums this close are equal: the last bits must not decide which is larger."""


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
        """Every figure in every resample of clusters; nothing where there is one cluster."""
        if len(self.cells) < 2:
            return {}
        flat = self.cells.reshape(len(self.cells), -1)
        sums = resampled_sums(flat, stream(self.seed, "equality"), self.resamples)
        parts = [all_figures(s.reshape(-1, *self.cells.shape[1:]), self.groups) for s in sums]
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}

    def _finding(self, key: Key, value: float, drawn: Floats | None) -> Finding:
        measure, name = key
        own = self.group if name is None else {**self.group, "group": name}
        n, why = self._rows(measure, name)
        if np.isnan(value):
            return Finding(measure=measure, value=None, n=n, group=own, why=why, unit="posts")
        interval = self._interval(drawn)
        return Finding(
            measure=measure,
            value=value,
            n=n,
            group=own,
            low=interval[0] if interval else None,
            high=interval[1] if interval else None,
            level=LEVEL if interval else None,
            method=f"{self.over}; percentile bootstrap over {self.unit}, {self.resamples:,} "
            "resamples",
            unit=self.unit,
            why=None if interval else f"no interval: too few {self.unit}",
        )

    def _interval(self, drawn: Floats | None) -> tuple[float, float] | None:
        known = np.empty(0) if drawn is None else drawn[np.isfinite(drawn)]
        if not len(known) or len(known) < _ENOUGH * self.resamples:
            return None
        low, high = np.quantile(known, [(1 - LEVEL) / 2, 1 - (1 - LEVEL) / 2])
        return float(low), float(high)

    def by_chance(self, ending: str, drawn: Floats) -> list[Finding]:
        """The differences when groups are dealt out anew, from one row per permutation."""
        found = []
        for kind, (_, measure, _) in enumerate(KINDS):
            n, why = self._rows(measure, None)
            nothing = Finding(
                measure=f"{measure}_{ending}", value=None, n=n, group=self.group, why=why
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
            exists = not np.isnan(observed)
            as_large = int((drawn >= observed - _SAME).sum())
            found.append(
                Finding(
                    measure=f"{measure}_p",
                    value=(1 + as_large) / (1 + len(drawn)) if exists else None,
                    n=len(drawn),
                    group=self.group,
                    method=f"{self.over}; (1 + permutations of {DEALS[SHUFFLED]} with a sum at "
                    "least as large) / (1 + permutations)",
                    unit="permutations",
                    why="a p-value has no interval" if exists else self._rows(measure, None)[1],
                )
            )
        return found

    def _rows(self, measure: str, name: str | None) -> tuple[int, str]:
        """How many posts a figure rests on, and why there is none where there is none."""
        kind = int(measure.startswith("fn"))
        counts = self.cells[:, 0, :, 2 * kind].sum(axis=0)
        needed = KINDS[kind][2]
        if name is not None:
            return int(counts[self.groups.index(name)]), f"no {needed} posts of {name}"
        without = [g for g, count in zip(self.groups, counts, strict=True) if not count]
        where = f" of {', '.join(without)}" if counts.any() else ""
        return int(counts.sum()), f"no {needed} posts{where}"
