"""``evenhand label serve`` as it is typed, whose workers can be killed."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

WAIT = 180.0


class Served:
    """A server of a campaign; with one worker, that one is the server itself."""

    def __init__(self, folder: Path, url: str, workers: int, before: Sequence[str] = ()) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.log = folder.parent / "served.log"
        self._workers = workers
        self._command = [
            *before, sys.executable, "-m", "evenhand", "label", "serve", str(folder),
            "--port", str(self.port), "--database", url, "--workers", str(workers),
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Served:
        self.log.write_bytes(b"")
        self.start()
        end = time.monotonic() + WAIT
        while self.log.read_text().count("startup complete") < self._workers:
            assert self._process is not None
            assert self._process.poll() is None and time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                for pid in self.processes():
                    os.kill(pid, signal.SIGKILL)
                self._process.wait()

    def start(self) -> None:
        """Start, or start again what was killed."""
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(self._command, stdout=out, stderr=out)

    def workers(self) -> list[int]:
        """The processes that answer."""
        assert self._process is not None
        if self._workers == 1:
            return [self._process.pid]
        return [pid for pid in children(self._process.pid) if b"spawn_main" in _command(pid)]

    def processes(self) -> list[int]:
        """Everything the server is made of."""
        assert self._process is not None
        return [self._process.pid, *children(self._process.pid)]

    def kill(self, which: int) -> None:
        """Kill one worker; one that is the whole server is started again."""
        found = self.workers()
        if not found:
            return
        os.kill(found[which % len(found)], signal.SIGKILL)
        if self._workers == 1:
            assert self._process is not None
            self._process.wait()
            self.start()

    def errors(self) -> list[str]:
        """What went wrong by its own account."""
        return re.findall(r"^ERROR.*", self.log.read_text(), re.M)


def children(pid: int) -> list[int]:
    """The processes a process started."""
    try:
        return [int(part) for part in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
