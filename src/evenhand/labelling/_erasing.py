"""Everything kept about a person, and how it is deleted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from evenhand.labelling import _slots
from evenhand.labelling._context import Context
from evenhand.labelling._tables import (
    HELD,
    VOTED,
    Found,
    assignments,
    cases,
    erasures,
    events,
    people,
    posts,
    sessions,
)

_PRIVATE = {"password", "ring", "start", "lap", "at", "deals", "golds", "hand"}


def everything_of(connection: sa.Connection, person: int) -> dict[str, Any]:
    """The person's row, what they were given and answered, and their part of the log."""
    row = connection.execute(sa.select(people).where(people.c.id == person)).one()
    work = (
        sa.select(assignments, posts.c.text.label("post_text"))
        .join(posts, posts.c.number == assignments.c.number)
        .where(assignments.c.person == person)
        .order_by(assignments.c.given_at)
    )
    log = sa.select(events).where(events.c.person == person).order_by(events.c.id)
    hidden = {"token", "person", "number"}
    return {
        "person": _readable(row, _PRIVATE),
        "posts": [_readable(found, hidden) for found in connection.execute(work)],
        "log": [_readable(found, {"person", "number", "id"}) for found in connection.execute(log)],
    }


def _readable(row: Found, hidden: set[str]) -> dict[str, Any]:
    """A row as its person reads it: times as dates, without what is only for us."""
    return {
        name: datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds")
        if (name == "at" or name.endswith("_at")) and value is not None
        else value
        for name, value in row._mapping.items()
        if name not in hidden
    }


def forget(connection: sa.Connection, context: Context, person: int) -> None:
    """Delete what a person answered and said of themselves.

    Votes go back to the pool, and cases they settled are open again.
    """
    row = context.locked(connection, person)
    now = context.clock()
    mine = assignments.c.person == person
    found = sa.select(assignments).where(mine).order_by(assignments.c.number).with_for_update()
    for entry in connection.execute(found).all():
        if entry.state == VOTED:
            _slots.withdraw(connection, entry.cohort, entry.number, now)
        elif entry.state == HELD:
            _slots.give_back(connection, entry.cohort, entry.number, now)
    connection.execute(sa.delete(assignments).where(mine))
    connection.execute(sa.delete(sessions).where(sessions.c.person == person))
    theirs = (cases.c.settled_by == person) | (cases.c.holder == person)
    open_again = ("settled_by", "settled_at", "answers", "holder", "token", "expires_at")
    connection.execute(sa.update(cases).where(theirs).values(dict.fromkeys(open_again)))
    connection.execute(sa.insert(erasures).values(person=person, at=now))
    connection.execute(sa.delete(events).where(events.c.person == person))
    blank: dict[str, Any] = {
        "name": f"erased-{person}",
        "password": None,
        "erased_at": now,
        "background": None,
        "background_at": None,
        "opt_outs": [],
        "hand": [],
        **dict.fromkeys(("seen", "hard", "seen_since", "hard_since", "breaks"), 0),
    }
    connection.execute(sa.update(people).where(people.c.id == person).values(blank))
    context.log(connection, "erased", data={"role": row.role, "cohort": row.cohort})
