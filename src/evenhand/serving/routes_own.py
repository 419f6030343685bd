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
from evenhand.serving.service import AnyRequest, Caller, Service

_MOST_BYTES = 8 << 20


def routes(service: Service) -> list[HTTPRouteHandler]:
    """The handlers."""

    async def handle_score(request: AnyRequest, caller: Caller) -> Any:
        return await own.score(service, own.decoded(await request.body()))

    async def handle_moderations(request: AnyRequest, caller: Caller) -> Any:
        texts = openai_dialect.texts_of(await request.body())
        engine = service.engine
        p = await service.score(texts)
        return openai_dialect.reply(
            engine.loaded.name,
            engine.shown(p, PROBABILITY),
            engine.thresholds(PROBABILITY),
            len(texts),
        )

    @post(
        "/score", status_code=200, request_max_body_size=_MOST_BYTES, tags=["Evenhand"],
        operation_class=described_by("Scores of many texts.", own.ScoreRequest),
    )  # fmt: skip
    async def score(request: AnyRequest) -> Response[bytes]:
        return await service.answered("score", OWN, request, handle_score)

    @post(
        "/v1/moderations", status_code=200, request_max_body_size=_MOST_BYTES, tags=["OpenAI"],
        operation_class=described_by("Moderation of texts.", openai_dialect.Request),
    )  # fmt: skip
    async def moderations(request: AnyRequest) -> Response[bytes]:
        return await service.answered("moderations", OPENAI, request, handle_moderations)

    return [score, moderations, *_for_operators(service), *Pages(service).routes()]


def _for_operators(service: Service) -> list[HTTPRouteHandler]:
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

    async def handle_metrics(request: AnyRequest, caller: Caller) -> Any:
        return service.metrics.page()

    @get("/metrics", tags=["Operation"], summary="Counters for Prometheus.")
    async def metrics(request: AnyRequest) -> Response[bytes]:
        return await service.answered(
            "metrics", OWN, request, handle_metrics, counts=False, media_type=CONTENT_TYPE
        )

    async def handle_shadow(request: AnyRequest, caller: Caller) -> Any:
        return _state(service)

    @get("/shadow", tags=["Operation"], summary="How the shadow differs from what answers.")
    async def shadow(request: AnyRequest) -> Response[bytes]:
        return await service.answered("shadow", OWN, request, handle_shadow, counts=False)

    def turned(new: bool) -> Any:
        async def handle(request: AnyRequest, caller: Caller) -> Any:
            if service.shadow is None:
                raise problem(409, "this server runs one detector; start it with --shadow")
            if service.settings.needs_key and not caller.admin:
                raise problem(403, "only a key made with `evenhand keys add --admin` may do this")
            await asyncio.to_thread(service.switch.turn, new=new)
            return _state(service)

        return handle

    @post("/shadow/promote", status_code=200, tags=["Operation"], summary="The new one answers.")
    async def promote(request: AnyRequest) -> Response[bytes]:
        return await service.answered("promote", OWN, request, turned(True), counts=False)

    @post("/shadow/rollback", status_code=200, tags=["Operation"], summary="The old one answers.")
    async def rollback(request: AnyRequest) -> Response[bytes]:
        return await service.answered("rollback", OWN, request, turned(False), counts=False)

    return [healthz, readyz, metrics, shadow, promote, rollback]


def _state(service: Service) -> dict[str, Any]:
    if service.shadow is None:
        raise problem(409, "this server runs one detector; start it with --shadow")
    return {"answers": service.engine.loaded.name, **service.shadow.document()}
