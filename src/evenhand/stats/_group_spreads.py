"""What lies between groups: gaps and ratios, with intervals, beside their value by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.core.records import Finding
from evenhand.stats._resampled import ALIKE, Bounds, Resampling
from evenhand.stats.intervals import LEVEL, wilson

Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

RATES = ("recall", "fpr", "selection_rate")
NEEDS = ("positive posts", "negative posts", "posts")
"""What each of the rates is a share of."""


def posts_and_flagged(cells: Floats) -> tuple[Floats, Floats]:
    """What each rate is a share of, and how many of these are flagged.

    The last axis of ``cells`` has negative posts, false alarms, positive posts, misses.
    """
    negative, alarms, positive, missed = np.moveaxis(cells, -1, 0)
    hits = positive - missed
    of = np.stack([positive, negative, positive + negative], axis=-1)
    return of, np.stack([hits, alarms, hits + alarms], axis=-1)


def rates(cells: Floats) -> Floats:
    """Recall, false-positive rate and selection rate, NaN where one does not exist."""
    of, flagged = posts_and_flagged(cells)
    found: Floats = np.divide(flagged, of, out=np.full(of.shape, np.nan), where=of > 0)
    return found


@dataclass(frozen=True)
class Spread:
    """A figure between groups: the gap of one rate, or the smallest ratio of some."""

    measure: str
    rates: tuple[int, ...]
    """Places in ``RATES``."""
    ratio: bool = False
    tested: bool = False
    """Whether it has a p-value."""

    @property
    def is_gap(self) -> bool:
        """Whether it is a difference of rates."""
        return not self.ratio

    @property
    def names(self) -> list[str]:
        """The measures it gives."""
        names = [self.measure, f"{self.measure}_shuffled"]
        return [*names, f"{self.measure}_p"] if self.tested else names

    def value(self, found: Floats) -> Floats:
        """From rates, whose last axes are group and rate."""
        own = found[..., list(self.rates)]
        high, low = own.max(axis=-2), own.min(axis=-2)
        figure: Floats = (low / high).min(axis=-1) if self.ratio else (high - low)[..., 0]
        return figure

    def interval(
        self, found: Floats, drawn: Floats | None, least: Floats, resampling: Resampling
    ) -> Bounds:
        """From the rates, those of resamples, and how far each rate may be off at least."""
        off = None if drawn is None else drawn - found
        if not self.ratio:
            [rate] = self.rates
            apart = None if off is None else np.ptp(off[..., rate], axis=-1)
            return resampling.around(float(self.value(found)), _at_least(apart, least[rate]))
        ends = []
        for rate in self.rates:
            most = None if off is None else np.abs(off[..., rate]).max(axis=-1)
            # Where two rates can be wrong, each gets half of what may be.
            level = 1 - (1 - resampling.level) / len(self.rates)
            far = resampling.reach(_at_least(most, least[rate]), level)
            if isinstance(far, Bounds):
                return far
            high, low = float(found[:, rate].max()), float(found[:, rate].min())
            above = (low + far) / (high - far) if high > far else 1.0
            ends.append((max(0.0, low - far) / (high + far), min(1.0, above)))
        lows, highs = zip(*ends, strict=True)
        how = f"every rate off by as much as {resampling.level:.0%} of resamples keep to, bootstrap"
        return resampling.bounds(min(lows), min(highs), how)


def _at_least(distances: Floats | None, least: float) -> Floats | None:
    return None if distances is None else np.maximum(distances, least)


SPREADS = (
    Spread("recall_gap", (0,), tested=True),
    Spread("fpr_gap", (1,), tested=True),
    Spread("selection_gap", (2,)),
    Spread("demographic_parity_ratio", (2,), ratio=True),
    Spread("equalized_odds_ratio", (0, 1), ratio=True),
)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Groups with the counts of their exchangeable posts, resampled and permuted."""

    names: tuple[str, ...]
    every: Floats
    """The cells of all posts, by group."""
    cells: Floats
    """The cells of exchangeable posts, by group: what everything else here rests on."""
    units: Codes
    """Clusters that each rate of each group rests on."""
    drawn: Floats | None
    """Rates of resamples; None where there are none."""
    permuted: Floats | None
    """Rates of permutations; None where there are none."""
    resampling: Resampling
    group: Mapping[str, str | int]

    def findings(self, spread: Spread) -> list[Finding]:
        """The figure, its mean under permutation and, where it is tested, its p-value."""
        which = list(spread.rates)
        of, flagged = (part[:, which] for part in posts_and_flagged(self.cells))
        kept: Bools = np.all(of > 0, axis=-1)
        n = int(of[kept].sum())
        why = self._why_missing(spread, of, flagged)
        if why:
            return [self._nothing(measure, n, why) for measure in spread.names]
        found = rates(self.cells)[kept]
        drawn = None if self.drawn is None else self.drawn[:, kept]
        resampling = replace(self.resampling, units=int(self.units[kept][:, which].min()))
        bounds = spread.interval(found, drawn, _least(found, self.units[kept]), resampling)
        told = [*self._ends(spread, kept), self._left_out(spread), bounds.method]
        main = Finding(
            measure=spread.measure,
            value=float(spread.value(found)),
            n=n,
            group=self.group,
            low=bounds.low,
            high=bounds.high,
            level=bounds.level,
            method="; ".join(filter(None, told)),
            unit=resampling.unit,
            why=bounds.why,
        )
        return [main, *self._by_chance(spread, main, kept)]

    def _nothing(self, measure: str, n: int, why: str) -> Finding:
        return Finding(measure=measure, value=None, n=n, group=self.group, why=why)

    def _why_missing(self, spread: Spread, of: Floats, flagged: Floats) -> str | None:
        if len(self.names) < 2:
            return "one group only: nothing to compare"
        compared = self.cells.any(axis=-1)
        for at, rate in enumerate(spread.rates):
            there = posts_and_flagged(self.every)[0][:, rate] > 0
            if there.sum() < 2:
                return f"fewer than two groups have {NEEDS[rate]}"
            if not of[:, at].any():
                return f"no frame has {NEEDS[rate]} of two groups: nothing to compare"
            if not spread.ratio:
                continue
            for where, some in (("", ~there), (" in a frame with another group", of[:, at] == 0)):
                without = [self.names[group] for group in np.flatnonzero(some & compared)]
                if without:
                    return f"no {NEEDS[rate]} of {', '.join(without)}{where}"
            if not flagged[:, at].any():
                return f"no {NEEDS[rate]} are flagged"
        return None

    def _left_out(self, spread: Spread) -> str:
        """How many posts of the kind are not exchangeable."""
        every, used = (
            int(posts_and_flagged(cells)[0][:, list(spread.rates)].sum())
            for cells in (self.every, self.cells)
        )
        left = f"{every - used:,} of {every:,} posts left out: their frame has one group only"
        return left if used < every else ""

    def _ends(self, spread: Spread, kept: Bools) -> list[str]:
        """Which groups are highest and lowest (all of those that tie), and which are left out."""
        told = []
        for rate in spread.rates:
            own = rates(self.cells)[:, rate]
            for word, end in (("highest", own[kept].max()), ("lowest", own[kept].min())):
                who = [n for n, x in zip(self.names, own, strict=True) if abs(x - end) < ALIKE]
                told.append(f"{word} {RATES[rate]} {end:.3f} ({', '.join(who)})")
        without = [name for name, own in zip(self.names, kept, strict=True) if not own]
        return [*told, f"without {', '.join(without)}"] if without else told

    def _by_chance(self, spread: Spread, main: Finding, kept: Bools) -> list[Finding]:
        if self.permuted is None:
            why = "no permutations asked for"
            return [self._nothing(measure, main.n, why) for measure in spread.names[1:]]
        drawn = spread.value(self.permuted[:, kept])
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        how = f"{len(drawn):,} permutations of groups within frames"
        mean = Finding(
            measure=f"{spread.measure}_shuffled",
            value=float(drawn.mean()),
            n=main.n,
            group=self.group,
            low=float(low),
            high=float(high),
            method=f"mean of {how}; low and high hold {LEVEL:.0%} of them, no confidence interval",
            unit="permutations",
        )
        if not spread.tested:
            return [mean]
        as_large = int((drawn >= (main.value or 0.0) - ALIKE).sum())
        test = Finding(
            measure=f"{spread.measure}_p",
            value=(1 + as_large) / (1 + len(drawn)),
            n=main.n,
            group=self.group,
            method=f"(1 + those at least as large) / (1 + all) of {how}",
            unit="permutations",
            why="a p-value, no interval",
        )
        return [mean, test]


def _least(found: Floats, units: Codes) -> Floats:
    """How far each rate may be off at least.

    Where a group's posts are all alike its resamples cannot differ; Wilson's interval with its
    clusters as n says how far that can be from the truth.
    """
    alike = (found == 0) | (found == 1)
    reach = [[wilson(0, int(many))[1] if many else 0.0 for many in row] for row in units]
    least: Floats = np.where(alike, reach, 0.0).max(axis=0)
    return least
