"""Shares of a population, by group, from weighted posts with vote shares.

    Ê[f | g] = Σ_i w_i m_ig f_i / Σ_i w_i m_ig

with f_i the share of votes for a label, w_i the weight and m_ig how often post i mentions somebody
of group g: a post that mentions several people counts once per mention, and the post stays the unit
that is resampled. Source: Delisle et al. 2018, section 4 (vote proportions, not majorities).

What is resampled is part of the sentence. ``posts`` (within the weighing cells, rescaled) says "as
judged by these people"; ``annotators`` resamples posts and people both (the pigeonhole bootstrap of
Owen 2007), which speaks of people like them; ``authors`` and ``targets`` resample whole clusters.

Cells with fewer than a hundred posts, or fewer than ten distinct people mentioned where those are
known, are withheld, and so is the next smallest cell of the same partition where a single withheld
one could be had by subtraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from scipy import sparse

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats.components import variance_components
from evenhand.stats.intervals import LEVEL
from evenhand.stats.resampling import (
    Floats,
    Ints,
    Shares,
    draw_counts,
    quantiles,
    stratified_totals,
)
from evenhand.stats.weights import effective

Over = Literal["posts", "annotators", "authors", "targets"]
OVERS: tuple[Over, ...] = ("posts", "annotators", "authors", "targets")
RESAMPLES = 10_000
_TWO_WAY_RESAMPLES = 1_000
_BLOCK = 50
FEWEST_POSTS = 100
FEWEST_PEOPLE = 10
HATEFUL = "hateful"
_UNITS = {
    "posts": "posts",
    "annotators": "posts and annotators",
    "authors": "authors",
    "targets": "people mentioned",
}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Weighted, labelled posts, ready to be estimated from. All tables share the order of posts."""

    posts: pl.DataFrame
    """Columns post, weight, cell, author; one row per analysed post, sorted by post."""
    shares: Floats
    """Vote share per post and label."""
    labels: Sequence[str]
    mentions: pl.DataFrame
    """Columns row (of the post), target (null where unknown) and the grouping columns."""
    votes: pl.DataFrame | None = None
    """Columns row, annotator, label (position in ``labels``): needed to resample annotators."""
    frame: pl.DataFrame | None = None
    """The frame of :class:`evenhand.stats.weights.Weighed`; without it weights count as known."""

    def __post_init__(self) -> None:
        weights = self.posts["weight"].to_numpy()
        if not len(weights):
            raise NotEnoughData("no analysed posts: nothing to estimate from")
        if not np.isfinite(weights).all() or (weights < 0).any():
            bad = self.posts.filter(~pl.col("weight").is_finite() | (pl.col("weight") < 0))
            cases = ", ".join(bad["post"].head(20))
            raise BadInput(f"{bad.height} weights are negative or not numbers: {cases}")

    def codes(self, column: str) -> Ints:
        """The column as whole numbers, null being a value of its own for each post."""
        own = pl.coalesce(pl.col(column), pl.format("row {}", pl.int_range(pl.len())))
        ranked = self.posts.select(own.rank("dense")).to_series()
        return ranked.to_numpy().astype(np.int64) - 1


@dataclass(frozen=True)
class _Group:
    """A part of the mentions: which it is and how often each post is in it."""

    group: Mapping[str, str | int]
    partition: tuple[str, ...]
    counts: Floats
    posts: int
    people: int | None


def estimate(
    sample: Sample,
    *,
    by: Sequence[Sequence[str]] = (),
    over: Over = "posts",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Finding]:
    """`population_share` of each label, overall and by group, with what was resampled."""
    groups = [_whole(sample), *_groups(sample, by)]
    withheld = _withheld(groups)
    shown = [index for index in range(len(groups)) if index not in withheld]
    findings = [_held_back(groups[index], withheld[index]) for index in sorted(withheld)]
    counts = np.column_stack([groups[index].counts for index in shown])
    values, draws = _resampled(sample, counts, over, seed, resamples)
    low, high = quantiles(draws, level)
    weights = sample.posts["weight"].to_numpy()
    for position, index in enumerate(shown):
        group = groups[index]
        for column, label in enumerate(sample.labels):
            named = {} if label == HATEFUL else {"label": label}
            findings.append(
                Finding(
                    measure="population_share",
                    value=float(values[position, column]),
                    n=group.posts,
                    group={**named, **group.group},
                    low=float(low[position, column]),
                    high=float(high[position, column]),
                    level=level,
                    method=f"weighted vote shares; {_how(over, len(draws))}",
                    unit=_UNITS[over],
                    weighted=True,
                    n_effective=effective(weights[group.counts > 0]),
                )
            )
    return findings


