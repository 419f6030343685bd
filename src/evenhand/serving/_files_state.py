"""What of a file is scored already, so that the same command goes on after it was killed.

Beside the scores stands ``.scoring`` while they are made, with the settings, the parts that are
done and a lock; when all is done, ``scores.json`` says what they were made from and with, and
``.scoring`` goes. A folder that holds the scores of something else is refused, never overwritten.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.provenance import file_at_once, refuse_unwritable
from evenhand.serving._files_work import ROW, Chunk, part_of

SCORES, DONE = "scores.parquet", "scores.json"
_UNDER_WAY, _SETTINGS, _LOCK = ".scoring", "settings.json", "lock"
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class State:
    """The folder of one file's scores."""

    out: Path
    settings: Mapping[str, Any]
    """What the scores are made from and with; JSON."""

    @property
    def parts(self) -> Path:
        """Where parts are kept until all are done."""
        return self.out / _UNDER_WAY

    @property
    def scores(self) -> Path:
        """The finished file."""
        return self.out / SCORES

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Keep others out; whether all was done before. The kernel lets go of a killed one."""
        refuse_unwritable(self.out)
        self.out.mkdir(parents=True, exist_ok=True)
        if self._finished():
            yield True
            return
        self.parts.mkdir(exist_ok=True)
        with (self.parts / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BadInput(
                    f"{self.out}: another process writes scores there; wait, or name another folder"
                ) from None
            self._begin()
            yield False

    def _finished(self) -> bool:
        known = _read(self.out / DONE)
        if known is None and self.scores.exists() and not self.parts.exists():
            raise BadInput(f"{self.scores}: is there and not ours; name another folder")
        if known is not None:
            self._expect_same(known.get("settings"))
        return known is not None and self.scores.is_file()

    def _begin(self) -> None:
        path = self.parts / _SETTINGS
        known = _read(path)
        if known is not None:
            self._expect_same(known)
        for left in self.parts.glob(".*"):
            left.unlink(missing_ok=True)  # what a killed process was writing
        with file_at_once(path) as new:
            new.write_text(json.dumps(self.settings), encoding="utf-8")

    def _expect_same(self, known: Any) -> None:
        if known == self.settings:
            return
        known = known if isinstance(known, dict) else {}
        unlike = [key for key in self.settings if known.get(key) != self.settings[key]]
        if "detector" in unlike:  # which decides how many rows are in a chunk
            unlike = [key for key in unlike if key != "rows in a chunk"]
            before, now = known.get("detector") or {}, self.settings["detector"]
            if all(before.get(key) == now[key] for key in ("detector", "sha256")):
                parts = [key.replace("_", "-") for key in now if before.get(key) != now[key]]
                unlike = [
                    part for key in unlike for part in (parts if key == "detector" else [key])
                ]
        raise BadInput(
            f"{self.out}: holds scores made with another {' and '.join(unlike) or 'setting'}; name "
            "another folder, or delete this one"
        )

    def has(self, chunk: Chunk, schema: Mapping[str, Any]) -> bool:
        """Whether a chunk's part is there, whole and of these rows."""
        path = part_of(self.parts, chunk.number)
        if not path.exists():
            return False
        try:
            frame = pl.read_parquet(path)
        except Exception:  # however it is damaged, it is made again
            return False
        rows = frame.height == len(chunk.texts) and frame[ROW][0] == chunk.first
        return rows and dict(frame.schema) == dict(schema)

    def join(self, parts: int) -> None:
        """Put the parts together, in order and without holding them, and the file in its place."""
        paths = [part_of(self.parts, number) for number in range(parts)]
        path = self.parts / SCORES
        pl.scan_parquet(paths).sink_parquet(
            path, compression="zstd", compression_level=1, row_group_size=_ROWS_AT_ONCE
        )
        with path.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(path, self.scores)

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Say that all is done; parts are not needed any more."""
        with file_at_once(self.out / DONE) as new:
            document = {"settings": self.settings, "summary": summary}
            new.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(self.parts)

    def summary(self) -> dict[str, Any]:
        """What :meth:`finish` was told."""
        known = _read(self.out / DONE)
        if known is None:
            raise BadInput(f"{self.out / DONE}: cannot be read; delete the folder and score again")
        return {**known["summary"], "listed": [tuple(row) for row in known["summary"]["listed"]]}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
