"""Detector ``predictions:FILE``: scores or classes somebody else has computed, by post id.

A CSV, TSV, JSON lines or Parquet file with a column ``id`` (or ``post``) and a score in ``p``,
``score`` or a column named after the attribute, between 0 and 1. A file that has only a class, in
``label`` or ``class``, says yes or no: p is 1 or 0 and ``classes_only`` is true, because average
precision and AUC do not exist without a ranking. A table of scores as Evenhand writes it
(``scores.parquet``) is read for one attribute. Every fault is named with its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import MOST_FAULTS, BadInput, Fault, Faults
from evenhand.core.provenance import sha256
from evenhand.core.tables import scores_table
from evenhand.data.files import LINE, format_of, missing_column, read_rows
from evenhand.data.user_file import HATEFUL_BY_NAME
from evenhand.models.protocol import HATE

_IDS = ("id", "post")
_SCORES = ("p", "score")
_CLASSES = ("label", "class")


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions:
    """Scores of posts by id."""

    path: Path
    attributes: tuple[str, ...]
    sha256: str
    column: str
    """The column the scores come from."""
    classes_only: bool
    """Whether the file has classes and no scores."""
    table: pl.DataFrame
    """Columns post, p, line."""

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def provenance(self) -> dict[str, Any]:
        """The file, its checksum and the column."""
        return {
            "file": self.path.name,
            "sha256": self.sha256,
            "column": self.column,
            "classes_only": self.classes_only,
        }

    @property
    def known(self) -> pl.Series:
        """The ids of the posts the file has scores for."""
        return self.table["post"]

    def scores_for(self, posts: pl.DataFrame, *, subset: bool = False) -> pl.DataFrame:
        """The scores of these posts, in their order; every post must be there.

        A row for any other post is a fault too, unless the posts are a ``subset`` of those the file
        was made for.
        """
        ids = posts.select(post="id")
        missing = ids.join(self.table, on="post", how="anti", maintain_order="left")["post"]
        extra = self.table.join(ids, on="post", how="anti", maintain_order="left")
        faults = [Fault(str(self.path), _missing(missing, extra["post"]))] if len(missing) else []
        if not subset:
            unit = _unit(self.path)
            faults += [
                Fault(str(self.path), f"{post!r} is none of the posts to score", line, unit)
                for post, line in extra.head(MOST_FAULTS).select("post", LINE).iter_rows()
            ]
        if faults:
            raise BadInput(*faults, total=bool(len(missing)) + (0 if subset else extra.height))
        found = ids.join(self.table, on="post", how="left", maintain_order="left")
        return scores_table(
            found.select(
                "post", "p", detector=pl.lit(self.name), attribute=pl.lit(self.attributes[0])
            ),
            where=str(self.path),
        )


def _missing(posts: pl.Series, extra: pl.Series) -> str:
    some = ", ".join(map(repr, posts.head(5)))
    more = " …" if len(posts) > 5 else ""
    hint = f" The file has ids like {extra[0]!r}." if len(extra) else ""
    return f"no row for {len(posts):,} of the posts to score: {some}{more}.{hint}"


def _unit(path: Path) -> str:
    return "row" if format_of(path).kind == "parquet" else "line"


def predictions(
    path: Path,
    *,
    column: str | None = None,
    attribute: str = HATE,
    hateful: Sequence[str] = (),
) -> Predictions:
    """Read a file of predictions.

    ``column`` names the score (or class) where the file has several; ``hateful`` says which classes
    count as hateful, by default those called so.
    """
    rows = read_rows(path)
    faults = Faults(str(path), _unit(path))
    rows = _of_attribute(path, rows, attribute)
    key = _column(path, rows, _IDS, "the post's id")
    name, classes = _score_column(path, rows, column, attribute, hateful)
    table = rows.select(
        LINE,
        post=pl.col(key).replace("", None),
        value=pl.col(name).str.strip_chars().replace("", None),
    )
    _check_ids(table, faults)
    absent = table.filter(pl.col("value").is_null())[LINE]
    faults.add_lines(f"{name!r} is missing; every post needs one", absent)
    if classes:
        table = table.with_columns(p=_hateful(path, table["value"], hateful))
    else:
        table = _with_numbers(table, name, faults)
    faults.raise_if_any()
    return Predictions(
        path=path,
        attributes=(attribute,),
        sha256=sha256(path),
        column=name,
        classes_only=classes,
        table=table.select("post", "p", LINE),
    )


def _of_attribute(path: Path, rows: pl.DataFrame, attribute: str) -> pl.DataFrame:
    """A table of scores has a row per post and attribute: those of one attribute."""
    if not {"attribute", "p"} <= set(rows.columns):
        return rows
    found = rows.filter(pl.col("attribute") == attribute)
    if not found.height:
        others = ", ".join(rows["attribute"].drop_nulls().unique().sort())
        raise BadInput(f"{path}: no score of attribute {attribute!r}; the attributes are {others}")
    if "detector" in found.columns and found["detector"].n_unique() > 1:
        others = ", ".join(found["detector"].drop_nulls().unique().sort())
        raise BadInput(f"{path}: scores of several detectors ({others}); keep those of one")
    return found


def _column(path: Path, rows: pl.DataFrame, names: Sequence[str], what: str) -> str:
    found = [name for name in names if name in rows.columns]
    if not found:
        raise BadInput(f"{path}: {missing_column(names[0], rows.columns)} Expected {what} there.")
    if len(found) > 1:
        raise BadInput(f"{path}: both {' and '.join(found)} could be {what}; keep one of them")
    return found[0]


def _score_column(
    path: Path, rows: pl.DataFrame, column: str | None, attribute: str, hateful: Sequence[str]
) -> tuple[str, bool]:
    """The column to read, and whether it holds classes."""
    if column:
        if column not in rows.columns:
            raise BadInput(f"{path}: {missing_column(column, rows.columns)}")
        return column, bool(hateful) or column in _CLASSES
    for names, classes in (((*_SCORES, attribute), False), (_CLASSES, True)):
        found = [name for name in names if name in rows.columns]
        if len(found) > 1:
            raise BadInput(f"{path}: columns {' and '.join(found)}; say which with --column")
        if found:
            return found[0], classes
    columns = ", ".join(repr(name) for name in rows.columns if name != LINE)
    raise BadInput(
        f"{path}: no score in a column p, score or {attribute}, and no class in label or class; "
        f"the columns are {columns}. Name it with --column."
    )


def _check_ids(table: pl.DataFrame, faults: Faults) -> None:
    faults.add_lines("the post's id is missing", table.filter(pl.col("post").is_null())[LINE])
    known = table.drop_nulls("post").with_columns(first=pl.col(LINE).min().over("post"))
    again = known.filter(pl.col(LINE) > pl.col("first"))
    for post, line, first in again.select("post", LINE, "first").iter_rows():
        faults.add(f"post {post!r} has a score on {faults.unit} {first} already", line)


def _with_numbers(table: pl.DataFrame, name: str, faults: Faults) -> pl.DataFrame:
    table = table.with_columns(p=pl.col("value").cast(pl.Float64, strict=False))
    sound = pl.col("p").is_between(0, 1).fill_null(False)
    wrong = table.filter(pl.col("value").is_not_null() & ~sound)
    for value, line in wrong.select("value", LINE).iter_rows():
        faults.add(f"{name!r} is {value[:40]!r}; expected a number between 0 and 1", line)
    return table


def _hateful(path: Path, classes: pl.Series, hateful: Sequence[str]) -> pl.Series:
    """1 for a hateful class, 0 for any other."""
    found = classes.drop_nulls().unique().sort().to_list()
    names = [name for name in (hateful or HATEFUL_BY_NAME) if name in found]
    unknown = [name for name in hateful if name not in found]
    if unknown or not names:
        what = f"no class {', '.join(unknown)}" if unknown else "which class is hateful is not said"
        raise BadInput(
            f"{path}: {what}; the classes are {', '.join(found)}. Name the hateful with --hateful."
        )
    return classes.is_in(names).cast(pl.Float64)
