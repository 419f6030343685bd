"""Rows of a text or Parquet file, every fault named with file and line.

One strict pass over physical lines: encoding, NUL bytes and stray byte order marks are seen where
they stand, ragged rows and open quotes by the CSV parser in strict mode, which never turns a short
row into nulls. A UTF-8 byte order mark at the start is accepted (spreadsheets write one). Nothing
is guessed: all cells come back as texts, beside the line each row starts on.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from evenhand.core.errors import BadInput, Faults

MAX_CELL = 1_000_000
"""Characters in one cell; a longer one is a fault (usually a quote that was never closed)."""
LINE = "line"
"""Name of the column that :func:`read_rows` adds."""
_BLOCK = 50_000
_WIDE_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Format:
    """How a file is laid out."""

    kind: str
    """``csv``, ``jsonl`` or ``parquet``."""
    separator: str = ","
    quotes: bool = True
    """Whether cells may be quoted; False for tab-separated files that treat quotes as letters."""
    header: Sequence[str] | None = None
    """Column names for a file without a header line."""


_FORMATS = {
    ".csv": Format("csv"),
    ".tsv": Format("csv", "\t"),
    ".jsonl": Format("jsonl"),
    ".ndjson": Format("jsonl"),
    ".parquet": Format("parquet"),
}


def format_of(path: Path) -> Format:
    """The format by the file's ending, ``.gz`` ignored."""
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    if ending not in _FORMATS:
        hint = (
            " A JSON array must become JSON lines: one object a line." if ending == ".json" else ""
        )
        raise BadInput(
            f"{path}: the ending {ending or '(none)'!r} is not known; expected one of "
            f"{', '.join(_FORMATS)}, all but Parquet also with .gz.{hint}"
        )
    return _FORMATS[ending]


def read_rows(
    path: Path,
    layout: Format | None = None,
    *,
    need: Iterable[str] = (),
    texts: Iterable[str] = (),
) -> pl.DataFrame:
    """All rows as texts, with a column ``line``; columns in ``need`` must be there.

    Columns in ``texts`` must hold texts in the file itself: a number in JSON or Parquet is a fault.
    """
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "does not exist"
        raise BadInput(f"{path}: {found}; expected a file")
    layout = layout or format_of(path)
    if layout.kind == "parquet":
        frame = _read_parquet(path, texts)
    elif layout.kind == "jsonl":
        frame = _read_jsonl(path, texts)
    else:
        frame = _read_csv(path, layout)
    absent = [name for name in need if name not in frame.columns]
    if absent:
        raise BadInput(*(f"{path}: {missing_column(name, frame.columns)}" for name in absent))
    return frame


def missing_column(name: str, columns: Iterable[str]) -> str:
    """The sentence for a column that is not there, with the nearest names."""
    found = [column for column in columns if column != LINE]
    close = like(name, found)
    hint = f" Did you mean {close!r}?" if close else ""
    return f"no column {name!r}; the columns are {', '.join(map(repr, found))}.{hint}"


def like(name: str, columns: Iterable[str]) -> str | None:
    """The column that looks like a misspelling of ``name``, if there is one."""
    import difflib

    folded = {column.strip().casefold(): column for column in columns}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None


def open_binary(path: Path) -> IO[bytes]:
    """The file's bytes, decompressed where the name ends in ``.gz``."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _lines(path: Path, faults: Faults) -> Iterator[str]:
    """The physical lines, decoded; what cannot be decoded is a fault and reading goes on."""
    number = 0
    try:
        with open_binary(path) as file:
            for number, raw in enumerate(file, 1):
                if number == 1:
                    _refuse_wide(path, raw)
                    raw = raw.removeprefix(_UTF8_MARK)
                elif raw.startswith(_UTF8_MARK):
                    faults.add("a byte order mark inside the file: were two files joined?", number)
                if b"\0" in raw:
                    faults.add("a NUL byte; is this a text file?", number)
                try:
                    yield raw.decode()
                except UnicodeDecodeError as error:
                    faults.add(
                        f"byte 0x{raw[error.start]:02x} at position {error.start + 1} is not UTF-8;"
                        " save the file as UTF-8",
                        number,
                    )
                    yield raw.decode(errors="replace")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        faults.add(
            f"the gzip data is damaged or cut off after this line ({error}); get the file again",
            number,
        )


def _refuse_wide(path: Path, first: bytes) -> None:
    for mark, name in _WIDE_MARKS.items():
        if first.startswith(mark):
            raise BadInput(f"{path} line 1: the file is {name}; save it as UTF-8")


def _read_csv(path: Path, layout: Format) -> pl.DataFrame:
    faults = Faults(str(path))
    csv.field_size_limit(MAX_CELL)
    reader = csv.reader(
        _lines(path, faults),
        delimiter=layout.separator,
        quoting=csv.QUOTE_MINIMAL if layout.quotes else csv.QUOTE_NONE,
        strict=True,
    )
    rows = _records(reader, layout, faults)
    header = list(layout.header) if layout.header else _header(rows, faults)
    frames = list(_blocks(rows, header, faults))
    faults.raise_if_any()
    if not frames:
        raise BadInput(f"{path}: has no rows below its header")
    return pl.concat(frames)


def _records(reader: Any, layout: Format, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells) of every record; faults of quoting noted."""
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            faults.add(_quoting(error, start, reader.line_num), start)
            if reader.line_num > start:
                return  # inside a quote that was never closed: what follows cannot be told apart
            continue
        if row:
            yield start, row


