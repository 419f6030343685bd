"""What a training that takes long tells whoever waits, and where it can go on after a kill.

``fit`` has no argument for this: a caller who wants to see progress, or to keep checkpoints, says
so around the call, and a recipe that trains in epochs asks :func:`watch`.

>>> with watching(step=lambda what, done, total: print(what, done, total)):
...     watch().step("epoch 1, loss 0.523", 1, 10)
epoch 1, loss 0.523 1 10
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

Step = Callable[[str, float, float | None], None]
"""Told what is being done, how much is done, and of how much (None: unknown)."""


def _silent(what: str, done: float, total: float | None) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Watch:
    """Who watches a training."""

    step: Step = _silent
    checkpoints: Path | None = None
    """A folder for checkpoints, which are taken up where they fit; None for none."""


_NOBODY = Watch()
_NOW: ContextVar[Watch] = ContextVar("watch")


def watch() -> Watch:
    """Who watches now."""
    return _NOW.get(_NOBODY)


@contextmanager
def watching(*, step: Step = _silent, checkpoints: Path | None = None) -> Iterator[None]:
    """Let what is trained inside report its progress and keep checkpoints."""
    before = _NOW.set(Watch(step, checkpoints))
    try:
        yield
    finally:
        _NOW.reset(before)
