"""Routes of Perspective's dialect."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler

from evenhand.serving import discovery, google_batch, perspective, suggestions
from evenhand.serving.engine import PERSPECTIVE_LIKE
from evenhand.serving.errors import Refused
from evenhand.serving.google_batch import Answer, Part
from evenhand.serving.google_errors import GOOGLE
from evenhand.serving.openapi import described
from evenhand.serving.routes import Route
from evenhand.serving.service import AnyRequest, Caller, Service, given_key, in_words

MOST_BYTES = 1 << 20
"""Of a request: a text and what stands around it."""
_MOST_BATCH_BYTES = 8 << 20
_ANALYZE = f"/{discovery.VERSION}/comments:analyze"
_SUGGEST = f"/{discovery.VERSION}/comments:suggestscore"


def routes(service: Service) -> tuple[list[Route], list[HTTPRouteHandler]]:
    """The routes that take a body, and the other handlers."""
    settings = service.settings

    def offer() -> perspective.Offer:
        return perspective.Offer(
            attributes=service.engine.attributes,
            languages=settings.languages,
            detector=service.languages,
            drop_unsupported=settings.drop_unsupported,
            allow_untested=settings.allow_untested_language,
        )

    async def analyzed(body: bytes) -> dict[str, Any]:
        asked = perspective.analyze(body, offer())
        if not asked.thresholds:  # nothing is left of what was asked for
            return perspective.reply(asked, {})
        engine = service.engine
        p = await service.score(asked.texts)
        return perspective.reply(asked, engine.shown(p, PERSPECTIVE_LIKE, [*asked.thresholds]))

    async def suggested(body: bytes, caller: Caller) -> dict[str, Any]:
        given = suggestions.suggestion(body, offer())
        store = settings.store_by_default if given.do_not_store is None else not given.do_not_store
        if store and service.suggestions is not None:
            await asyncio.to_thread(service.suggestions.keep, given, caller.id)
        return suggestions.reply(given)

    async def part(one: Part, outer: str | None) -> Answer:
        start = time.perf_counter()
        route = {_ANALYZE: "analyze", _SUGGEST: "suggestscore"}.get(one.path, "batch part")
        try:
            caller = service.caller(one.key or outer, GOOGLE)
            service.admit(caller, GOOGLE)
            if one.method != "POST" or route == "batch part":
                raise GOOGLE.plain(404, "The requested URL was not found on this server.")
            found = await (
                analyzed(one.body) if route == "analyze" else suggested(one.body, caller)
            )
            answer = Answer(200, found)
        except Exception as error:
            refused: Refused = in_words(error, GOOGLE)
            answer = Answer(refused.code, refused.body, refused.retry_after)
        service.metrics.request(route, answer.status, time.perf_counter() - start)
        return answer

    async def handle_analyze(body: bytes, caller: Caller) -> Any:
        return await analyzed(body)

    scoring = Route(
        service, _ANALYZE, "analyze", GOOGLE, handle_analyze, MOST_BYTES,
        described(
            "Scores of a text.", "AnalyzeCommentRequest", "AnalyzeCommentResponse",
            ("comment", "requestedAttributes"),
        ),
        "Perspective",
    )  # fmt: skip
    suggesting = Route(
        service, _SUGGEST, "suggestscore", GOOGLE, suggested, MOST_BYTES,
        described(
            "Suggest scores of a text.", "SuggestCommentScoreRequest",
            "SuggestCommentScoreResponse", ("comment", "attributeScores"),
        ),
        "Perspective",
    )  # fmt: skip

    @post(
        "/batch", status_code=200, request_max_body_size=_MOST_BATCH_BYTES, tags=["Perspective"],
        include_in_schema=False,
    )  # fmt: skip
    async def batch(request: AnyRequest) -> Response[bytes]:
        try:
            body = await request.body()
            found = google_batch.parts(request.headers.get("content-type", ""), body)
        except Exception as error:
            refused = in_words(error, GOOGLE)
            service.metrics.request("batch", refused.code, 0.0)
            return Response(refused.body, status_code=refused.code)  # type: ignore[arg-type]
        outer = given_key(request.scope)
        answers = await asyncio.gather(*(part(one, outer) for one in found))
        kind, written = google_batch.written(list(zip(found, answers, strict=True)))
        return Response(written, media_type=kind)

    @get("/$discovery/rest", include_in_schema=False)
    async def rest(request: AnyRequest) -> dict[str, Any]:
        return discovery.document(str(request.base_url))

    return [scoring, suggesting], [batch, rest]
