"""Rows of a file of any size, one after the other, and what keeps a row from being scored.

A row that cannot be read is told with its reason and the next one follows; what is wrong with the
whole file (no such column, another encoding) is refused at the door. Nothing is kept in memory but
the rows at hand: of Parquet a slice, of text files a line.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.provenance import sha256_of_all
from evenhand.data.files import MAX_CELL, Format, format_of, missing_column, open_binary
from evenhand.serving._files_lines import (
    DAMAGED,
    Lines,
    at_line,
    csv_reader,
    header_of,
    json_object,
)

Row = tuple[str | int | None, str | None, str | None]
"""Id, text, and why there is no text to score."""

_SLICE = 100_000
ID, TEXT, WHY = "id", "text", "why"
_NO_TEXT, _TOO_LONG = "no text", "more than {:,} characters"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Source:
    """A file, or a folder of Parquet files, that was looked at and can be read."""

    path: Path
    files: tuple[Path, ...]
    layout: Format
    text: str
    """The column with the text."""
    id: str | None
    """The column with ids, if there is one."""
    numbered: bool
    """Whether ids are whole numbers in the file itself."""
    rows: int | None
    """How many there are, where that is known beforehand."""

    def stamp(self) -> list[tuple[str, int, int]]:
        """Changes when a file is written to."""
        found = [(path.name, path.stat()) for path in self.files]
        return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in found]

    def sha256(self) -> str | None:
        """Of the bytes of all files."""
        return sha256_of_all(self.files)

    def read(self) -> Iterator[tuple[Row, float]]:
        """Every row of a text file, and the share of the input that was read so far."""
        size = self.path.stat().st_size or 1
        with self.path.open("rb") as raw:
            rows = self._csv if self.layout.kind == "csv" else self._jsonl
            for row in rows(Lines(self.path, raw)):
                yield row, raw.tell() / size

    def frames(self) -> Iterator[pl.DataFrame]:
        """Rows of Parquet files, many at a time: ``ID``, ``TEXT`` and ``WHY`` there is none."""
        text = pl.col(self.text).cast(pl.String)
        long = text.str.len_chars() > MAX_CELL
        number = pl.lit(None) if self.id is None else pl.col(self.id)
        wanted = [
            number.cast(pl.Int64 if self.numbered else pl.String).alias(ID),
            pl.when(long).then(None).otherwise(text).alias(TEXT),
            pl.when(text.is_null())
            .then(pl.lit(_NO_TEXT))
            .when(long)
            .then(pl.lit(_TOO_LONG.format(MAX_CELL)))
            .alias(WHY),
        ]
        for file in self.files:
            at, some = 0, _SLICE
            while some == _SLICE:
                frame = _collected(pl.scan_parquet(file).slice(at, _SLICE).select(wanted), file)
                some = frame.height
                at += some
                yield frame

    def _csv(self, lines: Lines) -> Iterator[Row]:
        reader = csv_reader(lines, self.layout)
        header = header_of(self.path, reader)
        text = header.index(self.text)
        at_id = None if self.id is None else header.index(self.id)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                if reader.line_num > line or "unexpected end" in str(error):
                    yield (
                        None,
                        None,
                        at_line("a quote is never closed; nothing behind is read", line),
                    )
                    return
                yield None, None, at_line(f"no CSV: {error}", line)
                continue
            if not cells:
                continue
            if why := lines.fault_since():
                yield None, None, at_line(why, line)
            elif len(cells) != len(header):
                why = f"the header has {len(header)} cells, the row {len(cells)}"
                yield None, None, at_line(why, line)
            else:
                found, why = _checked(cells[text])
                yield None if at_id is None else cells[at_id], found, at_line(why, line)
        if lines.cut_off:
            yield None, None, at_line(lines.cut_off, reader.line_num + 1)

    def _jsonl(self, lines: Lines) -> Iterator[Row]:
        for line, string in enumerate(lines, 1):
            if not string.strip():
                continue
            why = lines.fault_since()
            found = None
            if why is None:
                found, why = json_object(string)
            if found is None:
                yield None, None, at_line(why, line)
                continue
            number = None if self.id is None else _plain(found.get(self.id))
            text, why = _checked(found.get(self.text))
            yield number, text, at_line(why, line)
        if lines.cut_off:
            yield None, None, at_line(lines.cut_off, lines.number + 1)


def source(path: Path, *, text: str | None = None, id: str | None = None) -> Source:
    """Look at a file, or at a folder of Parquet files, before it is read."""
    files = tuple(sorted(path.glob("*.parquet"))) if path.is_dir() else (path,)
    if not path.exists() or not files:
        what = "has no .parquet file" if path.is_dir() else "does not exist"
        raise BadInput(f"{path}: {what}; expected a file of posts, or a folder of Parquet files")
    layout = format_of(files[0])
    look = {"parquet": _parquet_columns, "csv": _csv_columns, "jsonl": _jsonl_columns}
    columns = look[layout.kind](files, layout)
    wanted = text or TEXT
    for name in filter(None, (wanted, id)):
        if name not in columns:
            hint = " Name the column with the texts by --text." if name == TEXT else ""
            raise BadInput(f"{path}: {missing_column(name, columns)}{hint}")
    found = id or (ID if ID in columns else None)
    rows = None
    if layout.kind == "parquet":
        rows = sum(_collected(pl.scan_parquet(f).select(pl.len()), f).item() for f in files)
    numbered = found is not None and getattr(columns[found], "is_integer", bool)()
    return Source(path, files, layout, wanted, found, numbered, rows)


def _parquet_columns(files: tuple[Path, ...], layout: Format) -> dict[str, Any]:
    schemas = []
    for file in files:
        try:
            schemas.append(dict(pl.scan_parquet(file).collect_schema()))
        except Exception as error:  # Polars raises many kinds; every one means it is unreadable
            raise _unreadable(file, error) from error
    for file, schema in zip(files, schemas, strict=True):
        if schema != schemas[0]:
            raise BadInput(f"{file}: has other columns than {files[0].name}; score them apart")
    return schemas[0]


def _csv_columns(files: tuple[Path, ...], layout: Format) -> dict[str, Any]:
    with files[0].open("rb") as raw:
        _refuse_wide(files[0])
        return dict.fromkeys(header_of(files[0], csv_reader(Lines(files[0], raw), layout)))


def _jsonl_columns(files: tuple[Path, ...], layout: Format) -> dict[str, Any]:
    _refuse_wide(files[0])
    with files[0].open("rb") as raw:
        for line in Lines(files[0], raw):
            if line.strip() and (found := json_object(line)[0]) is not None:
                return dict.fromkeys(found)
    raise BadInput(f"{files[0]}: has no JSON object; expected one a line")


def _refuse_wide(path: Path) -> None:
    try:
        with open_binary(path) as file:
            first = file.read(2)
    except DAMAGED as error:
        raise BadInput(f"{path}: is no gzip file ({type(error).__name__}); get it again") from error
    if first in _WIDE_MARKS:
        raise BadInput(f"{path}: the file is UTF-16; save it as UTF-8")


def _checked(text: Any) -> tuple[str | None, str | None]:
    """The text, or why it is none."""
    if text is None:
        return None, _NO_TEXT
    if not isinstance(text, str):
        return None, "a number or a list where a text is expected"
    if len(text) > MAX_CELL:
        return None, _TOO_LONG.format(MAX_CELL)
    return text, None


def _plain(value: Any) -> str | None:
    """An id as a text that Parquet can hold."""
    if value is None:
        return None
    shown = value if isinstance(value, str) else json.dumps(value)
    return shown.encode("utf-8", "replace").decode()


def _collected(lazy: pl.LazyFrame, file: Path) -> pl.DataFrame:
    try:
        return lazy.collect()
    except Exception as error:  # see above
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> BadInput:
    return BadInput(f"{file}: cannot be read as Parquet: {str(error).splitlines()[0]}")
