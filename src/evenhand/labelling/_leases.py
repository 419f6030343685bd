"""Leases: a person holds a post for a while, under a token that belongs to one form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sqlalchemy as sa

from evenhand.labelling import _slots
from evenhand.labelling._context import Context, upsert
from evenhand.labelling._dealing import ROW, dealt, row_of, values_of
from evenhand.labelling._tables import HELD, RETURNED, Found, assignments, people, posts
from evenhand.labelling.assignment import Row
from evenhand.labelling.codes import short_token

_TRIES = 8
"""Hands to deal before a person is told that nothing is left (others may be quicker)."""


@dataclass(frozen=True)
class Task:
    """A post to be judged. It has no id: an id may lead to the author."""

    token: str
    text: str
    context: str | None
    pictures: tuple[str, ...]
    """Paths in the campaign's folder."""
    category: str | None
    hard: bool
    """Marked beforehand as hard to read."""


_MOVING = (*ROW, "seen", "hard", "seen_since", "hard_since")
_POST = sa.select(posts).where(posts.c.number == sa.bindparam("number"))
_MOVED = (
    sa.update(people)
    .where(people.c.id == sa.bindparam("me"))
    .values({name: sa.bindparam(f"to_{name}", type_=people.c[name].type) for name in _MOVING})
)


@cache
def _hold(in_sqlite: bool, again: bool) -> Any:
    """Nobody twice on a post: only a lease that ran out, or what is undone, is held again."""
    fresh = {"state": HELD, "done_at": None, "seconds": None, "answers": None}
    given: dict[str, Any] = {
        name: sa.bindparam(f"to_{name}") for name in ("token", "given_at", "expires_at")
    }
    key: dict[str, Any] = {
        name: sa.bindparam(f"to_{name}") for name in ("number", "person", "cohort")
    }
    return (
        upsert(assignments, in_sqlite)
        .values({**key, **given, **fresh})
        .on_conflict_do_update(
            index_elements=["number", "person"],
            set_={**given, **fresh},
            where=None if again else assignments.c.state == RETURNED,
        )
        .returning(assignments.c.number)
    )


class Leases:
    """Gives posts to people."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._gold: frozenset[int] | None = None

    def gold(self, connection: sa.Connection) -> frozenset[int]:
        """The numbers of the gold posts, which have no slots: anybody can get any of them."""
        if self._gold is None:
            found = connection.execute(sa.select(posts.c.number).where(posts.c.gold))
            self._gold = frozenset(found.scalars())
        return self._gold

    def take(self, connection: sa.Connection, me: Found, *, deal: bool) -> Task | None:
        """A new lease from the person's hand, or from new hands if these may be dealt; or None."""
        row = row_of(me)
        gold = self.gold(connection)
        for tried in range(1 + _TRIES * deal):
            if tried:
                row = dealt(connection, self._context, me, row, tuple(sorted(gold)))
                if not row.hand:
                    break
            while row.hand:
                number, row = row.hand[0], replace(row, hand=row.hand[1:])
                if number in gold or _slots.take(connection, me.cohort, number):
                    return self._give(connection, me, number, row)
        self._move(connection, me, row)
        return None

    def _give(self, connection: sa.Connection, me: Found, number: int, row: Row) -> Task:
        token = self.hold(connection, me.id, me.cohort, number)
        post = connection.execute(_POST, {"number": number}).one()
        self._move(connection, me, row, seen=1, hard=int(post.hard))
        self._context.log(connection, "given", me.id, number)
        return task_of(post, token)

    def hold(
        self, connection: sa.Connection, person: int, cohort: str, number: int, again: bool = False
    ) -> str:
        """Write a lease; ``again`` for what is undone. The token of its form."""
        token = short_token()
        values = {
            "to_number": number,
            "to_person": person,
            "to_cohort": cohort,
            "to_token": token,
            "to_given_at": self._context.clock(),
            "to_expires_at": self._until(cohort),
        }
        held = _hold(self._context.database.sqlite, again)
        if connection.execute(held, values).one_or_none() is None:
            raise RuntimeError(f"post {number} was given to person {person} twice")
        return token

    def _move(
        self, connection: sa.Connection, me: Found, row: Row, seen: int = 0, hard: int = 0
    ) -> None:
        """Write where the person stands now, and what they have seen."""
        values = values_of(row) | {
            "seen": me.seen + seen,
            "seen_since": me.seen_since + seen,
            "hard": me.hard + hard,
            "hard_since": me.hard_since + hard,
        }
        connection.execute(_MOVED, {"me": me.id, **{f"to_{k}": v for k, v in values.items()}})

    def renew(self, connection: sa.Connection, held: Found) -> None:
        """A person who looks at the page again keeps the post; written when half is over."""
        until = self._until(held.cohort)
        half = 30 * self._context.campaign.cohort(held.cohort).lease_minutes
        if held.expires_at < until - half:
            mine = (assignments.c.number == held.number) & (assignments.c.person == held.person)
            connection.execute(sa.update(assignments).where(mine).values(expires_at=until))

    def _until(self, cohort: str) -> float:
        return self._context.clock() + 60 * self._context.campaign.cohort(cohort).lease_minutes


def task_of(post: Found, token: str) -> Task:
    """A task from a row with the columns of a post."""
    return Task(token, post.text, post.context, tuple(post.pictures), post.category, post.hard)