def _how(over: Over, resamples: int) -> str:
    return {
        "posts": f"rescaled bootstrap of posts within cells, {resamples:,} resamples",
        "annotators": f"bootstrap of posts and annotators together, {resamples:,} resamples",
        "authors": f"bootstrap of authors, {resamples:,} resamples",
        "targets": f"bootstrap of the people mentioned, {resamples:,} resamples",
    }[over]


def _whole(sample: Sample) -> _Group:
    counts = np.bincount(sample.mentions["row"].to_numpy(), minlength=sample.posts.height)
    people = sample.mentions["target"].drop_nulls()
    return _Group({}, (), counts.astype(np.float64), sample.posts.height, people.n_unique() or None)


def _groups(sample: Sample, by: Sequence[Sequence[str]]) -> Iterator[_Group]:
    for columns in by:
        absent = [name for name in columns if name not in sample.mentions.columns]
        if absent:
            known = [c for c in sample.mentions.columns if c not in ("row", "target")]
            raise BadInput(
                f"cannot group by {', '.join(absent)}; known: {', '.join(known) or '(nothing)'}"
            )
        usable = sample.mentions.drop_nulls(list(columns))
        parts = usable.sort(columns).partition_by(columns, as_dict=True, maintain_order=True)
        for values, part in parts.items():
            counts = np.bincount(part["row"].to_numpy(), minlength=sample.posts.height)
            people = part["target"].drop_nulls()
            yield _Group(
                dict(zip(columns, map(str, values), strict=True)),
                tuple(columns),
                counts.astype(np.float64),
                part["row"].n_unique(),
                people.n_unique() if len(people) else None,
            )


def _withheld(groups: Sequence[_Group]) -> dict[int, str]:
    """Position → reason, for cells too small to publish and those that would reveal them."""
    reasons: dict[int, str] = {}
    for index, group in enumerate(groups):
        if not group.partition:
            continue
        if group.posts < FEWEST_POSTS:
            reasons[index] = f"withheld: fewer than {FEWEST_POSTS} posts"
        elif group.people is not None and group.people < FEWEST_PEOPLE:
            reasons[index] = f"withheld: fewer than {FEWEST_PEOPLE} people mentioned"
    for partition in {group.partition for group in groups if group.partition}:
        inside = [i for i, group in enumerate(groups) if group.partition == partition]
        hidden = [i for i in inside if i in reasons]
        rest = [i for i in inside if i not in reasons]
        if len(hidden) == 1 and rest:
            smallest = min(rest, key=lambda i: (groups[i].posts, str(groups[i].group)))
            reasons[smallest] = "withheld: it would reveal the one withheld cell beside it"
    return reasons


def _held_back(group: _Group, why: str) -> Finding:
    return Finding(
        measure="population_share", value=None, n=group.posts, group=dict(group.group), why=why
    )


def _resampled(
    sample: Sample, counts: Floats, over: Over, seed: int, resamples: int
) -> tuple[Floats, Floats]:
    """Point values (groups × labels) and their resamples (resamples × groups × labels)."""
    weights = sample.posts["weight"].to_numpy()
    mass = weights[:, None] * counts
    whole = _contributions(mass, sample.shares)
    values = _ratios(whole.sum(axis=0)[None], counts.shape[1])[0]
    rng = stream(seed, "estimate", over)
    if over == "annotators":
        counted = counted_shares(sample.posts, whole, sample.frame)
        many = min(resamples, _TWO_WAY_RESAMPLES)
        return values, _two_way(sample, mass, counted, rng, many)
    if over == "posts":
        counted = counted_shares(sample.posts, whole, sample.frame)
        totals = stratified_totals(whole, sample.codes("cell"), rng, resamples, counted)
    else:
        clusters = _clusters(sample, whole, counts, over)
        totals = stratified_totals(clusters, np.zeros(len(clusters), np.int64), rng, resamples)
    return values, _ratios(totals, counts.shape[1])


def _contributions(mass: Floats, shares: Floats) -> Floats:
    """Per post: its mass in each group, then mass × share for each label and group."""
    return np.column_stack([mass, *(mass * shares[:, [k]] for k in range(shares.shape[1]))])


