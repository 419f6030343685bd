"""A running server: shutting down, overload, several workers, what is logged, where it listens."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

BODY = {"comment": {"text": "a secret text"}, "requestedAttributes": {"TOXICITY": {}}}
ENDED = (0, -signal.SIGTERM)
"""A single process ends by the signal, after it has finished."""
PATH = "/v1alpha1/comments:analyze?key=secret-key"


def at_once(server, many, then=lambda: None):
    """The answers to requests that come together; ``then`` is called while they are awaited."""
    limits = httpx.Limits(max_connections=many)
    with httpx.Client(timeout=60, limits=limits) as client, ThreadPoolExecutor(many) as pool:
        calls = [pool.submit(client.post, server.base + PATH, json=BODY) for _ in range(many)]
        then()
        return [call.result() for call in calls]


def test_shutting_down_finishes_what_was_taken(serve):
    server = serve("--detector", "python:served:slow", "--batch", "4", "--patience-ms", "20000")
    httpx.post(server.base + PATH, json=BODY)

    def end():
        limit = time.monotonic() + 20
        while "evenhand_waiting 0.0" in httpx.get(server.base + "/metrics").text:
            assert time.monotonic() < limit
        time.sleep(0.15)  # all are on their way, and at 50 ms each not yet answered
        server.process.terminate()

    results = at_once(server, 12, then=end)
    assert server.process.wait(60) in ENDED
    assert [answer.status_code for answer in results] == [200] * 12
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.base + "/healthz")


def test_overload_is_refused_at_once_and_the_rest_answered(serve):
    server = serve("--detector", "python:served:slow", "--batch", "4", "--patience-ms", "300")
    httpx.post(server.base + PATH, json=BODY)
    httpx.post(server.base + PATH, json=BODY)  # now it knows how long a text takes
    answers = at_once(server, 40)
    codes = {answer.status_code for answer in answers}
    assert codes == {200, 429}
    for answer in answers:
        if answer.status_code == 429:
            assert int(answer.headers["retry-after"]) >= 1
            error = answer.json()["error"]
            assert error["status"] == "RESOURCE_EXHAUSTED"
            assert "Quota exceeded" in error["message"]
    assert httpx.post(server.base + PATH, json=BODY).status_code == 200


def test_neither_texts_nor_keys_are_logged(serve):
    server = serve("--detector", "python:served:broken")
    httpx.post(server.base + PATH, json=BODY)
    broken = {**BODY, "comment": {"text": "break a secret text"}}
    assert httpx.post(server.base + PATH, json=broken).status_code == 500
    assert server.stop() in ENDED
    log = server.log.read_text()
    assert "BrokenComponent at" in log
    assert "secret" not in log


def test_several_workers_count_together(serve):
    server = serve("--detector", "python:served:plain", "--workers", "2")
    end = time.monotonic() + 60
    while server.log.read_text().count("Application startup complete") < 2:
        assert time.monotonic() < end
        time.sleep(0.1)
    for _ in range(30):  # a new connection each, so that both are asked
        assert httpx.post(server.base + PATH, json=BODY).status_code == 200
    page = httpx.get(server.base + "/metrics").text
    assert 'evenhand_requests_total{route="analyze",status="200"} 30.0' in page
    assert server.stop() in ENDED


def test_where_others_can_reach_it_a_key_is_wanted(serve, tmp_path):
    made = subprocess.run(
        [sys.executable, "-m", "evenhand", "keys", "add", "site", "--keys",
         str(tmp_path / "k.json"), "--json"],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    key = json.loads(made.stdout)["key"]
    server = serve(
        "--detector", "python:served:plain", "--host", "0.0.0.0", "--keys", str(tmp_path / "k.json")
    )
    base = server.base.replace("0.0.0.0", "127.0.0.1")
    url = f"{base}/v1alpha1/comments:analyze"
    assert httpx.post(url, json=BODY).status_code == 403
    assert httpx.post(f"{url}?key={key}", json=BODY).status_code == 200
    subprocess.run(
        [sys.executable, "-m", "evenhand", "keys", "revoke", "site", "--keys",
         str(tmp_path / "k.json")],
        capture_output=True, check=True,
    )  # fmt: skip
    time.sleep(1.1)
    assert httpx.post(f"{url}?key={key}", json=BODY).status_code == 400


def test_a_port_that_is_taken_is_said_in_words(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        found = subprocess.run(
            [sys.executable, "-m", "evenhand", "serve", "--port", port],
            capture_output=True, text=True, cwd=tmp_path, timeout=60,
        )  # fmt: skip
    assert found.returncode == 2
    assert f"evenhand: cannot listen on 127.0.0.1 port {port}: Address already in" in found.stderr
    assert "Traceback" not in found.stderr


def test_it_says_who_can_reach_it_and_a_language_has_any_spelling(serve):
    server = serve("--detector", "python:served:plain", "--language", "pt-BR")
    assert "Serving python:served:plain to this machine only; any key or none" in (
        server.log.read_text()
    )
    named = {**BODY, "languages": ["pt"]}
    assert httpx.post(server.base + PATH, json=named).status_code == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--detector", "nothing-like-it"], "nothing-like-it"),
        (["--workers", "0"], "expected more than 0"),
        (["--port", "99999"], "expected a port"),
        (["--mapping", "absent.json"], "absent.json"),
        (["--store-by-default"], "--suggestions"),
        (["--shadow", "evenhand-fast", "--workers", "2"], "--state"),
    ],
)
def test_what_is_wrong_is_said_before_it_listens(tmp_path, options, message):
    found = subprocess.run(
        [sys.executable, "-m", "evenhand", "serve", *options],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert found.returncode == 2, found.stderr
    assert message in found.stderr
