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
from evenhand.labelling._tables import FLAGGED, VOTED, Found, assignments, cases, posts
from evenhand.labelling.codes import short_token
from evenhand.labelling.errors import AnswersRefused, NotAllowed, NotHeld
from evenhand.labelling.questionnaire import Form

_HOLD_SECONDS = 1800


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
        """The case the expert holds, or the oldest that is free; None where none is."""
        context = self._context
        now = context.clock()
        mine = (cases.c.holder == person) & (cases.c.expires_at > now)
        free = cases.c.token.is_(None) | (cases.c.expires_at <= now)
        find = (
            sa.select(cases)
            .where(cases.c.settled_at.is_(None), mine | free)
            .order_by(sa.case((mine, 0), else_=1), cases.c.opened_at, cases.c.number)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        with context.database.write() as connection:
            self._expert(connection, person)
            found = connection.execute(find).one_or_none()
            if found is None:
                return None
            token = found.token if found.holder == person and found.token else short_token()
            held = {"holder": person, "token": token, "expires_at": now + _HOLD_SECONDS}
            this = sa.update(cases).where(cases.c.number == found.number)
            connection.execute(this.values(held))
            return self._case(connection, found, token)

    def settle(self, person: int, token: str, form: Form) -> None:
        """The expert's answers stand for the post; the same form again changes nothing."""
        context = self._context
        find = (
            sa.select(cases, posts.c.text)
            .join(posts, posts.c.number == cases.c.number)
            .where(cases.c.token == token)
            .with_for_update(of=cases)
        )
        with context.database.write() as connection:
            self._expert(connection, person)
            found = connection.execute(find).one_or_none()
            if found is None or found.holder != person:
                raise NotHeld("another expert has this case now; load the page again")
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

    def _expert(self, connection: sa.Connection, person: int) -> None:
        if self._context.locked(connection, person).role not in ("expert", "owner"):
            raise NotAllowed("cases are settled by experts")

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
