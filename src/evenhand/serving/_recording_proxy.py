"""The recording proxy: passes every call on to the service, answers unchanged, keeps the scores.

A caller's key goes on to the service and nowhere else: it is not stored, and no line of a log has
an address. Where a caller sends none, the key of ``--key-file`` is used. The one answer that is
changed is the discovery document, whose addresses become ours, since clients call what it names.
A service that does not answer is reported to the caller in the form of Google's errors.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

import httpx
from litestar import Litestar, asgi
from litestar.connection import Request

from evenhand.models._address import Address
from evenhand.serving._recording_dialect import DISCOVERY, pointed_here, rows_of
from evenhand.serving._recording_keeper import Keeper
from evenhand.serving.google_errors import GOOGLE

if TYPE_CHECKING:
    from litestar.types import Receive, Scope, Send

LARGEST_BODY = 8 * 1024 * 1024
"""A batch of a hundred of the longest texts has 2 MB."""
_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
}
_VERSION = "/v1alpha1"
_SYNC_SECONDS = 1.0

Headers = list[tuple[bytes, bytes]]


def app_of(to: Address, keeper: Keeper, *, timeout_seconds: float) -> Litestar:
    """The proxy as an ASGI application; closing it stores what waits."""
    # These loggers name the whole address of a call, with the key in it.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    client = httpx.AsyncClient(
        timeout=timeout_seconds,
        follow_redirects=False,
        trust_env=not to.loopback,
        limits=httpx.Limits(max_connections=100),
    )
    service = _Service(to, keeper, client, timeout_seconds)

    @asgi("/", is_mount=True, copy_scope=False)
    async def everything(scope: Scope, receive: Receive, send: Send) -> None:
        status, headers, body = await service.answer(Request(scope, receive, send))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return Litestar(
        [everything],
        openapi_config=None,
        logging_config=None,
        lifespan=[_running(keeper, client)],
    )


def _running(keeper: Keeper, client: httpx.AsyncClient):  # type: ignore[no-untyped-def]
    @asynccontextmanager
    async def life(_: Litestar) -> AsyncIterator[None]:
        async def sync() -> None:
            while True:
                await asyncio.sleep(_SYNC_SECONDS)
                await asyncio.to_thread(keeper.sync)

        syncing = asyncio.create_task(sync())
        try:
            yield
        finally:
            syncing.cancel()
            await client.aclose()
            await asyncio.to_thread(keeper.close)

    return life


class _Service:
    """The service behind the proxy."""

    def __init__(
        self, to: Address, keeper: Keeper, client: httpx.AsyncClient, timeout_seconds: float
    ) -> None:
        self._to, self._keeper, self._client = to, keeper, client
        self._timeout_seconds = timeout_seconds

    async def answer(self, request: Request) -> tuple[int, Headers, bytes]:  # type: ignore[type-arg]
        """Status, headers and body for the caller."""
        self._keeper.counts.passed += 1
        asked = await _body(request.receive)
        if asked is None:
            return _error(413, f"The request has more than {LARGEST_BODY:,} bytes.")
        path: str = request.scope["raw_path"].decode("latin-1").partition("?")[0]
        # Clients ask for a document by name; it must be readable here, to be changed.
        discovery = path.endswith(DISCOVERY)
        try:
            status, headers, body = await self._passed_on(request, path, asked, plain=discovery)
        except httpx.TimeoutException:
            return self._silent(f"gave no answer within {self._timeout_seconds:g} s")
        except httpx.HTTPError as error:
            return self._silent(f"cannot be reached ({type(error).__name__})")
        if discovery and status == 200:
            body = pointed_here(body, str(request.base_url).rstrip("/"))
        elif request.method == "POST" and status == 200:
            try:
                await self._keep(request, path, asked, headers, body)
            except Exception as error:  # a fault of ours: the caller has its answer all the same
                self._keeper.failed(error)
        length = (b"content-length", str(len(body)).encode())
        return status, [*headers, length], body

    async def _passed_on(
        self,
        request: Request,  # type: ignore[type-arg]
        path: str,
        asked: bytes,
        *,
        plain: bool,
    ) -> tuple[int, Headers, bytes]:
        sent = [
            (name, value)
            for name, value in request.scope["headers"]
            if name.decode().lower() not in {*_HOP, "host", "accept-encoding"}
        ]
        zipped = "gzip" in request.headers.get("accept-encoding", "") and not plain
        sent.append((b"accept-encoding", b"gzip" if zipped else b"identity"))
        to = self._to
        url = httpx.URL(
            scheme=to.scheme, host=to.host, port=to.port, raw_path=self._target(request, path)
        )
        wanted = self._client.build_request(request.method, url, headers=sent, content=asked)
        response = await self._client.send(wanted, stream=True)
        try:
            body = b"".join([part async for part in response.aiter_raw()])
        finally:
            await response.aclose()
        return response.status_code, _kept_headers(response.headers.raw), body

    def _target(self, request: Request, path: str) -> bytes:  # type: ignore[type-arg]
        """Path and query at the service, with our key where the caller has none."""
        base = self._to.path
        if base.endswith(_VERSION) and path.startswith(_VERSION):
            base = base.removesuffix(_VERSION)
        query: bytes = request.scope["query_string"]
        named = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        if self._to.key and not named.get("key") and "x-goog-api-key" not in request.headers:
            query = b"&".join(filter(None, [query, urlencode({"key": self._to.key}).encode()]))
        return f"{base}{path}".encode("latin-1") + (b"?" + query if query else b"")

    async def _keep(
        self,
        request: Request,  # type: ignore[type-arg]
        path: str,
        asked: bytes,
        headers: Headers,
        body: bytes,
    ) -> None:
        """Store the answer before the caller has it; in a thread, since a disk may be slow."""
        by_name = {name.lower(): value.decode("latin-1") for name, value in headers}
        plain = _plain(body, by_name.get(b"content-encoding", ""))
        if plain is None:
            return
        asked_type = request.headers.get("content-type", "")
        for row in rows_of(path, asked, asked_type, plain, by_name.get(b"content-type", "")):
            await asyncio.to_thread(self._keeper.keep, row)

    def _silent(self, what: str) -> tuple[int, Headers, bytes]:
        self._keeper.counts.unanswered += 1
        return _error(503, f"{self._to.url} {what}; evenhand migrate record passes calls on to it.")


async def _body(receive: Receive) -> bytes | None:
    """The body; None where it is too long."""
    found = b""
    while True:
        event = await receive()
        if event["type"] != "http.request":
            return found
        found += event["body"]
        if len(found) > LARGEST_BODY:
            return None
        if not event["more_body"]:
            return found


def _kept_headers(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    return [(name, value) for name, value in raw if name.decode().lower() not in _HOP]


def _plain(body: bytes, encoding: str) -> bytes | None:
    """A body without its compression; None where that cannot be undone."""
    try:
        if encoding in ("", "identity"):
            return body
        return gzip.decompress(body) if encoding == "gzip" else None
    except (OSError, EOFError, zlib.error):
        return None


def _error(code: int, message: str) -> tuple[int, Headers, bytes]:
    body = json.dumps(GOOGLE.plain(code, message).body).encode()
    headers = [
        (b"content-type", b"application/json; charset=UTF-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    return code, headers, body
