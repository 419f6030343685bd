"""The database itself: versions, a full disk, somebody else's campaign, posts that change."""

from __future__ import annotations

import sqlite3

import polars as pl
import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from evenhand.core.errors import BadInput
from evenhand.labelling import Store, opened, read_campaign, read_posts
from evenhand.labelling._database import Database
from evenhand.labelling._dealing import _query
from evenhand.labelling._tables import assignments, metadata, slots
from evenhand.labelling.errors import StoreError, StoreFull, StoreTooNew, StoreUnreachable

from .conftest import CHEAP, COHORT, write_campaign


def test_migrations_make_the_tables_we_use(url):
    database = Database(url)
    with database.read() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
    database.close()
    assert found == []


def test_opening_again_changes_nothing(make_store, url, people_ready):
    store = make_store()
    [person] = people_ready(store)
    task = store.work.next(person)
    with opened(store.campaign, url, codes=CHEAP, clock=store.context.clock) as again:
        assert again.load(read_posts(store.campaign)) == 0
        assert again.work.next(person) == task


def test_a_newer_database_is_refused_and_left_alone(make_store, url):
    store = make_store()
    with store.context.database.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreTooNew, match="newer Evenhand .version 9999.*Nothing was changed"):
        Store(store.campaign, url)
    with store.context.database.read() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM posts")).scalar() == 6


def test_another_campaign_or_secret_is_refused(make_store, url, tmp_path):
    store = make_store()
    folder = write_campaign(tmp_path / "other")
    (folder / "secret").write_text("ff" * 16)
    with pytest.raises(BadInput, match="or to another secret"):
        Store(read_campaign(folder), url)
    store.close()


def test_posts_can_be_added_but_not_changed(make_store, people_ready):
    store = make_store(posts=3)
    [person] = people_ready(store)
    while (task := store.work.next(person)) is not None:
        store.work.vote(person, task.token, {"abuse": "No"})
    folder = store.campaign.folder
    write_campaign(folder, posts=5)
    assert store.load(read_posts(store.campaign)) == 2
    assert store.work.next(person) is not None
    rows = [{"id": f"p{n:05d}", "text": f"made-up post {n + 1}"} for n in range(1, 5)]
    write_campaign(folder, posts=rows)
    with pytest.raises(BadInput) as caught:
        store.load(read_posts(store.campaign))
    assert "post 'p00000' is gone" in str(caught.value)
    assert "the text of post 'p00001' was changed" in str(caught.value)


