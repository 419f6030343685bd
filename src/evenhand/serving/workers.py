"""Processes that score: forked, when they are needed, from one that has loaded what they need.

Loading takes each process a second or two. Here one process does most of it for all of them, and as
this module imports nothing heavy it can be told to begin while the one who asks still loads its own
parts. It has one thread only, so that nothing is copied in the middle of its work.
"""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running

from evenhand.core.processes import one_thread_each

_LOADED = ("numpy", "scipy.sparse", "scipy.special", "emoji", "regex", "numba")
"""What takes long to import and starts no thread, as Polars does; left out where it is missing."""


def begin() -> ForkServerContext:
    """Start to load, unless that was started before; where processes come from."""
    context = get_context("forkserver")
    context.set_forkserver_preload([*_LOADED])
    with one_thread_each():
        ensure_running()
    return context
