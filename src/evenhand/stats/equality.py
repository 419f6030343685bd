"""Equality differences: how far the error rates of groups are from the rate overall.

FPED = Σ_t |FPR − FPR_t| and FNED = Σ_t |FNR − FNR_t| over the groups t (Dixon et al. 2018), at one
threshold. A sum grows with the number of groups, so the mean and the largest stand beside it. Even
without any unevenness the differences are above 0 by chance: beside each stands what it is when
the groups are shuffled within frames (the same sentence with other terms). A detector that treats
single terms unlike, but no group, is above that too; what it gives is shown by swapping the terms
of a pair in all sentences at once. The p-value counts how often shuffled groups have a sum at least
as large: a small one says that decisions depend on the terms.

Sentences of one template are alike, so intervals resample clusters (templates with all their
terms). A difference goes up only, so it has the interval of a distance
(:mod:`evenhand.stats._resampled`); with fewer than ten clusters there is none. Where several runs
decided about the same posts, a figure is the mean over the runs, and a drawn cluster brings the
decisions of all.

At the edges: a group without negative posts has no false-positive rate, and then FPED does not
exist; FNED likewise without positives. A detector that says the same of every post has both at 0.

>>> false_positive_equality_difference([0, 0, 0, 0], [1, 0, 0, 0], ["a", "a", "b", "b"])
Difference(total=0.5, mean=0.25, largest=0.25)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._equality_findings import SHUFFLED, SWAPPED, Reporter
from evenhand.stats._error_rates import differences
from evenhand.stats._regrouping import dealt_in_frames, dealt_in_rows
from evenhand.stats.intervals import RESAMPLES

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


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
    found = differences(counts)[:, 0, kind]
    return None if np.isnan(found).any() else Difference(*found.tolist())


def equality(
    decided: Decided | Mapping[str, Decided],
    *,
    clusters: Sequence[str],
    frames: Sequence[str],
    pairs: Sequence[str] | None = None,
    unit: str,
    seed: int,
    group: Mapping[str, str | int] | None = None,
    resamples: int = RESAMPLES,
) -> list[Finding]:
    """Rates overall and by group, equality differences, those of shuffled groups, p-values.

    Args:
        decided: The decisions; or those about the same posts at several thresholds, by name. These
            share their permutations, and their findings have the name as ``threshold``.
        clusters: What is resampled: the template of each post.
        frames: Groups are shuffled inside these: the sentence that each post was made from.
        pairs: The row of terms of each post, with one term of each group; terms are also swapped.
        unit: What a cluster is ("templates").
        seed: Of resamples and permutations.
        group: Added to every finding.
        resamples: How many, of clusters and of permutations.
    """
    own = [dict(group or {})]
    if isinstance(decided, Decided):
        many = [decided]
    else:
        many = list(decided.values())
        own = [{**own[0], "threshold": name} for name in decided]
    _refuse_other_posts(many)
    dealt = {SHUFFLED: _shuffled(many, _coded(frames), stream(seed, "shuffle"), resamples)}
    if pairs is not None:
        dealt[SWAPPED] = _swapped(many, _coded(pairs), stream(seed, "swap"), resamples)
    found = []
    for at, each in enumerate(many):
        reporter = Reporter(
            cells=each.counts(_coded(clusters)),
            groups=each.groups,
            group=own[at],
            unit=unit,
            seed=seed,
            resamples=resamples,
        )
        found += reporter.figures()
        for ending, sums in dealt.items():
            found += reporter.by_chance(ending, sums[at])
        found += reporter.p_values(dealt[SHUFFLED][at])
    return found


def _refuse_other_posts(many: Sequence[Decided]) -> None:
    if not many:
        raise BadInput("no decisions; expected those at one threshold or more")
    for each in many[1:]:
        same = each.groups == many[0].groups and np.array_equal(each.code, many[0].code)
        if not same or not np.array_equal(each.truth, many[0].truth):
            raise BadInput("decisions about different posts; expected the same at all thresholds")


def _coded(names: Sequence[str]) -> Codes:
    codes: Codes = np.unique(np.asarray(names, dtype=np.str_), return_inverse=True)[1]
    return codes


def _shuffled(
    many: Sequence[Decided], frames: Codes, rng: np.random.Generator, permutations: int
) -> list[Floats]:
    """FPED and FNED with the groups shuffled within frames: a table for each of the decisions."""
    # Rows alike in everything are interchangeable: the order of the input changes nothing. Sorted
    # by frame and group first, so that all decisions have these in the same places.
    orders = [np.lexsort((*d.flagged, d.truth, d.code, frames)) for d in many]
    cells = np.concatenate([d.cells()[:, order] for d, order in zip(many, orders, strict=True)])
    code, frame, groups = many[0].code[orders[0]], frames[orders[0]], len(many[0].groups)
    return _sums(dealt_in_frames(cells, code, frame, groups, rng, permutations), many)


def _swapped(
    many: Sequence[Decided], pairs: Codes, rng: np.random.Generator, permutations: int
) -> list[Floats]:
    """FPED and FNED with the terms of each pair in each other's place, in all frames at once."""
    cells = np.concatenate([each.cells() for each in many])
    code, groups = many[0].code, len(many[0].groups)
    return _sums(dealt_in_rows(cells, code, pairs, groups, rng, permutations), many)


def _sums(counts: Floats, many: Sequence[Decided]) -> list[Floats]:
    """FPED and FNED of each of the decisions, one row per permutation."""
    ends = np.cumsum([len(each.flagged) for each in many])
    return [differences(part)[0] for part in np.split(counts, ends[:-1], axis=1)]
