"""How far a campaign is, for its owner: totals only, no speeds, nobody ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from evenhand.labelling._context import Context
from evenhand.labelling._tables import assignments, cases, people, slots


@dataclass(frozen=True)
class CohortProgress:
    """How far one cohort is."""

    cohort: str
    people: int
    posts: int
    complete: int
    """Posts with all their votes."""
    votes: int
    wanted: int
    """Votes wanted in all, with those added on disagreement."""
    held: int
    """Leases out now."""
    votes_per_post: Mapping[int, int]
    """Votes → how many posts have so many."""


@dataclass(frozen=True)
class Progress:
    """How far the campaign is."""

    cohorts: tuple[CohortProgress, ...]
    cases_open: int
    cases_settled: int
    seen: int
    """Posts shown to anybody, in all."""
    hard: int
    """Of these, hard ones."""
    breaks: int
    states: Mapping[str, int]
    """State of an assignment → how many."""


def progress(context: Context) -> Progress:
    """Counts over the whole campaign."""
    with context.database.read() as connection:
        per = sa.select(
            slots.c.cohort,
            slots.c.votes,
            sa.func.count(),
            sa.func.sum(slots.c.overlap),
            sa.func.sum(slots.c.held),
            sa.func.sum(sa.case((slots.c.votes >= slots.c.overlap, 1), else_=0)),
        ).group_by(slots.c.cohort, slots.c.votes)
        rows = connection.execute(per).all()
        here = people.c.erased_at.is_(None)
        members = sa.select(people.c.cohort, sa.func.count()).where(here).group_by(people.c.cohort)
        many = {cohort: number for cohort, number in connection.execute(members)}
        state = sa.select(assignments.c.state, sa.func.count()).group_by(assignments.c.state)
        states = {name: number for name, number in connection.execute(state)}
        settled = sa.select(sa.func.count(), sa.func.count(cases.c.settled_at))
        all_cases, settled_cases = connection.execute(settled.select_from(cases)).one()
        felt = sa.select(*(sa.func.sum(people.c[name]) for name in ("seen", "hard", "breaks")))
        seen, hard, breaks = (int(total or 0) for total in connection.execute(felt).one())
    cohorts = []
    for cohort in context.campaign.cohorts:
        mine = [row for row in rows if row[0] == cohort.name]
        cohorts.append(
            CohortProgress(
                cohort=cohort.name,
                people=many.get(cohort.name, 0),
                posts=sum(row[2] for row in mine),
                complete=sum(int(row[5]) for row in mine),
                votes=sum(row[1] * row[2] for row in mine),
                wanted=sum(int(row[3]) for row in mine),
                held=sum(int(row[4]) for row in mine),
                votes_per_post={row[1]: row[2] for row in sorted(mine, key=lambda r: r[1])},
            )
        )
    return Progress(
        cohorts=tuple(cohorts),
        cases_open=all_cases - settled_cases,
        cases_settled=settled_cases,
        seen=seen,
        hard=hard,
        breaks=breaks,
        states=states,
    )
