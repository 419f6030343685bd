"""API keys: made here, shown once, kept as hashes; and how often each may ask.

A key is 32 random bytes, so that a plain SHA-256 of it cannot be turned back; the file holds that
hash, a name, when the key was made and revoked, and its rate. A running server reads the file again
when it has changed, so that a key can be added or revoked without a restart.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.core.errors import BadInput
from evenhand.core.provenance import file_at_once

log = logging.getLogger("evenhand.serving")
_PREFIX = "ev-"
_ID = 8
_LOOK_SECONDS = 1.0
"""How often a server looks whether the file has changed."""


@dataclass(frozen=True)
class Key:
    """What is known of a key."""

    id: str
    """The beginning of its hash, to name it by."""
    name: str
    sha256: str
    made: str
    rate: float | None = None
    """Requests a minute; None for the server's own limit."""
    admin: bool = False
    """Whether it may put another detector in place."""
    revoked: str | None = None


class Keys:
    """The keys in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._looked = -_LOOK_SECONDS
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, Key] = {}

    def all(self) -> list[Key]:
        """Every key, the revoked too."""
        return _read(self.path)

    def add(self, name: str, *, rate: float | None = None, admin: bool = False) -> tuple[str, Key]:
        """A new key, which is not kept anywhere, and what is kept of it."""
        if not name.strip():
            raise BadInput("the key needs a name, such as that of the site that will use it")
        if rate is not None and not rate > 0:
            raise BadInput(f"rate {rate}; expected requests a minute, above 0")
        with self._changing() as keys:
            if any(key.name == name and not key.revoked for key in keys):
                raise BadInput(
                    f"there is a key named {name!r}; choose another name, or revoke that one first"
                )
            made = _PREFIX + secrets.token_urlsafe(32)
            digest = _hashed(made)
            keys.append(Key(digest[:_ID], name, digest, _now(), rate, admin))
        return made, keys[-1]

    def revoke(self, name: str) -> Key:
        """Revoke the key of this name or id."""
        with self._changing() as keys:
            for place, key in enumerate(keys):
                if name in (key.name, key.id) and not key.revoked:
                    keys[place] = replace(key, revoked=_now())
                    return keys[place]
            known = ", ".join(key.name for key in keys if not key.revoked) or "none"
            raise BadInput(f"{self.path}: no key is named {name!r}; found {known}")

    def found(self, given: str) -> Key | None:
        """The key that was given, unless it is unknown or revoked."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._look()
        return self._known.get(_hashed(given))

    def _look(self) -> None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._known, self._stamp = {}, None
            return
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp == self._stamp:
            return
        try:
            keys = _read(self.path)
        except BadInput:
            log.warning("%s cannot be read; the keys known before stay in force", self.path)
        else:
            self._known = {key.sha256: key for key in keys if not key.revoked}
        self._stamp = stamp

    @contextmanager
    def _changing(self) -> Iterator[list[Key]]:
        """The keys, written back at the end; only one process changes them at a time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path.with_name(self.path.name + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            keys = _read(self.path)
            yield keys
            written = json.dumps({"keys": [asdict(key) for key in keys]}, indent=1) + "\n"
            with file_at_once(self.path) as new:  # which only its owner can read
                new.write_text(written, encoding="utf-8")


def _read(path: Path) -> list[Key]:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
        return [Key(**entry) for entry in found["keys"]]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}: is no file of keys; expected what `evenhand keys add` writes"
        ) from error


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Limiter:
    """How often each caller may ask: so many requests a minute, a burst of a sixth of that."""

    _MOST_CALLERS = 10_000

    def __init__(self, rate: float | None) -> None:
        self.rate = rate
        """Requests a minute for callers without a rate of their own; None for no limit."""
        self._callers: dict[str, tuple[float, float]] = {}
        """What is left of the burst, and when it was counted."""

    def seconds_to_wait(
        self, caller: str, rate: float | None, cost: float = 1.0, now: float | None = None
    ) -> float:
        """0 where the caller may ask now (it is counted then), else how long to wait."""
        rate = self.rate if rate is None else rate
        if rate is None:
            return 0.0
        now = time.monotonic() if now is None else now
        burst = max(1.0, rate / 6)
        left, counted = self._callers.get(caller, (burst, now))
        left = min(burst, left + (now - counted) * rate / 60)
        # What costs more than a whole burst is taken when the burst is full, and paid off after.
        if left >= min(cost, burst):
            self._callers[caller] = (left - cost, now)
            if len(self._callers) > self._MOST_CALLERS:
                self._forget(now)
            return 0.0
        return (min(cost, burst) - left) * 60 / rate

    def _forget(self, now: float) -> None:
        """Drop the half that asked longest ago."""
        kept = sorted(self._callers.items(), key=lambda entry: -entry[1][1])
        self._callers = dict(kept[: self._MOST_CALLERS // 2])
