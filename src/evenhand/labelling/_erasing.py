"""Everything kept about a person, and how it is deleted."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from evenhand.labelling import _slots
from evenhand.labelling._context import Context
from evenhand.labelling._tables import (
    HELD,
    VOTED,
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
        "person": {k: v for k, v in row._mapping.items() if k not in _PRIVATE},
        "posts": [
            {k: v for k, v in found._mapping.items() if k not in hidden}
            for found in connection.execute(work)
        ],
        "log": [
            {k: v for k, v in found._mapping.items() if k not in ("person", "number", "id")}
            for found in connection.execute(log)
        ],
    }


def forget(connection: sa.Connection, context: Context, person: int) -> None:
    """Delete what a person answered and said of themselves; votes go back to the pool."""
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
    settled = sa.update(cases).where(cases.c.settled_by == person)
    connection.execute(settled.values(settled_by=None))
    connection.execute(
        sa.update(cases).where(cases.c.holder == person).values(holder=None, token=None)
    )
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
