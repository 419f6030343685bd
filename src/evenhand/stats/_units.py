"""What a bootstrap draws: posts or clusters of posts, overall or inside strata.

Inside strata it is the rescaled bootstrap of Rao and Wu (1988): of the n_h units of a stratum
n_h − 1 are drawn with replacement and count n_h / (n_h − 1), so that small strata do not lose
(n_h − 1)/n_h of their variance. A stratum of one unit has no variance to show and is refused.

Units are put in an order that depends on what is in them and not on their names or rows, so that
the same seed draws the same units whatever the clusters and strata are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Marks = NDArray[np.uint64]
Names = Sequence[object] | NDArray[np.generic] | pl.Series


@dataclass(frozen=True)
class Units:
    """Which unit each row belongs to; the units of a stratum stand side by side."""

    unit: Codes | None
    """None where every row is a unit of its own, in order."""
    count: int
    first: Codes | None
    """For each draw, where its stratum starts; None without strata."""
    size: Floats | None
    """For each draw, how many units its stratum has."""

    def draw(self, rng: np.random.Generator) -> Floats:
        """How often each row counts in one resample."""
        if self.first is None or self.size is None:
            any_unit = rng.integers(self.count, size=self.count, dtype=np.int32)
            times = np.bincount(any_unit, minlength=self.count).astype(np.float64)
        else:
            inside = self.first + (rng.random(len(self.first)) * self.size).astype(np.int64)
            factor = self.size / (self.size - 1)
            times = np.bincount(inside, factor, minlength=self.count).astype(np.float64)
        return times if self.unit is None else times[self.unit]


def make_units(kind: Codes, strata: Codes | None, clusters: Codes | None) -> Units:
    """Units of rows in a fixed order; ``kind`` says which rows are interchangeable."""
    if strata is None and clusters is None:
        return Units(None, len(kind), None, None)
    unit = np.arange(len(kind)) if clusters is None else clusters
    count = int(unit.max()) + 1
    mark = _sum_marks(_mix(kind.astype(np.uint64)), unit, count)
    stratum = np.zeros(count, dtype=np.int64)
    if strata is not None:
        stratum[unit] = strata
        if (stratum[unit] != strata).any():
            raise BadInput("clusters: a cluster lies in two strata; expected each inside one")
    marks = _sum_marks(_mix(mark), stratum, int(stratum.max()) + 1)
    order = np.lexsort((mark, stratum, marks[stratum]))
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    if strata is None:
        return Units(place[unit], count, None, None)
    first, size = _draws(stratum[order])
    return Units(place[unit], count, first, size)


def _draws(stratum: Codes) -> tuple[Codes, Floats]:
    """For each draw, the start and size of its stratum (the units come stratum by stratum)."""
    starts = np.flatnonzero(np.diff(stratum, prepend=-1))
    sizes = np.diff(starts, append=len(stratum))
    alone = int((sizes == 1).sum())
    if alone:
        raise BadInput(
            f"strata: {alone} of {len(sizes)} have one unit; expected two or more in each. "
            "Merge small strata with their neighbours first"
        )
    return np.repeat(starts, sizes - 1), np.repeat(sizes, sizes - 1).astype(np.float64)


def code_names(names: Names, rows: int, what: str) -> Codes:
    """Names of clusters or strata as whole numbers; refuses missing ones and a wrong length."""
    series = names if isinstance(names, pl.Series) else pl.Series(values=names)
    if len(series) != rows:
        raise BadInput(f"{what}: {len(series)} for {rows} rows; expected one each")
    missing = series.null_count() + (int(series.is_nan().sum()) if series.dtype.is_float() else 0)
    if missing:
        raise BadInput(f"{what}: missing in {missing} rows; give each such row a name of its own")
    if not series.dtype.is_numeric():
        series = series.cast(pl.String).cast(pl.Categorical).to_physical()
    codes: Codes = np.unique(series.to_numpy(), return_inverse=True)[1].astype(np.int64)
    return codes


def _mix(numbers: Marks) -> Marks:
    """Scatter whole numbers (the finalizer of splitmix64)."""
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Marks = z ^ (z >> np.uint64(31))
    return mixed


def _sum_marks(marks: Marks, into: Codes, count: int) -> Marks:
    sums = np.zeros(count, dtype=np.uint64)
    np.add.at(sums, into, marks)
    return sums
