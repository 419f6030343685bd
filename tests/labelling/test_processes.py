"""Several worker processes on one database, one of them killed: nothing acknowledged is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

from evenhand.labelling._tables import assignments, slots

WORKER = Path(__file__).parent / "worker.py"
POSTS, OVERLAP = 25, 3


@pytest.mark.slow
def test_a_worker_killed_at_work_loses_nothing(make_store, people_ready, url, clock):
    store = make_store(posts=POSTS)
    clock.now = time.time()
    groups = [people_ready(store, 2) for _ in range(3)]
    workers = [
        subprocess.Popen(
            [sys.executable, WORKER, store.campaign.folder, url, ",".join(map(str, group))],
            stdout=subprocess.PIPE,
            text=True,
        )
        for group in groups
    ]
    lines = [workers[0].stdout.readline().strip() for _ in range(5)]
    workers[0].kill()
    acknowledged = [line for line in lines + workers[0].stdout.read().split() if line]
    workers[0].wait()
    workers[0].stdout.close()
    for worker in workers[1:]:
        said, _ = worker.communicate(timeout=120)
        assert worker.returncode == 0
        acknowledged += said.split()
    assert len(acknowledged) == len(set(acknowledged))
    with store.context.database.read() as connection:
        rows = connection.execute(sa.select(assignments)).all()
    voted = {row.token for row in rows if row.state == "voted"}
    # A killed worker may have committed one vote whose acknowledgement nobody saw.
    assert set(acknowledged) <= voted
    assert len(voted - set(acknowledged)) <= 1
    # Time passes, the killed worker's leases come back, and others finish the posts.
    clock.now += 3600
    for person in [*groups[0], *people_ready(store, OVERLAP)]:
        while (task := store.work.next(person)) is not None:
            store.work.vote(person, task.token, {"abuse": "No"})
    with store.context.database.read() as connection:
        found = connection.execute(sa.select(slots)).all()
        rows = connection.execute(sa.select(assignments)).all()
    per_post = Counter(row.number for row in rows if row.state == "voted")
    assert all((slot.votes, slot.held) == (OVERLAP, 0) for slot in found)
    assert set(per_post.values()) == {OVERLAP}
