"""A recording on disk: a folder of JSON lines that a crash cannot spoil.

``recording.json`` says what was recorded; answers stand in ``part-000001.jsonl`` and so on, one a
line. A run starts a part of its own and a new one after 64 MB, so that nothing is ever written
into what another process wrote. A line is handed to the operating system as a whole before the
caller has its answer, and forced to disk at least once a second: a killed process loses nothing it
stored, a power cut at most that second. A last line without an end was being written then, and is
left out.

Where texts may not be kept, a line has a keyed digest instead, whose key lies beside in
``digest.key`` and is best deleted when the recording is finished.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from evenhand.core.errors import BadInput
from evenhand.serving._recording_read import ABOUT, KEY, About, parts_of, read_about

_LARGEST_PART = 64 * 1024 * 1024
_SYNC_SECONDS = 1.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND


class Store:
    """The part a run writes to; several threads may."""

    def __init__(self, folder: Path, *, largest: int = _LARGEST_PART) -> None:
        self.folder = folder
        self._largest = largest
        self._lock = threading.Lock()
        self._file: int | None = None
        self._size = 0
        self._synced = time.monotonic()

    @classmethod
    def open(cls, folder: Path, about: About) -> Self:
        """Make the folder, or go on in one that is of the same service in the same way."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / ABOUT
            if path.exists():
                _refuse_other(folder, read_about(folder), about)
            elif any(folder.iterdir()):
                raise BadInput(
                    f"{folder}: is not empty and no recording; name a new folder with --out"
                )
            else:
                _write_new(path, json.dumps(about.to_json(), indent=2).encode() + b"\n")
            if not about.texts and not (folder / KEY).exists():
                _write_new(folder / KEY, secrets.token_hex(32).encode())
        except OSError as error:
            raise BadInput(f"{folder}: cannot be written: {error.strerror or error}") from error
        return cls(folder)

    def keep(self, row: Mapping[str, Any]) -> None:
        """Write a line; when this returns, a kill of this process cannot lose it."""
        line = json.dumps({"at": _now(), **row}, ensure_ascii=True).encode() + b"\n"
        with self._lock:
            if self._file is None or self._size >= self._largest:
                self._next_part()
            try:
                self._write(line)
            except OSError:
                self._leave()  # half a line may be there: nothing is written behind it
                raise

    def _write(self, line: bytes) -> None:
        assert self._file is not None
        left = memoryview(line)
        while left:
            left = left[os.write(self._file, left) :]
        self._size += len(line)
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self._sync()

    def sync(self) -> None:
        """Force what was written to disk."""
        with self._lock:
            self._sync()

    def close(self) -> None:
        """Force everything to disk and close the part."""
        with self._lock:
            self._sync()
            self._leave()

    def _leave(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _sync(self) -> None:
        if self._file is not None:
            os.fsync(self._file)
        self._synced = time.monotonic()

    def _next_part(self) -> None:
        self._sync()
        self._leave()
        number = 1 + max((int(path.stem[5:]) for path in parts_of(self.folder)), default=0)
        while True:  # another process may take the number meanwhile
            path = self.folder / f"part-{number:06}.jsonl"
            try:
                self._file = os.open(path, _NEW, 0o600)
            except FileExistsError:
                number += 1
            else:
                break
        self._size = 0


def _refuse_other(folder: Path, found: About, wanted: About) -> None:
    before, now = asdict(found), asdict(wanted)
    apart = [
        f"{name} {before[name]!r} then, {now[name]!r} now"
        for name in now
        if before[name] != now[name]
    ]
    if apart:
        raise BadInput(
            f"{folder}: holds a recording made in another way ({'; '.join(apart)}); go on as "
            "before, or name a new folder with --out"
        )


def _write_new(path: Path, content: bytes) -> None:
    """A whole file that only its owner may read."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(file, content)
        os.fsync(file)
    finally:
        os.close(file)
    os.replace(temporary, path)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
