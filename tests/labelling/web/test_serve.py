"""``evenhand label serve`` as it is typed: the owner's link works once, and it ends when told."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from labelling.conftest import write_campaign

WAIT = 180.0


@pytest.mark.slow
def test_label_serve_prints_a_link_that_works_once(tmp_path: Path, url: str) -> None:
    workers = "2" if url.startswith("postgresql") else "1"
    folder = write_campaign(tmp_path / "campaign")
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "evenhand", "label", "serve", str(folder), "--port", "0",
             "--database", url, "--workers", workers],
            stdout=out,
            stderr=out,
        )  # fmt: skip
    try:
        end = time.monotonic() + WAIT
        while log.read_text().count("startup complete") < int(workers):
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        link = re.search(r"(http://127\.0\.0\.1:\d+)/owner/(\S+)", log.read_text())
        assert link is not None
        for expected in (200, 403):
            with httpx.Client(base_url=link[1], follow_redirects=True, timeout=60) as client:
                page = client.get(f"/owner/{link[2]}").text
                csrf = re.search(r'name="csrf" value="(\w+)"', page)
                assert csrf is not None
                data = {"csrf": csrf[1], "link": link[2]}
                assert client.post("/owner", data=data).status_code == expected
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT) in (0, -signal.SIGTERM)
        assert "/owner/" not in log.read_text().split("running on")[1]  # no access log
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
