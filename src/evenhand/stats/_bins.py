"""Posts in bins by score, the sums from which calibration is measured, and their resamples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.stats._ranking import Codes, Floats
from evenhand.stats._rows import Rows

_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Bin:
    """Posts with scores close to each other."""

    lowest: float
    highest: float
    """The scores at its ends."""
    mean: float
    """The weighted mean score."""
    share: float
    """The weighted share of positive posts."""
    low: float
    high: float
    """Wilson's interval of the share, with the effective number of units as n."""
    n: int
    n_effective: float


@dataclass(frozen=True, eq=False)
class Binned:
    """Posts, the highest score first, and where bins start."""

    rows: Rows
    starts: Codes

    @classmethod
    def of(cls, rows: Rows, bins: int) -> Binned:
        """Bins of equally many posts; those with the same score go where their middle rank is."""
        _, at, ties = np.unique(rows.ranked.score, return_inverse=True, return_counts=True)
        middle = 2 * np.cumsum(ties) - ties  # twice, to stay with whole numbers
        place = middle * bins // (2 * len(at))
        return cls(rows, np.flatnonzero(np.diff(place[at], prepend=bins)))

    def gaps(self, weight: Floats) -> Floats:
        """By bin: positives minus expected positives, as a share of all weight."""
        off = weight * (self.rows.ranked.truth - self.rows.ranked.score)
        gaps: Floats = np.add.reduceat(off, self.starts) / weight.sum()
        return gaps

    def error(self) -> float:
        """The calibration error."""
        return float(np.abs(self.gaps(self.rows.weight)).sum())

    def bins(self) -> list[Bin]:
        """From the lowest scores to the highest."""
        ends = [*self.starts[1:], len(self.rows.weight)]
        parts = [slice(start, end) for start, end in zip(self.starts, ends, strict=True)]
        return [self._bin(part) for part in reversed(parts)]

    def _bin(self, part: slice) -> Bin:
        score, truth = self.rows.ranked.score[part], self.rows.ranked.truth[part]
        weight = self.rows.weight[part]
        share = float(weight @ truth / weight.sum())
        low, high = self.rows.wilson(share, part)
        return Bin(
            lowest=float(score[-1]),
            highest=float(score[0]),
            mean=float(weight @ score / weight.sum()),
            share=share,
            low=low,
            high=high,
            n=len(score),
            n_effective=self.rows.effective(part),
        )

    def by_chance(self, rng: np.random.Generator, times: int) -> Floats:
        """The calibration error with truths drawn from the scores."""
        score, share = self.rows.ranked.score, self.rows.weight / self.rows.weight.sum()
        block = max(1, _AT_ONCE // len(score))
        found = []
        for start in range(0, times, block):
            shape = (min(block, times - start), len(score))
            off = share * ((rng.random(shape) < score) - score)
            found.append(np.abs(np.add.reduceat(off, self.starts, axis=1)).sum(axis=1))
        return np.concatenate(found)