def _quoting(error: csv.Error, start: int, end: int) -> str:
    if end > start or "unexpected end" in str(error):
        return "a quoted cell starts here and is never closed; double the quotes inside a cell"
    if "field limit" in str(error):
        return f"a cell with more than {MAX_CELL:,} characters; expected a post"
    return f"{error}; put the cell in quotes and double the quotes inside it"


def _header(rows: Iterator[tuple[int, list[str]]], faults: Faults) -> list[str]:
    first = next(rows, None)
    if first is None:
        faults.raise_if_any()
        raise BadInput(f"{faults.where}: is empty; expected a header line and rows")
    header = [name.strip() for name in first[1]]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise BadInput(f"{faults.where} line {first[0]}: columns named twice: {', '.join(twice)}")
    return header


def _blocks(
    rows: Iterator[tuple[int, list[str]]], header: list[str], faults: Faults
) -> Iterator[pl.DataFrame]:
    lines: list[int] = []
    cells: list[list[str]] = []
    for line, row in rows:
        if len(row) != len(header):
            faults.add(f"{len(row)} cells; expected {len(header)} ({', '.join(header)})", line)
            continue
        lines.append(line)
        cells.append(row)
        if len(cells) == _BLOCK:
            yield _block(lines, cells, header)
            lines, cells = [], []
    if cells:
        yield _block(lines, cells, header)


def _block(lines: list[int], cells: list[list[str]], header: list[str]) -> pl.DataFrame:
    columns = dict(zip(header, zip(*cells, strict=True), strict=True))
    frame = pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String))
    return frame.with_columns(pl.Series(LINE, lines, dtype=pl.UInt32))


def _read_jsonl(path: Path, texts: Iterable[str]) -> pl.DataFrame:
    faults = Faults(str(path))
    wanted = set(texts)
    frames, lines, objects = [], [], []
    for number, line in enumerate(_lines(path, faults), 1):
        if not line.strip():
            continue
        found = _object(line, number, wanted, faults)
        if found is not None:
            lines.append(number)
            objects.append(found)
        if len(objects) == _BLOCK:
            frames.append(_json_block(lines, objects))
            lines, objects = [], []
    if objects:
        frames.append(_json_block(lines, objects))
    faults.raise_if_any()
    if not frames:
        raise BadInput(f"{path}: is empty; expected one JSON object a line")
    return pl.concat(frames, how="diagonal")


def _object(line: str, number: int, texts: set[str], faults: Faults) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        faults.add(f"not JSON: {error}", number)
        return None
    if not isinstance(found, dict):
        faults.add(f"a JSON {type(found).__name__}; expected an object", number)
        return None
    for name in texts & found.keys():
        value = found[name]
        if value is not None and not isinstance(value, str):
            faults.add(f"{name!r} is {json.dumps(value)[:40]}; expected a text", number)
        elif value and len(value) > MAX_CELL:
            faults.add(f"{name!r} has more than {MAX_CELL:,} characters", number)
    return found


def _json_block(lines: list[int], objects: list[dict[str, Any]]) -> pl.DataFrame:
    names = list(dict.fromkeys(name for found in objects for name in found))
    columns = {name: [_cell(found.get(name)) for found in objects] for name in names}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
    return frame.with_columns(pl.Series(LINE, lines, dtype=pl.UInt32))


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "|".join(value)
    return json.dumps(value, ensure_ascii=False)


def _read_parquet(path: Path, texts: Iterable[str]) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(path)
    except Exception as error:  # Polars raises many kinds; every one means the file is unreadable
        raise BadInput(
            f"{path}: cannot be read as Parquet: {str(error).splitlines()[0]}"
        ) from error
    if not frame.height:
        raise BadInput(f"{path}: has no rows")
    for name in texts:
        dtype = frame.schema.get(name, pl.String)
        if dtype not in (pl.String, pl.Categorical, pl.Null) and not isinstance(dtype, pl.Enum):
            raise BadInput(f"{path}: column {name!r} holds {dtype}; expected texts")
    flat = frame.select(_as_text(name, dtype) for name, dtype in frame.schema.items())
    return flat.with_row_index(LINE, offset=1)


def _as_text(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if isinstance(dtype, pl.List):
        return column.cast(pl.List(pl.String)).list.join("|")
    if isinstance(dtype, pl.Struct):
        return column.struct.json_encode().alias(name)
    return column.cast(pl.String)
