"""A PostgreSQL of our own, small campaigns on both databases, and people who are ready to label."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher

from evenhand.labelling import Store, read_campaign, read_posts
from evenhand.labelling.codes import Codes
from labelling.postgres import programs, running

CHEAP = Codes(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
SECRET = "00112233445566778899aabbccddeeff"
QUESTIONS = """
[[question]]
id = "abuse"
kind = "ordinal"
text = "Is it abusive?"
[[question.answer]]
id = "No"
text = "No"
[[question.answer]]
id = "Problematic"
text = "Problematic"
[[question.answer]]
id = "Abusive"
text = "Abusive"

[[question]]
id = "type"
kind = "several"
when = { abuse = ["Problematic", "Abusive"] }
text = "Which kind?"
[[question.answer]]
id = "insult"
text = "Insult"
[[question.answer]]
id = "threat"
text = "Threat"

[[question]]
id = "words"
kind = "words"
of = "abuse"
optional = true
when = { abuse = ["Abusive"] }
text = "Which words?"

[[question]]
id = "note"
kind = "note"
text = "Anything else?"
"""
HEAD = """
format = 1
name = "small"
languages = ["en"]
posts = "posts.csv"
main = "abuse"
hateful = ["Problematic", "Abusive"]
title = "Small"
about = "About."
consent = "Yes."
warning = "Careful."
thanks = "Thanks."
"""
COHORT = '\n[[cohort]]\nname = "volunteers"\noverlap = 3\n'


def _missing(what: str) -> None:
    if os.environ.get("EVENHAND_NO_SKIP"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[sa.URL]:
    """A server of our own."""
    found = programs()
    if found is None:
        _missing("PostgreSQL is not there: apt-get install postgresql")
    assert found is not None
    with running(found) as (url, _):
        yield url


_NUMBERS = count()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        # In memory where there is such a place: every commit waits for the disk otherwise.
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path
        with tempfile.TemporaryDirectory(dir=place, prefix="evenhand-") as folder:
            yield f"sqlite:///{folder}/campaign.sqlite"
        return
    server = request.getfixturevalue("postgresql")
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield server.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


class Clock:
    """A clock that moves a little whenever it is read, and as far as it is told."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def write_campaign(folder: Path, *, posts: int | list[dict] = 6, more: str = COHORT, head: str = "",
                   questions: str = QUESTIONS) -> Path:  # fmt: skip
    """A folder with a campaign of made-up posts."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = posts
    if isinstance(posts, int):
        rows = [{"id": f"p{n:05d}", "text": f"made-up post {n}"} for n in range(posts)]
    pl.DataFrame(rows).write_csv(folder / "posts.csv")
    (folder / "campaign.toml").write_text(HEAD + head + questions + more, encoding="utf-8")
    (folder / "secret").write_text(SECRET)
    return folder


@pytest.fixture
def make_store(tmp_path: Path, url: str, clock: Clock) -> Iterator[Callable[..., Store]]:
    """Stores of small campaigns with their posts loaded, closed at the end."""
    opened = []

    def make(**options: object) -> Store:
        campaign = read_campaign(write_campaign(tmp_path / "campaign", **options))
        store = Store(campaign, url, clock=clock, codes=CHEAP)
        store.load(read_posts(campaign))
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.close()


def ready(store: Store, people: int = 1, cohort: str = "volunteers") -> list[int]:
    """New people who have agreed and can label at once."""
    code = store.invites.make(cohort, most=people)
    ids = [store.people.join(code).id for _ in range(people)]
    for person in ids:
        store.people.consent(person)
    return ids


@pytest.fixture
def people_ready() -> Callable[..., list[int]]:
    return ready
