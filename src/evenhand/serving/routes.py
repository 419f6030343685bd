"""Routes that take a body and give an answer, each written down once and served in two ways.

The framework knows them for its OpenAPI document and for everything but a plain request. A plain
request is read and answered here, without the framework's objects: making those takes as long as
all that is done for a short text except scoring it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from litestar import Litestar, Response, post
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.spec import Operation
from litestar.types import Receive, Scope, Send

from evenhand.serving.batching import whole_seconds
from evenhand.serving.errors import Dialect, Refused
from evenhand.serving.service import JSON, AnyRequest, Handler, Service


@dataclass(frozen=True, eq=False)
class Route:
    """One of them."""

    service: Service
    path: str
    name: str
    """Which it is counted under."""
    dialect: Dialect
    handler: Handler
    most_bytes: int
    """Of a body."""
    about: type[Operation]
    tag: str

    def known(self) -> HTTPRouteHandler:
        """As the framework knows it."""

        @post(
            self.path, status_code=200, request_max_body_size=self.most_bytes, tags=[self.tag],
            operation_class=self.about, name=self.name,
        )  # fmt: skip
        async def handle(request: AnyRequest) -> Response[bytes]:
            found = await self.service.answered(
                self.name, self.dialect, request.scope, request.body, self.handler
            )
            return found.response()

        return handle

    def busy(self) -> bytes | None:
        """A whole answer, if a request that comes now would wait too long."""
        seconds = self.service.engine.batcher.too_long
        if seconds is None:
            return None
        self.service.metrics.request(self.name, 429, 0.0)
        return _refusal(self.dialect, whole_seconds(seconds))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a plain request."""

        async def read() -> bytes:
            return await body(scope, receive, self.most_bytes, self.dialect)

        found = await self.service.answered(self.name, self.dialect, scope, read, self.handler)
        headers = [
            (b"content-type", found.media_type.encode()),
            (b"content-length", b"%d" % len(found.body)),
        ]
        if found.retry_after is not None:
            headers.append((b"retry-after", b"%d" % found.retry_after))
        await send({"type": "http.response.start", "status": found.status, "headers": headers})
        await send({"type": "http.response.body", "body": found.body, "more_body": False})


async def body(scope: Scope, receive: Receive, most: int, dialect: Dialect) -> bytes:
    """The body of a request; refuses one that is too large before it is read."""
    for name, value in scope["headers"]:
        if name == b"content-length" and int(value) > most:
            raise _too_large(most, dialect)
    parts, size = [], 0
    while True:
        message: Any = await receive()
        if message["type"] == "http.disconnect":
            raise dialect.plain(400, "The request was cut off.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most, dialect)
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


@cache
def _refusal(dialect: Dialect, seconds: int) -> bytes:
    """What a refused request is answered, headers and all, but for those of the server."""
    body = json.dumps(dialect.busy(seconds).body, ensure_ascii=False).encode()
    head = (
        f"HTTP/1.1 429 Too Many Requests\r\ncontent-type: {JSON}\r\n"
        f"content-length: {len(body)}\r\nretry-after: {seconds}\r\n\r\n"
    )
    return head.encode() + body


def _too_large(most: int, dialect: Dialect) -> Refused:
    return dialect.plain(413, f"The request has more than {most} bytes.")


class Direct(Litestar):
    """An application that answers plain requests of some routes by itself."""

    def __init__(self, direct: Sequence[Route], **options: Any) -> None:
        super().__init__(**options)
        self._by_path = {route.path: route for route in direct}
        self._by_raw_path = {route.path.encode(): route for route in direct}

    def busy(self, url: bytes) -> bytes | None:
        """A whole answer to a request for scores that would wait too long (:mod:`.refusing`)."""
        route = self._by_raw_path.get(url.partition(b"?")[0])
        return None if route is None else route.busy()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer."""
        if scope["type"] == "http" and scope["method"] == "POST":
            route = self._by_path.get(scope["path"])
            if route is not None:
                await route(scope, receive, send)
                return
        await super().__call__(scope, receive, send)
