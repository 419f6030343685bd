"""Several requests in one: multipart/mixed."""

from __future__ import annotations

import json

import pytest

HEAD = "POST /v1alpha1/comments:analyze?key=k&alt=json HTTP/1.1\r\nContent-Type: application/json"


def asked(text="Hello there"):
    return json.dumps({"comment": {"text": text}, "requestedAttributes": {"TOXICITY": {}}})


def part(body, head=HEAD, name="<a + 1>"):
    return f"Content-Type: application/http\r\nContent-ID: {name}\r\n\r\n{head}\r\n\r\n{body}\r\n"


def posted(client, parts, boundary="b1"):
    content = "".join(f"--{boundary}\r\n{one}" for one in parts) + f"--{boundary}--"
    return client.post(
        "/batch",
        content=content.encode(),
        headers={"Content-Type": f'multipart/mixed; boundary="{boundary}"'},
    )


def test_each_part_has_its_answer(client):
    answer = posted(
        client,
        [
            part(asked(), name="<x + 1>"),
            part(asked(""), name="<x + 2>"),
            part("{", name="<x + 3>"),
            part(asked(), head="GET /elsewhere HTTP/1.1", name="<x + 4>"),
            "no http at all\r\n",
        ],
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("multipart/mixed; boundary=")
    found = answer.text
    assert found.count("HTTP/1.1 200 OK") == 1
    assert found.count("HTTP/1.1 400 Bad Request") == 2
    assert found.count("HTTP/1.1 404 Not Found") == 2
    assert "<response-x + 1>" in found
    assert '"value": 0.55' in found


def test_too_many_parts(client):
    assert posted(client, [part(asked())] * 100).status_code == 200
    answer = posted(client, [part(asked())] * 101)
    assert answer.status_code == 400
    assert "101 parts; at most 100" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{}", "application/json"),
        (b"", "multipart/mixed; boundary=x"),
        (b"nothing", "multipart/mixed"),
        (b"\xff\x00", "multipart/mixed; boundary=x"),
    ],
)
def test_what_is_no_batch(client, content, kind):
    answer = client.post("/batch", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_keys_are_wanted_for_each_part(app):
    client = app(require_key=True)
    found = posted(client, [part(asked())]).text
    assert "API key not valid" in found