def _ratios(totals: Floats, groups: int) -> Floats:
    """From totals (resamples × columns) to shares (resamples × groups × labels)."""
    labels = totals.shape[1] // groups - 1
    parts = totals.reshape(len(totals), labels + 1, groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = np.moveaxis(parts[:, 1:] / parts[:, :1], 1, 2)
    return np.nan_to_num(shares)


def _clusters(sample: Sample, whole: Floats, counts: Floats, over: Over) -> Floats:
    """Contributions summed over authors, or divided among the people a post mentions."""
    if over == "authors":
        codes = sample.codes("author")
        if not sample.posts["author"].count():
            raise NotEnoughData("the authors are not known: resample posts instead")
        rows = np.arange(len(codes))
        part = np.ones(len(codes))
    else:
        known = sample.mentions.drop_nulls("target")
        if not known.height:
            raise NotEnoughData("the people mentioned are not known: resample posts instead")
        rows = known["row"].to_numpy()
        codes = known["target"].rank("dense").to_numpy().astype(np.int64) - 1
        part = 1 / np.maximum(counts[rows, 0], 1)
    shape = (int(codes.max()) + 1, len(whole))
    member = sparse.csr_array((part, (codes, rows)), shape=shape)
    if shape[0] < 2:
        raise NotEnoughData(f"only one of the {_UNITS[over]}: nothing to resample")
    totals: Floats = member @ whole
    return totals


def counted_shares(posts: pl.DataFrame, whole: Floats, frame: pl.DataFrame | None) -> Shares | None:
    """How the totals hang on the flagged shares that were counted on what the provider gave.

    The weights take p_W(k | d) as known, but it was counted on the posts of day d that the provider
    gave. Had it given others, a flagged share off by ε would have moved the totals by
    ε p_W(d) (mean contribution of the flagged cell − that of the rest), per unit of target.
    """
    if frame is None:
        return None
    usable = frame.drop_nulls(["rest_cell", "flag_cell"])
    if not usable.height:
        return None
    names = posts["cell"].unique().sort()
    code = posts["cell"].replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
    weight = posts["weight"].to_numpy()
    target = np.bincount(code, weight, minlength=len(names)) / weight.sum()
    sums = np.stack([np.bincount(code, c, minlength=len(names)) for c in whole.T], axis=1)
    per_unit = sums / target[:, None]

    def of(column: str) -> Floats:
        found: Floats = per_unit[
            usable[column]
            .replace_strict(names, range(len(names)), return_dtype=pl.Int64)
            .to_numpy()
        ]
        return found

    share = usable["volume_share"].to_numpy()[:, None]
    return Shares(
        share * (of("flag_cell") - of("rest_cell")),
        usable["flagged"].to_numpy(),
        usable["available"].to_numpy(),
    )


def _two_way(
    sample: Sample,
    mass: Floats,
    counted: Shares | None,
    rng: np.random.Generator,
    resamples: int,
) -> Floats:
    """Posts within cells and annotators resampled; a post none of whose people came up is out."""
    votes = sample.votes
    if votes is None:
        raise NotEnoughData("it is not known who voted: resample posts instead")
    people = votes["annotator"].rank("dense").to_numpy().astype(np.int64) - 1
    rows, label = votes["row"].to_numpy(), votes["label"].to_numpy()
    shape = (sample.posts.height, int(people.max()) + 1)
    if shape[1] < 2:
        raise NotEnoughData("a single annotator: nothing to resample")
    given = [
        sparse.csr_array((np.ones(int(mine.sum())), (rows[mine], people[mine])), shape=shape)
        for mine in [label >= 0, *(label == k for k in range(len(sample.labels)))]
    ]
    cells = _cell_positions(sample.codes("cell"))
    member = sparse.csr_array(mass.T)
    out = []
    for start in range(0, resamples, _BLOCK):
        size = min(_BLOCK, resamples - start)
        drawn = draw_counts(shape[1], shape[1], size, rng).T
        total, *chosen = (matrix @ drawn for matrix in given)
        times = _post_counts(cells, shape[0], size, rng) * (total > 0)
        voted = times / np.maximum(total, 1)
        totals = np.concatenate([member @ times, *(member @ (voted * c) for c in chosen)]).T
        if counted is not None:
            totals = totals + counted.moves(size, rng) @ counted.effects
        out.append(_ratios(totals, mass.shape[1]))
    return np.concatenate(out)


def _cell_positions(codes: Ints) -> list[Ints]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _post_counts(cells: list[Ints], n: int, size: int, rng: np.random.Generator) -> Floats:
    """How often each post counts in each resample: n_h − 1 draws, n_h / (n_h − 1) times."""
    times = np.empty((n, size))
    for positions in cells:
        many = len(positions)
        if many < 2:
            raise NotEnoughData("a cell with a single post; merge cells before resampling")
        times[positions] = draw_counts(many, many - 1, size, rng).T * many / (many - 1)
    return times


def vote_count_weights(votes: Ints, shares: Floats) -> Floats:
    """Weights 1 / (σ²_between + σ²_within / n_i), from the number of votes only.

    A post's own answers must not enter (unanimous posts would dominate); the two variances are
    estimated over all posts with at least two votes, by analysis of variance on the shares.
    """
    parts = variance_components(votes.astype(np.float64), shares)
    if parts is None:
        raise NotEnoughData("fewer than two posts have two votes: vote counts cannot be weighed")
    between, within = parts
    if within == 0 and between == 0:
        return np.ones(len(votes))
    raw = 1 / (between + within / np.maximum(votes, 1))
    weights: Floats = raw / raw.mean()
    return weights
