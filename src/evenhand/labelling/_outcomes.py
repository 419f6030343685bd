"""What a vote sets off: more votes on disagreement, or a case for the experts."""

from __future__ import annotations

import sqlalchemy as sa

from evenhand.labelling import _slots
from evenhand.labelling._context import Context
from evenhand.labelling._tables import VOTED, Found, assignments, cases
from evenhand.labelling.assignment import agreed

DISAGREEMENT, FLAG = "disagreement", "flag"

_VOTES = sa.select(assignments.c.answers).where(
    assignments.c.number == sa.bindparam("number"),
    assignments.c.cohort == sa.bindparam("cohort"),
    assignments.c.state == VOTED,
)


def after_vote(connection: sa.Connection, context: Context, row: Found, slot: Found | None) -> None:
    """Once a post has all its votes: ask for one more or for an expert, if the cohort disagrees."""
    if slot is None or slot.votes < slot.overlap:
        return
    campaign = context.campaign
    cohort = campaign.cohort(row.cohort)
    if not cohort.more and not campaign.adjudicate:
        return
    found = connection.execute(_VOTES, {"number": row.number, "cohort": row.cohort}).scalars()
    answers = [tuple(stored["chosen"][campaign.main.id]) for stored in found]
    if agreed(answers, cohort.disagreement):
        return
    if slot.overlap < cohort.overlap + cohort.more:
        _slots.extend(connection, row.cohort, row.number, context.clock())
        context.log(connection, "extended", number=row.number, data={"cohort": row.cohort})
    elif campaign.adjudicate:
        open_case(connection, context, row.number, DISAGREEMENT)


def open_case(connection: sa.Connection, context: Context, number: int, reason: str) -> None:
    """Put a post before the experts, or count one more flag of it."""
    flags = int(reason == FLAG)
    insert = context.insert(cases).values(
        number=number, reason=reason, flags=flags, opened_at=context.clock()
    )
    connection.execute(
        insert.on_conflict_do_update(
            index_elements=["number"], set_={"flags": cases.c.flags + flags}
        )
    )
    context.log(connection, "case", number=number, data={"reason": reason})


def after_undo(connection: sa.Connection, row: Found) -> None:
    """A case nobody has taken is dropped when the vote or flag that opened it is undone."""
    mine = (cases.c.number == row.number) & cases.c.settled_at.is_(None)
    if row.state == VOTED:
        opened = (cases.c.reason == DISAGREEMENT) & (cases.c.flags == 0)
        connection.execute(sa.delete(cases).where(mine, opened, cases.c.token.is_(None)))
    elif row.state == "flagged":
        connection.execute(sa.update(cases).where(mine).values(flags=cases.c.flags - 1))
        gone = (cases.c.reason == FLAG) & (cases.c.flags == 0)
        connection.execute(sa.delete(cases).where(mine, gone, cases.c.token.is_(None)))
