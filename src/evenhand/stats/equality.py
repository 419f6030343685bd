"""Equality differences: how far the error rates of groups are from the rate overall.

FPED = Σ_t |FPR − FPR_t| and FNED = Σ_t |FNR − FNR_t| over the groups t (Dixon et al. 2018), at one
threshold. A sum grows with the number of groups, so the mean and the largest stand beside it. Even
without any unevenness the differences are above 0 by chance: beside each stands what it is when
the groups are shuffled within frames (the same sentence with other terms). A detector that treats
single terms unlike, but no group, is above that too; what it gives is shown by swapping the terms
of a pair in all sentences at once.

Sentences of one template are alike, so intervals resample clusters (templates with all their
terms). Where several runs decided about the same posts, a figure is the mean over the runs, and a
drawn cluster brings the decisions of all.

At the edges: a group without negative posts has no false-positive rate, and then FPED does not
exist; FNED likewise without positives. A detector that says the same of every post has both at 0.

>>> false_positive_equality_difference([0, 0, 0, 0], [1, 0, 0, 0], ["a", "a", "b", "b"])
Difference(total=0.5, mean=0.25, largest=0.25)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats.intervals import LEVEL, RESAMPLES, cluster_bootstrap

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_KINDS = (("fpr", "fped", "negative"), ("fnr", "fned", "positive"))
"""Rate, difference, and the posts without which there is neither."""
_ENDINGS = ("", "_mean", "_max")

Key = tuple[str, str | None]


@dataclass(frozen=True)
class Difference:
    """How far the rates of groups are from the rate overall."""

    total: float
    """The sum over groups, as published."""
    mean: float
    largest: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Decided:
    """Decisions of one or several runs about the same posts."""

    truth: Bools
    flagged: Bools
    """One row per run."""
    groups: tuple[str, ...]
    code: Codes
    """The number of each post's group."""

    @classmethod
    def of(cls, truth: ArrayLike, flagged: ArrayLike, groups: Sequence[str]) -> Decided:
        """Check and code; ``flagged`` has a row per run, or is one run."""
        real = _truths(truth, "truth", 1)
        said = np.atleast_2d(_truths(flagged, "flagged", 2))
        names = np.asarray(groups, dtype=np.str_)
        if not len(real) == said.shape[1] == len(names) or not len(real):
            raise BadInput(
                f"{len(real)} truths, {said.shape[1]} decisions and {len(names)} groups; expected "
                "one of each for every post, and some posts"
            )
        known, code = np.unique(names, return_inverse=True)
        return cls(truth=real, flagged=said, groups=tuple(known.tolist()), code=code)

    def cells(self) -> Floats:
        """For every run and post: whether it is negative, a false alarm, positive, missed."""
        shape = self.flagged.shape
        negative, positive = (np.broadcast_to(side, shape) for side in (~self.truth, self.truth))
        wrong = (negative, negative & self.flagged, positive, positive & ~self.flagged)
        return np.stack(wrong, axis=-1).astype(np.float64)

    def counts(self, clusters: Codes) -> Floats:
        """The cells summed by cluster, run and group."""
        runs = len(self.flagged)
        sums = np.zeros((int(clusters.max()) + 1, len(self.groups), runs, 4))
        np.add.at(sums, (clusters, self.code), self.cells().swapaxes(0, 1))
        return sums.swapaxes(1, 2)


def _truths(values: ArrayLike, what: str, most: int) -> Bools:
    array = np.asarray(values)
    if not 1 <= array.ndim <= most or not np.isin(array, (0, 1)).all():
        raise BadInput(f"{what}: expected 0 or 1 for every post")
    return array.astype(np.bool_)


def false_positive_equality_difference(
    truth: ArrayLike, flagged: ArrayLike, groups: Sequence[str]
) -> Difference | None:
    """FPED of one run; None where a group has no negative posts."""
    return _difference(truth, flagged, groups, 0)


def false_negative_equality_difference(
    truth: ArrayLike, flagged: ArrayLike, groups: Sequence[str]
) -> Difference | None:
    """FNED of one run; None where a group has no positive posts."""
    return _difference(truth, flagged, groups, 1)


def _difference(
    truth: ArrayLike, flagged: ArrayLike, groups: Sequence[str], kind: int
) -> Difference | None:
    decided = Decided.of(truth, flagged, groups)
    counts = decided.counts(np.zeros(len(decided.truth), dtype=np.int64))
    found = _differences(counts)[:, 0, kind]
    return None if np.isnan(found).any() else Difference(*found.tolist())


def _rates(counts: Floats) -> Floats:
    """False-positive and false-negative rate from the last axis; NaN where one does not exist."""
    of, wrong = counts[..., 0::2], counts[..., 1::2]
    rates: Floats = np.divide(wrong, of, out=np.full(of.shape, np.nan), where=of > 0)
    return rates


def _differences(counts: Floats) -> Floats:
    """Sum, mean and largest over groups (first axis) of FPED and FNED (last), averaged over runs.

    ``counts`` ends with the axes run, group and cell.
    """
    overall = _rates(counts.sum(axis=-2, keepdims=True))
    gaps = np.abs(overall - _rates(counts))
    ways = [gaps.sum(axis=-2), gaps.mean(axis=-2), gaps.max(axis=-2)]
    return np.stack([way.mean(axis=-2) for way in ways])


