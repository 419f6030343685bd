"""What a vote costs: processor time, votes a second, waiting, and whether many posts cost more.

Everything goes through ``evenhand label serve`` on a PostgreSQL of its own (which writes to the
disk at every commit), with the shipped Troll Patrol campaign: forms guarded, sessions looked up,
pages drawn. One worker on one core; PostgreSQL and the annotators on the other. A vote cycle is the
form that is sent and the page with the next post. Prints docs/benchmarks/labelling.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import sqlalchemy as sa
import uvloop

from evenhand.data.find import find
from evenhand.labelling import Store, read_campaign, read_posts
from evenhand.labelling._tables import assignments, people, slots
from evenhand.labelling.new import new_campaign

sys.path[0] = str(Path(__file__).parent.parent / "tests")  # where there is another `labelling`
from labelling.postgres import programs, running  # noqa: E402
from labelling.web.served import Served, children  # noqa: E402
from labelling.web.web_client import Client  # noqa: E402

SERVER, CLIENT = "0", "1"
"""The cores of the two sides."""
FEW, MANY = 10_000, 300_000
DONE = 0.95
TICK = os.sysconf("SC_CLK_TCK")
SHOWN = ["abuse", "type", "medium", "note"]


@dataclass
class Turn:
    """What came of some time of labelling."""

    votes: int = 0
    seconds: float = 0.0
    server: float = 0.0
    """Processor seconds of the server."""
    database: float = 0.0
    waits: list[float] = field(default_factory=list)
    """Seconds from sending a vote to having read the next page."""

    @property
    def rate(self) -> float:
        """Votes a second."""
        return self.votes / self.seconds

    def each(self, cost: float) -> float:
        """Milliseconds for one vote."""
        return 1000 * cost / max(1, self.votes)

    def quantile(self, share: float) -> float:
        """Milliseconds within which a share of the pages came."""
        found = sorted(self.waits)
        return 1000 * found[min(len(found) - 1, int(share * len(found)))]


def cpu(pids: list[int], *, reaped: bool = False) -> float:
    """Processor seconds of processes, with those of their ended children if wanted."""
    total = 0
    for pid in pids:
        parts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += sum(map(int, parts[11:15] if reaped else parts[11:13]))
    return total / TICK


@dataclass(frozen=True)
class Place:
    """A campaign that is served, and what it runs on."""

    port: int
    store: Store
    pids: list[int]
    postgres: int

    def spent(self) -> tuple[float, float]:
        """Processor seconds so far: server, database."""
        found = cpu(children(self.postgres)) + cpu([self.postgres], reaped=True)
        return cpu(self.pids), found

    def join(self, many: int) -> list[Annotator]:
        """New people who are ready to label, each with a session."""
        store = self.store
        with store.context.database.write() as connection:
            added = [store.people.add(connection, "annotator", "volunteers") for _ in range(many)]
            ready = {"consented_at": 1, "tutorial_at": 1, "checked_at": 1, "practised": 99}
            connection.execute(sa.update(people).values(ready))
        return [Annotator(self.port, store.sessions.open(one.id)) for one in added]


class Annotator:
    """Somebody with a browser; one in five posts is found problematic."""

    def __init__(self, port: int, session: str) -> None:
        self._client = Client(port)
        self._client.cookie = f"evenhand={session}"
        self._rng = random.Random(session)

    async def start(self) -> None:
        """Load the first page."""
        await self._next()

    async def vote(self) -> float:
        """A vote and the next page: how long it took."""
        fields = {"csrf": self._csrf, "token": self._token, "action": "vote", "shown": SHOWN}
        hard = self._rng.random() < 0.2
        fields |= {"q.abuse": "Problematic", "q.type": "Other"} if hard else {"q.abuse": "No"}
        began = time.perf_counter()
        reply = await self._client.ask(self._client.form("/label", fields))
        assert reply.location == "/label?said=saved", (reply.status, reply.location)
        await self._next("/label?said=saved")
        return time.perf_counter() - began

    async def _next(self, path: str = "/label") -> None:
        page = await self._client.ask(self._client.get(path))
        if page.location == "/rest":
            await self._client.ask(self._client.form("/rest", {"csrf": self._csrf}))
            page = await self._client.ask(self._client.get("/label"))
        self._csrf, self._token = page.value("csrf"), page.value("token")
        assert self._token, (page.status, page.location)


async def labelled(
    place: Place, crowd: list[Annotator], seconds: float, think: float = 0.0
) -> Turn:
    """Let a crowd vote for some time, each as soon as the next post is there or after thinking."""
    turn = Turn()
    await asyncio.gather(*(one.start() for one in crowd))
    before, began = place.spent(), time.perf_counter()

    async def one(me: Annotator, first: float) -> None:
        await asyncio.sleep(first)
        while time.perf_counter() < began + seconds:
            turn.waits.append(await me.vote())
            turn.votes += 1
            if think:
                await asyncio.sleep(think)

    await asyncio.gather(*(one(me, think * n / len(crowd)) for n, me in enumerate(crowd)))
    turn.seconds = time.perf_counter() - began
    turn.server, turn.database = (a - b for a, b in zip(place.spent(), before, strict=True))
    return turn


async def inserted(port: int, pid: int, many: int, seconds: float) -> Turn:
    """The same number of connections to the app that only inserts."""
    turn = Turn()
    before, began = cpu([pid]), time.perf_counter()

    async def one(number: int) -> None:
        client = Client(port)
        form = {"csrf": "c" * 64, "token": "t" * 24, "action": "vote", "shown": SHOWN}
        request = client.form("/label", form | {"q.abuse": "No"})
        while time.perf_counter() < began + seconds:
            assert (await client.ask(request)).status == 303
            turn.votes += 1

    await asyncio.gather(*map(one, range(many)))
    turn.seconds, turn.server = time.perf_counter() - began, cpu([pid]) - before
    return turn


def made_up(path: Path, many: int) -> None:
    """Posts of about the length of a tweet, every third with a handle and a link."""
    plain = "made-up post {} that goes on about the weather, the town and what the neighbours say"
    other = "@someone{} says the weather of yesterday was foolish, see https://example.org/{}"
    texts = [plain.format(n) if n % 3 else other.format(n % 999, n) for n in range(many)]
    ids = [f"p{n:07d}" for n in range(many)]
    pl.DataFrame({"id": ids, "text": texts}).write_csv(path)


def loaded(folder: Path, url: str, many: int) -> Store:
    """A campaign with so many posts; says how long each step took."""
    made_up(folder / "made-up.csv", many)
    new_campaign(folder / "campaign", "troll-patrol", find(str(folder / "made-up.csv")))
    campaign = read_campaign(folder / "campaign")
    steps = [time.perf_counter()]
    found = read_posts(campaign)
    steps.append(time.perf_counter())
    store = Store(campaign, url)
    store.load(found)
    steps.append(time.perf_counter())
    read, write = (b - a for a, b in zip(steps, steps[1:], strict=False))
    print(f"{many:,} posts: {read:.1f} s to read, {write:.1f} s to bring in.\n", flush=True)
    return store


def mostly_done(store: Store) -> None:
    """Three people have voted on most posts, long ago; the database has tidied up since."""
    database = store.context.database
    with database.write() as connection:
        three = [store.people.add(connection, "annotator", "volunteers").id for _ in range(3)]
        step = round(1 / (1 - DONE))
        done = (slots.c.cohort == "volunteers") & (slots.c.number % step != 0)
        done &= (slots.c.votes == 0) & (slots.c.held == 0)
        for id in three:
            token = sa.func.substr(sa.func.md5(sa.cast(slots.c.number, sa.Text) + f" {id}"), 1, 24)
            voted = {"chosen": {"abuse": ["No"]}, "spans": {}, "notes": {}}
            columns = {
                "number": slots.c.number, "person": sa.literal(id), "cohort": slots.c.cohort,
                "state": sa.literal("voted"), "token": token, "given_at": sa.literal(1.0),
                "expires_at": sa.literal(2.0), "done_at": sa.literal(2.0),
                "answers": sa.literal(voted, assignments.c.answers.type),
            }  # fmt: skip
            rows = sa.select(*columns.values()).where(done)
            connection.execute(sa.insert(assignments).from_select(list(columns), rows))
        full = {"votes": slots.c.overlap, "open": sa.false()}
        connection.execute(sa.update(slots).where(done).values(full))


def tidied(store: Store) -> None:
    """What PostgreSQL does by itself some time after many changes."""
    engine = store.context.database.engine.execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
        connection.exec_driver_sql("CHECKPOINT")


@contextmanager
def served(store: Store, url: str, postgres: int) -> Iterator[Place]:
    """The campaign's server on its core."""
    with Served(store.campaign.folder, url, 1, before=["taskset", "-c", SERVER]) as found:
        yield Place(found.port, store, found.workers(), postgres)


