"""Texts scored from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

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
MINE = ("--detector", "python:mine:rude")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a detector of a user's own making."""
    home = tmp_path_factory.mktemp("score")
    (home / "mine.py").write_text(MODULE, encoding="utf-8")
    (home / "posts.csv").write_text(POSTS, encoding="utf-8")
    return home


def evenhand(home, *words, given=None):
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *words],
        capture_output=True,
        cwd=home,
        check=False,
        input=given,
        env=os.environ | {"COLUMNS": "100", "PYTHONUTF8": "1"},
    )


def shown(done):
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def document(done):
    return json.loads(shown(done))


def refused(done):
    assert done.returncode == 2, done.stdout.decode()
    assert b"Traceback" not in done.stderr
    return done.stderr.decode()


def test_train_then_score_with_evidence(home):
    words = ["train", "naive-bayes:min_df=1", "--data", "posts.csv", "--save", "trained"]
    shown(evenhand(home, *words))
    said = shown(
        evenhand(home, "score", "you fool @jane", "a day", "--detector", "trained", "--evidence")
    )
    assert "you fool @user" in said and "jane" not in said
    assert "Words that HATE goes by" in said
    assert "trained, saved by evenhand" in said and "SHA-256" in said
    assert "is not calibrated" in said
    assert "Not for decisions about a person" in said


def test_one_document_without_the_texts(home):
    found = document(evenhand(home, "score", "you fool", "", *MINE, "--evidence", "--json"))
    assert [row["scores"] for row in found["scores"]] == [
        {"HATE": 0.9, "INSULT": 0.2},
        {"HATE": 0.1, "INSULT": 0.1},
    ]
    assert found["scores"][0]["evidence"] == [[0, 3, 0.0], [4, 8, 0.8]]
    assert found["command"] == ["evenhand", "score", "…", "…", *MINE, "--evidence", "--json"]
    assert found["detector"]["name"] == "python:mine:rude"


def test_ten_thousand_lines_from_standard_input(home):
    lines = ["\ufefffirst fool", *(f"line {n}" for n in range(2, 9_999)), "", "last fool\r"]
    given = ("\n".join(lines) + "\n").encode()
    found = document(evenhand(home, "score", "-", *MINE, "--json", given=given))
    assert len(found["scores"]) == 10_000
    high = [row["text"] for row in found["scores"] if row["scores"]["HATE"] > 0.5]
    assert high == [1, 10_000]
    assert found["data"] == [{"name": "standard input", "rows": 10_000, "sha256": None}]


def test_a_very_long_text(home):
    found = document(
        evenhand(home, "score", "-", *MINE, "--evidence", "--json", given=b"fool " * 50_000)
    )
    # 50,000 words in 200 runs of 250 each; without any one of them there are others.
    assert len(found["scores"][0]["evidence"]) == 200
    assert {weight for *_, weight in found["scores"][0]["evidence"]} == {0.0}


@pytest.mark.parametrize(
    ("words", "given", "reason"),
    [
        (["a", "--detector", "nothing"], None, "no detector 'nothing': expected evenhand-base"),
        (["a", *MINE, "--attribute", "THREAT"], None, "no attribute 'THREAT'; found HATE, INSULT"),
        (["a", *MINE, "--base-rate", "0.01"], None, "not calibrated for HATE, INSULT"),
        (["a", *MINE, "--base-rate", "few"], None, "--base-rate 'few'; expected a share such"),
        (["a", *MINE, "--base-rate", "=0.1"], None, "--base-rate '=0.1'; expected one share"),
        (
            ["a", *MINE, "--base-rate", "0.1", "--base-rate", "HATE=0.2"],
            None,
            "expected one share for all, or ATTRIBUTE=SHARE each time",
        ),
        (["a", *MINE, "--perspective-like"], None, "no map to Perspective-like scores"),
        (["a", "--detector", "predictions:posts.csv"], None, "posts.csv"),
        (["a", "--detector", "python:mine:broken"], None, "raised RuntimeError: no memory"),
        (["-", "a", *MINE], None, "- means standard input and stands alone"),
        (["-", *MINE], b"", "standard input: no text to score"),
        (["-", *MINE], b"a\nb \xff\nc\n\xe9\n", "standard input line 2: byte 3 is not UTF-8"),
        (["-", *MINE], b"a\nb \xff\nc\n\xe9\n", "standard input line 4: byte 1 is not UTF-8"),
        ([b"a", b"\xff", *MINE], None, "arguments text 2: is not UTF-8"),
        ([*MINE], None, "TEXT"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(home, words, given, reason):
    assert reason in " ".join(refused(evenhand(home, "score", *words, given=given)).split())
