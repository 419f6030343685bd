"""The OpenAPI document, and what schemathesis makes of it."""

from __future__ import annotations

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings


def test_the_document_names_every_dialect(client):
    paths = client.get("/schema/openapi.json").json()["paths"]
    assert {"/score", "/v1/moderations", "/v1alpha1/comments:analyze", "/healthz"} <= set(paths)
    score = paths["/score"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert score["required"] == ["texts"]


ASKED = {
    "/score": {"texts": ["a"], "evidence": True},
    "/v1/moderations": {"input": ["a", "b"]},
    "/v1alpha1/comments:analyze": {
        "comment": {"text": "One two. Three."},
        "requestedAttributes": {"TOXICITY": {}},
        "spanAnnotations": True,
    },
    "/v1alpha1/comments:suggestscore": {
        "comment": {"text": "a"},
        "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}},
    },
}


@pytest.mark.parametrize("path", ASKED)
def test_questions_and_answers_are_what_the_document_says(client, path):
    told = client.get("/schema/openapi.json").json()["paths"][path]["post"]

    def schema(part):
        found = part["content"]["application/json"]["schema"]
        assert found["type"] == "object"
        return jsonschema_rs.validator_for(found)

    schema(told["requestBody"]).validate(ASKED[path])
    schema(told["responses"]["200"]).validate(client.post(path, json=ASKED[path]).json())
    schema(told["responses"]["4XX"]).validate(client.post(path, json={}).json())


def test_the_page_says_what_fields_mean_and_which_are_needed(client):
    page = client.get("/schema").text
    assert "<strong>Required.</strong> Up to 1,000, each of at most 20,480 bytes." in page
    assert page.count("Required.") == 6  # texts, input, and two of each of Perspective's
    assert "list of string or null" not in page


def test_the_page_fetches_nothing_from_elsewhere(client):
    page = client.get("/schema").text
    assert "/score" in page
    assert "http" not in page.replace("http-equiv", "")


def test_nothing_that_fits_the_document_is_our_fault(serve):
    server = serve("--detector", "python:served:plain")
    schema = schemathesis.openapi.from_url(f"{server.base}/schema/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= 8

    for operation in operations:

        @settings(
            max_examples=25,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def tried(case):
            answer = case.call()
            assert answer.status_code < 500, answer.text

        tried()
    server.stop()
    assert "ERROR" not in server.log.read_text()
