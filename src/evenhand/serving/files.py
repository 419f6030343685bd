"""Files of millions of posts scored into one Parquet file, in constant memory and without loss.

The input is cut into numbered chunks, which processes score and write as parts; the parts are
joined in order. A run that was killed goes on with the parts it has: the same command again gives
the same rows in the same order, none lost and none twice. A row that cannot be read has no scores
but a reason. Of the input only the id is copied: no text, and nothing about authors.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import VERSION
from evenhand.models.cascade import CASCADE, Cascade
from evenhand.models.fast import FastDetector
from evenhand.models.loaded import Loaded, expect_attributes
from evenhand.serving._files_rows import ID, TEXT, WHY, Source, source
from evenhand.serving._files_state import State
from evenhand.serving._files_work import FLAGGED, ROW, SKIPPED, Chunk, Scorer, Wanted, written

__all__ = ["CASCADE", "FileScores", "Wanted", "score_file"]

Step = Callable[[str, float, float | None], None]
FORMAT = 1
_ROWS_QUICK, _ROWS = 20_000, 1_000
"""In a chunk: some seconds of work, for a detector of a few microseconds a text and for others."""
_MOST_CHARACTERS = 8_000_000
MOST_LISTED = 1000
"""Skipped rows that a report lists; the file has all of them."""


@dataclass(frozen=True)
class FileScores:
    """A file that was scored."""

    path: Path
    """The Parquet file of scores."""
    input: str
    sha256: str | None
    """Of the input."""
    detector: str | None
    """The checksum of the detector, where it has one."""
    rows: int
    skipped: int
    listed: list[tuple[int, str]]
    """Number and reason of skipped rows, at most ``MOST_LISTED``."""
    flagged: dict[str, int]
    """Rows at or above the shipped threshold, by attribute."""
    thresholds: dict[str, float]
    finished_before: bool
    """Whether there was nothing left to do."""
    agreement: Mapping[str, Any] | None = None
    """Of a cascade with its better detector: how often, on how many posts, as it was measured."""


def score_file(
    path: Path,
    out: Path,
    wanted: Wanted,
    *,
    text: str | None = None,
    id: str | None = None,
    workers: int | None = None,
    step: Step | None = None,
) -> FileScores:
    """Score every row of a file (CSV, JSON lines, Parquet) or of a folder of Parquet files.

    Args:
        path: The input.
        out: A folder; ``scores.parquet`` is written there.
        wanted: The detector and which scores.
        text: The column with the texts, ``text`` unless said.
        id: The column with ids, ``id`` if there is one.
        workers: Processes, by default one for each core.
        step: Told how far the work is.
    """
    if workers is not None and workers < 1:
        raise BadInput(f"--workers {workers}; expected 1 or more")
    given = source(path, text=text, id=id)
    loaded = wanted.opened()
    scorer = Scorer(loaded, wanted)
    if wanted.attribute is not None:
        expect_attributes(loaded, [wanted.attribute])
    thresholds = scorer.thresholds
    agreement = loaded.raw.provenance.get("jigsaw") if isinstance(loaded.raw, Cascade) else None
    stamp = given.stamp()
    settings = _settings(given, loaded, wanted)
    state = State(out, settings)
    chunk_rows = settings["rows in a chunk"]
    with state.held() as finished:
        if not finished:
            schema = scorer.scored(Chunk(0, 1, [], [], {}, 0.0, _id_type(given))).schema
            del scorer, loaded  # the workers have their own
            watch = _Watch(step)
            todo = _Todo(_chunks(given, chunk_rows), state, schema, watch)
            for rows, share in written(todo, wanted, state.parts, workers or _cores()):
                watch.told(rows, share)
            if not todo.parts:
                raise NotEnoughData(f"{path}: has no rows to score")
            if given.stamp() != stamp:
                raise BadInput(
                    f"{path}: was written to while it was scored; let it come to rest, delete "
                    f"{state.parts} and score it again"
                )
            state.join(todo.parts)
            state.finish(_summary(state.scores, thresholds))
        found = state.summary()
    return FileScores(
        state.scores,
        str(path),
        settings["input"]["sha256"],
        settings["detector"]["sha256"],
        finished_before=finished,
        agreement=agreement,
        **found,
    )


def _settings(given: Source, loaded: Loaded, wanted: Wanted) -> dict[str, Any]:
    """What makes scores what they are."""
    rows = _ROWS_QUICK if isinstance(loaded.raw, FastDetector) else _ROWS
    return {
        "format": FORMAT,
        "evenhand": VERSION,
        "input": {"files": [file.name for file in given.files], "sha256": given.sha256()},
        "columns": [given.text, given.id],
        "detector": {**asdict(wanted), "sha256": loaded.sha256},
        "rows in a chunk": rows,
    }


def _id_type(given: Source) -> str | None:
    return None if given.id is None else "number" if given.numbered else "text"


def _chunks(given: Source, most: int) -> Iterator[Chunk]:
    """The input cut where rows or characters are many enough, always at the same places."""
    return (_of_columns if given.layout.kind == "parquet" else _of_rows)(given, most)


def _of_columns(given: Source, most: int) -> Iterator[Chunk]:
    done = 0
    for number, frame in enumerate(_cut(given.frames(), most)):
        odd = frame[WHY].is_not_null().arg_true()
        reasons = dict(zip(odd.to_list(), frame[WHY].gather(odd).to_list(), strict=True))
        share = (done + frame.height) / (given.rows or 1)
        yield Chunk(number, done + 1, frame[ID], frame[TEXT], reasons, share, _id_type(given))
        done += frame.height


def _cut(frames: Iterator[pl.DataFrame], most: int) -> Iterator[pl.DataFrame]:
    rest = pl.DataFrame()
    for frame in frames:
        rest = pl.concat([rest, frame]) if rest.height else frame
        while rows := _enough(rest[TEXT].head(most), most):
            yield rest.head(rows)
            rest = rest.slice(rows)
    if rest.height:
        yield rest


def _enough(texts: pl.Series, most: int) -> int:
    """How many of these texts make a chunk; 0 where there are too few."""
    if texts.str.len_bytes().sum() < _MOST_CHARACTERS:  # counting bytes costs nothing
        return most if len(texts) == most else 0
    characters = texts.str.len_chars().fill_null(0).cum_sum()
    rows = int((characters < _MOST_CHARACTERS).sum()) + 1
    return rows if rows <= len(texts) else most if len(texts) == most else 0


def _of_rows(given: Source, most: int) -> Iterator[Chunk]:
    ids: list[Any] = []
    texts: list[str | None] = []
    reasons: dict[int, str] = {}
    number = characters = done = 0
    share = 0.0
    for (name, text, why), share in given.read():
        if why is not None:
            reasons[len(texts)] = why
        ids.append(name)
        texts.append(text)
        characters += len(text or "")
        if len(texts) == most or characters >= _MOST_CHARACTERS:
            yield Chunk(number, done + 1, ids, texts, reasons, share, _id_type(given))
            done += len(texts)
            number += 1
            ids, texts, reasons, characters = [], [], {}, 0
    if texts:
        yield Chunk(number, done + 1, ids, texts, reasons, share, _id_type(given))


@dataclass
class _Todo:
    """The chunks whose part is not there; counts all of them."""

    chunks: Iterator[Chunk]
    state: State
    schema: pl.Schema
    watch: _Watch
    parts: int = 0

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self.chunks:
            self.parts += 1
            if self.state.has(chunk, self.schema):
                self.watch.had(len(chunk.texts), chunk.share)
            else:
                yield chunk


class _Watch:
    """Tells how far the work is and how long it will take."""

    def __init__(self, step: Step | None) -> None:
        self._step = step
        self._began = time.monotonic()
        self._done = 0
        self._kept = self._furthest = 0.0
        """The share of the input that was scored before, and that which is now."""

    def had(self, rows: int, share: float) -> None:
        """These rows were scored by an earlier run."""
        self._kept = max(self._kept, share)
        self.told(rows, share)

    def told(self, rows: int, share: float) -> None:
        """These rows are scored."""
        self._done += rows
        self._furthest = max(self._furthest, share)
        if self._step is None:
            return
        told = f"Scoring, {self._done:,} rows"
        here = self._furthest - self._kept
        if here > 0:
            left = (time.monotonic() - self._began) * (1 - self._furthest) / here
            told += f", {duration(left)} left"
        self._step(told, self._furthest, 1.0)


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(42.3), duration(3599), duration(7300)
    ('42 s', '1 h 0 min', '2 h 2 min')
    """
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _summary(path: Path, thresholds: dict[str, float]) -> dict[str, Any]:
    """Counts, from the finished file."""
    scores = pl.scan_parquet(path)
    counts = scores.select(
        pl.len().alias(ROW),
        pl.col(SKIPPED).is_not_null().sum(),
        *(pl.col(FLAGGED.format(name)).sum() for name in thresholds),
    )
    found = counts.collect().row(0, named=True)
    skipped = scores.filter(pl.col(SKIPPED).is_not_null()).select(ROW, SKIPPED).head(MOST_LISTED)
    return {
        "rows": found[ROW],
        "skipped": found[SKIPPED],
        "listed": skipped.collect().rows(),
        "flagged": {name: found[FLAGGED.format(name)] or 0 for name in thresholds},
        "thresholds": thresholds,
    }


def _cores() -> int:
    return len(os.sched_getaffinity(0))
