"""Random streams: one seed, an independent stream for every task.

A stream is named by a path of words and numbers. The same seed and path give the same numbers
whatever else has been drawn, in whatever order and on however many workers; different paths are
independent.

>>> a = stream(7, "bootstrap", 3)
>>> b = stream(7, "bootstrap", 3)
>>> bool((a.integers(100, size=5) == b.integers(100, size=5)).all())
True
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *path: str | int) -> np.random.Generator:
    """A generator for the task named by ``path`` under ``seed``."""
    name = "\x1f".join(f"{type(part).__name__}:{part}" for part in path)
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    words = np.frombuffer(digest, dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence([seed, *map(int, words)]))
