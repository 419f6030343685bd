"""From a service's answers to a report and a mapping, as a person types it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from evenhand.cli.migrate import app
from evenhand.core.errors import BadInput
from evenhand.serving.mapping import Mapping
from servers import stand_in

MODULE = """
def lengths(texts):
    return [min(len(text), 40) / 40 for text in texts]


lengths.attributes = ["TOXICITY"]
"""
DETECTOR = "python:lengths_of:lengths"


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "lengths_of.py").write_text(MODULE)
    rows = "\n".join(f"{'blorp ' * (n % 6)}fool {n},{n % 2}" for n in range(60))
    (tmp_path / "posts.csv").write_text(f"text,rejected\n{rows}\n")
    (tmp_path / "key").write_text("key-5f1c\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def typed(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def record(server, *more):
    words = ("record", "--upstream", server.url, "--key-file", "key", "--out", "recorded")
    return typed(*words, "--texts", "posts.csv", "--rate", 1000, *more)


def test_record_a_file_then_see_what_changes(place):
    with stand_in() as server:
        told = record(server, "--labels", "rejected", "--attribute", "TOXICITY")
        assert "scored: 60" in told
        again = record(server, "--labels", "rejected", "--attribute", "TOXICITY", "--json")
        assert len(server.asked) == 60
    [known] = [
        f["value"]
        for f in json.loads(again)["findings"]
        if f["group"]["state"] == "in the recording already"
    ]
    assert known == 60
    told = typed(
        "report", "recorded", "--detector", DETECTOR, "--threshold", "TOXICITY=0.9",
        "--keep", "precision", "--labels", "rejected", "--out", "out",
    )  # fmt: skip
    assert "at .900 the recorded service flagged" in told
    mapping = Mapping.read(place / "out" / "mapping.json")
    assert mapping.recorded_thresholds == {"TOXICITY": 0.9}
    page = (place / "out" / "report.html").read_text()
    assert "TOXICITY: whose decisions flip" in page
    assert "blorp" not in page
    assert "key-5f1c" not in "".join(
        path.read_text(errors="replace")
        for folder in ("recorded", "out")
        for path in (place / folder).iterdir()
    )
    with_text = ("report", "recorded", "--detector", DETECTOR, "--with-text", "--out", "texts")
    typed(*with_text, "--threshold", "TOXICITY=0.9", "--keep", "recall", "--share", "0.5")
    page = (place / "texts" / "report.html").read_text()
    assert "<details><summary>" in page
    assert page.count("blorp") > 0


def test_json_has_the_mapping_and_no_text(place):
    with stand_in() as server:
        record(server)
    document = json.loads(typed("report", "recorded", "--detector", DETECTOR, "--json"))
    assert document["mapping"]["attributes"]["TOXICITY"]["n"] == 60
    assert "blorp" not in json.dumps(document)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("report", "posts.csv", "--detector", DETECTOR), "no column with recorded scores"),
        (("report", "recorded", "--threshold", "TOXICITY"), "expected for example TOXICITY=0.8"),
        (("report", "recorded", "--keep", "peace"), "expected one of flag-rate"),
        (("record", "--upstream", "a.org", "--out", "r"), "--upstream 'a.org'; expected http"),
        (
            ("record", "--upstream", "http://127.0.0.1:1", "--out", "r", "--texts", "posts.csv",
             "--no-text"),
            "--no-text: the texts are in your file",
        ),
        (
            ("record", "--upstream", "http://127.0.0.1:1", "--out", "r", "--sample", "2"),
            "--sample 2.0; expected a share",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_told(place, words, told):
    with pytest.raises(BadInput, match=told):
        typed(*words)
