"""Work in several processes, one core each, that end with whoever started them.

Every worker gets one task at a time through a pipe of its own. If the work is stopped (a key press,
an error in a task) the workers are ended at once; if the parent is killed they end by themselves; a
worker that dies (out of memory, for one) is an error and not a wait without end.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import Any, TypeVar

from evenhand.core.errors import BrokenComponent
from evenhand.core.processes import end_with_parent, one_thread_each

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(
    function: Callable[[T], R], tasks: Mapping[int, T], workers: int
) -> Iterator[tuple[int, R]]:
    """The number and the result of every task, as they are done; the first error is raised."""
    spawn = get_context("spawn")  # a fork would copy threads in the middle of their work
    waiting = iter(tasks.items())
    busy: dict[Any, tuple[int, Any]] = {}
    processes: list[Any] = []
    try:
        with one_thread_each():
            for _ in range(min(workers, len(tasks))):
                here, there = spawn.Pipe()
                process = spawn.Process(target=_serve, args=(there, function), daemon=True)
                process.start()
                there.close()
                processes.append(process)
                _hand_over(here, process, waiting, busy)
        while busy:
            for connection in wait(list(busy)):
                number, process = busy.pop(connection)
                yield number, _received(connection, process)
                _hand_over(connection, process, waiting, busy)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _hand_over(
    connection: Any,
    process: Any,
    waiting: Iterator[tuple[int, Any]],
    busy: dict[Any, tuple[int, Any]],
) -> None:
    """Give a worker its next task, if there is one."""
    for number, task in waiting:
        connection.send(task)
        busy[connection] = (number, process)
        return


def _received(connection: Any, process: Any) -> Any:
    try:
        well, result = connection.recv()
    except (EOFError, ConnectionError):
        process.join()
        raise BrokenComponent(
            f"a worker ended with code {process.exitcode} in the middle of its work; if memory is "
            "short, use --workers 1"
        ) from None
    if not well:
        raise result
    return result


def _serve(connection: Any, function: Callable[[Any], Any]) -> None:
    """In a worker: do one task after the other until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key press is the parent's business
    end_with_parent()
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            answer: tuple[bool, Any] = (True, function(task))
        except Exception as error:
            answer = (False, error)
        connection.send(answer)
