"""A file scored from the command line, also by one that is killed again and again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from evenhand.cli import main
from evenhand.core.streams import stream

MODULE = """
import time


def rude(texts):
    time.sleep(0.05)
    return [0.9 if "fool" in t else len(t) / 1000 for t in texts]
"""
MINE = ("--detector", "python:rude_in_files:rude")
ROWS = 8_500  # nine chunks


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "rude_in_files.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "rude_in_files", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    texts = ["you fool" if k % 7 == 0 else "x" * (k % 90) for k in range(ROWS)]
    pl.DataFrame({"id": range(ROWS), "text": texts}).write_parquet(tmp_path / "posts.parquet")
    return tmp_path


@pytest.fixture
def evenhand(home, monkeypatch, capsys):
    """Types a command, in this process."""

    def typed(*words):
        monkeypatch.setattr(sys, "argv", ["evenhand", *words])
        code = 0
        try:
            main()
        except SystemExit as done:
            code = done.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return typed


def test_a_file_with_a_bad_row_from_start_to_end(home, evenhand):
    (home / "posts.csv").write_text("id,text\na,you fool\nb,what,day\nc,fine\n", encoding="utf-8")
    words = ("score", "posts.csv", "--out", "scores", *MINE, "--workers", "1")
    code, said, _ = evenhand(*words)
    assert code == 0
    assert "the header has 2 cells, the row 3 (line 3)" in said
    assert "1 rows could not be scored" in said and "what" not in said
    table = pl.read_parquet("scores/scores.parquet")
    assert table["HATE"].to_list() == [0.9, None, 0.004]
    run = json.loads((home / "scores" / "run.json").read_text())
    assert run["data"][0]["rows"] == 3 and run["data"][0]["sha256"]
    findings = pl.read_parquet("scores/findings.parquet")
    counts = dict(findings.select("measure", "value").rows())
    assert (counts["rows"], counts["scored"], counts["skipped"]) == (3, 2, 1)
    written = (home / "scores" / "run.json").stat().st_mtime_ns
    code, said, _ = evenhand(*words)
    assert code == 0 and "finished before" in said
    assert (home / "scores" / "run.json").stat().st_mtime_ns == written


def test_a_text_stays_a_text(home, evenhand):
    (home / "you fool").write_text("a file whose name is a text")
    code, said, _ = evenhand("score", "you fool", *MINE, "--json")
    assert code == 0 and json.loads(said)["scores"][0]["scores"] == {"HATE": 0.9}
    code, said, _ = evenhand("score", "fool " * 5000, *MINE, "--json")
    assert code == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["posts.parquet", *MINE], "say by --out DIR where the scores of its rows go"),
        (["posts.parquet", "--out", "o", "--evidence", *MINE], "--evidence is of single texts"),
        (["nothing.parquet", "--out", "o", *MINE], "nothing.parquet: does not exist. (To score"),
        (["a", "b", "--workers", "2", *MINE], "--workers is for a file; name one file"),
        (["posts.parquet", "--out", "o", "--cascade", *MINE], "leave --detector python:"),
        (["posts.parquet", "--out", "posts.parquet", *MINE], "is a file; --out expects a folder"),
        (["posts.parquet", "--out", "o", "--text", "body", *MINE], "no column 'body'"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(evenhand, words, reason):
    code, _, said = evenhand("score", *words)
    assert code == 2 and reason in " ".join(said.split())


def started(home, out):
    command = [sys.executable, "-m", "evenhand", "score", "posts.parquet", "--out", out, *MINE]
    return subprocess.Popen(
        [*command, "--workers", "2", "--json"],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finished(home, out):
    process = started(home, out)
    said, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    return json.loads(said)


def killed(process, condition):
    """Kill the command and its workers as soon as the condition holds."""
    while process.poll() is None and not condition():
        time.sleep(0.005)
    alive = process.poll() is None
    if alive:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    return alive


def parts(home, out):
    return len(list((home / out / ".scoring").glob("part-*.parquet")))


def same_as(home, out, expected):
    found = home / out / "scores.parquet"
    table = pl.read_parquet(found)
    assert table.schema == pl.read_parquet(expected).schema
    assert table["row"].to_list() == list(range(1, ROWS + 1))
    assert found.read_bytes() == expected.read_bytes()
    assert not (home / out / ".scoring").exists()


@pytest.mark.slow
def test_killed_at_three_points_and_finished(home):
    assert finished(home, "whole")["data"][0]["rows"] == ROWS
    points = sorted(stream(7, "points").choice(range(1, 8), size=3, replace=False).tolist())
    for point in points:
        assert killed(started(home, "out"), lambda point=point: parts(home, "out") >= point)
    assert parts(home, "out") >= points[-1]
    finished(home, "out")
    same_as(home, "out", home / "whole" / "scores.parquet")


@pytest.mark.soak
def test_killed_twenty_times_at_random(home):
    began = time.monotonic()
    finished(home, "whole")
    longest = time.monotonic() - began
    rng = stream(11, "kills")
    kills = run = 0
    while kills < 20:
        run += 1
        while True:
            until = time.monotonic() + rng.random() * longest
            if not killed(started(home, f"out{run}"), lambda until=until: time.monotonic() > until):
                break
            kills += 1
        finished(home, f"out{run}")  # it was finished, or all but the report
        same_as(home, f"out{run}", home / "whole" / "scores.parquet")
