"""The application: all routes over one service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litestar import Litestar, Response
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from evenhand.core.provenance import VERSION
from evenhand.serving import routes_own, routes_perspective
from evenhand.serving.errors import OWN
from evenhand.serving.google_errors import GOOGLE
from evenhand.serving.openai_dialect import OPENAI
from evenhand.serving.openapi import ApiPage
from evenhand.serving.routes import Direct
from evenhand.serving.service import AnyRequest, Service, in_words


def create_app(service: Service) -> Litestar:
    """The application of a service that is ready."""

    @asynccontextmanager
    async def open_and_closed(app: Litestar) -> AsyncIterator[None]:
        yield
        await service.close()

    google, others = routes_perspective.routes(service)
    own, more = routes_own.routes(service)
    direct = [*google, *own]
    return Direct(
        direct,
        route_handlers=[*(route.known() for route in direct), *others, *more],
        lifespan=[open_and_closed],
        exception_handlers={Exception: _wrong},
        logging_config=None,
        openapi_config=OpenAPIConfig(
            title="Evenhand",
            version=VERSION,
            description="Scores of texts in three dialects, with the detector's evidence.",
            path="/schema",
            render_plugins=[ApiPage(), JsonRenderPlugin()],
        ),
    )


def _wrong(request: AnyRequest, error: Exception) -> Response[dict[str, Any]]:
    """What happened outside any handler, such as a path that does not exist."""
    path = request.scope["path"]
    dialect = (
        OPENAI if path.startswith("/v1/") else GOOGLE if path.startswith("/v1alpha1/") else OWN
    )
    refused = in_words(error, dialect)
    return Response(dict(refused.body), status_code=refused.code)
