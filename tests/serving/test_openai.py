"""OpenAI's moderation dialect through the application."""

from __future__ import annotations

import msgspec
import pytest

from evenhand.serving.openai_dialect import CATEGORIES, JUDGED, reply

URL = "/v1/moderations"


def test_categories_that_are_not_judged_say_so(client):
    result = client.post(URL, json={"input": "hello"}).json()["results"][0]
    # This detector has neither HATE nor THREAT, and no thresholds: nothing is judged.
    assert result["flagged"] is False
    assert set(result["categories"]) == set(CATEGORIES)
    assert len(CATEGORIES) == 13
    assert set(result["category_scores"].values()) == {0.0}
    assert all(types == [] for types in result["category_applied_input_types"].values())


def test_of_two_attributes_the_lower_score_counts():
    scores = {"HATE": [0.9, 0.9], "THREAT": [0.2, 0.6], "INSULT": [0.1, 0.1]}
    thresholds = {"HATE": 0.5, "THREAT": 0.3, "INSULT": 0.4}
    first, second = msgspec.to_builtins(reply("m", scores, thresholds, 2))["results"]
    assert first["category_scores"]["hate"] == 0.9
    assert first["category_scores"]["hate/threatening"] == 0.2
    assert first["categories"]["hate"] and not first["categories"]["hate/threatening"]
    assert second["categories"]["hate/threatening"]
    assert first["category_applied_input_types"]["hate/threatening"] == ["text"]
    assert first["flagged"] and second["flagged"]
    unjudged = set(CATEGORIES) - set(JUDGED)
    assert all(first["category_scores"][name] == 0.0 for name in unjudged)


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ("one", 1),
        (["one", "two"], 2),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], 1),
    ],
)
def test_one_text_several_and_the_parts_of_a_message(client, given, texts):
    answer = client.post(URL, json={"input": given, "model": "omni-moderation-latest"})
    assert len(answer.json()["results"]) == texts


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "'input' must be a text"),
        ([], "'input' must be a text"),
        (5, "'input' must be a text"),
        (["a", 5], "'input[1]' must be a text"),
        (["a" * 20_481], "longer than 20480 bytes"),
        (["a"] * 257, "at most 256"),
        ([{"type": "image_url", "image_url": {"url": "x"}}], "pictures are not judged"),
        ([{"type": "text"}], "'input[0].text' must be a text"),
    ],
)
def test_bad_input_is_refused_in_the_dialect(client, given, message):
    answer = client.post(URL, json={"input": given})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert message in error["message"]
    assert error["type"] == "invalid_request_error"


def test_no_json(client):
    answer = client.post(URL, content=b"{")
    assert answer.status_code == 400
    assert "could not parse" in answer.json()["error"]["message"]


def test_wrong_key(app):
    client = app(require_key=True)
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        answer = client.post(URL, json={"input": "a"}, headers=headers)
        assert answer.status_code == 401
