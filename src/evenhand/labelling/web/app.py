"""The application: the routes of the table behind one gate, with the same headers on everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from litestar import Litestar, Request, Response, route
from litestar.datastructures import Cookie
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler

from evenhand.labelling.store import Store
from evenhand.labelling.web.asking import Ask, Reply
from evenhand.labelling.web.drawing import STATIC, static
from evenhand.labelling.web.gate import Raw, answered, failed, language_of
from evenhand.labelling.web.policy import ROUTES, Route
from evenhand.labelling.web.settings import Settings
from evenhand.labelling.web.site import Site

if TYPE_CHECKING:
    from evenhand.labelling.report import Estimate  # with scipy: loaded when figures are asked for

AnyRequest = Request[Any, Any, Any]
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_THREADS = 8
"""As many as the store keeps connections."""
_GUARDED_THREADS = 2
"""A verified code costs memory: few at a time, and never in the way of a vote."""
_MOST_BYTES = 256 * 1024
_MOST_FIELDS = 5000
_MONTH = 30 * 86_400


def create_app(store: Store, settings: Settings, estimate: Estimate | None = None) -> Litestar:
    """The application over a store, which is closed with it."""
    web = _Web(Site(store, settings, estimate))
    return Litestar(
        route_handlers=[*map(web.handler, ROUTES), *map(web.file, STATIC)],
        lifespan=[web.open_and_closed],
        exception_handlers={Exception: web.wrong},
        request_max_body_size=_MOST_BYTES,
        logging_config=None,
        openapi_config=None,
    )


class _Web:
    """Between the framework and the gate."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._cookie = "__Host-evenhand" if site.settings.https else "evenhand"
        self._pool = ThreadPoolExecutor(_THREADS, "page")
        self._guarded = ThreadPoolExecutor(_GUARDED_THREADS, "guarded")

    @asynccontextmanager
    async def open_and_closed(self, app: Litestar) -> AsyncIterator[None]:
        yield
        for pool in (self._pool, self._guarded):
            pool.shutdown()
        self._site.store.close()

    def handler(self, line: Route) -> HTTPRouteHandler:
        """The handler of one line of the table."""
        pool = self._guarded if line.guarded else self._pool

        async def handle(request: AnyRequest) -> Response[Any]:
            raw = Raw(
                token=request.cookies.get(self._cookie),
                form=await _form(request) if line.method == "POST" else {},
                query=dict(request.query_params),
                path={name: _clean(str(value)) for name, value in request.path_params.items()},
                address=request.client.host if request.client else "",
                languages=request.headers.get("accept-language", ""),
            )
            loop = asyncio.get_running_loop()
            return self._sent(await loop.run_in_executor(pool, answered, self._site, line, raw))

        return route(line.path, http_method=[line.method], status_code=200)(handle)  # type: ignore[list-item]

    def file(self, name: str) -> HTTPRouteHandler:
        """A style sheet or script: the same for everyone and no secret."""

        async def handle() -> Response[Any]:
            kept = {"Cache-Control": "max-age=300"}
            return self._sent(Reply(static(name), media_type=STATIC[name], headers=kept))

        return route(f"/{name}", http_method=["GET"])(handle)

    def wrong(self, request: AnyRequest, error: Exception) -> Response[Any]:
        """What happened before any route, such as an address that does not exist."""
        language = language_of(self._site, request.headers.get("accept-language", ""))
        ask = Ask(self._site, language, "")
        if not isinstance(error, HTTPException):
            return self._sent(failed(ask, error))
        why = {404: "missing", 405: "missing"}.get(error.status_code, "input")
        return self._sent(ask.refused(error.status_code, why))

    def _sent(self, reply: Reply) -> Response[Any]:
        secure = self._site.settings.https
        headers = {**HEADERS, **reply.headers}
        if secure:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        return Response(
            reply.body,
            status_code=reply.status,
            media_type=reply.media_type,
            headers=headers,
            cookies=self._cookies(reply, secure),
        )

    def _cookies(self, reply: Reply, secure: bool) -> Sequence[Cookie]:
        if reply.cookie is None:
            return ()
        age = 0 if not reply.cookie else _MONTH if reply.lasting else None
        return [
            Cookie(
                key=self._cookie,
                value=reply.cookie,
                path="/",
                max_age=age,
                secure=secure,
                httponly=True,
                samesite="lax",
            )
        ]


async def _form(request: AnyRequest) -> dict[str, list[str]]:
    """The fields of a form; anything else is no form."""
    kind = request.headers.get("content-type", "").split(";")[0]
    body = await request.body()
    if kind != "application/x-www-form-urlencoded":
        return {}
    try:
        found = parse_qs(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        return {}
    return {_clean(name): list(map(_clean, values)) for name, values in found.items()}


def _clean(text: str) -> str:
    """Without NUL, which no database takes and nobody types."""
    return text.replace("\x00", "")
