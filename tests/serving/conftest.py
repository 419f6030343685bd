"""Servers of ours on this machine, as a user starts them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from serving_apps import application
from serving_detectors import write_detectors

WAIT = 90.0


@dataclass
class Server:
    base: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT)


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Server]:
    """A server as ``evenhand serve`` starts it, on a free port."""
    log = folder / f"serve-{time.monotonic_ns()}.log"
    write_detectors(folder)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "evenhand", "serve", "--port", "0", *options],
            cwd=folder,
            stdout=out,
            stderr=out,
            env={**os.environ, "XDG_DATA_HOME": str(folder), "EVENHAND_DATA": str(folder)},
        )
    try:
        end = time.monotonic() + WAIT
        while not (found := re.search(r"running on (http://[\d.:]+)", log.read_text())):
            if process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no server: {log.read_text()}")
            time.sleep(0.05)
        yield Server(found[1], process, log)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The shipped detector on a loopback port; a busy machine makes callers wait, not go."""
    with running(tmp_path_factory.mktemp("server"), "--patience-ms", "60000") as found:
        yield found


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers that end with the test."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(running(tmp_path, *options))


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Makes applications in this process, which end with the test."""
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(application(tmp_path, **settings))


@pytest.fixture
def client(app: Callable[..., Any]) -> Any:
    """An application as it is by default."""
    return app()
