"""The records in bulk: Polars tables whose columns are the field names, checked once at the door.

Each function takes a table that has at least the required columns, adds the optional ones as
nulls, puts the columns in order, casts them, and refuses what the record refuses. Inside the house
a table that came through here is trusted.

``tags`` is a struct with one text field per tag and always has ``split``; ``shares`` is a list of
(label, share); ``spans`` a list of (start, end).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput, Faults
from evenhand.core.records import Finding

TIME = pl.Datetime("us", "UTC")
SPANS = pl.List(pl.Struct({"start": pl.Int32, "end": pl.Int32}))
EVIDENCE = pl.List(pl.Struct({"start": pl.Int32, "end": pl.Int32, "weight": pl.Float64}))
SHARES = pl.List(pl.Struct({"label": pl.String, "share": pl.Float64}))
PAIRS = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))

Schema = Mapping[str, Any]

POSTS: Schema = {
    "id": pl.String,
    "text": pl.String,
    "source": pl.String,
    "author": pl.String,
    "date": TIME,
    "reply_to": pl.String,
    "edit_of": pl.String,
    "targets": pl.List(pl.String),
    "media": pl.List(pl.String),
    "tags": pl.Struct({"split": pl.String}),
}
DRAWS: Schema = {
    "post": pl.String,
    "stratum": pl.String,
    "flag": pl.Boolean,
    "probability": pl.Float64,
    "weight": pl.Float64,
    "phase": pl.Int32,
}
JUDGEMENTS: Schema = {
    "post": pl.String,
    "annotator": pl.String,
    "cohort": pl.String,
    "question": pl.String,
    "answer": pl.List(pl.String),
    "spans": SPANS,
    "seconds": pl.Float64,
    "at": TIME,
    "attempt": pl.Int32,
    "anonymous": pl.Boolean,
}
GOLD: Schema = {
    "post": pl.String,
    "question": pl.String,
    "shares": SHARES,
    "n": pl.Int32,
    "origin": pl.String,
    "label": pl.String,
    "multiple": pl.Boolean,
}
SPLITS: Schema = {
    "name": pl.String,
    "train": pl.List(pl.String),
    "dev": pl.List(pl.String),
    "test": pl.List(pl.String),
    "rule": pl.String,
}
SCORES: Schema = {
    "post": pl.String,
    "detector": pl.String,
    "attribute": pl.String,
    "p": pl.Float64,
    "evidence": EVIDENCE,
}
FINDINGS: Schema = {
    "measure": pl.String,
    "value": pl.Float64,
    "n": pl.Int64,
    "group": PAIRS,
    "low": pl.Float64,
    "high": pl.Float64,
    "level": pl.Float64,
    "method": pl.String,
    "unit": pl.String,
    "weighted": pl.Boolean,
    "n_effective": pl.Float64,
    "origin": pl.String,
    "why": pl.String,
    "cases": pl.List(pl.String),
}

_DEFAULTS: dict[str, Any] = {"attempt": 1, "anonymous": False, "phase": 1, "multiple": False}


def _shape(frame: pl.DataFrame, schema: Schema, required: Iterable[str], what: str) -> pl.DataFrame:
    """All columns of the schema, in order, cast; missing optional ones filled."""
    absent = [name for name in required if name not in frame.columns]
    extra = [name for name in frame.columns if name not in schema]
    if absent or extra:
        found = f"missing {absent}" if absent else f"unknown {extra}"
        raise BadInput(f"{what}: {found}; the columns are {', '.join(schema)}")
    columns = []
    for name, dtype in schema.items():
        if name == "tags":
            columns.append(_tags(frame))
        elif name in frame.columns:
            columns.append(pl.col(name).cast(dtype))
        else:
            columns.append(pl.lit(_DEFAULTS.get(name), dtype=dtype).alias(name))
    return frame.select(columns)


def _tags(frame: pl.DataFrame) -> pl.Expr:
    if "tags" not in frame.columns:
        return pl.struct(split=pl.lit(None, dtype=pl.String)).alias("tags")
    dtype = frame.schema["tags"]
    if not isinstance(dtype, pl.Struct):
        raise BadInput(f"posts: column 'tags' is {dtype}; expected a struct of texts")
    names = [field.name for field in dtype.fields]
    fields = [pl.col("tags").struct.field(name).cast(pl.String) for name in names]
    if "split" not in names:
        fields.insert(0, pl.lit(None, dtype=pl.String).alias("split"))
    return pl.struct(fields).alias("tags")


def _refuse(faults: Faults, frame: pl.DataFrame, bad: pl.Expr, what: str) -> None:
    """Add a fault for every row where ``bad`` holds, with the row's number."""
    rows = frame.select(pl.arg_where(bad)).to_series()
    faults.add_lines(what, (int(row) + 1 for row in rows))


def posts_table(frame: pl.DataFrame, where: str = "posts") -> pl.DataFrame:
    """Posts; refuses a null id, text or source and the same id twice."""
    table = _shape(frame, POSTS, ("id", "text", "source"), where)
    faults = Faults(where, unit="row")
    for name in ("id", "text", "source"):
        _refuse(faults, table, pl.col(name).is_null(), f"{name} is missing")
    for name in ("id", "source"):
        _refuse(faults, table, pl.col(name) == "", f"{name} is empty")
    twice = pl.col("id").is_not_null() & pl.col("id").is_duplicated()
    _refuse(faults, table, twice & ~pl.col("id").is_first_distinct(), "this id was used before")
    faults.raise_if_any()
    return table.with_columns(
        pl.col("targets").fill_null([]),
        pl.col("media").fill_null([]),
    )


