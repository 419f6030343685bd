"""Ballots from a table of counts, where nobody knows who voted, only how many for what.

Corpora are often published like this. A row is a post, a column a label; a column ``post`` may name
the posts. The figures are those of the judgements the counts were made of. A post without votes is
as good as not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from evenhand.core.errors import BadInput
from evenhand.stats.answers import Scale, check_scale, single_classes
from evenhand.stats.ballots import Ballots, finished, kinds_of, vote_keys
from evenhand.stats.numbering import changes, hashes

Ints = NDArray[np.int64]
_WHERE = "counts"


def read_counts(
    counts: pl.DataFrame,
    *,
    scale: Scale = "nominal",
    order: Sequence[str] | None = None,
    exactly: int | None = None,
    weights: pl.DataFrame | None = None,
) -> Ballots:
    """The votes of a table with a column of counts per label and, if known, a column post."""
    labels = _checked(counts, scale, order, exactly)
    if weights is not None and "post" not in counts.columns:
        raise BadInput("counts: there is no column 'post', so weights cannot be joined")
    classes = single_classes(labels, _WHERE, scale=scale, order=order)
    columns = [counts[label].to_numpy().astype(np.int64, copy=False) for label in labels]
    size = _sum(columns, counts.height)
    keep = size > 0 if exactly is None else size == exactly
    rows, left_out = np.arange(len(size)), 0
    if not keep.all():
        left_out = int((~keep & (size > 0)).sum())
        columns, size, rows = [column[keep] for column in columns], size[keep], rows[keep]
    keys, limit = vote_keys(size, len(classes.labels))
    keyed = _sum(columns, len(size), keys[classes.column])
    kind, example = kinds_of(keyed, limit)
    table = np.zeros((len(example), len(classes.labels)), dtype=np.int64)
    for column, at in zip(columns, classes.column, strict=True):
        table[:, at] += column[example]
    found = Ballots(
        classes,
        sparse.csr_array(table),
        size[example],
        kind,
        votes=counts.select("^post$").with_columns(anonymous=pl.lit(True)),
        rows=rows,
        starts=rows if keep.all() else np.arange(len(size)),
        answer=np.empty(0, dtype=np.int64),
        left_out=left_out,
    )
    return finished(found, scale, named=order is not None, weights=weights)


def _sum(columns: list[Ints], length: int, times: Ints | None = None) -> Ints:
    total, part = np.zeros(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    for number, column in enumerate(columns):
        total += column if times is None else np.multiply(column, times[number], out=part)
    return total


def _checked(
    counts: pl.DataFrame, scale: Scale, order: Sequence[str] | None, exactly: int | None
) -> list[str]:
    """The labels; refuses what is no table of counts."""
    check_scale(scale, order)
    if scale == "set":
        raise BadInput("counts: scale 'set' needs to know who chose what; give judgements")
    if exactly is not None and exactly < 1:
        raise BadInput(f"exactly is {exactly}; expected a number of votes from 1 up")
    labels = [name for name in counts.columns if name != "post"]
    for label in labels:
        column = counts[label]
        if not column.dtype.is_integer() or column.null_count() or _number(column.min()) < 0:
            raise BadInput(f"counts: column {label!r} holds no counts; expected 0, 1, 2 …")
    if "post" in counts.columns and _repeated(counts["post"]):
        raise BadInput("counts: a post stands there twice; expected one row per post")
    return labels


def _number(least: Any) -> int:
    return int(least or 0)


def _repeated(posts: pl.Series) -> bool:
    if posts.dtype == pl.String and changes(np.sort(hashes(posts, 0))).all():
        return False  # no two hashes are equal, so no two posts are
    return bool(posts.is_duplicated().any())
