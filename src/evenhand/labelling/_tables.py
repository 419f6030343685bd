"""The tables of a campaign's database.

Times are seconds since 1970 in UTC. ``events`` is append-only (triggers of the first migration
refuse anything else, but for people who asked to be forgotten). ``slots`` has one row per post and
cohort with the votes it has and the leases it gave; the indexes hold open posts only.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from evenhand.labelling.assignment import RINGS

metadata = sa.MetaData()
Found = sa.Row[*tuple[Any, ...]]
"""A row that a query found."""
Json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
Time: sa.Double[float] = sa.Double()
Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

HELD, VOTED, SKIPPED, FLAGGED, RETURNED = "held", "voted", "skipped", "flagged", "returned"
"""States of an assignment."""


ON_RING = "open AND late IS NULL"
OPENED_AGAIN = "open AND late IS NOT NULL"
"""Said in the same words in indexes and queries, or SQLite does not use the index."""


def _index(name: str, *columns: Any, where: str) -> None:
    sa.Index(name, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


facts = sa.Table(
    "facts",
    metadata,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

posts = sa.Table(
    "posts",
    metadata,
    sa.Column("number", Id, primary_key=True, autoincrement=False),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("context", sa.Text),
    sa.Column("pictures", Json, nullable=False),
    sa.Column("category", sa.Text),
    sa.Column("hard", sa.Boolean, nullable=False),
    sa.Column("gold", sa.Boolean, nullable=False),
)

slots = sa.Table(
    "slots",
    metadata,
    sa.Column("cohort", sa.Text, primary_key=True),
    sa.Column("number", Id, sa.ForeignKey("posts.number"), primary_key=True),
    sa.Column("category", sa.Text),
    sa.Column("overlap", sa.Integer, nullable=False),
    sa.Column("votes", sa.Integer, nullable=False, server_default="0"),
    sa.Column("held", sa.Integer, nullable=False, server_default="0"),
    sa.Column("open", sa.Boolean, nullable=False),
    sa.Column("late", sa.BigInteger),
    *(sa.Column(f"ring{ring}", sa.BigInteger, nullable=False) for ring in range(RINGS)),
    sa.CheckConstraint("votes >= 0 AND held >= 0 AND votes + held <= overlap", name="no_more"),
    sa.CheckConstraint("open = (votes + held < overlap)", name="open_is_room"),
)
for _ring in range(RINGS):
    _index(f"slots_ring{_ring}", slots.c.cohort, slots.c[f"ring{_ring}"], where=ON_RING)
_index("slots_late", slots.c.cohort, slots.c.late, where=OPENED_AGAIN)

people = sa.Table(
    "people",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("cohort", sa.Text),
    sa.Column("password", sa.Text),
    sa.Column("joined_at", Time, nullable=False),
    sa.Column("erased_at", Time),
    sa.Column("language", sa.String(20), nullable=False),
    sa.Column("blur", sa.Boolean, nullable=False),
    sa.Column("mask", sa.Boolean, nullable=False),
    sa.Column("opt_outs", Json, nullable=False),
    sa.Column("consented_at", Time),
    sa.Column("tutorial_at", Time),
    sa.Column("practised", sa.Integer, nullable=False, server_default="0"),
    sa.Column("checked_at", Time),
    sa.Column("background", Json),
    sa.Column("background_at", Time),
    sa.Column("ring", sa.Integer, nullable=False),
    sa.Column("start", sa.BigInteger, nullable=False),
    sa.Column("lap", sa.Integer, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("deals", sa.Integer, nullable=False, server_default="0"),
    sa.Column("golds", sa.Integer, nullable=False, server_default="0"),
    sa.Column("hand", Json, nullable=False),
    sa.Column("seen", sa.Integer, nullable=False, server_default="0"),
    sa.Column("hard", sa.Integer, nullable=False, server_default="0"),
    sa.Column("seen_since", sa.Integer, nullable=False, server_default="0"),
    sa.Column("hard_since", sa.Integer, nullable=False, server_default="0"),
    sa.Column("breaks", sa.Integer, nullable=False, server_default="0"),
)

assignments = sa.Table(
    "assignments",
    metadata,
    sa.Column("number", Id, sa.ForeignKey("posts.number"), primary_key=True),
    sa.Column("person", Id, sa.ForeignKey("people.id"), primary_key=True),
    sa.Column("cohort", sa.Text, nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("token", sa.String(32), nullable=False, unique=True),
    sa.Column("given_at", Time, nullable=False),
    sa.Column("expires_at", Time, nullable=False),
    sa.Column("done_at", Time),
    sa.Column("seconds", sa.Double),
    sa.Column("answers", Json),
    sa.Column("hard", sa.Boolean, nullable=False, server_default=sa.false()),
)
_index("assignments_held", assignments.c.expires_at, where="state = 'held'")
sa.Index("assignments_of_person", assignments.c.person, assignments.c.given_at)

cases = sa.Table(
    "cases",
    metadata,
    sa.Column("number", Id, sa.ForeignKey("posts.number"), primary_key=True),
    sa.Column("reason", sa.String(20), nullable=False),
    sa.Column("flags", sa.Integer, nullable=False),
    sa.Column("opened_at", Time, nullable=False),
    sa.Column("token", sa.String(32), unique=True),
    sa.Column("holder", Id, sa.ForeignKey("people.id")),
    sa.Column("expires_at", Time),
    sa.Column("settled_at", Time),
    sa.Column("settled_by", Id, sa.ForeignKey("people.id")),
    sa.Column("answers", Json),
)
_index("cases_open", cases.c.opened_at, where="settled_at IS NULL")

invites = sa.Table(
    "invites",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("selector", sa.String(16), nullable=False, unique=True),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("cohort", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("most", sa.Integer, nullable=False),
    sa.Column("used", sa.Integer, nullable=False, server_default="0"),
    sa.Column("made_at", Time, nullable=False),
    sa.Column("expires_at", Time, nullable=False),
    sa.Column("revoked_at", Time),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("person", Id, sa.ForeignKey("people.id"), nullable=False, index=True),
    sa.Column("made_at", Time, nullable=False),
    sa.Column("expires_at", Time, nullable=False),
)

links = sa.Table(
    "links",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("expires_at", Time, nullable=False),
    sa.Column("used_at", Time),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", Id, primary_key=True),
    sa.Column("at", Time, nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("person", Id, index=True),
    sa.Column("number", Id),
    sa.Column("data", Json),
    sqlite_autoincrement=True,
)

erasures = sa.Table(
    "erasures",
    metadata,
    sa.Column("person", Id, primary_key=True, autoincrement=False),
    sa.Column("at", Time, nullable=False),
)
