"""Labelling itself: the next post, votes, skips, flags, undo and rest.

A vote is acknowledged only after its transaction is committed. Every form has a token that belongs
to one lease: sending it again is not a second vote, and sending it for somebody else's post or
after the lease went to others is refused, with the answers kept in the log. Every change locks the
person first, then the assignment, then the post's slot, and the slots of one post only (a sweep
locks those of many, lowest number first, and is a transaction of its own): nobody waits in a ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from evenhand.labelling import _slots
from evenhand.labelling._context import Context
from evenhand.labelling._dealing import sweep
from evenhand.labelling._leases import Leases, Task, task_of
from evenhand.labelling._outcomes import FLAG, after_undo, after_vote, open_case
from evenhand.labelling._tables import (
    FLAGGED,
    HELD,
    RETURNED,
    SKIPPED,
    VOTED,
    Found,
    assignments,
    people,
    posts,
)
from evenhand.labelling.errors import AnswersRefused, NotAllowed, NotHeld
from evenhand.labelling.person import Person, person_of
from evenhand.labelling.questionnaire import LONGEST_NOTE, Answers, Form
from evenhand.labelling.wellbeing import is_hard

__all__ = ["Receipt", "Task", "Work"]

_OLD = "this form is not yours to send any more: load the page again for your next post"
_LATE = (
    "others finished this post while you were away; your answers are kept in the log but do not "
    "count as a vote. Thank you, and go on with the next post"
)


@dataclass(frozen=True)
class Receipt:
    """What became of a vote; handed out after the commit."""

    token: str
    repeated: bool = False
    """The same form had been counted before."""


_WITH_POST = sa.select(
    *(assignments.c[name] for name in ("number", "person", "cohort", "state", "token")),
    *(assignments.c[name] for name in ("given_at", "expires_at", "done_at")),
    assignments.c.hard.label("felt_hard"),
    *(posts.c[name] for name in ("text", "context", "pictures", "category", "hard")),
).join(posts, posts.c.number == assignments.c.number)
_MINE = assignments.c.person == sa.bindparam("person")
_BY_TOKEN = _WITH_POST.where(_MINE, assignments.c.token == sa.bindparam("token"))
# The person is locked before the assignment, here as everywhere.
_LOCK_BY_TOKEN = (
    _BY_TOKEN.join(people, people.c.id == assignments.c.person)
    .where(people.c.erased_at.is_(None))
    .with_for_update(of=[people, assignments])
)
_NEWEST = assignments.c.given_at.desc()
_HELD = _WITH_POST.where(_MINE, assignments.c.state == HELD).order_by(_NEWEST).limit(1)
_LAST = (
    _WITH_POST.where(_MINE, assignments.c.done_at.is_not(None))
    .order_by(assignments.c.done_at.desc(), _NEWEST)
    .limit(1)
    .with_for_update(of=assignments)
)
_DONE = (
    sa.update(assignments)
    .where(assignments.c.number == sa.bindparam("of"), assignments.c.person == sa.bindparam("by"))
    .values(
        state=sa.bindparam("to"),
        answers=sa.bindparam("given", type_=assignments.c.answers.type),
        done_at=sa.bindparam("now"),
        seconds=sa.bindparam("took"),
    )
)
_FELT = (
    sa.update(people)
    .where(people.c.id == sa.bindparam("by"))
    .values(hard=people.c.hard + 1, hard_since=people.c.hard_since + 1)
)


class Work:
    """What annotators do."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._leases = Leases(context)

    def next(self, person: int) -> Task | None:
        """The post the person holds, or a new lease; None where nothing is left for them now."""
        task = self._next(person, deal=False)
        if task is None:
            self.sweep()  # not in one transaction with a lease: it holds many slots
            task = self._next(person, deal=True)
        return task

    def task(self, person: int, token: str) -> Task:
        """The post of one of the person's forms, to show it again."""
        with self._context.database.read() as connection:
            found = connection.execute(_BY_TOKEN, {"person": person, "token": token}).one_or_none()
        if found is None:
            raise NotHeld(_OLD)
        return task_of(found, token)

    def vote(self, person: int, token: str, form: Form, *, seconds: float | None = None) -> Receipt:
        """Count the answers; acknowledged by the receipt. Raises with every fault of the form.

        ``seconds`` is the time spent on the post; without it, the time since it was given.
        """
        context = self._context
        with context.database.write() as connection:
            row = self._mine(connection, person, token)
            if row.state == VOTED:
                return Receipt(token, repeated=True)
            if row.state not in (HELD, RETURNED):
                raise NotHeld(_OLD)
            answers, faults = context.campaign.questionnaire.check(form, row.text)
            if faults:
                raise AnswersRefused(faults)
            counted = self._count(connection, row)
            kind = VOTED if counted else "late"
            context.log(connection, kind, person, row.number, answers.as_dict())
            if counted:
                self._finish(connection, row, VOTED, answers.as_dict(), seconds)
                self._felt(connection, row, answers)
                after_vote(connection, context, row, counted[0])
        if not counted:
            raise NotHeld(_LATE)
        return Receipt(token)

    def skip(self, person: int, token: str) -> None:
        """Leave the post to others; the person will not get it again."""
        self._leave(person, token, SKIPPED)

    def flag(self, person: int, token: str, note: str = "") -> None:
        """Leave the post to an expert, with a note."""
        self._leave(person, token, FLAGGED, note[:LONGEST_NOTE])

    def undo(self, person: int) -> Task | None:
        """Take back the last vote, skip or flag and hold the post again; None: nothing to undo."""
        context = self._context
        with context.database.write() as connection:
            context.locked(connection, person)
            last = connection.execute(_LAST, {"person": person}).one_or_none()
            if last is None:
                return None
            gold = last.number in self._leases.gold(connection)
            if last.state == VOTED:
                _slots.unvote(connection, last.cohort, last.number)
            elif not gold and not _slots.take(connection, last.cohort, last.number):
                raise NotHeld("others have finished this post meanwhile; it cannot be undone")
            after_undo(connection, last)
            context.log(connection, "undone", person, last.number)
            token = self._leases.hold(connection, person, last.cohort, last.number, again=True)
            return task_of(last, token)

    def rest(self, person: int) -> Person:
        """The person takes a break: the counters since the last one begin anew."""
        with self._context.database.write() as connection:
            self._context.locked(connection, person)
            update = sa.update(people).where(people.c.id == person)
            begun = {"seen_since": 0, "hard_since": 0, "breaks": people.c.breaks + 1}
            row = connection.execute(update.values(begun).returning(people)).one()
            self._context.log(connection, "rested", person)
            return person_of(row, self._context.campaign)

    def sweep(self) -> int:
        """Take back leases that ran out (also done before a hand is dealt); how many."""
        with self._context.database.write() as connection:
            return sweep(connection, self._context)

    def _next(self, person: int, *, deal: bool) -> Task | None:
        with self._context.database.write() as connection:
            me = self._context.locked(connection, person)
            stage = person_of(me, self._context.campaign).stage
            if me.cohort is None or stage != "ready":
                raise NotAllowed(f"not ready to label: {stage} comes first")
            held = connection.execute(_HELD, {"person": person}).one_or_none()
            if held is None:
                return self._leases.take(connection, me, deal=deal)
            self._leases.renew(connection, held)
            return task_of(held, held.token)

    def _mine(self, connection: sa.Connection, person: int, token: str) -> Found:
        key = {"person": person, "token": token}
        row = connection.execute(_LOCK_BY_TOKEN, key).one_or_none()
        if row is None:
            raise NotHeld(_OLD)
        return row

    def _count(self, connection: sa.Connection, row: Found) -> tuple[Found | None] | None:
        """Count a vote: a tuple with the slot (None for a gold post); None where it is too late."""
        if row.number in self._leases.gold(connection):
            return (None,)
        if row.state == HELD:
            return (_slots.vote(connection, row.cohort, row.number),)
        slot = _slots.take_vote(connection, row.cohort, row.number)
        return None if slot is None else (slot,)

    def _felt(self, connection: sa.Connection, row: Found, answers: Answers) -> None:
        """Count a post the person found hard, once."""
        care = self._context.campaign.wellbeing
        if row.hard or row.felt_hard or not is_hard(care, answers.chosen):
            return
        connection.execute(_FELT, {"by": row.person})
        mine = (assignments.c.number == row.number) & (assignments.c.person == row.person)
        connection.execute(sa.update(assignments).where(mine).values(hard=True))

    def _leave(self, person: int, token: str, state: str, note: str | None = None) -> None:
        context = self._context
        with context.database.write() as connection:
            row = self._mine(connection, person, token)
            if row.state == state:
                return  # the same form again
            if row.state not in (HELD, RETURNED):
                raise NotHeld(_OLD)
            if row.state == HELD:
                _slots.release(connection, row.cohort, row.number, context.clock())
            said = {"note": note} if note else None
            self._finish(connection, row, state, said)
            context.log(connection, state, person, row.number, said)
            if state == FLAGGED:
                open_case(connection, context, row.number, FLAG)

    def _finish(
        self,
        connection: sa.Connection,
        row: Found,
        state: str,
        answers: dict[str, Any] | None = None,
        seconds: float | None = None,
    ) -> None:
        now = self._context.clock()
        done = {
            "of": row.number,
            "by": row.person,
            "to": state,
            "given": answers,
            "now": now,
            "took": seconds if seconds is not None else now - row.given_at,
        }
        connection.execute(_DONE, done)