@contextmanager
def one_insert(url: str, folder: Path) -> Iterator[tuple[int, int]]:
    """The app that only inserts, on the same core: its port and process."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE one_insert (id bigserial PRIMARY KEY, token text, answer text)"
        )
    engine.dispose()
    log = folder / "one_insert.log"
    command = ["-m", "uvicorn", "one_insert:app", "--port", "0", "--no-access-log"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["taskset", "-c", SERVER, sys.executable, *command], stdout=out, stderr=out,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent / "peers"),
                 "ONE_INSERT": url.replace("+psycopg", "")},
        )  # fmt: skip
    try:
        while not (match := re.search(r"running on http://127.0.0.1:(\d+)", log.read_text())):
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield int(match[1]), process.pid
    finally:
        process.terminate()
        process.wait(60)


def saturation(place: Place, peer: tuple[int, int], given: argparse.Namespace) -> None:
    """Cost of a vote and votes a second, in turns with the app that only inserts."""
    crowd = place.join(given.connections)
    uvloop.run(labelled(place, crowd, 2))
    uvloop.run(inserted(*peer, given.connections, 1))
    ours, theirs = [], []
    for _ in range(given.rounds):
        crowd = place.join(given.connections)
        ours.append(uvloop.run(labelled(place, crowd, given.seconds)))
        theirs.append(uvloop.run(inserted(*peer, given.connections, given.seconds)))
    print(f"{given.connections} annotators without a pause, turns of {given.seconds:g} s.\n")
    print("| server | votes/s (each turn) | median | server CPU ms a vote | PostgreSQL CPU ms |")
    print("|---|---|---|---|---|")
    for name, turns in (("vote and next page", ours), ("one insert and commit", theirs)):
        each = ", ".join(f"{turn.rate:,.0f}" for turn in turns)
        server, database = (
            statistics.median(turn.each(getattr(turn, part)) for turn in turns)
            for part in ("server", "database")
        )
        told = f"{database:.2f}" if database else ""
        median = statistics.median(turn.rate for turn in turns)
        print(f"| {name} | {each} | {median:,.0f} | {server:.2f} | {told} |", flush=True)
    rates = [statistics.median(turn.rate for turn in turns) for turns in (ours, theirs)]
    print(f"\nOne insert / vote and next page: {rates[1] / rates[0]:.1f}×\n", flush=True)


def thinking(place: Place, seconds: float) -> None:
    """Fifty annotators who think for two seconds."""
    turn = uvloop.run(labelled(place, place.join(50), seconds, think=2.0))
    print(
        f"50 annotators, 2 s of thought, {seconds:g} s, {turn.votes} votes: next post after "
        f"{turn.quantile(0.5):.0f} ms (p50), {turn.quantile(0.99):.0f} ms (p99), "
        f"{1000 * max(turn.waits):.0f} ms (worst).\n",
        flush=True,
    )


def assigning(place: Place, name: str, given: argparse.Namespace) -> float:
    """A row of the table of assignment costs: milliseconds of processor for a vote and its next."""
    uvloop.run(labelled(place, place.join(4), 2))
    turns = [
        uvloop.run(labelled(place, place.join(given.connections), given.seconds / 2))
        for _ in range(given.rounds)
    ]
    server, database = (
        statistics.median(turn.each(getattr(turn, part)) for turn in turns)
        for part in ("server", "database")
    )
    row = f"| {name} | {server:.2f} | {database:.2f} | {server + database:.2f} |"
    given.rows.append(row)
    return server + database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--small", action="store_true", help="a try: few posts, short turns")
    given = parser.parse_args()
    given.rows = []
    few, many = FEW, MANY
    if given.small:
        given.seconds, given.rounds, few, many = 3.0, 2, 2000, 10_000
    os.sched_setaffinity(0, {int(CLIENT)})
    found = programs()
    if found is None:
        raise SystemExit("PostgreSQL is not there: apt-get install postgresql")
    settings = ("shared_buffers=256MB",)
    with running(found, settings) as (server, pid), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "few").mkdir()
        (folder / "many").mkdir()
        url = created(server, "few")
        store = loaded(folder / "few", url, few)
        tidied(store)
        with served(store, url, pid) as place, one_insert(url, folder) as peer:
            saturation(place, peer, given)
            thinking(place, 4 * given.seconds)
            first = assigning(place, f"{few:,} posts", given)
        store.close()
        url = created(server, "many")
        store = loaded(folder / "many", url, many)
        tidied(store)
        with served(store, url, pid) as place:
            second = assigning(place, f"{many:,} posts", given)
            mostly_done(store)
            tidied(store)
            third = assigning(place, f"{many:,} posts, {DONE:.0%} done", given)
        store.close()
    print("| campaign | server CPU ms a vote | PostgreSQL CPU ms | both |\n|---|---|---|---|")
    print(*given.rows, sep="\n")
    print(f"\nMany / few: {second / first:.2f}×; many and mostly done / few: {third / first:.2f}×")


def created(server: sa.URL, name: str) -> str:
    """A new database."""
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    return server.set(database=name).render_as_string(hide_password=False)


if __name__ == "__main__":
    main()
