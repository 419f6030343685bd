"""The least a server can do with a vote: one insert and a commit, no sessions, no pages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import psycopg
from litestar import Litestar, Request, Response, post

_CONNECTIONS = 8
_FREE: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()


@asynccontextmanager
async def _opened(app: Litestar) -> AsyncIterator[None]:
    for _ in range(_CONNECTIONS):
        _FREE.put_nowait(await psycopg.AsyncConnection.connect(os.environ["ONE_INSERT"]))
    yield
    while not _FREE.empty():
        await _FREE.get_nowait().close()


@post("/label", status_code=303)
async def vote(request: Request[Any, Any, Any]) -> Response[str]:
    """Count a vote."""
    form = parse_qs((await request.body()).decode())
    connection = await _FREE.get()
    try:
        await connection.execute(
            "INSERT INTO one_insert (token, answer) VALUES (%s, %s)",
            (form["token"][0], form["q.abuse"][0]),
        )
        await connection.commit()
    finally:
        _FREE.put_nowait(connection)
    return Response("", status_code=303, headers={"Location": "/label?said=saved"})


app = Litestar([vote], lifespan=[_opened], logging_config=None, openapi_config=None)
