"""A connection to SQLite or PostgreSQL, brought to this version, with errors a user can act on.

SQLite runs in WAL mode with full synchronisation: what was committed survives a kill and a power
cut. A writing transaction takes the write lock at its start, so that reading and then writing
cannot meet another writer in between. PostgreSQL runs at READ COMMITTED with row locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from evenhand.core.errors import BadInput
from evenhand.labelling.errors import StoreError, StoreFull, StoreTooNew, StoreUnreachable

_WAIT_SECONDS = 15
_BLOCK = 5000
_LOCK = 7_243_119_001
"""Key of PostgreSQL's advisory lock under which one worker migrates."""


_UNUSABLE = ("readonly", "malformed", "not a database", "disk I/O error")


class Database:
    """An engine and its two kinds of transaction."""

    def __init__(self, url: str) -> None:
        self.url = _known(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = self._engine()
        try:
            self.migrate()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction that changes something; committed when the block ends well."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A transaction that changes nothing."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        try:
            with self.engine.connect() as connection:
                if self.sqlite:
                    connection = connection.execution_options(evenhand_begin=begin)
                with connection.begin():
                    yield connection
        except DBAPIError as error:
            raise self._explained(error) from error

    def fill(
        self,
        connection: sa.Connection,
        table: sa.Table,
        names: Sequence[str],
        rows: Iterable[tuple[Any, ...]],
    ) -> None:
        """Write many rows the quickest way a database has; JSON comes as text."""
        columns = ", ".join(names)
        if self.sqlite:
            marks = ", ".join("?" for _ in names)
            insert = f"INSERT INTO {table.name} ({columns}) VALUES ({marks})"
            left = iter(rows)
            while block := list(islice(left, _BLOCK)):
                connection.exec_driver_sql(insert, block)
            return
        into = f"COPY {table.name} ({columns}) FROM STDIN"
        try:
            made: Any = connection.connection.cursor()
            with made as cursor, cursor.copy(into) as copy:
                for row in rows:
                    copy.write_row(row)
        except psycopg.Error as error:
            raise DBAPIError(into, None, error) from error

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()

    def migrate(self) -> None:
        """Bring the database to this version; refuse one that is newer."""
        config = Config()
        config.set_main_option("script_location", str(files("evenhand.labelling") / "migrations"))
        config.set_main_option("path_separator", "os")
        known = ScriptDirectory.from_config(config)
        with self.write() as connection:
            if not self.sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            now = MigrationContext.configure(connection).get_current_revision()
            if now == known.get_current_head():
                return
            if now is not None and now not in {
                script.revision for script in known.walk_revisions()
            }:
                raise StoreTooNew(
                    f"{self._name()}: made by a newer Evenhand (version {now}); this one knows up "
                    f"to {known.get_current_head()}. Nothing was changed. Install the newer version"
                )
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def _engine(self) -> sa.Engine:
        if not self.sqlite:
            return sa.create_engine(self.url, pool_size=8, max_overflow=8, hide_parameters=True)
        path = self.url.database
        if path and path != ":memory:" and not Path(path).parent.is_dir():
            raise BadInput(f"{path}: its folder is not there")
        # What is bound to a statement can be a post's text: it stays out of errors.
        engine = sa.create_engine(
            self.url, connect_args={"timeout": _WAIT_SECONDS}, hide_parameters=True
        )
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _name(self) -> str:
        return self.url.render_as_string(hide_password=True)

    def _explained(self, error: DBAPIError) -> Exception:
        """A driver's error in the words of our tree, or as it is where it is our bug."""
        words = str(error.orig).splitlines()[0] if str(error.orig) else type(error.orig).__name__
        state = getattr(error.orig, "sqlstate", None) or ""
        if "disk is full" in words or state == "53100":
            return StoreFull(
                f"{self._name()}: the disk is full. This change was not saved; everything that was "
                "acknowledged before is. Free some space and send it again"
            )
        lost = error.connection_invalidated or state[:2] in ("08", "53", "57", "28", "3D")
        if lost or "unable to open" in words or "locked" in words or not (state or self.sqlite):
            return StoreUnreachable(f"{self._name()}: does not answer: {words}")
        if any(each in words for each in _UNUSABLE):
            return StoreError(f"{self._name()}: cannot be used: {words}")
        return error


def _known(url: str) -> sa.URL:
    try:
        found = sa.make_url(url)
        name = found.get_backend_name()
    except (ArgumentError, NoSuchModuleError) as error:
        raise BadInput(f"{url!r} is not a database URL such as sqlite:///a.sqlite") from error
    if name == "postgresql":
        return found.set(drivername="postgresql+psycopg")
    if name == "sqlite":
        return found.set(drivername="sqlite+pysqlite")
    raise BadInput(f"{name} databases are not supported; expected sqlite or postgresql")


def _set_up_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options()["evenhand_begin"])
