"""Coroutines run from tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives, run in a thread of its own: a browser may have a loop in this one."""
    found: list[Any] = []

    def call() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:  # handed on to the test
            found.append(error)

    thread = Thread(target=call)
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]
