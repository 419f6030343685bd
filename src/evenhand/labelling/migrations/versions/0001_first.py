"""The first form of the database, and the triggers that keep the log append-only."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME: sa.Double[float] = sa.Double()
_TEXT = sa.Text()
_RINGS = range(8)

_SQLITE = """
CREATE TRIGGER events_no_{name} BEFORE {name} ON events
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE person = OLD.person)
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END
"""
_FUNCTION = """
CREATE FUNCTION events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM erasures WHERE person = OLD.person) THEN
        RAISE EXCEPTION 'the log is append-only';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$
"""
_POSTGRESQL = """
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE ON events
FOR EACH ROW EXECUTE FUNCTION events_append_only()
"""


def _column(name: str, kind: Any, *more: Any, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, *more, nullable=options.pop("nullable", False), **options)


def _count(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def _maybe(name: str, kind: Any, *more: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, *more, nullable=True)


def _index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "facts", _column("name", sa.String(40), primary_key=True), _column("value", _TEXT)
    )
    op.create_table(
        "posts",
        _column("number", _ID, primary_key=True, autoincrement=False),
        _column("id", _TEXT, unique=True),
        _column("text", _TEXT),
        _maybe("context", _TEXT),
        _column("pictures", _JSON),
        _maybe("category", _TEXT),
        _column("hard", sa.Boolean()),
        _column("gold", sa.Boolean()),
    )
    op.create_table(
        "slots",
        _column("cohort", _TEXT, primary_key=True),
        _column("number", _ID, sa.ForeignKey("posts.number"), primary_key=True),
        _maybe("category", _TEXT),
        _column("overlap", sa.Integer()),
        _count("votes"),
        _count("held"),
        _column("open", sa.Boolean()),
        _maybe("late", sa.BigInteger()),
        *(_column(f"ring{ring}", sa.BigInteger()) for ring in _RINGS),
        sa.CheckConstraint("votes >= 0 AND held >= 0 AND votes + held <= overlap", name="no_more"),
        sa.CheckConstraint("open = (votes + held < overlap)", name="open_is_room"),
    )
    for ring in _RINGS:
        _index(f"slots_ring{ring}", "slots", ["cohort", f"ring{ring}"], "open AND late IS NULL")
    _index("slots_late", "slots", ["cohort", "late"], "open AND late IS NOT NULL")
    _people()
    op.create_table(
        "assignments",
        _column("number", _ID, sa.ForeignKey("posts.number"), primary_key=True),
        _column("person", _ID, sa.ForeignKey("people.id"), primary_key=True),
        _column("cohort", _TEXT),
        _column("state", sa.String(10)),
        _column("token", sa.String(32), unique=True),
        _column("given_at", _TIME),
        _column("expires_at", _TIME),
        _maybe("done_at", _TIME),
        _maybe("seconds", sa.Double()),
        _maybe("answers", _JSON),
        _column("hard", sa.Boolean(), server_default=sa.false()),
    )
    _index("assignments_held", "assignments", ["expires_at"], "state = 'held'")
    op.create_index("assignments_of_person", "assignments", ["person", "given_at"])
    op.create_table(
        "cases",
        _column("number", _ID, sa.ForeignKey("posts.number"), primary_key=True),
        _column("reason", sa.String(20)),
        _column("flags", sa.Integer()),
        _column("opened_at", _TIME),
        sa.Column("token", sa.String(32), unique=True, nullable=True),
        _maybe("holder", _ID, sa.ForeignKey("people.id")),
        _maybe("expires_at", _TIME),
        _maybe("settled_at", _TIME),
        _maybe("settled_by", _ID, sa.ForeignKey("people.id")),
        _maybe("answers", _JSON),
    )
    _index("cases_open", "cases", ["opened_at"], "settled_at IS NULL")
    _log()


def _people() -> None:
    op.create_table(
        "people",
        _column("id", _ID, primary_key=True),
        _column("name", _TEXT, unique=True),
        _column("role", sa.String(20)),
        _maybe("cohort", _TEXT),
        _maybe("password", _TEXT),
        _column("joined_at", _TIME),
        _maybe("erased_at", _TIME),
        _column("language", sa.String(20)),
        _column("blur", sa.Boolean()),
        _column("mask", sa.Boolean()),
        _column("opt_outs", _JSON),
        _maybe("consented_at", _TIME),
        _maybe("tutorial_at", _TIME),
        _count("practised"),
        _maybe("checked_at", _TIME),
        _maybe("background", _JSON),
        _maybe("background_at", _TIME),
        _column("ring", sa.Integer()),
        _column("start", sa.BigInteger()),
        _column("lap", sa.Integer()),
        _column("at", sa.BigInteger()),
        _count("deals"),
        _count("golds"),
        _column("hand", _JSON),
        *(_count(name) for name in ("seen", "hard", "seen_since", "hard_since", "breaks")),
    )
    op.create_table(
        "invites",
        _column("id", _ID, primary_key=True),
        _column("selector", sa.String(16), unique=True),
        _column("hash", _TEXT),
        _column("cohort", _TEXT),
        _column("note", _TEXT),
        _column("most", sa.Integer()),
        _count("used"),
        _column("made_at", _TIME),
        _column("expires_at", _TIME),
        _maybe("revoked_at", _TIME),
    )
    op.create_table(
        "sessions",
        _column("hash", sa.String(64), primary_key=True),
        _column("person", _ID, sa.ForeignKey("people.id"), index=True),
        _column("made_at", _TIME),
        _column("expires_at", _TIME),
    )
    op.create_table(
        "links",
        _column("hash", sa.String(64), primary_key=True),
        _column("expires_at", _TIME),
        _maybe("used_at", _TIME),
    )


def _log() -> None:
    op.create_table(
        "events",
        _column("id", _ID, primary_key=True),
        _column("at", _TIME),
        _column("kind", sa.String(20)),
        sa.Column("person", _ID, index=True, nullable=True),
        _maybe("number", _ID),
        _maybe("data", _JSON),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "erasures",
        _column("person", _ID, primary_key=True, autoincrement=False),
        _column("at", _TIME),
    )
    if op.get_bind().dialect.name == "sqlite":
        for name in ("update", "delete"):
            op.execute(_SQLITE.format(name=name))
    else:
        op.execute(_FUNCTION)
        op.execute(_POSTGRESQL)
