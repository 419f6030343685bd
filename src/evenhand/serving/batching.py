"""Texts of many requests scored together, with a bounded queue.

While one batch is being scored the texts of further requests wait, and all that wait are the next
batch: no request waits for a timer. What waits is bounded by time: a request whose texts would
come to their turn later than ``patience`` is refused at once (:class:`Overloaded`), so that those
who are answered are answered in time. How long a text takes is learned from the batches before.

A batch is scored in a thread beside the loop; one that takes less than handing it over would is
scored in the loop itself.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Scorer = Callable[[Sequence[str]], Floats]

_LONG = 300
"""A text counts once, and once more for every so many characters: it is read in windows."""
_QUICK_SECONDS = 0.0005
"""A batch expected to take less is scored in the loop."""
_LAST = 16
_LEARNING = 0.1
"""How fast the expected time follows what is measured."""


class Overloaded(Exception):
    """More waits than can be scored in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"try again in {seconds:.1f} seconds")
        self.seconds = seconds
        """After which a request is likely to be taken."""


class Closed(Exception):
    """The server is shutting down."""


def work(text: str) -> int:
    """How much a text counts."""
    return 1 + len(text) // _LONG


@dataclass(eq=False)
class _Waiting:
    texts: Sequence[str]
    work: int
    answer: asyncio.Future[Floats]


@dataclass(eq=False)
class Batcher:
    """Scores what several callers bring."""

    scorer: Scorer
    most: int = 32
    """Work in one batch; 1 scores every request on its own."""
    patience: float = 0.5
    """Seconds a request may wait for its turn."""
    seconds_per_work: float = 0.0
    """How long a text is expected to take."""
    pending: int = 0
    """Work that waits or is being scored."""
    batches: int = 0
    scored: int = 0
    """Texts."""
    _queue: deque[_Waiting] = field(default_factory=deque)
    _running: asyncio.Task[None] | None = None
    _closed: bool = False
    _last: deque[float] = field(default_factory=lambda: deque(maxlen=_LAST))
    """Seconds a unit of work took in the last batches; the least has no other work in it."""
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="scoring")
    )

    @property
    def wait(self) -> float:
        """Seconds until a request that comes now has its turn."""
        return self.pending * self.seconds_per_work

    def expect_room(self) -> None:
        """Refuse at once where a request would wait too long."""
        if self._closed:
            raise Closed
        if self.wait > self.patience:
            raise Overloaded(max(0.1, self.wait - self.patience))

    async def score(self, texts: Sequence[str]) -> Floats:
        """The scores of texts, one row each."""
        self.expect_room()
        waiting = _Waiting(texts, sum(map(work, texts)), asyncio.get_running_loop().create_future())
        quick = self._last and waiting.work * min(self._last) < _QUICK_SECONDS
        if quick and not self.pending:
            return self._measured(texts, waiting.work)
        self.pending += waiting.work
        self._queue.append(waiting)
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())
        return await waiting.answer

    async def close(self) -> None:
        """Score what was taken, and take no more."""
        self._closed = True
        if self._running is not None:
            await self._running
        self._thread.shutdown()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._queue:
                batch = self._next()
                if not batch:  # all of them were given up by their callers
                    continue
                texts = [text for one in batch for text in one.texts]
                total = sum(one.work for one in batch)
                try:
                    found = await loop.run_in_executor(self._thread, self._measured, texts, total)
                except Exception as error:
                    self._failed(batch, error)
                else:
                    self._answered(batch, found)
                finally:
                    self.pending -= total
        finally:
            self._running = None

    def _next(self) -> list[_Waiting]:
        """The oldest, up to the size of a batch and at least one; those given up are left out."""
        batch: list[_Waiting] = []
        total = 0
        while self._queue and (not batch or total + self._queue[0].work <= self.most):
            one = self._queue.popleft()
            if one.answer.done():
                self.pending -= one.work
                continue
            batch.append(one)
            total += one.work
        return batch

    def _measured(self, texts: Sequence[str], total: int) -> Floats:
        start = time.perf_counter()
        found = self.scorer(texts)
        each = (time.perf_counter() - start) / max(1, total)
        self.batches += 1
        self.scored += len(texts)
        self._last.append(each)
        known = self.seconds_per_work
        # The first call also makes what runs; only the second one counts in full.
        self.seconds_per_work = each if self.batches <= 2 else known + _LEARNING * (each - known)
        return found

    @staticmethod
    def _answered(batch: Sequence[_Waiting], found: Floats) -> None:
        start = 0
        for one in batch:
            stop = start + len(one.texts)
            if not one.answer.done():
                one.answer.set_result(found[start:stop])
            start = stop

    def _failed(self, batch: Sequence[_Waiting], error: Exception) -> None:
        """A batch that cannot be scored is scored request by request: one fails, not all."""
        for one in batch:
            if one.answer.done():
                continue
            if len(batch) == 1:
                one.answer.set_exception(error)
                continue
            try:
                one.answer.set_result(self.scorer(one.texts))
            except Exception as alone:
                one.answer.set_exception(alone)


def whole_seconds(seconds: float) -> int:
    """For a header, which has no fractions; never 0."""
    return max(1, math.ceil(seconds))
