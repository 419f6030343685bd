"""What a detector does to each group, how far groups are apart, and what chance alone gives.

For every group accuracy, precision, recall, false-positive and false-negative rate and selection
rate (the share that is flagged). Between groups: the gap of a rate, highest minus lowest over the
groups that have it; the demographic parity ratio, lowest over highest selection rate; and the
equalized odds ratio, the smaller of that ratio for recall and for the false-positive rate (both
as in fairlearn).

Sentences that only one group can stand in say nothing about groups: a slur belongs to one identity,
and a detector that misses slurs would seem to treat that identity unlike the others. So gaps are
given twice: over all posts, and (``cases``: comparable) over exchangeable ones, beside which the
same frame (the sentence without its group) has a post of another group with the same truth. Only
the second are tested, and only they support a claim. Rates and ratios rest on all posts.

Groups are apart by chance alone, in the ratios the more so the rarer an error is. So beside each
gap and ratio stands its mean when the groups are permuted within frames, and beside the gaps of
recall and false-positive rate how often that gives as large a one. Only posts with the same truth
change places, so that every group keeps its positives and negatives. Where frames hold some of the
groups only, a hard frame still weighs on those it holds; it does so in the permutations too, and
the p-value stays right where the gap is not 0 by itself.

Intervals resample whole clusters (templates). Percentiles of a gap would never reach 0, so it has
the interval of a distance (:mod:`evenhand.stats._resampled`). For a ratio, every rate is taken to
be off by as much as the resamples keep to: wide, but it holds 1 where groups are treated alike.
A group whose posts are all alike is taken to be off by as much as Wilson's interval allows, and so
is a gap that is the same in every resample.

At the edges: a group without negative posts has no false-positive rate (fairlearn says 0), is left
out of the gap, and then there is no equalized odds ratio; likewise without positives. A group
without any exchangeable post is no part of the comparable gap; where no post is exchangeable there
is none. Where nothing is flagged no ratio exists; a detector that flags everything
has both at 1. Posts of no group are left out and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._group_spreads import RATES, SPREADS, Compared, rates
from evenhand.stats._regrouping import dealt_in_frames
from evenhand.stats._resampled import Resampling
from evenhand.stats.equality import Bools, Codes, Decided, Floats
from evenhand.stats.intervals import RESAMPLES
from evenhand.stats.ratios import Clusters, Ratio, ratio_finding

COMPARABLE = {"cases": "comparable"}
"""The group of what rests on posts with one of another group in the same frame."""


def group_rates(
    truth: ArrayLike,
    flagged: ArrayLike,
    groups: Sequence[str | None],
    *,
    clusters: Sequence[str],
    frames: Sequence[str],
    unit: str,
    seed: int,
    group: Mapping[str, str | int] | None = None,
    resamples: int = RESAMPLES,
    key: str = "identity",
) -> list[Finding]:
    """Rates by group, gaps and ratios between groups, and those of permuted groups.

    The method of a gap or ratio names the groups that are highest and lowest, and says how many
    posts were left out because their frame has one group only.

    Args:
        truth: 1 for a positive post, 0 for another.
        flagged: 1 for a flagged post, 0 for another.
        groups: Of each post; None for a post of no group.
        clusters: What is resampled: the template of each post.
        frames: Groups are permuted inside these: the sentence without its group.
        unit: What a cluster is ("templates").
        seed: Of resamples and permutations.
        group: Added to every finding.
        resamples: How many, of clusters and of permutations.
        key: What the groups are; the name of a group stands under it in a finding's group.
    """
    decided, known = _decided(truth, flagged, groups, (clusters, frames))
    own = dict(group or {})
    drawing = Clusters.of(
        _kept(clusters, known, "clusters"),
        seed=seed,
        resamples=resamples,
        outcome=decided.truth == decided.flagged[0],
        within=[f"{at}/{real}" for at, real in zip(decided.code, decided.truth, strict=True)],
    )
    none, every = int((~known).sum()), np.ones(len(decided.code), dtype=np.bool_)
    found = [
        Finding(
            measure="ungrouped",
            value=none,
            n=len(known),
            group=own,
            method="count",
            unit="posts",
        )
    ]
    for at, name in enumerate(decided.groups):
        mine = {**own, key: name}
        for measure, (ratio, needs) in _rates(decided, at, every).items():
            why = f"no {needs} of {name}"
            found.append(ratio_finding(measure, ratio, drawing, unit=unit, group=mine, why=why))
    place = _places(decided, _kept(frames, known, "frames"))

    def compared(some: Bools, group: Mapping[str, str | int]) -> Compared:
        them = [_rates(decided, at, some) for at in range(len(decided.groups))]
        between = [[its[rate][0] for rate in RATES] for its in them]
        asked = bool(resamples) and bool(some.any())
        return Compared(
            names=decided.groups,
            every=_cells(decided, every),
            cells=_cells(decided, some),
            units=np.array([[drawing.with_cases(ratio) for ratio in row] for row in between]),
            drawn=_drawn(between, drawing) if asked else None,
            permuted=_permuted(decided, place, some, seed, resamples) if asked else None,
            resampling=Resampling(unit=unit, units=drawing.size, resamples=resamples),
            group=group,
        )

    everything = compared(every, own)
    found += [f for spread in SPREADS for f in everything.findings(replace(spread, tested=False))]
    alike = compared(_movable(decided, place), {**own, **COMPARABLE})
    return [*found, *(f for spread in SPREADS if spread.is_gap for f in alike.findings(spread))]


def _decided(
    truth: ArrayLike,
    flagged: ArrayLike,
    groups: Sequence[str | None],
    others: Sequence[Sequence[str]],
) -> tuple[Decided, Bools]:
    """The decisions about posts that have a group, and which these are."""
    real, said = np.asarray(truth), np.asarray(flagged)
    sizes = (real.size, said.size, len(groups), *map(len, others))
    if real.ndim != 1 or said.ndim != 1 or len(set(sizes)) > 1:
        raise BadInput(
            "{} truths, {} decisions, {} groups, {} clusters and {} frames; expected one of each "
            "for every post".format(*sizes)
        )
    known = np.array([name is not None for name in groups], dtype=np.bool_)
    if not known.any():
        raise NotEnoughData(f"none of {len(known)} posts has a group: nothing to compare")
    named = [name for name in groups if name is not None]
    return Decided.of(real[known], said[known], named), known


def _kept(names: Sequence[str | None], known: Bools, what: str) -> list[str]:
    kept = [name for name, own in zip(names, known, strict=True) if own]
    named = [name for name in kept if name is not None]
    if len(named) < len(kept):
        raise BadInput(
            f"{what}: missing in {len(kept) - len(named)} rows; give each such row a name of its "
            "own"
        )
    return named


def _rates(decided: Decided, at: int, some: Bools) -> dict[str, tuple[Ratio, str]]:
    """The rates of a group over some posts, and the posts without which each does not exist."""
    mine, real, said = (decided.code == at) & some, decided.truth, decided.flagged[0]
    return {
        "accuracy": (Ratio.share(real == said, mine), "posts"),
        "precision": (Ratio.share(real, mine & said), "flagged posts"),
        "recall": (Ratio.share(said, mine & real), "positive posts"),
        "fpr": (Ratio.share(said, mine & ~real), "negative posts"),
        "fnr": (Ratio.share(~said, mine & real), "positive posts"),
        "selection_rate": (Ratio.share(said, mine), "posts"),
    }


def _drawn(between: Sequence[Sequence[Ratio]], drawing: Clusters) -> Floats:
    """The rates of every resample: resample × group × rate."""
    return np.stack(
        [np.stack([drawing.draws(ratio) for ratio in row], axis=-1) for row in between], axis=1
    )


def _places(decided: Decided, frames: Sequence[str]) -> Codes:
    """Posts among which groups are permuted: those of a frame with the same truth."""
    frame = np.unique(np.asarray(frames, dtype=np.str_), return_inverse=True)[1]
    places: Codes = 2 * frame + decided.truth
    return places


def _movable(decided: Decided, place: Codes) -> Bools:
    """Posts that are exchangeable: they have one of another group beside them."""
    pairs = np.unique(place * len(decided.groups) + decided.code)
    several: Bools = np.bincount(pairs // len(decided.groups)) > 1
    return several[place]


def _cells(decided: Decided, some: Bools) -> Floats:
    """Some posts counted by group: negative, false alarms, positive, misses."""
    members = np.eye(len(decided.groups))[decided.code[some]]
    counts: Floats = members.T @ decided.cells()[0, some]
    return counts


def _permuted(
    decided: Decided, place: Codes, movable: Bools, seed: int, permutations: int
) -> Floats:
    """The rates over exchangeable posts of every permutation: permutation × group × rate."""
    # Rows alike in everything are interchangeable: the order of the input changes nothing.
    order = np.lexsort((decided.flagged[0], decided.code, place))
    order = order[movable[order]]
    counts = dealt_in_frames(
        decided.cells()[:, order],
        decided.code[order],
        place[order],
        len(decided.groups),
        stream(seed, "permuted groups"),
        permutations,
    )
    return rates(counts[:, 0])
