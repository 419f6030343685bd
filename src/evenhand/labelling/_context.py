"""What every part of the store shares: the campaign, the database, the clock and the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.labelling._database import Database
from evenhand.labelling._tables import Found, events, people
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.codes import Codes
from evenhand.labelling.errors import NotAllowed

_LOG = sa.insert(events)
_LOCKED = sa.select(people).where(people.c.id == sa.bindparam("id")).with_for_update()


def upsert(table: sa.Table, in_sqlite: bool) -> Any:
    """An insert of one of the two dialects."""
    return (sqlite if in_sqlite else postgresql).insert(table)


@dataclass(frozen=True)
class Context:
    """Handed to the parts of a store."""

    campaign: Campaign
    database: Database
    clock: Callable[[], float]
    codes: Codes

    def log(
        self,
        connection: sa.Connection,
        kind: str,
        person: int | None = None,
        number: int | None = None,
        data: Any = None,
    ) -> None:
        """Append to the log, in the transaction of the change itself."""
        row = {"at": self.clock(), "kind": kind, "person": person, "number": number, "data": data}
        connection.execute(_LOG, row)

    def locked(self, connection: sa.Connection, person: int) -> Found:
        """The person's row, locked first in every change of theirs so that nobody waits in a ring.

        The order of locks is person, assignment, slot.
        """
        row = connection.execute(_LOCKED, {"id": person}).one_or_none()
        if row is None or row.erased_at is not None:
            raise NotAllowed("this person is not in the campaign (any more)")
        return row

    def insert(self, table: sa.Table) -> Any:
        """An insert that can say what happens on a conflict, in the database's dialect."""
        return upsert(table, self.database.sqlite)
