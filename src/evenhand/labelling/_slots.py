"""Changes to the votes and leases of a post, each one conditional statement.

No post goes above its overlap: a lease is given by an update that only finds a post with room, and
the table's check constraint would refuse anything else. A post that opens again goes to the end of
everyone's row.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from evenhand.labelling._tables import Found, slots
from evenhand.labelling.assignment import late_place

_THIS = (slots.c.cohort == sa.bindparam("in_cohort")) & (slots.c.number == sa.bindparam("of"))
_ROOM = slots.c.votes + slots.c.held < slots.c.overlap

_TAKE = (
    sa.update(slots)
    .where(_THIS, _ROOM)
    .values(held=slots.c.held + 1, open=slots.c.votes + slots.c.held + 1 < slots.c.overlap)
)
_TAKE_VOTE = (
    sa.update(slots)
    .where(_THIS, _ROOM)
    .values(votes=slots.c.votes + 1, open=slots.c.votes + slots.c.held + 1 < slots.c.overlap)
    .returning(slots.c.votes, slots.c.overlap)
)
_VOTE = (
    sa.update(slots)
    .where(_THIS)
    .values(votes=slots.c.votes + 1, held=slots.c.held - 1)
    .returning(slots.c.votes, slots.c.overlap)
)
_UNVOTE = sa.update(slots).where(_THIS).values(votes=slots.c.votes - 1, held=slots.c.held + 1)
_LATE = {"open": sa.true(), "late": sa.bindparam("to")}
_LATE_IF_FULL = sa.case((slots.c.open, slots.c.late), else_=sa.bindparam("to", type_=sa.BigInteger))
_RELEASE = (
    sa.update(slots).where(_THIS).values(held=slots.c.held - 1, open=sa.true(), late=_LATE_IF_FULL)
)
_RETURN = sa.update(slots).where(_THIS).values(held=slots.c.held - 1, **_LATE)
_WITHDRAW = sa.update(slots).where(_THIS).values(votes=slots.c.votes - 1, **_LATE)
_EXTEND = sa.update(slots).where(_THIS).values(overlap=slots.c.overlap + 1, **_LATE)


def take(connection: sa.Connection, cohort: str, number: int) -> bool:
    """Give a lease, if the post has room."""
    return connection.execute(_TAKE, _key(cohort, number)).rowcount == 1


def take_vote(connection: sa.Connection, cohort: str, number: int) -> Found | None:
    """Count a vote whose lease ran out, if the post still has room: its votes and overlap."""
    return connection.execute(_TAKE_VOTE, _key(cohort, number)).one_or_none()


def vote(connection: sa.Connection, cohort: str, number: int) -> Found | None:
    """Turn a lease into a vote: the post's votes and overlap; None for a gold post."""
    return connection.execute(_VOTE, _key(cohort, number)).one_or_none()


def unvote(connection: sa.Connection, cohort: str, number: int) -> None:
    """Turn a vote back into a lease."""
    connection.execute(_UNVOTE, _key(cohort, number))


def release(connection: sa.Connection, cohort: str, number: int, now: float) -> None:
    """Give a lease back for others; the person will not get the post again."""
    connection.execute(_RELEASE, _key(cohort, number, now))


def give_back(connection: sa.Connection, cohort: str, number: int, now: float) -> None:
    """A lease ran out: the post goes to the end of everyone's row, also of who had it."""
    connection.execute(_RETURN, _key(cohort, number, now))


def withdraw(connection: sa.Connection, cohort: str, number: int, now: float) -> None:
    """A vote is deleted."""
    connection.execute(_WITHDRAW, _key(cohort, number, now))


def extend(connection: sa.Connection, cohort: str, number: int, now: float) -> None:
    """One more vote is wanted."""
    connection.execute(_EXTEND, _key(cohort, number, now))


def _key(cohort: str, number: int, now: float | None = None) -> dict[str, Any]:
    key: dict[str, Any] = {"in_cohort": cohort, "of": number}
    return key if now is None else key | {"to": late_place(now, number)}
