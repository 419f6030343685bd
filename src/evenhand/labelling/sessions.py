"""Sessions on the server's side: only a hash of the token is kept; they expire and can be revoked.

Also the one-time link by which an owner signs in first.
"""

from __future__ import annotations

import sqlalchemy as sa

from evenhand.labelling._context import Context
from evenhand.labelling._tables import links, people, sessions
from evenhand.labelling.codes import digest, new_token
from evenhand.labelling.errors import CodeRefused
from evenhand.labelling.people import People
from evenhand.labelling.person import Person, person_of

_HOURS = {"annotator": 24 * 30, "expert": 24, "owner": 12}
_LINK_HOURS = 1

_BY_TOKEN = (
    sa.select(people)
    .join(sessions, sessions.c.person == people.c.id)
    .where(
        sessions.c.hash == sa.bindparam("hash"),
        sessions.c.expires_at > sa.bindparam("now"),
        people.c.erased_at.is_(None),
    )
)


class Sessions:
    """Who is signed in."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def open(self, person: int) -> str:
        """A new session's token, to be kept in a cookie; make one at every sign-in."""
        token = new_token()
        context = self._context
        now = context.clock()
        with context.database.write() as connection:
            role = context.locked(connection, person).role
            row = {
                "hash": digest(token),
                "person": person,
                "made_at": now,
                "expires_at": now + 3600 * _HOURS[role],
            }
            connection.execute(sa.delete(sessions).where(sessions.c.expires_at <= now))
            connection.execute(sa.insert(sessions).values(row))
            context.log(connection, "signed-in", person)
        return token

    def person(self, token: str) -> Person | None:
        """Who the token belongs to; None where it is unknown, expired or revoked."""
        key = {"hash": digest(token), "now": self._context.clock()}
        with self._context.database.read() as connection:
            row = connection.execute(_BY_TOKEN, key).one_or_none()
        return None if row is None else person_of(row, self._context.campaign)

    def close(self, token: str) -> None:
        """Sign out."""
        this = sa.delete(sessions).where(sessions.c.hash == digest(token))
        with self._context.database.write() as connection:
            person = connection.execute(this.returning(sessions.c.person)).scalar()
            if person is not None:
                self._context.log(connection, "signed-out", person)

    def close_all(self, person: int) -> int:
        """Revoke every session of a person; how many there were."""
        with self._context.database.write() as connection:
            gone = connection.execute(sa.delete(sessions).where(sessions.c.person == person))
            self._context.log(connection, "revoked", person)
            return gone.rowcount

    def owner_link(self) -> str:
        """A token that signs an owner in, once, within an hour."""
        token = new_token()
        until = self._context.clock() + 3600 * _LINK_HOURS
        with self._context.database.write() as connection:
            connection.execute(sa.insert(links).values(hash=digest(token), expires_at=until))
            self._context.log(connection, "owner-link")
        return token

    def redeem(self, token: str) -> Person:
        """The owner, for a link that was not used before; the first link makes the owner."""
        context = self._context
        now = context.clock()
        usable = (
            (links.c.hash == digest(token)) & links.c.used_at.is_(None) & (links.c.expires_at > now)
        )
        owner = (
            sa.select(people)
            .where(people.c.role == "owner", people.c.erased_at.is_(None))
            .order_by(people.c.id)
            .limit(1)
        )
        with context.database.write() as connection:
            used = connection.execute(sa.update(links).where(usable).values(used_at=now))
            if not used.rowcount:
                what = "this link was used before or has expired; make a new one"
                raise CodeRefused(what, "link")
            row = connection.execute(owner).one_or_none()
            if row is None:
                return People(context).add(connection, "owner", None)
            return person_of(row, context.campaign)
