"""The experts' queue: posts that were flagged or on which a cohort disagrees, and how they settle.

An expert sees what was answered and how often, never by whom. A settled case becomes the post's
gold in an export; it is not a vote. A case is held by one expert at a time, like a lease.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from evenhand.labelling._context import Context
from evenhand.labelling._leases import Task, task_of
from evenhand.labelling._tables import (
    FLAGGED,
    VOTED,
    Found,
    assignments,
    cases,
    events,
    people,
    posts,
)
from evenhand.labelling.codes import short_token
from evenhand.labelling.errors import AnswersRefused, NotAllowed, NotHeld
from evenhand.labelling.questionnaire import Form
from evenhand.labelling.wellbeing import is_hard

_HOLD_SECONDS = 1800
PASSED = "passed"
"""Kind of the log's entry for a case that somebody left to other experts."""


@dataclass(frozen=True)
class Case:
    """A post before the experts."""

    task: Task
    reason: str
    """flag or disagreement."""
    flags: int
    notes: Sequence[str]
    """What people wrote when they flagged it."""
    tallies: Mapping[str, Mapping[str, int]]
    """Question → answer → votes."""


class Experts:
    """What experts do besides labelling."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def waiting(self) -> int:
        """How many cases are not settled."""
        count = sa.select(sa.func.count()).select_from(cases).where(cases.c.settled_at.is_(None))
        with self._context.database.read() as connection:
            return int(connection.execute(count).scalar_one())

    def next(self, person: int) -> Case | None:
        """The case the expert holds, or the oldest that is free; None where none is for them.

        What they left to others, and what they opted out of, is not for them. A case they see for
        the first time counts as a post they have seen.
        """
        context = self._context
        now = context.clock()
        mine = (cases.c.holder == person) & (cases.c.expires_at > now)
        free = cases.c.token.is_(None) | (cases.c.expires_at <= now)
        left = sa.exists().where(
            events.c.person == person, events.c.kind == PASSED, events.c.number == cases.c.number
        )
        with context.database.write() as connection:
            me = self._expert(connection, person)
            find = (
                sa.select(cases, posts.c.hard)
                .join(posts, posts.c.number == cases.c.number)
                .where(cases.c.settled_at.is_(None), mine | free, ~left)
                .where(posts.c.category.is_(None) | posts.c.category.not_in(me.opt_outs))
                .order_by(sa.case((mine, 0), else_=1), cases.c.opened_at, cases.c.number)
                .limit(1)
                .with_for_update(of=cases, skip_locked=True)
            )
            found = connection.execute(find).one_or_none()
            if found is None:
                return None
            token = found.token if found.holder == person and found.token else short_token()
            if token != found.token:
                _count(connection, person, seen=1, hard=int(found.hard))
                context.log(connection, "case-given", person, found.number)
            held = {"holder": person, "token": token, "expires_at": now + _HOLD_SECONDS}
            this = sa.update(cases).where(cases.c.number == found.number)
            connection.execute(this.values(held))
            return self._case(connection, found, token)

    def settle(self, person: int, token: str, form: Form) -> None:
        """The expert's answers stand for the post; the same form again changes nothing."""
        context = self._context
        with context.database.write() as connection:
            found = self._held(connection, person, token)
            if found.settled_at is not None:
                return
            answers, faults = context.campaign.questionnaire.check(form, found.text)
            if faults:
                raise AnswersRefused(faults)
            done = {
                "settled_at": context.clock(),
                "settled_by": person,
                "answers": answers.as_dict(),
            }
            this = sa.update(cases).where(cases.c.number == found.number)
            connection.execute(this.values(done))
            context.log(connection, "settled", person, found.number, answers.as_dict())
            if not found.hard and is_hard(context.campaign.wellbeing, answers.chosen):
                _count(connection, person, hard=1)

    def leave(self, person: int, token: str) -> None:
        """Leave the case to other experts; the person will not get it again."""
        with self._context.database.write() as connection:
            found = self._held(connection, person, token)
            if found.settled_at is not None:
                raise NotHeld("this case is settled")
            this = sa.update(cases).where(cases.c.number == found.number)
            connection.execute(this.values(holder=None, token=None, expires_at=None))
            self._context.log(connection, PASSED, person, found.number)

    def _expert(self, connection: sa.Connection, person: int) -> Found:
        found = self._context.locked(connection, person)
        if found.role not in ("expert", "owner"):
            raise NotAllowed("cases are settled by experts")
        return found

    def _held(self, connection: sa.Connection, person: int, token: str) -> Found:
        self._expert(connection, person)
        find = (
            sa.select(cases, posts.c.text, posts.c.hard)
            .join(posts, posts.c.number == cases.c.number)
            .where(cases.c.token == token)
            .with_for_update(of=cases)
        )
        found = connection.execute(find).one_or_none()
        if found is None or found.holder != person:
            raise NotHeld("another expert has this case now; load the page again")
        return found

    def _case(self, connection: sa.Connection, found: Found, token: str) -> Case:
        post = connection.execute(sa.select(posts).where(posts.c.number == found.number)).one()
        votes = sa.select(assignments.c.answers).where(
            assignments.c.number == found.number, assignments.c.state == VOTED
        )
        tallies: dict[str, Counter[str]] = {}
        for stored in connection.execute(votes).scalars():
            for question, chosen in stored["chosen"].items():
                tallies.setdefault(question, Counter()).update(chosen)
        flagged = sa.select(assignments.c.answers).where(
            assignments.c.number == found.number,
            assignments.c.state == FLAGGED,
            assignments.c.answers.is_not(None),
        )
        notes = [stored["note"] for stored in connection.execute(flagged).scalars()]
        return Case(task_of(post, token), found.reason, found.flags, notes, tallies)


def _count(connection: sa.Connection, person: int, *, seen: int = 0, hard: int = 0) -> None:
    """What an expert has read counts as it does for everyone."""
    values = {
        name: people.c[name] + many
        for name, many in (
            ("seen", seen),
            ("seen_since", seen),
            ("hard", hard),
            ("hard_since", hard),
        )
    }
    connection.execute(sa.update(people).where(people.c.id == person).values(values))
