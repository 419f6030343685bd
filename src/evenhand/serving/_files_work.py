"""Chunks of rows scored by processes of one core each, every chunk written as a file of its own.

A part is written beside its place and then put there at once: a part that exists is whole, whenever
the work was killed. Workers end by themselves when whoever started them has ended.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.errors import BrokenComponent
from evenhand.core.processes import ONE_THREAD, end_with_parent
from evenhand.core.provenance import file_at_once
from evenhand.models.cascade import opened
from evenhand.models.loaded import BaseRate, Loaded, Scale
from evenhand.models.protocol import Trained
from evenhand.models.scoring import score_attribute
from evenhand.serving.workers import begin

ROW, ID, SKIPPED = "row", "id", "skipped"
"""Columns of every file of scores, beside those of attributes."""
FLAGGED = "{}_flagged"
_AHEAD = 2
"""Chunks read for each worker before it needs them."""


@dataclass(frozen=True)
class Wanted:
    """Which scores are written."""

    detector: str
    attribute: str | None = None
    """The only one; all without it."""
    base_rate: BaseRate = None
    perspective_like: bool = False

    def opened(self) -> Loaded:
        """The detector."""
        return opened(self.detector, attribute=self.attribute)


@dataclass(frozen=True)
class Chunk:
    """Some rows of the input."""

    number: int
    first: int
    """Number of the first row; that of the input's first is 1."""
    ids: Sequence[Any] | pl.Series
    texts: Sequence[str | None] | pl.Series
    """A column where the input has one, which goes to another process in one go."""
    reasons: dict[int, str]
    """Why a row has no text to score, by its place in the chunk."""
    share: float
    """Of the input, up to the last of these rows."""
    id_type: str | None
    """``text`` or ``number``; None where the input has no ids."""

    def given(self) -> list[str]:
        """The texts that are scored."""
        texts = self.texts.to_list() if isinstance(self.texts, pl.Series) else self.texts
        return [text for n, text in enumerate(texts) if n not in self.reasons]


@dataclass(frozen=True, eq=False)
class Scorer:
    """A detector and what is written of its scores."""

    loaded: Loaded
    wanted: Wanted

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """What is written for the probability of each attribute."""
        wanted = self.wanted
        every = self.loaded.scales(
            base_rate=wanted.base_rate, perspective_like=wanted.perspective_like
        )
        return {name: every[name] for name in every if wanted.attribute in (None, name)}

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """By attribute, of those that have one."""
        every = self.loaded.thresholds(
            base_rate=self.wanted.base_rate, perspective_like=self.wanted.perspective_like
        )
        return {name: every[name] for name in self.scales if name in every}

    def scored(self, chunk: Chunk) -> pl.DataFrame:
        """The rows with their scores; null, with a reason, where there are none."""
        rows = len(chunk.texts)
        at = np.delete(np.arange(rows), list(chunk.reasons))
        p, refused = self._scores(chunk.given())
        reasons = chunk.reasons | {int(at[n]): why for n, why in refused.items()}
        numbers = np.arange(chunk.first, chunk.first + rows, dtype=np.uint64)
        columns: dict[str, pl.Series] = {ROW: pl.Series(numbers)}
        if chunk.id_type:
            kind = pl.Int64 if chunk.id_type == "number" else pl.String
            columns[ID] = pl.Series(chunk.ids, dtype=kind)
        for name, scale in self.scales.items():
            found = np.full(rows, np.nan)
            found[at] = scale(p[name])
            columns[name] = pl.Series(found).fill_nan(None)
        for name, threshold in self.thresholds.items():
            columns[FLAGGED.format(name)] = columns[name] >= threshold
        skipped = pl.Series([None] * rows, dtype=pl.String)
        if reasons:
            skipped = skipped.scatter([*reasons], [*reasons.values()])
        return pl.DataFrame(columns | {SKIPPED: skipped})

    def _scores(self, texts: list[str]) -> tuple[Mapping[str, np.ndarray], Mapping[int, str]]:
        """Probabilities by attribute, NaN where refused; why, by place."""
        raw = self.loaded.raw
        if isinstance(raw, Trained) or len(raw.attributes) > 1:
            p = raw.score(texts) if texts else np.empty((0, len(raw.attributes)))
            return dict(zip(raw.attributes, p.T, strict=True)), {}
        ids = [str(n) for n in range(len(texts))]
        found = score_attribute(raw, pl.DataFrame({"id": ids, "text": texts}))
        reasons = {int(post): why for post, why in found.failed.items()}
        return {raw.attributes[0]: found.table["p"].fill_null(np.nan).to_numpy()}, reasons


def part_of(folder: Path, number: int) -> Path:
    """Where a chunk's scores go."""
    return folder / f"part-{number:06}.parquet"


def written(
    chunks: Iterable[Chunk], wanted: Wanted, folder: Path, workers: int
) -> Iterator[tuple[int, float]]:
    """Score chunks and write their parts; how many rows and which share, as each is done."""
    if workers == 1:
        scorer = Scorer(wanted.opened(), wanted)
        for chunk in chunks:
            yield _write(scorer, chunk, folder)
        return
    under_way: set[Future[tuple[int, float]]] = set()
    given = wanted, {**os.environ, **ONE_THREAD}
    with ProcessPoolExecutor(workers, begin(), _begin, given) as pool:
        try:
            for chunk in chunks:
                under_way.add(pool.submit(_in_worker, chunk, folder))
                if len(under_way) >= _AHEAD * workers:
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in done)
            yield from (each.result() for each in under_way)
        except BrokenProcessPool:
            raise BrokenComponent(
                "a worker ended in the middle of its work; if memory is short, use --workers 1. "
                "The same command goes on where it was"
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_scorer: Scorer | None = None


def _begin(wanted: Wanted, environment: Mapping[str, str]) -> None:
    """In a worker, once. What it was forked from may be older than the environment."""
    global _scorer
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key press is the parent's business
    end_with_parent()
    _scorer = Scorer(wanted.opened(), wanted)


def _in_worker(chunk: Chunk, folder: Path) -> tuple[int, float]:
    if _scorer is None:
        raise RuntimeError("a worker has no detector")
    return _write(_scorer, chunk, folder)


def _write(scorer: Scorer, chunk: Chunk, folder: Path) -> tuple[int, float]:
    frame = scorer.scored(chunk)
    with file_at_once(part_of(folder, chunk.number)) as path:
        frame.write_parquet(path, compression="zstd", compression_level=1, statistics=False)
    return len(chunk.texts), chunk.share
