"""Lines of a text file, of CSV and of JSON: of a wrong one it is said why, and the next follows."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from evenhand.core.errors import BadInput
from evenhand.data.files import MAX_CELL, Format

DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a damaged gzip file raises."""
_UTF8_MARK = b"\xef\xbb\xbf"


class Lines:
    """Lines of a text file; remembers what was wrong with those read since it was last asked."""

    def __init__(self, path: Path, raw: IO[bytes]) -> None:
        self._lines = iter(gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw)
        self._fault: str | None = None
        self.number = 0
        self.cut_off: str | None = None
        """Why the file ends where it ends, if it should not."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            raw = next(self._lines)
        except DAMAGED as error:
            kind = type(error).__name__
            self.cut_off = f"the gzip data is damaged or cut off ({kind}); nothing behind is read"
            raise StopIteration from None
        self.number += 1
        if self.number == 1:
            raw = raw.removeprefix(_UTF8_MARK)
        if b"\0" in raw:
            self._fault = "a NUL byte"
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self._fault = "not UTF-8"
            return raw.decode(errors="replace")

    def fault_since(self) -> str | None:
        """What was wrong with a line read since this was last asked."""
        fault, self._fault = self._fault, None
        return fault


def csv_reader(lines: Lines, layout: Format) -> Any:
    """Cells by row; a row that is no CSV is an error, not a guess."""
    csv.field_size_limit(MAX_CELL)
    return csv.reader(lines, delimiter=layout.separator, strict=True)


def header_of(path: Path, reader: Any) -> list[str]:
    """The names of the columns."""
    try:
        header = [name.strip() for name in next(reader)]
    except (StopIteration, csv.Error):
        raise BadInput(f"{path}: has no header line") from None
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise BadInput(f"{path} line 1: columns named twice: {', '.join(twice)}")
    return header


def json_object(line: str) -> tuple[dict[str, Any] | None, str | None]:
    """The object in a line, or why there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None, "not JSON"
    return (found, None) if isinstance(found, dict) else (None, "no JSON object")


def at_line(why: str | None, line: int) -> str | None:
    """The reason, if there is one, with the line it is in."""
    return why and f"{why} (line {line})"
