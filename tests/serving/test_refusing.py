"""Requests refused while they are still bytes, on a real connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from evenhand.serving.refusing import Refusing

REFUSAL = b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 4\r\nretry-after: 7\r\n\r\nbusy"


class App:
    """Says the method and the length of a body; busy where the path says so, while it is asked."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.refused = 0

    def busy(self, url: bytes) -> bytes | None:
        if not url.startswith(b"/busy"):
            return None
        self.refused += 1
        return REFUSAL

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            return
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message["body"]), message["more_body"]
        said = f"{scope['method']} {size}".encode()
        self.reached.append(scope["path"])
        headers = [(b"content-length", b"%d" % len(said))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said})


@pytest.fixture
def served() -> Iterator[tuple[App, socket.socket]]:
    app = App()
    config = uvicorn.Config(
        app, port=0, http=Refusing, log_level="error", lifespan="off", server_header=False,
        timeout_keep_alive=2,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        end = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < end
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            yield app, connection
    finally:
        server.should_exit = True
        thread.join(20)


def post(path: str, body: bytes = b"hello", *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: x", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def answers(connection: socket.socket, many: int) -> list[tuple[int, dict[str, str], bytes]]:
    """So many answers off a connection: status, headers, body."""
    found = []
    with connection.makefile("rb") as file:
        for _ in range(many):
            status = int(file.readline().split()[1])
            lines = iter(file.readline, b"\r\n")
            headers = dict(line.decode().lower().strip().split(": ", 1) for line in lines)
            found.append((status, headers, file.read(int(headers.get("content-length", 0)))))
    return found


def test_a_refusal_is_whole_and_the_connection_stays(served):
    app, connection = served
    connection.sendall(post("/busy?key=k"))
    status, headers, body = answers(connection, 1)[0]
    assert (status, headers["retry-after"], body) == (429, "7", b"busy")
    assert "date" in headers
    connection.sendall(post("/free"))
    assert answers(connection, 1)[0][::2] == (200, b"POST 5")
    assert app.reached == ["/free"] and app.refused == 1


def test_a_connection_that_stays_idle_after_a_refusal_is_closed(served):
    _, connection = served
    connection.sendall(post("/busy"))
    answers(connection, 1)
    assert connection.recv(1) == b""  # after two seconds; a time-out where nobody closes it


def test_requests_in_pieces_and_several_at_once(served):
    app, connection = served
    head = b"POST /busy HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    chunked = head + b"5\r\nhello\r\n0\r\n\r\n"
    get = b"GET /busy HTTP/1.1\r\nhost: x\r\n\r\n"
    connection.sendall(post("/busy") + post("/busy", b"x" * 100_000) + chunked[:70])
    connection.sendall(chunked[70:] + get)
    found = answers(connection, 4)
    # Only what asks for scores is refused: a GET is not.
    assert [(status, body) for status, _, body in found] == [(429, b"busy")] * 3 + [(200, b"GET 0")]
    assert app.reached == ["/busy"]


def test_what_is_not_plain_goes_the_usual_way(served):
    app, connection = served
    # Behind an unanswered one: answers keep their order.
    connection.sendall(post("/free") + post("/busy"))
    assert [body for *_, body in answers(connection, 2)] == [b"POST 5"] * 2
    connection.sendall(post("/busy", b"", "expect: 100-continue"))
    assert [status for status, *_ in answers(connection, 2)] == [100, 200]
    connection.sendall(post("/busy", b"hello", "connection: close"))
    assert answers(connection, 1)[0][0] == 200
    assert connection.recv(1) == b""
    assert app.reached == ["/free", "/busy", "/busy", "/busy"] and not app.refused


@pytest.mark.parametrize("path", ["/v1alpha1/comments:analyze", "/score", "/v1/moderations"])
def test_the_application_says_it_is_busy_as_it_says_elsewhere(app, path):
    client = app()
    assert client.app.busy(path.encode()) is None
    batcher = client.app._by_path[path].service.engine.batcher
    # 100 texts of 37 ms wait 3.7 s, and half a second is allowed: after 3.2 s, in whole seconds 4.
    batcher.pending, batcher.seconds_per_work = 100, 0.037
    try:
        usual = client.post(path, json={})
        head, _, body = client.app.busy(f"{path}?key=k".encode()).partition(b"\r\n\r\n")
    finally:
        batcher.pending = 0
    first, *lines = head.decode().split("\r\n")
    assert first == "HTTP/1.1 429 Too Many Requests" and usual.status_code == 429
    assert body == usual.content and "retry-after: 4" in lines
    assert dict(line.split(": ", 1) for line in lines) == {
        name: usual.headers[name] for name in ("content-type", "content-length", "retry-after")
    }
    assert client.app.busy(b"/healthz") is None
