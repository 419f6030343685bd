"""A user's own file as a corpus: CSV, TSV, JSON lines or Parquet.

Columns default to ``id``, ``text``, ``label``, ``author``, ``date``, ``split``, ``targets``; only
``text`` is required. A column that is named in the options must be there; a column that merely
looks like a default name (``lable``) is a fault rather than silently ignored. Everything else in
the file becomes a tag. Without an ``id`` column the id is ``file:line``. Several targets are
separated by ``|``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import polars as pl

from evenhand.core.errors import BadInput, Faults
from evenhand.core.tables import gold_table, posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.files import LINE, Format, format_of, like, missing_column, read_rows

HATEFUL_BY_NAME = ("hateful", "hate", "abusive", "1")
"""Labels taken as hateful when the user does not say which are."""
_QUESTION = "label"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column holds what; None means the default name, if the file has it."""

    id: str | None = None
    text: str | None = None
    label: str | None = None
    author: str | None = None
    date: str | None = None
    split: str | None = None
    targets: str | None = None


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How to read a user's file."""

    columns: Columns = field(default_factory=Columns)
    label_map: Mapping[str, str] = field(default_factory=dict)
    """Label in the file → label to use."""
    labels: Sequence[str] = ()
    """The labels expected after mapping; empty accepts any (or, with a map, only mapped ones)."""
    hateful: Sequence[str] = ()
    source: str | None = None
    quotes: bool = True
    """False reads quotes as ordinary letters (many tab-separated files)."""


def read_user_file(path: Path, options: FileOptions | None = None) -> Corpus:
    """Read and check a user's file; every fault is named with its line."""
    options = options or FileOptions()
    layout = format_of(path)
    if not options.quotes:
        layout = Format(layout.kind, layout.separator, quotes=False)
    text_column = options.columns.text or "text"
    rows = read_rows(path, layout, texts=(text_column,))
    unit = "row" if layout.kind == "parquet" else "line"
    faults = Faults(str(path), unit)
    names = _resolve(path, options.columns, rows.columns)
    source = options.source or path.name
    frame = _named(rows, names, source)
    _check_rows(frame, faults)
    frame = _with_labels(frame, options, faults)
    frame = _with_dates(frame, faults)
    faults.raise_if_any()
    extra = [name for name in rows.columns if name not in {*names.values(), LINE}]
    return _corpus(path, frame, rows.select(extra), options, source)


def _resolve(path: Path, columns: Columns, found: Sequence[str]) -> dict[str, str]:
    """Field → column, for the fields the file has; faults for what is named but absent."""
    names: dict[str, str] = {}
    wrong = []
    available = [name for name in found if name != LINE]
    for entry in fields(columns):
        asked = getattr(columns, entry.name)
        name = asked or entry.name
        if name in available:
            names[entry.name] = name
        elif asked or entry.name == "text":
            wrong.append(f"{path}: {missing_column(name, available)} Name it with --{entry.name}.")
    used = set(names.values())
    for entry in fields(columns):
        if entry.name in names or entry.name == "text" or getattr(columns, entry.name):
            continue
        close = like(entry.name, [name for name in available if name not in used])
        if close:
            wrong.append(
                f"{path}: column {close!r} looks like {entry.name!r}; rename it, or say "
                f"--{entry.name} {close!r}"
            )
    if wrong:
        raise BadInput(*wrong)
    return names


def _named(rows: pl.DataFrame, names: Mapping[str, str], source: str) -> pl.DataFrame:
    """The known columns under their field names; empty cells are null except in texts."""
    columns = [
        pl.col(column).alias(name)
        if name == "text"
        else pl.col(column).replace("", None).alias(name)
        for name, column in names.items()
    ]
    frame = rows.select(LINE, *columns)
    if "id" not in names:
        frame = frame.with_columns(id=pl.format("{}:{}", pl.lit(source), LINE))
    return frame


