"""An audit of a server whose process is killed goes on where it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from evenhand.audits.suites import find_suite
from evenhand.models.score_cache import ScoreCache
from servers import Answer, stand_in


def audit(home, url):
    command = [sys.executable, "-m", "evenhand", "suite", "run", "emoji-hate", "--json"]
    return subprocess.Popen(
        [*command, "--detector", url],
        cwd=home,
        env=os.environ | {"EVENHAND_CACHE": str(home / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_killed_audit_asks_for_the_rest_only(tmp_path):
    texts = set(find_suite("emoji-hate").cases()["text"])
    with stand_in() as server:
        url = f"perspective:{server.url}"
        # Midway the server all but stops, so that the audit cannot get far before it is dead.
        server.rule = lambda asked: Answer(stall_seconds=0.2) if len(server.asked) > 2000 else None
        first = audit(tmp_path, url)
        until = time.monotonic() + 20
        while len(server.asked) <= 2000 and first.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=20)
        assert first.returncode == -signal.SIGKILL
        kept = ScoreCache.of(url, "TOXICITY", tmp_path / "cache").find(server.texts)
        # It loses up to 64 answers that wait to be written; eight requests may be under way.
        assert 2000 - 64 - 8 <= len(kept) <= len(server.asked) < 2100
        server.rule, server.asked = lambda asked: None, []
        again = audit(tmp_path, url)
        _, said = again.communicate(timeout=30)
        assert again.returncode == 0, said
        # The rest, and up to three to see that the server is the same.
        asked = set(server.texts)
        assert 1 <= len(asked & kept.keys()) <= 3
        assert asked - kept.keys() == texts - kept.keys()
        assert len(server.asked) <= len(asked) + 8  # the dead one's may have come late
