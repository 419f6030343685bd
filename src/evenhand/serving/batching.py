"""Texts of many requests scored together, with a bounded queue.

While one batch is being scored the texts of further requests wait, and all that wait are the next
batch. Between two batches those who were just answered get a moment to ask again, so that callers
who ask one text after the other share one large batch and not two halves by turns; a request that
finds nobody waiting is scored at once. What waits is bounded by time: a request whose texts would
come to their turn later than ``patience`` is refused at once (:class:`Overloaded`), so that those
who are answered are answered in time. How long a text takes is learned from the batches before.
Where the machine has become slower than was known when a request was taken, the request is refused
when its turn comes too late: answered then, it would only make those behind it late too.

A batch is scored in a thread beside the loop; one that takes less than handing it over would is
scored in the loop itself. A request of many texts is scored in parts, so that others have their
turn in between.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Scorer = Callable[[Sequence[str]], Floats]

_LONG = 300
"""A text counts once, and once more for every so many characters: it is read in windows."""
_QUICK_SECONDS = 0.0005
"""A batch expected to take less is scored in the loop."""
_LAST = 16
_LEARNING_SLOWER, _LEARNING_FASTER = 0.3, 0.1
"""How fast the expected time follows what is measured, where it grows and where it falls."""
_MOMENT = 0.1
"""Of the time a batch took: so long the next one waits, at most, for those who were answered."""
_SHORTEST_MOMENT = 0.0005
"""Seconds; clocks of event loops are not finer."""
_LATE = 1.5
"""A request that waited longer than the patience and would be answered after so many times of it is
refused after all."""


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
    answer: asyncio.Future[Any]
    call: Callable[[], Any] | None = None
    """What is done instead of scoring, on its own."""
    since: float = math.inf
    """When it came, by the loop's clock, if it may come too late."""
    result: Any = None

    def tell(self) -> None:
        """Answer the one who waits, if there still is one."""
        if self.answer.done():
            return
        if isinstance(self.result, Exception):
            self.answer.set_exception(self.result)
        else:
            self.answer.set_result(self.result)


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
    _told: int = 0
    _queue: deque[_Waiting] = field(default_factory=deque)
    _running: asyncio.Task[None] | None = None
    _closed: bool = False
    _gathering: tuple[int, asyncio.Future[Any]] | None = None
    """How much work the next batch waits for, and what ends the waiting."""
    _last: deque[float] = field(default_factory=lambda: deque(maxlen=_LAST))
    """Seconds a unit of work took in the last batches; the least has no other work in it."""
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="scoring")
    )

    @property
    def wait(self) -> float:
        """Seconds until a request that comes now has its turn."""
        return self.pending * self.seconds_per_work

    def new_batches(self) -> int:
        """How many were scored since this was last asked."""
        new, self._told = self.batches - self._told, self.batches
        return new

    def expect_room(self) -> None:
        """Refuse at once where a request would wait too long."""
        if self._closed:
            raise Closed
        if self.too_long is not None:
            raise self._overloaded

    @property
    def too_long(self) -> float | None:
        """Where a request that comes now would wait too long, the seconds until one would not."""
        if self._closed or self.wait <= self.patience:
            return None
        return self._overloaded.seconds

    @property
    def _overloaded(self) -> Overloaded:
        return Overloaded(max(0.1, self.wait - self.patience))

    async def score(self, texts: Sequence[str]) -> Floats:
        """The scores of texts, one row each."""
        self.expect_room()
        parts = list(_parts(texts, self.most))
        if len(parts) == 1:
            return await self._score(texts, _now())
        # What was begun is finished: only its first part may come too late.
        came = [_now()] + [math.inf] * (len(parts) - 1)
        scored = [await self._score(*part) for part in zip(parts, came, strict=True)]
        return np.concatenate(scored)

    async def _score(self, texts: Sequence[str], since: float) -> Floats:
        waiting = _Waiting(texts, sum(map(work, texts)), _future(), since=since)
        quick = self._last and waiting.work * min(self._last) < _QUICK_SECONDS
        if quick and not self.pending:
            return self._measured(texts, waiting.work)
        self._put(waiting)
        found: Floats = await waiting.answer
        return found

    async def run(self, call: Callable[[], Any], amount: int) -> Any:
        """Let something else than scoring have its turn: ``amount`` says how much work it is."""
        self.expect_room()
        waiting = _Waiting((), amount, _future(), call, since=_now())
        self._put(waiting)
        return await waiting.answer

    def _put(self, waiting: _Waiting) -> None:
        self.pending += waiting.work
        self._queue.append(waiting)
        if self._gathering and self.pending >= self._gathering[0]:
            _release(self._gathering[1])
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())

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
                if not batch:  # all of them were given up by their callers, or too late
                    continue
                total, began = sum(one.work for one in batch), loop.time()
                try:
                    await loop.run_in_executor(self._thread, self._done, batch, total)
                finally:
                    self.pending -= total
                    for one in batch:
                        one.tell()
                await self._gather(total, _MOMENT * (loop.time() - began))
        finally:
            self._running = None

    async def _gather(self, answered: int, seconds: float) -> None:
        """Where others wait, let as many as were answered ask again, for so long at most."""
        enough = min(self.most, self.pending + answered)
        if not self._queue or self.pending >= enough or seconds < _SHORTEST_MOMENT or self._closed:
            return
        self._gathering = enough, _future()
        timer = asyncio.get_running_loop().call_later(seconds, _release, self._gathering[1])
        await self._gathering[1]
        timer.cancel()
        self._gathering = None

    def _next(self) -> list[_Waiting]:
        """The oldest, up to the size of a batch; those given up or too late are left out."""
        batch: list[_Waiting] = []
        total = 0
        while self._queue and (not batch or total + self._queue[0].work <= self.most):
            if batch and (batch[0].call or self._queue[0].call):
                break
            one = self._queue.popleft()
            if one.answer.done():
                self.pending -= one.work
                continue
            if self._too_late(one):
                self.pending -= one.work
                one.result = self._overloaded
                one.tell()
                continue
            batch.append(one)
            total += one.work
        return batch

    def _too_late(self, one: _Waiting) -> bool:
        waited = _now() - one.since
        takes = min(self.pending, self.most) * self.seconds_per_work
        late = waited > self.patience and waited + takes > _LATE * self.patience
        return late and not self._closed

    def _measured(self, texts: Sequence[str], total: int) -> Floats:
        start = time.perf_counter()
        found = self.scorer(texts)
        each = (time.perf_counter() - start) / max(1, total)
        self.batches += 1
        self.scored += len(texts)
        self._last.append(each)
        known = self.seconds_per_work
        # The first call also makes what runs; only the second one counts in full.
        learning = _LEARNING_SLOWER if each > known else _LEARNING_FASTER
        self.seconds_per_work = each if self.batches <= 2 else known + learning * (each - known)
        return found

    def _done(self, batch: Sequence[_Waiting], total: int) -> None:
        """Work on a batch; a part that cannot be scored fails alone."""
        if batch[0].call:
            batch[0].result = _tried(batch[0].call)
            return
        texts = [text for one in batch for text in one.texts]
        found = _tried(partial(self._measured, texts, total))
        if isinstance(found, Exception) and len(batch) > 1:
            for one in batch:
                one.result = _tried(partial(self.scorer, one.texts))
            return
        start = 0
        for one in batch:
            stop = start + len(one.texts)
            one.result = found if isinstance(found, Exception) else found[start:stop]
            start = stop


def _tried(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # for the one who asked
        return error


def _release(waiting: asyncio.Future[Any]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


def _parts(texts: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Texts in parts of at most so much work, at least one text each."""
    start = total = 0
    for place, text in enumerate(texts):
        if place > start and total + work(text) > most:
            yield texts[start:place]
            start, total = place, 0
        total += work(text)
    yield texts[start:]


def whole_seconds(seconds: float) -> int:
    """For a header, which has no fractions; never 0."""
    return max(1, math.ceil(seconds))
