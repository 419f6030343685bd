"""What a campaign's database and export must say after a soak, each breach as a line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from evenhand.labelling import Campaign, Store
from evenhand.labelling._tables import assignments, events, people, posts, slots
from evenhand.labelling.pseudonyms import Pseudonyms
from labelling.web.crowd import Vote

_STEPS = {
    "given": ({None, "returned"}, "held"),
    "voted": ({"held", "returned"}, "voted"),
    "late": ({"returned"}, "returned"),
    "skipped": ({"held", "returned"}, "skipped"),
    "flagged": ({"held", "returned"}, "flagged"),
    "undone": ({"voted", "skipped", "flagged"}, "held"),
    "returned": ({"held"}, "returned"),
}
"""Entry of the log → the states it may follow, the state it leads to."""


def breaches(store: Store, url: str, acknowledged: Sequence[Vote], out: Path) -> list[str]:
    """Everything that is wrong; empty after a campaign that lost and doubled nothing."""
    given = (
        sa.select(assignments, posts.c.id, posts.c.text, posts.c.gold, people.c.name)
        .join(posts, posts.c.number == assignments.c.number)
        .join(people, people.c.id == assignments.c.person)
    )
    with store.context.database.read() as connection:
        rows = connection.execute(given).all()
        found = connection.execute(sa.select(slots)).all()
        log = connection.execute(sa.select(events).order_by(events.c.id)).all()
    return [
        *_lost(rows, acknowledged),
        *_twice(rows),
        *_counts(store.campaign, rows, found),
        *_replayed(rows, log),
        *_exported(store.campaign, url, rows, out),
    ]


def unfinished(store: Store) -> list[str]:
    """Posts that still want votes, and leases that are still held."""
    with store.context.database.read() as connection:
        found = connection.execute(sa.select(slots).where(slots.c.votes < slots.c.overlap)).all()
        held = connection.execute(sa.select(assignments).where(assignments.c.state == "held")).all()
    lines = [f"post {row.number}: {row.votes} of {row.overlap} votes" for row in found]
    return lines + [f"post {row.number}: held by {row.person} forever" for row in held]


def _lost(rows: Sequence[Any], acknowledged: Sequence[Vote]) -> Iterator[str]:
    by_token = {row.token: row for row in rows}
    for vote in acknowledged:
        row = by_token.get(vote.token)
        if row is None or row.state != "voted":
            yield f"lost: an acknowledged vote on {vote.text!r}"
        elif (row.text, row.answers["chosen"]["abuse"]) != (vote.text, [vote.answer]):
            yield f"changed: {vote} is kept as {row.text!r} {row.answers['chosen']}"
    yield from (f"acknowledged twice: {vote}" for vote, n in Counter(acknowledged).items() if n > 1)


def _twice(rows: Sequence[Any]) -> Iterator[str]:
    many = Counter((row.number, row.person) for row in rows)
    yield from (f"post {number} given to {by} twice" for (number, by), n in many.items() if n > 1)


def _counts(campaign: Campaign, rows: Sequence[Any], found: Sequence[Any]) -> Iterator[str]:
    states = Counter((row.cohort, row.number, row.state) for row in rows)
    for slot in found:
        cohort = campaign.cohort(slot.cohort)
        voted, held = (states[slot.cohort, slot.number, state] for state in ("voted", "held"))
        if (slot.votes, slot.held) != (voted, held):
            yield f"post {slot.number}: says {slot.votes}+{slot.held}, has {voted}+{held}"
        if voted > slot.overlap or slot.overlap > cohort.overlap + cohort.more:
            yield f"post {slot.number}: {voted} votes above {slot.overlap}"


def _replayed(rows: Sequence[Any], log: Sequence[Any]) -> Iterator[str]:
    """The log, step by step: it tells a second vote, and ends where the tables are."""
    states: dict[tuple[int, int], str | None] = defaultdict(lambda: None)
    answers: dict[tuple[int, int], Any] = {}
    for entry in log:
        if entry.kind not in _STEPS or entry.person is None:
            continue
        key = (entry.number, entry.person)
        before, after = _STEPS[entry.kind]
        if states[key] not in before:
            yield f"log: {entry.kind} after {states[key]} for post and person {key}"
        states[key] = after
        if entry.kind == "voted":
            answers[key] = entry.data
    for row in rows:
        state = states.pop((row.number, row.person), None)
        if state != row.state:
            yield f"log says {state}, table says {row.state} for {(row.number, row.person)}"
        elif state == "voted" and answers[row.number, row.person] != row.answers:
            yield f"log has other answers for {(row.number, row.person)}"
    yield from (f"log has more than the table: {key}" for key in states)


def _exported(campaign: Campaign, url: str, rows: Sequence[Any], out: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "evenhand", "label", "export", campaign.folder, "--out", out]
    done = subprocess.run([*command, "--database", url], capture_output=True, text=True)
    if done.returncode:
        yield f"export failed: {done.stderr}"
        return
    lines = map(json.loads, (out / "judgements.jsonl").read_text().splitlines())
    written = Counter(
        (line["post"], line["annotator"], tuple(line["answer"]))
        for line in lines
        if line["question"] == "abuse"
    )
    hidden = Pseudonyms(campaign.secret)
    kept = Counter(
        (row.id, hidden.annotator(row.name), tuple(row.answers["chosen"]["abuse"]))
        for row in rows
        if row.state == "voted" and not row.gold
    )
    yield from (f"exported {n} times too often: {key}" for key, n in (written - kept).items())
    yield from (f"missing in the export {n} times: {key}" for key, n in (kept - written).items())
