"""Judgements as whole numbers: which post, which person, which answer.

Ids are sorted, so that nothing depends on the order of rows. Tables mostly come with the judgements
of a post side by side; then a post is a run of equal ids and none is looked up. Otherwise rows are
put side by side by hash first. Equal hashes are never taken for equal ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
_FEW = 16
_LOOK = 4096


@dataclass(frozen=True)
class Groups:
    """Rows grouped by an id."""

    ids: pl.Series
    """Distinct ids, sorted."""
    starts: Codes
    """Where each run of equal ids starts, after the rows are put side by side."""
    side_by_side: Codes | None
    """Row numbers that put equal ids side by side; None where they are."""
    sorted_runs: Codes | None
    """The runs in order of id; None where they are."""
    rows: int

    def sums(self, values: Codes) -> Codes:
        """Sum of a value per row, by id."""
        ordered = values if self.side_by_side is None else values[self.side_by_side]
        running = np.cumsum(ordered)[np.append(self.starts[1:], self.rows) - 1]
        sums: Codes = running.copy()
        sums[1:] -= running[:-1]
        return sums if self.sorted_runs is None else sums[self.sorted_runs]

    def sizes(self) -> Codes:
        """Rows by id."""
        sizes: Codes = np.diff(self.starts, append=self.rows)
        return sizes if self.sorted_runs is None else sizes[self.sorted_runs]

    def codes(self) -> Codes:
        """The position of each row's id in ``ids``."""
        place = np.arange(len(self.ids))
        if self.sorted_runs is not None:
            place[self.sorted_runs] = np.arange(len(self.ids))
        codes = np.repeat(place, np.diff(self.starts, append=self.rows))
        if self.side_by_side is None:
            return codes
        back = np.empty_like(codes)
        back[self.side_by_side] = codes
        return back


def group(values: pl.Series) -> Groups:
    """Group rows by a text; ``values`` is not empty.

    >>> groups = group(pl.Series(["b", "a", "b"]))
    >>> groups.ids.to_list(), groups.sizes().tolist(), groups.codes().tolist()
    (['a', 'b'], [1, 2], [1, 0, 1])
    """
    groups = _group_runs(values, None)
    if groups is None:
        order = np.argsort(values.hash().to_numpy())
        groups = _group_runs(values.gather(order), order)
    if groups is None:  # two ids with one hash
        order = values.arg_sort().to_numpy().astype(np.int64)
        return Groups(*_runs(values.gather(order)), order, None, len(values))
    return groups


def _group_runs(values: pl.Series, order: Codes | None) -> Groups | None:
    """Group rows whose equal ids stand side by side; None where an id may have two runs."""
    heads, starts = _runs(values)
    if (heads.slice(1) > heads.slice(0, len(heads) - 1)).all():
        return Groups(heads, starts, order, None, len(values))
    hashes = heads.hash().to_numpy()
    by_hash = np.argsort(hashes)
    if (hashes[by_hash[1:]] == hashes[by_hash[:-1]]).any():
        return None
    ids = heads.sort()  # two to three times as fast as sorting with the run numbers
    runs = np.empty(len(ids), dtype=np.int64)
    runs[np.argsort(ids.hash().to_numpy())] = by_hash
    return Groups(ids, starts, order, runs, len(values))


def _runs(values: pl.Series) -> tuple[pl.Series, Codes]:
    """The id of each run of equal ids, and where it starts."""
    new = np.ones(len(values), dtype=bool)
    new[1:] = (values.slice(1) != values.slice(0, len(values) - 1)).to_numpy()
    return values.filter(pl.Series(new)), np.flatnonzero(new)


def code_few(values: pl.Series) -> tuple[pl.Series, Codes]:
    """The distinct texts, sorted, and the position of each value; quick for a few labels.

    >>> labels, codes = code_few(pl.Series(["yes", "no", "yes"]))
    >>> labels.to_list(), codes.tolist()
    (['no', 'yes'], [1, 0, 1])
    """
    distinct = values.head(_LOOK).unique().sort()
    if len(distinct) <= _FEW:
        codes = values.to_frame("value").select(_match(distinct)).to_series()
        if codes.null_count() == 0:
            return distinct, codes.to_numpy().astype(np.int64)
    groups = group(values)
    return groups.ids, groups.codes()


def _match(texts: pl.Series) -> pl.Expr:
    """The position of ``value`` among a few texts, null where it is none of them."""
    match = pl.lit(None, dtype=pl.UInt8)
    for number, text in enumerate(texts):
        match = pl.when(pl.col("value") == text).then(pl.lit(number, pl.UInt8)).otherwise(match)
    return match


@dataclass(frozen=True)
class Votes:
    """First attempts at one single-choice question."""

    rows: pl.DataFrame
    """The judgements."""
    posts: pl.Series
    """Distinct posts, sorted."""
    labels: pl.Series
    """Distinct answers, sorted."""
    people: pl.DataFrame
    """Distinct people (annotator, cohort), sorted. Ids are unique inside a cohort."""
    post: Codes
    answer: Codes
    person: Codes

    def counts(self) -> Codes:
        """Votes, one row per post and one column per label."""
        return tally(self.post, self.answer, len(self.posts), len(self.labels))


def code_votes(judgements: pl.DataFrame, question: str) -> Votes:
    """Code the first attempts at a question.

    Refuses a question nobody answered, and several answers in one judgement.
    """
    first = judgements.filter((pl.col("question") == question) & (pl.col("attempt") == 1))
    if not first.height:
        known = ", ".join(sorted(judgements["question"].unique())) or "none"
        raise BadInput(f"judgements: nobody answered question {question!r}; questions: {known}")
    answers = first["answer"].explode()
    if len(answers) > first.height:
        raise BadInput(
            f"judgements: question {question!r} has judgements with several answers; expected one "
            "each. Aggregate it by vote shares with several answers allowed"
        )
    posts = group(first["post"])
    labels, answer = code_few(answers)
    people, person = _people(first)
    return Votes(first, posts.ids, labels, people, posts.codes(), answer, person)


def _people(first: pl.DataFrame) -> tuple[pl.DataFrame, Codes]:
    names = group(first["annotator"])
    cohorts, cohort = code_few(first["cohort"].fill_null("\0"))
    used = np.zeros(len(names.ids) * len(cohorts), dtype=bool)
    pair = names.codes() * len(cohorts) + cohort
    used[pair] = True
    kept = np.flatnonzero(used)
    cohort_of = cohorts.gather(kept % len(cohorts))
    people = pl.DataFrame(
        {
            "annotator": names.ids.gather(kept // len(cohorts)),
            "cohort": cohort_of.set(cohort_of == "\0", None),
        }
    )
    return people, (np.cumsum(used) - 1)[pair]


def person_keys(row: Mapping[str, Any]) -> dict[str, str]:
    """The keys of a finding's group that name a person: annotator, and cohort where known."""
    return {key: row[key] for key in ("annotator", "cohort") if row[key] is not None}


def tally(rows: Codes, columns: Codes, height: int, width: int) -> Codes:
    """How often each pair of codes occurs."""
    return np.bincount(rows * width + columns, minlength=height * width).reshape(height, width)
