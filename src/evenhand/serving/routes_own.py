"""Routes of our own dialect, of OpenAI's, of the page and of those who run the server."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler

from evenhand.serving import openai_dialect, own
from evenhand.serving.engine import PROBABILITY
from evenhand.serving.errors import OWN
from evenhand.serving.errors import own as problem
from evenhand.serving.metrics import CONTENT_TYPE
from evenhand.serving.openai_dialect import OPENAI
from evenhand.serving.openapi import described_by
from evenhand.serving.pages import Pages
from evenhand.serving.routes import Route
from evenhand.serving.service import AnyRequest, Caller, Handler, Service

_MOST_BYTES = 8 << 20


def routes(service: Service) -> tuple[list[Route], list[HTTPRouteHandler]]:
    """The routes that take a body, and the other handlers."""

    async def handle_score(body: bytes, caller: Caller) -> Any:
        return await own.score(service, own.decoded(body))

    async def handle_moderations(body: bytes, caller: Caller) -> Any:
        texts = openai_dialect.texts_of(body)
        engine = service.engine
        p = await service.score(texts)
        return openai_dialect.reply(
            engine.loaded.name,
            engine.shown(p, PROBABILITY),
            engine.thresholds(PROBABILITY),
            len(texts),
        )

    scoring = Route(
        service, "/score", "score", OWN, handle_score, _MOST_BYTES,
        described_by("Scores of many texts.", own.ScoreRequest, own.ScoreReply), "Evenhand",
    )  # fmt: skip
    moderating = Route(
        service, "/v1/moderations", "moderations", OPENAI, handle_moderations, _MOST_BYTES,
        described_by("Moderation of texts.", openai_dialect.Request, openai_dialect.Reply),
        "OpenAI",
    )  # fmt: skip
    return [scoring, moderating], [*_for_operators(service), *Pages(service).routes()]


def _for_operators(service: Service) -> list[HTTPRouteHandler]:
    async def answered(
        request: AnyRequest, name: str, handler: Handler, **more: str
    ) -> Response[bytes]:
        found = await service.answered(
            name, OWN, request.scope, request.body, handler, counts=False, **more
        )
        return found.response()

    @get("/healthz", tags=["Operation"], summary="Whether the process runs.")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @get("/readyz", tags=["Operation"], summary="Whether it takes requests now.")
    async def readyz() -> Response[dict[str, Any]]:
        waits = service.engine.batcher.wait
        ready = service.ready and waits <= service.settings.patience
        return Response(
            {"ready": ready, "waits_seconds": round(waits, 3)}, status_code=200 if ready else 503
        )

    async def handle_metrics(body: bytes, caller: Caller) -> Any:
        return service.metrics.page()

    @get(
        "/metrics", media_type=CONTENT_TYPE, tags=["Operation"], summary="Counters for Prometheus."
    )
    async def metrics(request: AnyRequest) -> Response[bytes]:
        return await answered(request, "metrics", handle_metrics, media_type=CONTENT_TYPE)

    async def handle_shadow(body: bytes, caller: Caller) -> Any:
        return _state(service)

    @get("/shadow", tags=["Operation"], summary="How the shadow differs from what answers.")
    async def shadow(request: AnyRequest) -> Response[bytes]:
        return await answered(request, "shadow", handle_shadow)

    def turned(new: bool) -> Any:
        async def handle(body: bytes, caller: Caller) -> Any:
            if service.shadow is None:
                raise problem(409, "this server runs one detector; start it with --shadow")
            if service.settings.needs_key and not caller.admin:
                raise problem(403, "only a key made with `evenhand keys add --admin` may do this")
            await asyncio.to_thread(service.switch.turn, new=new)
            return _state(service)

        return handle

    @post("/shadow/promote", status_code=200, tags=["Operation"], summary="The new one answers.")
    async def promote(request: AnyRequest) -> Response[bytes]:
        return await answered(request, "promote", turned(True))

    @post("/shadow/rollback", status_code=200, tags=["Operation"], summary="The old one answers.")
    async def rollback(request: AnyRequest) -> Response[bytes]:
        return await answered(request, "rollback", turned(False))

    return [healthz, readyz, metrics, shadow, promote, rollback]


def _state(service: Service) -> dict[str, Any]:
    if service.shadow is None:
        raise problem(409, "this server runs one detector; start it with --shadow")
    return {"answers": service.engine.loaded.name, **service.shadow.document()}
