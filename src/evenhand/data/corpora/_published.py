"""What the readers of published corpora share: finding files, joining rows with the same id."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput, Fault
from evenhand.core.tables import gold_table, posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.files import LINE, open_binary

_OPTIONAL = ("author", "date", "reply_to", "edit_of", "targets", "media")
_REFERENCES = ("reply_to", "edit_of", "twin")


def locate(data: Path, folder: str, name: str) -> Path:
    """The published file, plain or gzipped; an error that says what is missing."""
    found = locate_optional(data, folder, name)
    if found is None:
        raise BadInput(
            f"{data / folder / name}: not installed (also looked for {name}.gz). "
            "`evenhand data get NAME` fetches a corpus, or says how to get it; "
            "EVENHAND_DATA names the data folder."
        )
    return found


def locate_optional(data: Path, folder: str, name: str) -> Path | None:
    """The published file, plain or gzipped, or None."""
    plain = data / folder / name
    for path in (plain, plain.with_name(plain.name + ".gz")):
        if path.is_file():
            return path
    return None


def expect(path: Path, rows: pl.DataFrame, column: str, known: Iterable[str]) -> None:
    """Refuse values of a published column that the reader does not know, naming each line."""
    values = list(known)
    bad = rows.filter(~pl.col(column).is_in(values))
    if bad.height:
        faults = [
            Fault(path.name, f"{column} is {value!r}; expected one of {', '.join(values)}", line)
            for line, value in bad.select(LINE, column).iter_rows()
        ]
        raise BadInput(*faults[:20], total=len(faults))


def load_entries(path: Path) -> dict[str, Any]:
    """A JSON file that is one object with an entry per post."""
    try:
        with open_binary(path) as file:
            found = json.load(file)
    except (ValueError, RecursionError, EOFError, OSError, zlib.error) as error:
        raise BadInput(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(found, dict) or not found:
        raise BadInput(f"{path}: expected a JSON object with one entry per post")
    return found


def expect_entries(path: Path, found: Iterable[tuple[str, str]], known: Iterable[str]) -> None:
    """Refuse labels of a JSON file (entry, label) that the reader does not know."""
    values = list(known)
    faults = [
        f"{path.name} entry {entry!r}: label is {label!r}; expected one of {', '.join(values)}"
        for entry, label in found
        if label not in values
    ]
    if faults:
        raise BadInput(*faults[:20], total=len(faults))


def published_posts(name: str, rows: pl.DataFrame, tags: Sequence[str] = ()) -> pl.DataFrame:
    """Posts of a corpus: ids become ``name:id``, rows with the same id become one post.

    Rows with one id must have the same text, spacing aside; the first in file order counts.
    """
    unspaced = pl.col("text").str.replace_all(r"\s+", "")
    texts = rows.group_by("id").agg(unspaced.n_unique().alias("texts"))
    torn = texts.filter(pl.col("texts") > 1)["id"].sort().to_list()
    if torn:
        raise BadInput(f"{name}: {len(torn)} ids have more than one text: {', '.join(torn[:20])}")
    first = rows.unique("id", keep="first", maintain_order=True)
    prefix = pl.lit(f"{name}:")
    references = [(prefix + pl.col(c)).alias(c) for c in _REFERENCES if c in rows.columns]
    first = first.with_columns(references).with_columns(
        id=prefix + pl.col("id"), source=pl.lit(name)
    )
    columns: list[Any] = ["id", "text", "source", *(c for c in _OPTIONAL if c in rows.columns)]
    if tags:
        columns.append(pl.struct([pl.col(tag).replace("", None) for tag in tags]).alias("tags"))
    return posts_table(first.select(columns), name)


def published_gold(name: str, rows: pl.DataFrame, question: str = "label") -> pl.DataFrame | None:
    """Gold from published labels (columns id, label): shares over the labels of one id.

    An id with two labels has shares of one half and label null; a null label is no gold.
    """
    counts = (
        rows.filter(pl.col("label").is_not_null())
        .group_by("id", "label", maintain_order=True)
        .agg(pl.len().alias("count"))
        .with_columns(n=pl.col("count").sum().over("id"))
        .with_columns(share=pl.col("count") / pl.col("n"))
    )
    if not counts.height:
        return None
    top = pl.col("label").filter(pl.col("count") == pl.col("count").max())
    gold = counts.group_by("id", maintain_order=True).agg(
        shares=pl.struct("label", "share").sort_by("label"),
        n=pl.col("n").first(),
        label=pl.when(top.len() == 1).then(top.first()),
    )
    return gold_table(
        gold.select(
            pl.exclude("id"),
            post=pl.lit(f"{name}:") + pl.col("id"),
            question=pl.lit(question),
            origin=pl.lit("published"),
        ),
        name,
    )


def published_corpus(
    name: str,
    rows: pl.DataFrame,
    *,
    files: Sequence[Path],
    hateful: Sequence[str],
    tags: Sequence[str] = (),
    question: str = "label",
    **parts: Any,
) -> Corpus:
    """A corpus from rows with id, text, label (may be null) and the named tag columns."""
    given = dict(parts)
    if "gold" not in given:
        given["gold"] = published_gold(name, rows, question)
    return Corpus(
        name=name,
        rows=given.pop("rows", rows.height),
        posts=published_posts(name, rows, tags),
        hateful=tuple(hateful),
        question=question,
        files=tuple(files),
        **given,
    )


def votes(
    name: str, rows: pl.DataFrame, question: str, answer: pl.Expr, **columns: pl.Expr | str
) -> pl.DataFrame:
    """Judgements of one question (columns id and annotator in ``rows``); null answers left out."""
    table = rows.select(
        post=pl.lit(f"{name}:") + pl.col("id"),
        annotator=pl.col("annotator"),
        question=pl.lit(question),
        answer=answer,
        **columns,
    )
    return table.filter(pl.col("answer").is_not_null() & (pl.col("answer").list.len() > 0))
