"""Suggested scores: kept only where the owner and the caller want it."""

from __future__ import annotations

import json
import subprocess
import sys

import polars as pl
import pytest

URL = "/v1alpha1/comments:suggestscore?key=k"


def body(**more):
    return {
        "comment": {"text": "Hello there"},
        "attributeScores": {"TOXICITY": {"summaryScore": {"value": 0.9}}},
        "clientToken": "comment:1",
        "communityId": "Coral:site",
        "sessionId": "s",
        **more,
    }


def kept(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_reply(client):
    assert client.post(URL, json=body(languages=["en"])).json() == {
        "clientToken": "comment:1",
        "detectedLanguages": ["en"],
        "requestedLanguages": ["en"],
    }


@pytest.mark.parametrize(
    ("by_default", "told", "stored"),
    [(False, None, False), (False, True, False), (False, False, True),
     (True, None, True), (True, True, False), (True, False, True)],
)  # fmt: skip
def test_do_not_store_is_honoured_and_true_by_default(app, tmp_path, by_default, told, stored):
    path = tmp_path / "kept" / "suggestions.jsonl"
    client = app(suggestions=str(path), store_by_default=by_default)
    more = {} if told is None else {"doNotStore": told}
    assert client.post(URL, json=body(**more)).status_code == 200
    assert len(kept(path)) == stored


def test_what_is_kept_is_a_post_with_judgements(app, tmp_path):
    path = tmp_path / "suggestions.jsonl"
    client = app(suggestions=str(path))
    scores = {
        "TOXICITY": {"summaryScore": {"value": 0.9}},
        "INSULT": {"spanScores": [{"begin": 0, "end": 3, "score": {"value": 0.2}}]},
    }
    for _ in range(2):
        client.post(URL, json=body(attributeScores=scores, doNotStore=False))
    first, second = kept(path)
    assert first["id"] != second["id"]
    assert (first["text"], first["source"], first["token"]) == (
        "Hello there", "Coral:site", "comment:1",
    )  # fmt: skip
    assert [(j["question"], j["answer"], j["value"]) for j in first["judgements"]] == [
        ("TOXICITY", ["yes"], 0.9),
        ("INSULT", ["no"], 0.2),
    ]
    assert first["judgements"][0]["annotator"] == "anybody/s"


def test_a_campaign_reads_what_was_kept(app, tmp_path):
    path = tmp_path / "suggestions.jsonl"
    client = app(suggestions=str(path))
    for text in ("Hello there", "Hello you"):
        client.post(URL, json=body(comment={"text": text}, doNotStore=False))
    made = subprocess.run(
        [sys.executable, "-m", "evenhand", "label", "new", "campaign", "--posts", str(path)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert made.stdout.startswith("2 posts.")
    posts = pl.read_parquet(tmp_path / "campaign" / "posts" / "posts.parquet")
    assert set(posts["text"]) == {"Hello there", "Hello you"}


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "Missing attribute_scores"),
        ({"SPAM": {"summaryScore": {"value": 1}}}, "Unknown attribute: SPAM"),
        ({"TOXICITY": {}}, "Missing score of TOXICITY"),
        ({"TOXICITY": {"summaryScore": {"value": 2}}}, "must be from 0 to 1"),
        ({"TOXICITY": {"spanScores": [{"end": 3}]}}, "need begin and end"),
        ({"TOXICITY": {"summaryScore": {"value": "x"}}}, "Invalid value"),
        ({"TOXICITY": 1}, "Invalid value"),
        ({"TOXICITY": {"spanScores": [1]}}, "Invalid value"),
    ],
)
def test_bad_suggestions_are_refused(client, scores, message):
    answer = client.post(URL, json=body(attributeScores=scores))
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
