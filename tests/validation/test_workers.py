"""Processes that work side by side, and how they end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenhand.core.errors import BrokenComponent, NotEnoughData
from evenhand.validation.workers import side_by_side
from spies import died, doubled, refused, threads


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_task_is_done_once(workers):
    found = dict(side_by_side(doubled, {n: n for n in range(4)}, workers))
    assert found == {0: 0, 1: 2, 2: 4, 3: 6}


def test_an_error_comes_back_as_it_was():
    with pytest.raises(NotEnoughData, match="3 posts"):
        list(side_by_side(refused, {0: 3}, 1))


def test_a_worker_that_dies_is_an_error():
    with pytest.raises(BrokenComponent, match="ended with code 7"):
        list(side_by_side(died, {0: 1, 1: 2}, 2))


def test_workers_use_one_thread_and_the_environment_is_put_back(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert list(side_by_side(threads, {0: 0}, 1)) == [(0, "1")]
    assert os.environ["OMP_NUM_THREADS"] == "4"


PARENT = """
import os, sys, time
from evenhand.validation.workers import side_by_side
if __name__ == "__main__":
    from slow import slow
    print("ready", flush=True)
    for _ in side_by_side(slow, {n: n for n in range(4)}, 2):
        pass
"""
SLOW = """
import os, time
from pathlib import Path
def slow(number):
    Path(f"pid{number}").write_text(str(os.getpid()))
    time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["key", "kill"])
def test_workers_end_with_their_parent(tmp_path, how):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, "parent.py"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as parent:
        while len(written := list(tmp_path.glob("pid*"))) < 2 or not all(
            path.read_text() for path in written
        ):
            assert parent.poll() is None
            time.sleep(0.05)
        parent.send_signal(how)
        parent.communicate(timeout=60)
    workers = [Path("/proc") / path.read_text() for path in written]
    for _ in range(200):
        if not any(worker.exists() for worker in workers):
            break
        time.sleep(0.05)
    assert not any(worker.exists() for worker in workers)