def _figures(counts: Floats, groups: Sequence[str]) -> dict[Key, Floats]:
    """Every figure by measure and group (None: overall), averaged over runs."""
    overall = _rates(counts.sum(axis=-2)).mean(axis=-2)
    by_group = _rates(counts).mean(axis=-3)
    differences = _differences(counts)
    found: dict[Key, Floats] = {}
    for kind, (rate, measure, _) in enumerate(_KINDS):
        found[rate, None] = overall[..., kind]
        for at, name in enumerate(groups):
            found[rate, name] = by_group[..., at, kind]
        for way, ending in enumerate(_ENDINGS):
            found[measure + ending, None] = differences[way, ..., kind]
    return found


def equality(
    decided: Decided,
    *,
    clusters: Sequence[str],
    frames: Sequence[str],
    pairs: Sequence[str] | None = None,
    unit: str,
    seed: int,
    group: Mapping[str, str | int] | None = None,
    resamples: int = RESAMPLES,
) -> list[Finding]:
    """Rates overall and by group, equality differences, and those of shuffled groups.

    Args:
        decided: The decisions.
        clusters: What is resampled: the template of each post.
        frames: Groups are shuffled inside these: the sentence that each post was made from.
        pairs: The row of terms of each post, with one term of each group; terms are also swapped.
        unit: What a cluster is ("templates").
        seed: Of resamples and permutations.
        group: Added to every finding.
        resamples: How many, of clusters and of permutations.
    """
    cells = decided.counts(_coded(clusters))
    runs = len(decided.flagged)
    reporter = _Reporter(
        cells=cells,
        groups=decided.groups,
        group=dict(group or {}),
        over=f"mean over {runs} runs" if runs > 1 else "one run",
        unit=unit,
        seed=seed,
        resamples=resamples,
    )
    values = _figures(cells.sum(axis=0), decided.groups)
    found = [reporter.finding(key, float(value)) for key, value in values.items()]
    shuffled = _shuffled(decided, _coded(frames), stream(seed, "shuffle"), resamples)
    found += reporter.by_chance("shuffled", "the groups within frames", shuffled)
    if pairs is not None:
        swapped = _swapped(decided, _coded(pairs), stream(seed, "swap"), resamples)
        found += reporter.by_chance("swapped", "whole terms within pairs", swapped)
    return found


def _coded(names: Sequence[str]) -> Codes:
    codes: Codes = np.unique(np.asarray(names, dtype=np.str_), return_inverse=True)[1]
    return codes


def _shuffled(
    decided: Decided, frames: Codes, rng: np.random.Generator, permutations: int
) -> Floats:
    """FPED and FNED with the groups shuffled within frames, one row per permutation."""
    # Rows alike in everything are interchangeable: the order of the input changes nothing.
    order = np.lexsort((*decided.flagged, decided.truth, decided.code, frames))
    frame, code = frames[order], decided.code[order]
    mixed = (code[np.argsort(frame + rng.random(len(code)))] for _ in range(permutations))
    return _regrouped(decided.cells()[:, order], mixed, len(decided.groups))


def _swapped(decided: Decided, pairs: Codes, rng: np.random.Generator, permutations: int) -> Floats:
    """FPED and FNED with the terms of each pair in each other's place, in all frames at once."""
    shape = (permutations, int(pairs.max()) + 1, len(decided.groups))
    places = rng.random(shape).argsort(axis=-1)
    mixed = (place[pairs, decided.code] for place in places)
    return _regrouped(decided.cells(), mixed, len(decided.groups))


def _regrouped(cells: Floats, codes: Iterable[Codes], groups: int) -> Floats:
    """FPED and FNED, one row for every way to group the posts."""
    columns, members = cells.swapaxes(1, 2), np.eye(groups)
    return np.array([_differences((columns @ members[c]).swapaxes(1, 2))[0] for c in codes])


@dataclass(frozen=True, kw_only=True)
class _Reporter:
    """Figures as findings: intervals, reasons."""

    cells: Floats
    groups: tuple[str, ...]
    group: Mapping[str, str | int]
    over: str
    unit: str
    seed: int
    resamples: int

    def finding(self, key: Key, value: float) -> Finding:
        measure, name = key
        own = self.group if name is None else {**self.group, "group": name}
        n, why = self.rows(measure, name)
        if np.isnan(value):
            return Finding(measure=measure, value=None, n=n, group=own, why=why, unit="posts")
        interval = self.interval(key)
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

    def interval(self, key: Key) -> tuple[float, float] | None:
        def statistic(sums: Floats) -> Floats:
            return _figures(sums.reshape(-1, *self.cells.shape[1:]), self.groups)[key]

        flat = self.cells.reshape(len(self.cells), -1)
        rng = stream(self.seed, "equality")
        return cluster_bootstrap(flat, statistic, rng, resamples=self.resamples)

    def by_chance(self, ending: str, what: str, drawn: Floats) -> list[Finding]:
        found = []
        for kind, (_, measure, _) in enumerate(_KINDS):
            n, why = self.rows(measure, None)
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
                    method=f"{self.over}; mean of {len(drawn):,} permutations of {what}; low and "
                    f"high hold {LEVEL:.0%} of them, no confidence interval",
                    unit="permutations",
                    why=None,
                )
            )
        return found

    def rows(self, measure: str, name: str | None) -> tuple[int, str]:
        """How many posts a figure rests on, and why there is none where there is none."""
        kind = int(measure.startswith("fn"))
        counts = self.cells[:, 0, :, 2 * kind].sum(axis=0)
        needed = _KINDS[kind][2]
        if name is not None:
            return int(counts[self.groups.index(name)]), f"no {needed} posts of {name}"
        without = [g for g, count in zip(self.groups, counts, strict=True) if not count]
        where = f" of {', '.join(without)}" if counts.any() else ""
        return int(counts.sum()), f"no {needed} posts{where}"
