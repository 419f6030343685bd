"""The votes on one question as kinds of posts: who said what no longer matters, only how many.

Agreement of a post depends on its votes alone, and posts with the same votes are of one *kind*.
Half a million judgements come down to some hundred kinds, each with a row of counts per class; a
figure is a function of how often each kind counts (:class:`Tally`), in the data or in a resample.

First attempts are votes; repeats are counted. Classes are the labels of ``order`` where it is given
(also those nobody used), else the answers found. They and the kinds stand in an order that depends
neither on rows nor on names (:mod:`evenhand.stats.canonical`): results are equal to the last bit.

Kinds are told apart by a sum of one number per vote: powers of the largest number of votes, which
is exact, or with many classes random 63-bit numbers (among 100,000 kinds a chance of one in 10⁹
that two share a sum).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from evenhand.core.errors import BadInput
from evenhand.core.streams import stream
from evenhand.stats.alike import Alike, alike
from evenhand.stats.answers import Classes, Scale, classes_of
from evenhand.stats.canonical import canonical_order, mixed
from evenhand.stats.numbering import Numbers, together

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SMALL = 1 << 20
_HEAVIEST = 1e100


@dataclass(frozen=True)
class Ballots:
    """First votes on one question, collapsed to kinds of posts."""

    classes: Classes
    counts: Any
    """Votes: kinds × classes; an array, or a sparse one where that would be large."""
    size: Ints
    """Votes per post, by kind."""
    kind: Ints
    """The kind of each post."""
    votes: pl.DataFrame
    """The judgements themselves, in no order."""
    rows: Ints
    """Rows of ``votes`` brought together by post."""
    starts: Ints
    """Where each post starts in ``rows``."""
    answer: Numbers
    """The number of the answer in each of ``rows``; its class is ``classes.column`` of that."""
    repeated: int = 0
    """Judgements left out because they are second or later attempts."""
    left_out: int = 0
    """Posts left out because they have another number of votes than asked for."""
    weight: Floats | None = None
    """The weight of each post, in mean 1 over the posts with two votes."""

    @cached_property
    def posts(self) -> pl.Series:
        """The id of each post."""
        return self.votes["post"].gather(self.rows[self.starts])

    @cached_property
    def alike(self) -> Alike:
        """Interchangeable posts: the same kind, the same weight."""
        return alike(self.kind, self.weight, len(self.size))

    @property
    def total(self) -> int:
        """How many votes there are."""
        return int(self.alike.count @ self.size[self.alike.kind])

    @cached_property
    def paired(self) -> int:
        """Posts with at least two votes."""
        return int(self.alike.count[self.size[self.alike.kind] >= 2].sum())

    def of_option(self, column: int) -> Ballots:
        """The same posts with two classes: a set that holds the option, and one that does not."""
        holds = self.counts @ self.classes.members[:, column].astype(np.int64)
        counts = sparse.csr_array(np.column_stack([holds, self.size - holds]))
        classes = Classes(labels=(self.classes.options[column], ""))
        return replace(self, classes=classes, counts=counts)


def read_ballots(
    judgements: pl.DataFrame,
    question: str,
    *,
    scale: Scale = "nominal",
    order: Sequence[str] | None = None,
    exactly: int | None = None,
    weights: pl.DataFrame | None = None,
) -> Ballots:
    """The votes on ``question``; with ``exactly`` only posts with that many of them."""
    if exactly is not None and exactly < 1:
        raise BadInput(f"exactly is {exactly}; expected a number of votes from 1 up")
    asked = judgements["question"] == question
    first = asked & (judgements["attempt"] == 1)
    votes = judgements.select("post", "annotator", "cohort", "anonymous", "answer")
    votes = votes if first.all() else votes.filter(first)
    classes, answer = classes_of(votes["answer"], question, scale=scale, order=order)
    rows, starts = together(votes["post"])
    size = np.append(starts[1:], len(rows)) - starts
    keep = np.ones(len(size), dtype=bool) if exactly is None else size == exactly
    if not keep.all():
        rows, size = rows[np.repeat(keep, size)], size[keep]
        starts = np.cumsum(size) - size
    answer = np.take(answer, rows)
    nothing = np.empty(0, dtype=np.int64)
    found = Ballots(
        classes, None, size, nothing, votes, rows, starts, answer,
        repeated=int(asked.sum()) - votes.height, left_out=int((~keep).sum()),
    )  # fmt: skip
    found = _collapse(found)
    return finished(found, scale, named=order is not None, weights=weights)


def _collapse(votes: Ballots) -> Ballots:
    """Find the kinds; on entry ``size`` is by post and there are no counts yet."""
    classes = len(votes.classes.labels)
    keys, limit = vote_keys(votes.size, classes)
    keys = keys[votes.classes.column]
    running = np.zeros(len(votes.answer) + 1, dtype=np.int64)
    np.cumsum(np.take(keys, votes.answer), out=running[1:])
    ends = np.take(running, np.append(votes.starts, len(votes.answer)))
    sums = ends[1:] - ends[:-1]
    kind, example = kinds_of(sums, limit)
    kinds = len(example)
    size = votes.size[example]
    owner = np.repeat(np.arange(kinds), size)
    place = np.arange(len(owner)) + np.repeat(votes.starts[example] - (size.cumsum() - size), size)
    ones = np.ones(len(owner), dtype=np.int64)
    column = votes.classes.column[votes.answer[place]]
    table = sparse.coo_array((ones, (owner, column)), shape=(kinds, classes))
    return replace(votes, counts=table.tocsr(), size=size, kind=kind)


def vote_keys(size: Ints, classes: int) -> tuple[Ints, int | None]:
    """A number for a vote of each class, so that sums tell posts apart, and the limit of sums.

    The limit is None where the numbers are random.
    """
    base = int(size.max(initial=0)) + 1
    if base**classes < 2**62:
        return base ** np.arange(classes), base**classes
    return _random_words(classes), None


def kinds_of(sums: Ints, limit: int | None) -> tuple[Ints, Ints]:
    """The kind of each post, from 0 up, and a post of each kind."""
    if limit is None or limit > _SMALL:
        _, example, kind = np.unique(sums, return_index=True, return_inverse=True)
        return kind, example
    seen = np.bincount(sums, minlength=limit) > 0
    kind = np.take(np.cumsum(seen) - 1, sums)
    example = np.empty(int(seen.sum()), dtype=np.int64)
    example[kind] = np.arange(len(sums))
    return kind, example


def _random_words(classes: int) -> Ints:
    return stream(0, "kinds of posts").integers(2**63, size=classes)


def finished(found: Ballots, scale: Scale, *, named: bool, weights: pl.DataFrame | None) -> Ballots:
    """With weights, classes and kinds in an order free of names (or that the caller gave)."""
    if weights is not None:
        found = replace(found, weight=_weights(found, weights))
    counts, classes = found.counts, found.classes
    if scale == "set" or (scale == "nominal" and not named):
        many = np.bincount(found.kind, minlength=len(found.size)).astype(np.uint64)
        if found.weight is not None:
            np.add.at(many, found.kind, mixed(found.weight.view(np.uint64)))
        columns = canonical_order(counts, many, classes.distance)
        counts, classes = counts[:, columns], classes.reordered(columns)
    sums = counts.astype(np.uint64) @ _random_words(counts.shape[1]).astype(np.uint64)
    kinds = np.lexsort((sums, found.size))
    table = counts[kinds]
    return replace(
        found,
        classes=classes,
        counts=table.toarray() if np.prod(table.shape) <= _SMALL else table,
        size=found.size[kinds],
        kind=np.take(np.argsort(kinds), found.kind),
    )


def _weights(found: Ballots, weights: pl.DataFrame) -> Floats:
    """The weight of each post, divided by the mean over posts with two votes."""
    if set(weights.columns) != {"post", "weight"}:
        raise BadInput(f"weights: columns {weights.columns}; expected post, weight")
    bad = weights.filter(~(pl.col("weight").is_finite() & (pl.col("weight") > 0)).fill_null(False))
    if bad.height:
        raise BadInput(
            f"weights: post {bad['post'][0]!r} has weight {bad['weight'][0]}"
            f" ({bad.height} such posts); expected a finite number above 0"
        )
    if weights["post"].is_duplicated().any():
        twice = weights["post"].filter(weights["post"].is_duplicated())[0]
        raise BadInput(f"weights: post {twice!r} stands there twice; expected one weight per post")
    joined = found.posts.to_frame("post").join(
        weights, on="post", how="left", maintain_order="left"
    )
    without = joined.filter(pl.col("weight").is_null())
    if without.height:
        raise BadInput(
            f"weights: {without.height} judged posts have none, among them {without['post'][0]!r};"
            " weigh every judged post, or leave its judgements out"
        )
    weight: Floats = joined["weight"].cast(pl.Float64).to_numpy()
    paired = weight[(found.size >= 2)[found.kind]]
    scale = np.sort(paired if len(paired) else weight)
    with np.errstate(over="ignore"):  # only a single vote can be that heavy
        weight = weight / scale[-1] / (scale / scale[-1]).mean() if len(weight) else weight
    return np.minimum(weight, _HEAVIEST)


@dataclass(frozen=True)
class Tally:
    """Sums over posts with two votes or more, one row per resample; NaN where there are none.

    ``many`` says how much each kind of post counts: resamples × kinds.
    """

    ballots: Ballots
    many: Floats
    pairs: Floats = field(init=False)
    """``many``, with 0 for posts with a single vote."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", self.many * (self.ballots.size >= 2))

    @cached_property
    def posts(self) -> Floats:
        """Posts, by resample."""
        total: Floats = self.pairs.sum(axis=1)
        return total

    @cached_property
    def by_class(self) -> Floats:
        """Votes for each class: resamples × classes."""
        total: Floats = self.pairs @ self.ballots.counts
        return total

    @cached_property
    def votes(self) -> Floats:
        """Votes, by resample."""
        total: Floats = self.by_class.sum(axis=1)
        return total

    @cached_property
    def several(self) -> NDArray[np.bool_]:
        """Whether at least two classes were voted for."""
        several: NDArray[np.bool_] = (self.by_class > 0).sum(axis=1) > 1
        return several

    @cached_property
    def share(self) -> Floats:
        """Share of each class among all votes (pooled): resamples × classes."""
        return ratio(self.by_class, self.votes[:, None])

    def mean(self, figure: Floats) -> Floats:
        """Mean over posts of a figure given by kind (its first axis)."""
        total = self.pairs @ figure
        return ratio(total, self.posts if total.ndim == 1 else self.posts[:, None])


def ratio(above: Floats, below: Floats) -> Floats:
    """``above`` / ``below``, NaN where ``below`` is not positive.

    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    above, below = np.broadcast_arrays(above, below)
    quotient = np.full(above.shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient
