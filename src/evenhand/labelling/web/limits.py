"""How often an address may be wrong: codes, passwords and links cannot be guessed by trying."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

_SECONDS = 600
_MOST_ADDRESSES = 10_000


class Failures:
    """Counts failures per address; who succeeds is never held up (a class behind one router)."""

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._at: dict[str, deque[float]] = {}

    def wait(self, address: str) -> int:
        """Seconds until the address may try again; 0 for now."""
        with self._lock:
            recent = self._recent(address)
            if len(recent) < self._most:
                return 0
            return max(1, round(recent[0] + _SECONDS - self._clock()))

    def add(self, address: str) -> None:
        """One more failure."""
        with self._lock:
            if len(self._at) >= _MOST_ADDRESSES:
                for known in list(self._at):
                    self._recent(known)
            self._at.setdefault(address, deque(maxlen=self._most)).append(self._clock())

    def _recent(self, address: str) -> deque[float]:
        """The failures that still count; addresses without any are forgotten."""
        found = self._at.get(address, deque())
        while found and found[0] <= self._clock() - _SECONDS:
            found.popleft()
        if not found:
            self._at.pop(address, None)
        return found
