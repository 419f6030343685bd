"""Texts scored from the command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from evenhand.cli import main
from evenhand.cli.scoring import lines_of
from evenhand.core.errors import BadInput

MODULE = """
def rude(texts):
    return [[0.9, 0.2] if "fool" in t else [0.1, 0.1] for t in texts]


rude.attributes = ["HATE", "INSULT"]


def broken(texts):
    raise RuntimeError("no memory")
"""
POSTS = """text,label
you fool,hateful
what a fool you are,hateful
a fine day,none
what a fine day,none
"""
MINE = ("--detector", "python:rude_words:rude")


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The current folder, with a detector of a user's own making in it."""
    (tmp_path / "rude_words.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "posts.csv").write_text(POSTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "rude_words", raising=False)
    monkeypatch.setenv("COLUMNS", "400")
    return tmp_path


@pytest.fixture
def evenhand(home, monkeypatch, capsys):
    """Types a command, in this process: starting one takes longer than all it does."""

    def typed(*words, given=b""):
        monkeypatch.setattr(sys, "argv", ["evenhand", *words])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        try:
            main()
        except SystemExit as done:
            code = done.code or 0
        return Done(code, *capsys.readouterr())

    return typed


def shown(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def document(done):
    return json.loads(shown(done))


def refused(done):
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr


def test_one_file_is_scored_at_a_time(evenhand):
    done = evenhand("score", "posts.csv", "you fool", *MINE)
    assert done.returncode == 2
    assert "posts.csv is a file, and one file is scored at a time" in done.stderr


def test_train_then_score_with_evidence(evenhand):
    words = ["train", "naive-bayes:min_df=1", "--data", "posts.csv", "--save", "trained"]
    shown(evenhand(*words))
    said = shown(
        evenhand("score", "you fool @jane", "a day", "--detector", "trained", "--evidence")
    )
    assert "you fool @user" in said and "jane" not in said
    assert "Words that HATE goes by" in said
    assert "trained, saved by evenhand" in said and "SHA-256" in said
    assert "is not calibrated" in said
    assert "Not for decisions about a person" in said


def test_one_document_without_the_texts(evenhand):
    found = document(evenhand("score", "you fool", "", *MINE, "--evidence", "--json"))
    assert [row["scores"] for row in found["scores"]] == [
        {"HATE": 0.9, "INSULT": 0.2},
        {"HATE": 0.1, "INSULT": 0.1},
    ]
    assert found["scores"][0]["evidence"] == [[0, 3, 0.0], [4, 8, 0.8]]
    assert found["command"] == ["evenhand", "score", "…", "…", *MINE, "--evidence", "--json"]
    assert found["detector"]["name"] == "python:rude_words:rude"


def test_from_a_shell(home):
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "score", "-", *MINE, "--attribute", "HATE"],
        input="you fool \N{CLOWN FACE}\nfine\n".encode(),
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "you fool \N{CLOWN FACE}" in done.stdout.decode()


def test_ten_thousand_lines_from_standard_input(evenhand):
    lines = ["\ufefffirst fool", *(f"line {n}" for n in range(2, 9_999)), "", "last fool\r"]
    given = ("\n".join(lines) + "\n").encode()
    found = document(evenhand("score", "-", *MINE, "--json", given=given))
    assert len(found["scores"]) == 10_000
    high = [row["text"] for row in found["scores"] if row["scores"]["HATE"] > 0.5]
    assert high == [1, 10_000]
    assert found["data"] == [{"name": "standard input", "rows": 10_000, "sha256": None}]


def test_after_a_line_that_is_not_utf8_no_text_is_scored():
    lines = lines_of(io.BytesIO(b"a\n\xff\nb\n"), "input")
    assert next(lines) == "a"
    with pytest.raises(BadInput, match="input line 2: byte 1 is not UTF-8"):
        next(lines)


def test_a_very_long_text(evenhand):
    found = document(evenhand("score", "-", *MINE, "--evidence", "--json", given=b"fool " * 50_000))
    # 50,000 words in 200 runs of 250 each; without any one of them there are others.
    assert len(found["scores"][0]["evidence"]) == 200
    assert {weight for *_, weight in found["scores"][0]["evidence"]} == {0.0}


@pytest.mark.parametrize(
    ("words", "given", "reason"),
    [
        (["a", "--detector", "nothing"], b"", "no detector 'nothing': expected evenhand-base"),
        (["a", *MINE, "--attribute", "THREAT"], b"", "no attribute 'THREAT'; found HATE, INSULT"),
        (["a", *MINE, "--base-rate", "0.01"], b"", "not calibrated for HATE, INSULT"),
        (["a", *MINE, "--base-rate", "few"], b"", "--base-rate 'few'; expected a share such"),
        (["a", *MINE, "--base-rate", "=0.1"], b"", "--base-rate '=0.1'; expected one share"),
        (
            ["a", *MINE, "--base-rate", "0.1", "--base-rate", "HATE=0.2"],
            b"",
            "expected one share for all, or ATTRIBUTE=SHARE each time",
        ),
        (["a", *MINE, "--perspective-like"], b"", "no map to Perspective-like scores"),
        (["a", "--detector", "predictions:posts.csv"], b"", "posts.csv"),
        (["a", "--detector", "python:rude_words:broken"], b"", "raised RuntimeError: no memory"),
        (["-", "a", *MINE], b"", "- means standard input and stands alone"),
        (["post.csv", *MINE], b"", "post.csv: does not exist. (To score these words as a text"),
        (["-", *MINE], b"", "standard input: no text to score"),
        (["-", *MINE], b"a\nb \xff\nc\n\xe9\n", "standard input line 2: byte 3 is not UTF-8"),
        (["-", *MINE], b"a\nb \xff\nc\n\xe9\n", "standard input line 4: byte 1 is not UTF-8"),
        (["a", "\udcff", *MINE], b"", "arguments text 2: is not UTF-8"),
        ([*MINE], b"", "TEXT"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(evenhand, words, given, reason):
    assert reason in " ".join(refused(evenhand("score", *words, given=given)).split())
