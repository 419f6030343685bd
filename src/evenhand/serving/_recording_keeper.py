"""From answers to lines of a recording, without ever getting in the way of the caller.

With texts a line is written before the caller has its answer. Without texts our detector scores
each text first, in a thread of its own; if it cannot keep up, answers are left out and counted. A
disk that is full stops the recording, not the caller.
"""

from __future__ import annotations

import queue
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evenhand.serving._recording_dialect import Row
from evenhand.serving._recording_files import Store
from evenhand.serving._recording_mentions import mentioned
from evenhand.serving._recording_read import About, Digest, digest_of

_WAITING = 10_000
_BATCH = 64
_SPACE = 16**8


class Scorer(Protocol):
    """What scores beside (:class:`evenhand.models.loaded.Loaded`)."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def sha256(self) -> str | None:
        """Its checksum."""

    def score(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """Probabilities by attribute, for each text."""


@dataclass
class Counts:
    """What became of answers."""

    stored: int = 0
    left_out: int = 0
    """By the sample."""
    lost: int = 0
    """Because the disk or the detector failed, or the detector was too slow."""
    passed: int = 0
    """Calls that were passed on, of any kind."""
    unanswered: int = 0
    """Calls the service did not answer."""


class Keeper:
    """Stores answers in a folder; close it to finish what waits."""

    def __init__(
        self, folder: Path, upstream: str, *, sample: float = 1.0, scorer: Scorer | None = None
    ) -> None:
        about = About(
            upstream=upstream,
            texts=scorer is None,
            sample=sample,
            detector=scorer.name if scorer else None,
            sha256=scorer.sha256 if scorer else None,
        )
        self.counts = Counts()
        self._store = Store.open(folder, about)
        self.digest: Digest = digest_of(folder, about)
        self._sample, self._scorer = sample, scorer
        self._told = False
        self._queue: queue.Queue[Row | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        if scorer is not None:
            self._thread = threading.Thread(target=self._score_all, daemon=True)
            self._thread.start()

    def keep(self, row: Row) -> None:
        """Store an answer, or hand it to the detector; never raises."""
        name = self.digest.of(row["text"])
        if int(name[:8], 16) >= self._sample * _SPACE:
            self.counts.left_out += 1
            return
        row = {"id": name, **row}
        if self._scorer is None:
            self._write([row])
            return
        try:
            self._queue.put_nowait(row)
        except queue.Full:
            self._lose(1, "the detector is slower than the traffic; record a smaller --sample")

    def failed(self, error: Exception) -> None:
        """Count an answer that could not be kept by a fault of ours, and tell where it is.

        The error's words may repeat a text or a key, so that they are not told.
        """
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name} line {last.lineno}"
        self._lose(1, f"{type(error).__name__} in {place}")

    def sync(self) -> None:
        """Force to disk what was stored."""
        with suppress(OSError):
            self._store.sync()

    def close(self) -> None:
        """Store everything that waits."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
        try:
            self._store.close()
        except OSError as error:
            self._lose(0, f"the disk: {error.strerror or error}")

    def _write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            try:
                self._store.keep(row)
                self.counts.stored += 1
            except OSError as error:
                self._lose(1, f"the disk: {error.strerror or error}")

    def _lose(self, rows: int, why: str) -> None:
        self.counts.lost += rows
        if not self._told:
            self._told = True
            print(f"evenhand: answers are passed on but not all recorded: {why}", file=sys.stderr)

    def _score_all(self) -> None:
        ending = False
        while not ending:
            rows = [self._queue.get()]
            while len(rows) < _BATCH:
                try:
                    rows.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            ending = None in rows
            self._write(self._without_texts([row for row in rows if row is not None]))

    def _without_texts(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with a detector's scores and the identities mentioned in place of texts."""
        assert self._scorer is not None
        texts = [row["text"] for row in rows]
        try:
            found: list[Any] = self._scorer.score(texts) if texts else []
        except Exception as error:  # whatever a detector does, the proxy goes on
            # Its words may repeat a text, so that only the kind of error is told.
            self._lose(len(rows), f"the detector failed ({type(error).__name__})")
            return []
        return [
            {key: value for key, value in row.items() if key != "text"}
            | {"new": new, "mentions": list(mentioned(row["text"]))}
            for row, new in zip(rows, found, strict=True)
        ]
