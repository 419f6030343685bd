"""The OpenAPI document, and what schemathesis makes of it."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, given, settings


def test_the_document_names_every_dialect(client):
    paths = client.get("/schema/openapi.json").json()["paths"]
    assert {"/score", "/v1/moderations", "/v1alpha1/comments:analyze", "/healthz"} <= set(paths)
    score = paths["/score"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert score["required"] == ["texts"]


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
