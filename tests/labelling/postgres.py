"""A PostgreSQL server of our own, started and ended with what uses it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

QUICK = ("fsync=off", "shared_buffers=64MB")
"""For tests: a machine that loses its power loses a test only."""


def programs() -> Path | None:
    """Where PostgreSQL's programs are: on the path, or in Debian's place."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


@contextmanager
def running(found: Path, settings: Sequence[str] = QUICK) -> Iterator[tuple[sa.URL, int]]:
    """Its address and process, on a free port, as user ``postgres`` where we are root."""
    user = "postgres" if os.geteuid() == 0 else None
    home = Path(tempfile.mkdtemp(prefix="evenhand-postgresql-"))
    if user:
        os.chown(home, pwd.getpwnam(user).pw_uid, -1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    make = [found / "initdb", "-D", home / "data", "-A", "trust", "-U", "evenhand", "--no-sync"]
    make += ["--locale=C", "--encoding=UTF8"]
    subprocess.run(make, check=True, capture_output=True, user=user, cwd=home)
    run = [found / "postgres", "-D", home / "data", "-p", str(port), "-k", str(home)]
    run += ["-h", "127.0.0.1", *(part for setting in settings for part in ("-c", setting))]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(run, stdout=log, stderr=log, user=user, cwd=home)
    url = sa.make_url(f"postgresql+psycopg://evenhand@127.0.0.1:{port}/postgres")
    try:
        _wait(url, server, home / "log")
        yield url, server.pid
    finally:
        server.send_signal(signal.SIGINT)  # does not wait for clients
        server.wait(20)
        shutil.rmtree(home, ignore_errors=True)


def _wait(url: sa.URL, server: subprocess.Popen[bytes], log: Path) -> None:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    for _ in range(200):
        try:
            engine.connect().close()
            return
        except sa.exc.OperationalError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
    raise AssertionError(f"PostgreSQL did not start: {log.read_text()}")
