"""A crowd with bad networks, workers killed at work: nothing acknowledged is lost or doubled.

The small form runs in every test run, the large one by ``make soak``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from evenhand.core.streams import stream
from evenhand.labelling import Store, opened, read_campaign, read_posts
from evenhand.labelling._tables import assignments
from labelling.conftest import CHEAP, write_campaign
from labelling.web.crowd import Annotator, Tally
from labelling.web.ledger import breaches, unfinished
from labelling.web.served import Served
from loops import run

COHORTS = """
[[cohort]]
name = "volunteers"
overlap = 3
more = 1
disagreement = "any"
lease_minutes = 1
[[cohort]]
name = "students"
overlap = 2
lease_minutes = 1
[wellbeing]
break_after_posts = 10
"""
NAMES = ("volunteers", "students")
FINISHERS = 4
"""As many as a post can still want."""
LEASE = 60


@dataclass(frozen=True)
class Size:
    """How much is soaked."""

    people: int
    posts: int
    steps: int
    workers: int
    kills: int
    think: float
    waits: bool
    """Whether leases run out by themselves at the end, or time is moved."""


@pytest.mark.slow
def test_a_small_crowd_loses_and_doubles_nothing(tmp_path: Path, url: str) -> None:
    workers = 2 if url.startswith("postgresql") else 1
    size = Size(people=8, posts=20, steps=16, workers=workers, kills=2, think=0.1, waits=False)
    soaked(tmp_path, url, size, seed=1)


@pytest.mark.soak
def test_two_hundred_people_lose_and_double_nothing(tmp_path: Path, url: str) -> None:
    workers = 4 if url.startswith("postgresql") else 1
    kills = 25 if workers > 1 else 8
    size = Size(people=200, posts=600, steps=25, workers=workers, kills=kills, think=1, waits=True)
    soaked(tmp_path, url, size, seed=2)


def soaked(tmp_path: Path, url: str, size: Size, seed: int) -> None:
    """Let the crowd loose, then let a few with good networks finish, then look at everything."""
    folder = write_campaign(
        tmp_path / "campaign", posts=size.posts, more=COHORTS,
        head='gold = "gold.csv"\ngold_rate = 0.05\n',
    )  # fmt: skip
    gold = "".join(f"g{n},gold {n},No\n" for n in range(5))
    (folder / "gold.csv").write_text(f"id,text,abuse\n{gold}")
    campaign = read_campaign(folder)
    tally = Tally()
    began = time.monotonic()
    with opened(campaign, url, codes=CHEAP) as store:
        store.load(read_posts(campaign))
        codes = [store.invites.make(name, most=10_000) for name in NAMES]
        with Served(folder, url, size.workers) as served:
            run(_crowd(store, served, size, seed, codes, tally))
            if size.waits:
                time.sleep(LEASE + 5)
            else:
                _age(store, _held(store))
            run(_finish(served, size, seed, codes, tally))
        print(
            f"\n{url.split(':')[0]}: {len(tally.acknowledged)} votes acknowledged and kept by "
            f"{size.people} people, {tally.undone} undone, {tally.refused} too late, "
            f"{tally.retries} retries, {size.kills} kills, {time.monotonic() - began:.0f} s; "
            f"sent {dict(sorted(tally.sent.items()))}"
        )
        assert [*tally.bugs, *served.errors()] == []
        assert unfinished(store) == []
        assert breaches(store, url, tally.acknowledged, tmp_path / "export") == []
    assert len(tally.acknowledged) > size.posts


async def _crowd(
    store: Store, served: Served, size: Size, seed: int, codes: Sequence[str], tally: Tally
) -> None:
    async def one(number: int) -> None:
        me = Annotator(served.port, seed, number, tally)
        await me.join(codes[number % len(codes)])
        await me.work(size.steps, size.think)

    trouble = asyncio.create_task(_trouble(store, served, size, seed, tally))
    await asyncio.gather(*(one(number) for number in range(size.people)))
    await trouble


async def _trouble(store: Store, served: Served, size: Size, seed: int, tally: Tally) -> None:
    """Kill workers and let leases run out, at random points of the work."""
    rng = stream(seed, "trouble")
    votes = size.people * size.steps // 2
    for point in sorted(rng.integers(votes // 20, votes, size=size.kills)):
        idle = 0
        while sum(tally.sent.values()) < point and idle < 40:
            await asyncio.sleep(0.25)
            idle += 1
            held = await asyncio.to_thread(_held, store)
            aged = [token for token in held if rng.random() < 0.05]
            await asyncio.to_thread(_age, store, aged)
        served.kill(int(rng.integers(100)))
        await asyncio.sleep(float(rng.random()))


async def _finish(
    served: Served, size: Size, seed: int, codes: Sequence[str], tally: Tally
) -> None:
    async def one(number: int) -> None:
        me = Annotator(served.port, seed, size.people + number, tally, bad=False)
        await me.join(codes[number % len(codes)])
        await me.work(10 * size.posts, returns=1)

    await asyncio.gather(*(one(number) for number in range(FINISHERS * len(codes))))


def _held(store: Store) -> list[str]:
    with store.context.database.read() as connection:
        held = sa.select(assignments.c.token).where(assignments.c.state == "held")
        return list(connection.execute(held).scalars())


def _age(store: Store, tokens: Sequence[str]) -> None:
    """As if the leases had run out."""
    for token in tokens:
        with store.context.database.write() as connection:
            this = sa.update(assignments).where(assignments.c.token == token)
            connection.execute(this.values(expires_at=0))