def draws_table(frame: pl.DataFrame, where: str = "draws") -> pl.DataFrame:
    """Draws; refuses a probability outside (0, 1]."""
    table = _shape(frame, DRAWS, ("post", "stratum", "flag", "probability", "weight"), where)
    faults = Faults(where, unit="row")
    bad = ~pl.col("probability").is_between(0, 1, closed="right").fill_null(False)
    _refuse(faults, table, bad, "probability is outside (0, 1]")
    faults.raise_if_any()
    return table


def judgements_table(
    frame: pl.DataFrame,
    labels: Mapping[str, Iterable[str]] | None = None,
    where: str = "judgements",
) -> pl.DataFrame:
    """Judgements; refuses an answer outside the questionnaire and the same attempt twice.

    ``labels`` gives the allowed answers per question; questions it does not name are not checked.
    """
    table = _shape(frame, JUDGEMENTS, ("post", "annotator", "question", "answer"), where)
    faults = Faults(where, unit="row")
    for name in ("post", "annotator", "question", "answer"):
        _refuse(faults, table, pl.col(name).is_null(), f"{name} is missing")
    _refuse(faults, table, pl.col("answer").list.len() == 0, "the answer is empty")
    for question, allowed in (labels or {}).items():
        names = list(allowed)
        outside = ~pl.col("answer").list.eval(pl.element().is_in(names)).list.all()
        _refuse(
            faults,
            table,
            (pl.col("question") == question) & outside,
            f"the answer to {question!r} is not one of {', '.join(names)}",
        )
    key = ["post", "annotator", "cohort", "question", "attempt"]
    twice = ~pl.struct(key).is_first_distinct()
    _refuse(faults, table, twice, "the same person's same attempt stands here twice")
    faults.raise_if_any()
    return table.with_columns(pl.col("spans").fill_null([]))


def gold_table(frame: pl.DataFrame, where: str = "gold") -> pl.DataFrame:
    """Gold; refuses single-choice shares that do not sum to one, and shares outside [0, 1]."""
    table = _shape(frame, GOLD, ("post", "question", "shares", "n", "origin", "label"), where)
    faults = Faults(where, unit="row")
    share = pl.col("shares").list.eval(pl.element().struct.field("share"))
    _refuse(
        faults, table, (share.list.min() < 0) | (share.list.max() > 1), "a share outside [0, 1]"
    )
    off = ~pl.col("multiple") & ((share.list.sum() - 1).abs() > 1e-6)
    _refuse(faults, table, off, "single-choice shares do not sum to 1")
    twice = ~pl.struct("post", "question", "origin").is_first_distinct()
    _refuse(faults, table, twice, "this post has gold for this question already")
    faults.raise_if_any()
    return table


def scores_table(frame: pl.DataFrame, where: str = "scores") -> pl.DataFrame:
    """Scores; refuses p outside [0, 1], also null and NaN."""
    table = _shape(frame, SCORES, ("post", "detector", "attribute", "p"), where)
    faults = Faults(where, unit="row")
    _refuse(faults, table, ~pl.col("p").is_between(0, 1).fill_null(False), "p is outside [0, 1]")
    faults.raise_if_any()
    return table.with_columns(pl.col("evidence").fill_null([]))


def findings_table(findings: Iterable[Finding]) -> pl.DataFrame:
    """Findings, one row each; ``group`` becomes a list of (key, value)."""
    rows = [
        finding.as_dict()
        | {"group": [{"key": k, "value": str(v)} for k, v in finding.group.items()]}
        for finding in findings
    ]
    return pl.DataFrame(rows, schema=dict(FINDINGS))


def tag(name: str, posts: pl.DataFrame) -> pl.Expr:
    """The tag ``name`` of each post as a column, null throughout where no post has it."""
    dtype = posts.schema["tags"]
    if isinstance(dtype, pl.Struct) and name in {field.name for field in dtype.fields}:
        return pl.col("tags").struct.field(name).alias(name)
    return pl.lit(None, dtype=pl.String).alias(name)


def carried(gold: pl.DataFrame) -> pl.DataFrame:
    """The labels each post carries: columns post, label.

    A post carries a label whose share is at least one half, or is the largest. A post with two
    published labels therefore carries both, and nothing is lost on a tie.

    >>> row = {"post": "a", "question": "q", "n": 2, "origin": "published", "label": None}
    >>> shares = [{"label": "x", "share": 0.5}, {"label": "y", "share": 0.5}]
    >>> carried(gold_table(pl.DataFrame([row | {"shares": shares}])))["label"].to_list()
    ['x', 'y']
    """
    long = gold.select("post", "shares").explode("shares").drop_nulls("shares").unnest("shares")
    largest = pl.col("share") >= pl.col("share").max().over("post") - 1e-9
    return long.filter((pl.col("share") >= 0.5) | largest).select("post", "label")


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a table of records."""
    table.write_parquet(path, compression="zstd", statistics=True)