def test_a_cohort_can_be_added_and_get_more_posts_but_not_fewer(make_store, people_ready):
    store = make_store(posts=4)
    folder = store.campaign.folder

    def load(ids):
        more = '\n[[cohort]]\nname = "experts"\nrole = "expert"\nids = "experts.txt"\n'
        (folder / "experts.txt").write_text("\n".join(ids))
        campaign = read_campaign(write_campaign(folder, posts=4, more=COHORT + more))
        url = store.context.database.url.render_as_string(hide_password=False)
        with opened(campaign, url, clock=store.context.clock, codes=CHEAP) as again:
            assert again.load(read_posts(campaign)) == 0
            return {cohort.cohort: cohort.posts for cohort in again.progress().cohorts}

    assert load(["p00000"]) == {"volunteers": 4, "experts": 1}
    assert load(["p00000", "p00002"]) == {"volunteers": 4, "experts": 2}
    with pytest.raises(BadInput, match="cohort 'experts' had post 'p00000'"):
        load(["p00001", "p00002"])
    assert load(["p00000", "p00002", "p00003"]) == {"volunteers": 4, "experts": 3}


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path, people_ready):
    campaign = read_campaign(write_campaign(tmp_path / "c", posts=200))
    store = Store(campaign, codes=CHEAP)
    store.load(read_posts(campaign))
    [person] = people_ready(store)
    engine = store.context.database.engine
    pages = []

    @sa.event.listens_for(engine, "checkout")
    def _limit(connection, record, proxy):
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        pages.append(used)
        connection.execute(f"PRAGMA max_page_count = {pages[0] + 2}")

    acknowledged = 0
    with pytest.raises(StoreFull, match="disk is full. This change was not saved"):
        while (task := store.work.next(person)) is not None:
            store.work.vote(person, task.token, {"abuse": "No", "note": "x" * 500})
            acknowledged += 1
    store.close()
    with opened(campaign, codes=CHEAP) as again:
        assert again.progress().cohorts[0].votes == acknowledged > 0
        again.work.vote(person, again.work.next(person).token, {"abuse": "No"})


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (psycopg.errors.DiskFull("no space left"), StoreFull, "disk is full. This change was not"),
        (psycopg.errors.TooManyConnections("sorry"), StoreUnreachable, "does not answer: sorry"),
        (psycopg.errors.AdminShutdown("bye"), StoreUnreachable, "does not answer: bye"),
        (sqlite3.OperationalError("disk I/O error"), StoreError, "disk I/O error"),
    ],
)
def test_errors_of_both_drivers_are_said_in_our_words(make_store, error, kind, message):
    store = make_store()

    def fail(*args):
        raise sa.exc.OperationalError("INSERT", None, error)

    engine = store.context.database.engine
    sa.event.listen(engine, "before_cursor_execute", fail)
    with pytest.raises(kind, match=message):
        store.invites.make("volunteers")
    sa.event.remove(engine, "before_cursor_execute", fail)
    assert store.invites.all() == []


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_full_postgresql_loses_nothing_that_was_acknowledged(make_store, people_ready, url):
    store = make_store()
    [person] = people_ready(store)
    store.work.vote(person, store.work.next(person).token, {"abuse": "No"})
    task = store.work.next(person)
    # What the server says when it cannot write, from the server itself.
    full = """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$"""
    when = (
        "CREATE CONSTRAINT TRIGGER full_disk AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED"
    )
    with store.context.database.write() as connection:
        connection.exec_driver_sql(full)
        connection.exec_driver_sql(f"{when} FOR EACH ROW EXECUTE FUNCTION full_disk()")
    with pytest.raises(StoreFull, match="disk is full. This change was not saved"):
        store.work.vote(person, task.token, {"abuse": "No"})
    assert store.progress().states == {"voted": 1, "held": 1}
    with store.context.database.write() as connection:
        connection.exec_driver_sql("DROP TRIGGER full_disk ON events")
    store.work.vote(person, task.token, {"abuse": "No"})
    assert store.progress().states == {"voted": 2}


@pytest.mark.parametrize(
    ("url", "kind", "message"),
    [
        ("nonsense", BadInput, "not a database URL"),
        ("mysql://x/y", BadInput, "expected sqlite or postgresql"),
        ("sqlite:////no/such/folder/x.sqlite", BadInput, "its folder is not there"),
        ("postgresql://u:pw@127.0.0.1:9/x?connect_timeout=2", StoreUnreachable, "does not answer"),
    ],
)
def test_a_database_that_cannot_be_used_is_named(url, kind, message):
    with pytest.raises(kind, match=message) as caught:
        Database(url)
    assert "pw" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "x.sqlite").write_text("hello " * 1000)
    with pytest.raises(StoreError, match="not a database"):
        Database(f"sqlite:///{tmp_path / 'x.sqlite'}")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_queries_use_the_indexes_of_open_posts(make_store):
    store = make_store(posts=50)
    with store.context.database.read() as connection:
        for ring, name in ((3, "slots_ring3"), (None, "slots_late")):
            query = _query(ring, False, False)
            text = str(query.compile(connection))
            values = tuple(range(text.count("?")))
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values).all()
            assert f"USING INDEX {name} (cohort=? AND" in str(plan), plan


def test_counts_of_slots_equal_what_people_did(make_store, people_ready):
    store = make_store(posts=4)
    for person in people_ready(store, 2):
        store.work.vote(person, store.work.next(person).token, {"abuse": "No"})
        store.work.next(person)
    with store.context.database.read() as connection:
        rows = connection.execute(sa.select(assignments.c.number, assignments.c.state)).all()
        found = connection.execute(sa.select(slots.c.number, slots.c.votes, slots.c.held)).all()
    states = pl.DataFrame(rows, schema=["number", "state"], orient="row")
    for number, votes, held in found:
        mine = states.filter(pl.col("number") == number)["state"].to_list()
        assert (mine.count("voted"), mine.count("held")) == (votes, held)
