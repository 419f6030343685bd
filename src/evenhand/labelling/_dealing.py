"""The next posts of a person's row, found in the database, and leases that ran out."""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa

from evenhand.labelling import _slots
from evenhand.labelling._context import Context
from evenhand.labelling._tables import (
    ON_RING,
    OPENED_AGAIN,
    RETURNED,
    Found,
    assignments,
    events,
    slots,
)
from evenhand.labelling.assignment import HAND, LATE, Row, Stretch, ahead, deal, next_lap

_SWEPT = 500
ROW = ("ring", "start", "lap", "at", "deals", "golds", "hand")
"""The columns of a person's row of posts."""


def row_of(found: Found) -> Row:
    """A person's row of posts from their row in the database."""
    values = {name: getattr(found, name) for name in ROW}
    return Row(**{**values, "hand": tuple(found.hand)})


def values_of(row: Row) -> dict[str, Any]:
    """The same as columns."""
    return {**{name: getattr(row, name) for name in ROW}, "hand": list(row.hand)}


def dealt(
    connection: sa.Connection,
    context: Context,
    person: Found,
    row: Row,
    gold: tuple[int, ...],
) -> Row:
    """The row with a new hand; the hand stays empty where nothing is left for this person."""
    campaign = context.campaign
    while True:
        found = _ahead(connection, person, ahead(row, context.clock()))
        if found or row.lap == LATE:
            # No gold posts for their own sake: an empty hand says that the work is done.
            rate = campaign.gold_rate if found else 0.0
            return deal(row, found, gold, rate, campaign.seed, person.name)
        row = next_lap(row)


def _ahead(connection: sa.Connection, person: Found, stretch: Stretch) -> list[tuple[int, int]]:
    values = {"cohort": person.cohort, "after": stretch.after, "person": person.id}
    if stretch.before is not None:
        values["before"] = stretch.before
    if person.opt_outs:
        values["opt_outs"] = list(person.opt_outs)
    query = _query(stretch.ring, stretch.before is not None, bool(person.opt_outs))
    return [(number, place) for number, place in connection.execute(query, values)]


@cache
def _query(ring: int | None, bounded: bool, opted_out: bool) -> sa.Select[Any]:
    """Open posts ahead that the person was not given yet."""
    place = slots.c.late if ring is None else slots.c[f"ring{ring}"]
    mine = sa.exists().where(
        assignments.c.number == slots.c.number,
        assignments.c.person == sa.bindparam("person", type_=sa.BigInteger),
        assignments.c.state != RETURNED,
    )
    query = (
        sa.select(slots.c.number, place)
        .where(
            slots.c.cohort == sa.bindparam("cohort"),
            sa.text(OPENED_AGAIN if ring is None else ON_RING),
            place > sa.bindparam("after"),
            ~mine,
        )
        .order_by(place)
        .limit(HAND)
    )
    if bounded:
        query = query.where(place < sa.bindparam("before"))
    if opted_out:
        chosen = slots.c.category.not_in(sa.bindparam("opt_outs", expanding=True))
        query = query.where(slots.c.category.is_(None) | chosen)
    return query


def sweep(connection: sa.Connection, context: Context, most: int = _SWEPT) -> int:
    """Take back leases that ran out; each post goes to the end of everyone's row."""
    now = context.clock()
    gone = (
        sa.select(assignments.c.number, assignments.c.person, assignments.c.cohort)
        .where(sa.text("state = 'held'"), assignments.c.expires_at <= now)
        .order_by(assignments.c.number, assignments.c.person)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    found = connection.execute(gone).all()
    if not found:
        return 0
    returned = (
        sa.update(assignments)
        .where(
            assignments.c.number == sa.bindparam("of"), assignments.c.person == sa.bindparam("by")
        )
        .values(state=RETURNED)
    )
    connection.execute(returned, [{"of": row.number, "by": row.person} for row in found])
    for row in found:
        _slots.give_back(connection, row.cohort, row.number, now)
    log = [
        {"at": now, "kind": RETURNED, "person": row.person, "number": row.number, "data": None}
        for row in found
    ]
    connection.execute(sa.insert(events), log)
    return len(found)
