"""Scores of a server, kept so that an interrupted audit goes on where it stopped.

One SQLite file per server and attribute in the user's cache folder, named by a digest of both. A
row is the SHA-256 of a text, its score and the day it was scored: neither texts nor keys are
written. Rows are committed as they come, and two processes may use a file at once.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from evenhand.core.errors import BadInput

_FORMAT = 1
_PATIENCE_SECONDS = 30.0
_MOST = 500
"""Digests in one question to SQLite."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS scores (text BLOB PRIMARY KEY, "
    "p REAL NOT NULL CHECK (p BETWEEN 0 AND 1), day TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    f"PRAGMA user_version = {_FORMAT}",
)


def cache_folder() -> Path:
    """Where scores are kept: ``EVENHAND_CACHE``, or the user's cache folder."""
    named = os.environ.get("EVENHAND_CACHE")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "evenhand"


def digest(text: str) -> bytes:
    """What stands for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class Kept:
    """A score that was kept, and since when."""

    p: float
    day: date


@dataclass(frozen=True)
class ScoreCache:
    """The kept scores of one server and attribute."""

    path: Path
    detector: str
    """The server's name, without the key."""
    attribute: str

    @classmethod
    def of(cls, detector: str, attribute: str, folder: Path) -> ScoreCache:
        """The file of this server and attribute; it need not exist."""
        named = hashlib.sha256(f"{detector}\x1f{attribute}".encode()).hexdigest()[:24]
        return cls(folder / f"scores-{named}.sqlite", detector, attribute)

    def find(self, texts: Sequence[str]) -> dict[str, Kept]:
        """The kept scores of these texts."""
        known = {digest(text): text for text in texts}
        wanted, found = list(known), {}
        with self._open() as connection:
            for start in range(0, len(wanted), _MOST):
                part = wanted[start : start + _MOST]
                marks = ",".join("?" * len(part))
                rows = connection.execute(
                    f"SELECT text, p, day FROM scores WHERE text IN ({marks})", part
                )
                for key, p, day in rows:
                    found[known[key]] = Kept(p, date.fromisoformat(day))
        return found

    def keep(self, scores: Iterable[tuple[str, float]]) -> None:
        """Write scores by text; they are on disk when this returns."""
        day = datetime.now(UTC).date().isoformat()
        rows = [(digest(text), p, day) for text, p in scores]
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            opened = sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS, isolation_level=None)
            with closing(opened) as connection:
                self._expect_ours(connection)
                yield connection
        except (sqlite3.OperationalError, OSError) as error:
            raise BadInput(
                f"{self.path.parent}: scores cannot be kept in {self.path.name}: {error}. Mend "
                "that, name another folder in EVENHAND_CACHE, or do without with --no-cache"
            ) from error
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise self._broken(str(error)) from error

    def _expect_ours(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file; refuse one of another format or server."""
        mine = {"detector": self.detector, "attribute": self.attribute}
        [found] = connection.execute("PRAGMA user_version").fetchone()
        if found == 0:  # In one step: another process may be doing the same.
            connection.execute("BEGIN IMMEDIATE")
            for statement in _TABLES:
                connection.execute(statement)
            connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", mine.items())
            connection.execute("COMMIT")
        elif found != _FORMAT:
            raise self._broken(f"its format is {found}, expected {_FORMAT}")
        about = dict(connection.execute("SELECT name, value FROM about"))
        if about != mine:
            raise self._broken("it has the scores of another server")

    def _broken(self, why: str) -> BadInput:
        return BadInput(f"{self.path}: cannot be used as kept scores: {why}. Delete the file")