def _check_rows(frame: pl.DataFrame, faults: Faults) -> None:
    missing = frame.filter(pl.col("id").is_null())[LINE]
    faults.add_lines("the id is missing", missing)
    faults.add_lines("the text is missing (null)", frame.filter(pl.col("text").is_null())[LINE])
    again = frame.filter(pl.col("id").is_not_null() & pl.col("id").is_duplicated())
    first = again.group_by("id").agg(pl.col(LINE).min().alias("first"))
    repeats = again.join(first, on="id").filter(pl.col(LINE) > pl.col("first")).sort(LINE)
    for line, name, before in repeats.select(LINE, "id", "first").iter_rows():
        faults.add(f"id {name!r} was used on {faults.unit} {before} already", line)
    texts = frame["text"].drop_nulls()
    filled = texts.filter(texts.str.strip_chars() != "")
    if len(filled) and filled.str.strip_chars().str.contains(r"^[-+]?\d+([.,]\d+)?$").all():
        faults.add("the text column holds only numbers; name the right one with --text")


def _with_labels(frame: pl.DataFrame, options: FileOptions, faults: Faults) -> pl.DataFrame:
    if "label" not in frame.columns:
        return frame.with_columns(label=pl.lit(None, dtype=pl.String))
    mapped = frame.with_columns(pl.col("label").replace(dict(options.label_map)))
    expected = list(options.labels) or sorted(set(options.label_map.values()))
    if expected:
        known = pl.col("label").is_in(expected) | pl.col("label").is_null()
        for line, label in mapped.filter(~known).select(LINE, "label").iter_rows():
            faults.add(
                f"label {label!r}; expected one of {', '.join(expected)}. "
                "Map it with --label-map OLD=NEW.",
                line,
            )
    return mapped


def _with_dates(frame: pl.DataFrame, faults: Faults) -> pl.DataFrame:
    if "date" not in frame.columns:
        return frame
    # Polars decides whether a pattern has a zone when it reads it, hence one pattern per shape.
    text = pl.col("date").str.strip_chars().str.replace("Z$", "+00:00").str.replace(" ", "T")
    zoned = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", strict=False, time_unit="us")
    plain = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    day = text.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
    utc = [part.dt.replace_time_zone("UTC") for part in (plain, day)]
    parsed = frame.with_columns(parsed=pl.coalesce(zoned.dt.convert_time_zone("UTC"), *utc))
    bad = parsed.filter(pl.col("date").is_not_null() & pl.col("parsed").is_null())
    for line, value in bad.select(LINE, "date").iter_rows():
        faults.add(f"date {value!r}; expected 2025-03-31 or 2025-03-31T12:00:00Z", line)
    return parsed.drop("date").rename({"parsed": "date"})


def _corpus(
    path: Path, frame: pl.DataFrame, extra: pl.DataFrame, options: FileOptions, source: str
) -> Corpus:
    tags = [pl.col("split")] if "split" in frame.columns else []
    table = pl.concat([frame, extra.select(pl.all().name.prefix("tag "))], how="horizontal")
    tags += [pl.col(f"tag {name}").replace("", None).alias(name) for name in extra.columns]
    columns = [pl.col(name) for name in ("id", "text", "author", "date") if name in frame.columns]
    if "targets" in frame.columns:
        columns.append(pl.col("targets").str.split("|").fill_null([]))
    if tags:
        columns.append(pl.struct(tags).alias("tags"))
    posts = posts_table(table.select(*columns, source=pl.lit(source)), str(path))
    labelled = frame.filter(pl.col("label").is_not_null())
    found = labelled["label"].unique().to_list()
    hateful = options.hateful or [label for label in HATEFUL_BY_NAME if label in found]
    unknown = [label for label in options.hateful if label not in found]
    if unknown:
        raise BadInput(
            f"{path}: --hateful {', '.join(unknown)}: no post has this label; the labels are "
            f"{', '.join(sorted(found)) or '(none)'}"
        )
    return Corpus(
        name=path.name,
        rows=frame.height,
        posts=posts,
        gold=single_labels(labelled) if labelled.height else None,
        hateful=tuple(hateful),
        files=(path,),
    )


def single_labels(frame: pl.DataFrame, question: str = _QUESTION) -> pl.DataFrame:
    """Gold from one published label per post (columns id, label)."""
    share = pl.struct(label=pl.col("label"), share=pl.lit(1.0))
    return gold_table(
        frame.select(
            post="id",
            question=pl.lit(question),
            shares=pl.concat_list(share),
            n=pl.lit(1),
            origin=pl.lit("published"),
            label="label",
        )
    )
