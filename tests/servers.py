"""A server on this machine that speaks both dialects and can be told to misbehave."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """How the server treats one request."""

    status: int = 200
    content: Any = None
    """JSON, or bytes as they are; None for the proper scores."""
    headers: dict[str, str] = field(default_factory=dict)
    reset: bool = False
    """Close the connection instead of answering."""
    stall_seconds: float = 0
    close: bool = False
    """Close the connection after a good answer, without saying so."""
    cut: int | None = None
    """Send so many bytes of the body only, then close."""


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    content: Any

    @property
    def texts(self) -> list[str]:
        return texts_in(self.content)


def texts_in(content: Any) -> list[str]:
    return [content["comment"]["text"]] if "comment" in content else list(content["input"])


def p_of(text: str) -> float:
    """The score of a text: its length, up to twenty."""
    return min(len(text), 20) / 20


def error(message: str, kind: str = "") -> dict[str, Any]:
    """An error's body in Perspective's form, which holds what OpenAI's has too."""
    details = [{"errorType": kind}] if kind else []
    return {"error": {"code": 400, "message": message, "details": details}}


class StandIn(ThreadingHTTPServer):
    """Answers from a script first, then by the rule, then properly."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.asked: list[Asked] = []
        self.connections = 0
        self.script: list[Answer] = []
        self.rule: Callable[[Asked], Answer | None] = lambda asked: None
        self.score = p_of
        self.categories = ("hate", "harassment")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def texts(self) -> list[str]:
        return [text for asked in self.asked for text in asked.texts]

    def next_answer(self, asked: Asked) -> Answer:
        with self.lock:
            self.asked.append(asked)
            return self.script.pop(0) if self.script else self.rule(asked) or Answer()

    def proper(self, asked: Asked) -> Any:
        if "comment" not in asked.content:
            results = [
                {"flagged": False, "category_scores": {n: self.score(t) for n in self.categories}}
                for t in asked.texts
            ]
            return {"id": "modr-1", "model": "stand-in", "results": results}
        [text] = asked.texts
        value = {"value": self.score(text), "type": "PROBABILITY"}
        wanted = asked.content["requestedAttributes"]
        return {"attributeScores": {name: {"summaryScore": value} for name in wanted}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # header and body in one packet
    server: StandIn

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        asked = Asked(self.path, dict(self.headers), json.loads(body))
        answer = self.server.next_answer(asked)
        if answer.stall_seconds:
            threading.Event().wait(answer.stall_seconds)
        if answer.reset:
            self.close_connection = True
            return
        content = self.server.proper(asked) if answer.content is None else answer.content
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(sent)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent[: answer.cut])
        self.wfile.flush()
        self.close_connection = self.close_connection or answer.close or answer.cut is not None

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """A server that runs until the block ends."""
    with StandIn() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now
