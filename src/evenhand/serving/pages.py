"""The page where a person types a text, and the detector's card.

Pages are made here and need no script. What was typed goes back to the one who typed it and nowhere
else.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler

from evenhand.models.evidence import Span
from evenhand.serving.engine import PROBABILITY
from evenhand.serving.errors import OWN, Refused
from evenhand.serving.errors import own as problem
from evenhand.serving.markdown import html_of
from evenhand.serving.perspective import LONGEST, is_too_long
from evenhand.serving.service import AnyRequest, Service, given_key, in_words
from evenhand.serving.templates import rendered, style

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_SHOWN_WORDS = 60
_MOST_BYTES = 4 * LONGEST


class Pages:
    """The pages of a server."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[HTTPRouteHandler]:
        """The handlers."""

        @get("/", include_in_schema=False)
        async def empty() -> Response[str]:
            return self._page("score.html", text="", rows=[])

        @post("/", status_code=200, include_in_schema=False, request_max_body_size=_MOST_BYTES)
        async def typed(request: AnyRequest) -> Response[str]:
            return await self._answered(request)

        @get("/card", include_in_schema=False)
        async def card(request: AnyRequest) -> Response[str]:
            return self._card("text/html" in request.headers.get("accept", ""))

        @get("/style.css", include_in_schema=False)
        async def css() -> Response[str]:
            return Response(style(), media_type="text/css", headers={"Cache-Control": "max-age=60"})

        return [empty, typed, card, css]

    async def _answered(self, request: AnyRequest) -> Response[str]:
        service, start, text = self._service, time.perf_counter(), ""
        try:
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
            text, attribute, key = (
                form.get(name, [""])[0] for name in ("text", "attribute", "key")
            )
            service.admit(service.caller(given_key(request.scope) or key or None, OWN), OWN)
            if not text.strip():
                raise problem(400, "Type a text first.")
            if is_too_long(text):
                raise problem(400, f"The text is longer than {LONGEST} bytes.")
            page = await self._scored(text, attribute)
        except Exception as error:
            refused: Refused = in_words(error, OWN)
            fault = str(refused.body["error"]["message"])
            page = self._page("score.html", text=text, rows=[], fault=fault, status=refused.code)
        service.metrics.request("page", page.status_code or 200, time.perf_counter() - start)
        return page

    async def _scored(self, text: str, wanted: str) -> Response[str]:
        engine = self._service.engine
        p = await self._service.score([text])
        shown = engine.shown(p, PROBABILITY)
        thresholds = engine.thresholds(PROBABILITY)
        rows = [
            {
                "name": name,
                "score": values[0],
                "threshold": thresholds.get(name),
                "above": name in thresholds and values[0] >= thresholds[name],
            }
            for name, values in shown.items()
        ]
        attribute = wanted if wanted in engine.attributes else _most(rows)
        spans = await engine.evidence(text, attribute, _SHOWN_WORDS)
        return self._page(
            "score.html", text=text, rows=rows, wanted=wanted, attribute=attribute,
            pieces=pieces(text, spans),
        )  # fmt: skip

    def _card(self, as_page: bool) -> Response[str]:
        loaded = self._service.engine.loaded
        if loaded.card is None:
            return self._page("missing.html", status=404)
        text = loaded.card.read_text(encoding="utf-8")
        if not as_page:
            return Response(text, media_type="text/markdown")
        return self._page("card.html", card=html_of(text))

    def _page(self, name: str, *, status: int = 200, **values: Any) -> Response[str]:
        engine = self._service.engine
        page = rendered(
            name,
            detector=engine.loaded.name,
            attributes=engine.attributes,
            languages=self._service.settings.languages,
            needs_key=self._service.settings.needs_key,
            **values,
        )
        return Response(page, status_code=status, media_type="text/html", headers=_HEADERS)


def _most(rows: list[dict[str, Any]]) -> str:
    """The attribute whose score is highest for its threshold."""
    return str(max(rows, key=lambda row: row["score"] / (row["threshold"] or 0.5))["name"])


def pieces(text: str, spans: list[Span]) -> list[tuple[str, float | None]]:
    """A text in pieces, those that have a weight with it, in the order of the text.

    >>> pieces("you fool", [(4, 8, 0.4)])
    [('you ', None), ('fool', 0.4)]
    """
    found: list[tuple[str, float | None]] = []
    at = 0
    for begin, end, weight in sorted(spans):
        if begin < at:
            continue
        if begin > at:
            found.append((text[at:begin], None))
        found.append((text[begin:end], weight))
        at = end
    return [*found, (text[at:], None)] if at < len(text) else found
