"""Batches asked for in a few threads; what came is handed over even when something fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from typing import TypeVar

Batch = TypeVar("Batch")
Result = TypeVar("Result")


def in_threads(
    ask: Callable[[Batch], Result],
    batches: Sequence[Batch],
    *,
    threads: int,
    take: Callable[[Result], None],
    stop: Callable[[], None],
) -> None:
    """Call ``ask`` on every batch in threads and ``take`` on every result in this one.

    When a batch fails, or this thread is interrupted, ``stop`` is called so that those under way
    need not be waited for; results that were there by then are still taken.
    """
    left = deque(batches)
    waiting: set[Future[Result]] = set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while left or waiting:
                while left and len(waiting) < 2 * threads:
                    waiting.add(pool.submit(ask, left.popleft()))
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    waiting.remove(future)
                    take(future.result())
        except BaseException:
            stop()
            pool.shutdown(cancel_futures=True)
            for future in waiting:
                with suppress(Exception, CancelledError):  # the first error is the one to tell
                    take(future.result())
            raise
