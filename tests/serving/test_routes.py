"""Plain requests are answered without the framework, and in the same way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evenhand.serving.errors import OWN, Refused
from evenhand.serving.routes import body
from loops import run

ASKED: dict[str, dict[str, Any]] = {
    "/v1alpha1/comments:analyze": {
        "comment": {"text": "a fool"}, "requestedAttributes": {"TOXICITY": {}}, "languages": ["en"],
    },
    "/v1alpha1/comments:suggestscore": {
        "comment": {"text": "a fool"},
        "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}},
    },
    "/v1/moderations": {"input": "a fool"},
    "/score": {"texts": ["a fool"]},
}  # fmt: skip


def test_every_scoring_route_is_asked_for_below(app):
    assert set(app().app._by_path) == set(ASKED)


@pytest.mark.parametrize("path", ASKED)
def test_both_ways_say_the_same(app, path):
    # With a slash behind it a path is left to the framework, which reads it as the same route.
    plain, framework = (app().post(path + end, json=ASKED[path]) for end in ("", "/"))
    assert plain.status_code == framework.status_code == 200
    assert plain.headers == framework.headers
    drop = {"id"}  # of a moderation: another each time
    assert {k: v for k, v in plain.json().items() if k not in drop} == {
        k: v for k, v in framework.json().items() if k not in drop
    }


@pytest.mark.parametrize("path", ASKED)
def test_both_ways_refuse_what_is_too_large(app, path):
    large = b" " * (9 << 20)
    plain, framework = (app().post(path + end, content=large) for end in ("", "/"))
    assert plain.status_code == framework.status_code == 413
    assert plain.json()["error"].keys() == framework.json()["error"].keys()


@pytest.mark.parametrize("path", ASKED)
def test_other_methods_are_refused_in_the_dialect(app, path):
    found = app().get(path)
    assert found.status_code == 405
    assert "error" in json.loads(found.content)


def received(*messages):
    left = list(messages)

    async def receive():
        return left.pop(0)

    return receive


def test_a_body_comes_in_parts():
    parts = [{"type": "http.request", "body": b"ab", "more_body": True},
             {"type": "http.request", "body": b"c", "more_body": False}]  # fmt: skip
    assert run(body({"headers": []}, received(*parts), 3, OWN)) == b"abc"


def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_large():
    part = {"type": "http.request", "body": b"ab", "more_body": True}
    with pytest.raises(Refused) as caught:  # the third part is never asked for
        run(body({"headers": []}, received(part, part), 3, OWN))
    assert caught.value.code == 413


def test_a_length_that_is_too_large_is_refused_unread():
    with pytest.raises(Refused) as caught:
        run(body({"headers": [(b"content-length", b"4")]}, received(), 3, OWN))
    assert caught.value.code == 413


def test_a_caller_who_went_away():
    with pytest.raises(Refused) as caught:
        run(body({"headers": []}, received({"type": "http.disconnect"}), 3, OWN))
    assert caught.value.code == 400
