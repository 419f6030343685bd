"""Invites: codes that let people into a cohort, a number of times and until a day."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from evenhand.core.errors import BadInput
from evenhand.labelling._context import Context
from evenhand.labelling._tables import invites

_DAY = 86_400
_NEVER = 366 * 100


@dataclass(frozen=True)
class Invite:
    """An invite as its owner sees it; the code itself is known only when it is made."""

    id: int
    cohort: str
    note: str
    most: int
    """How many people it lets in."""
    used: int
    expires_at: float
    revoked: bool


class Invites:
    """Invites of one campaign."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def make(self, cohort: str, *, most: int = 1, days: float = 30, note: str = "") -> str:
        """A new code for a cohort."""
        if not 1 <= most <= 1_000_000 or not 0 < days <= _NEVER:
            raise BadInput(f"an invite for {most} people and {days} days; expected at least 1")
        self._context.campaign.cohort(cohort)
        code, selector, hashed = self._context.codes.invite()
        now = self._context.clock()
        row = {
            "selector": selector,
            "hash": hashed,
            "cohort": cohort,
            "note": note,
            "most": most,
            "made_at": now,
            "expires_at": now + _DAY * days,
        }
        with self._context.database.write() as connection:
            connection.execute(sa.insert(invites).values(row))
            self._context.log(connection, "invited", data={"cohort": cohort, "most": most})
        return code

    def all(self) -> list[Invite]:
        """Every invite, the newest first."""
        with self._context.database.read() as connection:
            rows = connection.execute(sa.select(invites).order_by(invites.c.id.desc())).all()
        return [
            Invite(
                row.id,
                row.cohort,
                row.note,
                row.most,
                row.used,
                row.expires_at,
                row.revoked_at is not None,
            )
            for row in rows
        ]

    def revoke(self, invite: int) -> None:
        """Let nobody in with this invite any more."""
        now = self._context.clock()
        this = sa.update(invites).where(invites.c.id == invite, invites.c.revoked_at.is_(None))
        with self._context.database.write() as connection:
            if connection.execute(this.values(revoked_at=now)).rowcount:
                self._context.log(connection, "invite-revoked", data={"invite": invite})
