"""Two-way intraclass correlations, where every annotator judged every post.

Shrout and Fleiss 1979: with T posts, k annotators and mean squares of posts R, annotators C and
rest E,

- ``icc_2_1`` = (R − E)/(R + (k − 1)E + k(C − E)/T), ``icc_2_k`` = (R − E)/(R + (C − E)/T):
  annotators stand for others like them;
- ``icc_3_1`` = (R − E)/(R + (k − 1)E), ``icc_3_k`` = (R − E)/R: these annotators only.

Posts with a single vote are left out. Where annotators are not crossed or not known there is a
reason instead of a table. Weights as in :mod:`evenhand.stats.icc`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from evenhand.stats.alike import Alike, alike
from evenhand.stats.ballots import Ballots
from evenhand.stats.canonical import canonical_order, mixed
from evenhand.stats.icc import quotient
from evenhand.stats.numbering import numbered

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MEASURES = ("icc_2_1", "icc_2_k", "icc_3_1", "icc_3_k")
_NOTHING = 1e-12


@dataclass(frozen=True)
class Crossed:
    """Posts judged by all annotators, as kinds: the same answers by the same people."""

    worth: Floats
    """What each annotator answered: kinds × annotators."""
    posts: Alike


def crossed(ballots: Ballots) -> Crossed | str:
    """The crossed table of posts with two votes or more, or why there is none."""
    numbers = np.unique(ballots.size[ballots.size >= 2])
    if ballots.votes["anonymous"].any():
        return "annotators are anonymous, so it is not known who judged which post"
    if len(numbers) != 1:
        return "not every annotator judged every post"
    size = ballots.size[ballots.kind]
    paired = size >= 2
    votes = np.repeat(paired, size)
    person, people = numbered(_names(ballots.votes[ballots.rows[votes]]))
    if len(people) != numbers[0]:
        return "not every annotator judged every post"
    answers = np.empty((int(paired.sum()), len(people)), dtype=np.int64)
    answers[np.repeat(np.arange(len(answers)), len(people)), person] = ballots.classes.column[
        ballots.answer[votes]
    ]
    return _collapsed(ballots, answers, paired)


def _names(votes: pl.DataFrame) -> pl.Series:
    """A person is an annotator of a cohort, as in the table of judgements."""
    both = pl.concat_str("annotator", pl.col("cohort").fill_null(""), separator="\x1f")
    return votes.select(both).to_series()


def _collapsed(ballots: Ballots, answers: Ints, paired: NDArray[np.bool_]) -> Crossed:
    weight = None if ballots.weight is None else ballots.weight[paired]
    marks = np.zeros(len(answers)) if weight is None else weight
    order = canonical_order(sparse.csr_array(answers + 1), mixed(marks.view(np.uint64)))
    kinds, kind = np.unique(answers[:, order], axis=0, return_inverse=True)
    values = ballots.classes.values
    worth = kinds.astype(np.float64) if values is None else values[kinds]
    return Crossed(worth - (worth.min() + worth.max()) / 2, alike(kind, weight, len(kinds)))


def crossed_icc(table: Crossed, many: Floats) -> Floats:
    """The four figures of ``MEASURES``, NaN where one does not exist: resamples × 4."""
    worth, k = table.worth, table.worth.shape[1]
    posts = many.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_annotator = many @ worth
        middle = by_annotator.sum(axis=1) ** 2 / (posts * k)
        total = many @ (worth**2).sum(axis=1) - middle
        rows = many @ (worth.sum(axis=1) ** 2 / k) - middle
        columns = (by_annotator**2).sum(axis=1) / posts - middle
        r, c, e = (
            np.where(part > _NOTHING * total, part, 0) / freedom
            for part, freedom in (
                (rows, posts - 1),
                (columns, k - 1),
                (total - rows - columns, (posts - 1) * (k - 1)),
            )
        )
        above = np.where(posts > 1, r - e, np.nan)
        below = (r + (k - 1) * e + k * (c - e) / posts, r + (c - e) / posts, r + (k - 1) * e, r)
    return np.column_stack([quotient(above, part) for part in below])
