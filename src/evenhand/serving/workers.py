"""Processes that score: forked, when they are needed, from one that has loaded what they need.

Loading takes each process a second or two. Here one process does most of it for all of them, and as
this module imports nothing heavy it can be told to begin while the one who asks still loads its own
parts. It has one thread only, so that nothing is copied in the middle of its work.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running

_LOADED = ("numpy", "scipy.sparse", "scipy.special", "emoji", "regex", "numba")
"""What takes long to import and starts no thread, as Polars does; left out where it is missing."""
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)
"""Settings under which a process has one thread."""


def begin() -> ForkServerContext:
    """Start to load, unless that was started before; where processes come from."""
    context = get_context("forkserver")
    context.set_forkserver_preload([*_LOADED])
    with _one_thread_each():
        ensure_running()
    return context


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes started inside use one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
