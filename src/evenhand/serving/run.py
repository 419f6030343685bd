"""Running a server: one process, or several under uvicorn's supervisor."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import uvicorn
from litestar import Litestar

from evenhand.serving.app import create_app
from evenhand.serving.metrics import FOLDER
from evenhand.serving.refusing import Refusing
from evenhand.serving.service import Service
from evenhand.serving.settings import Settings

_SETTINGS = "EVENHAND_SERVE"
"""Hands the settings on to the workers."""
_FINISHING_SECONDS = 30
_KEPT_SECONDS = 75
"""How long an idle connection stays open: longer than the minute for which proxies and clients keep
theirs, so that none sends a request on one that is just being closed."""


def serve(settings: Settings) -> None:
    """Serve until told to stop; what was taken is finished first."""
    settings.where.listening().close()  # said in words, and before a detector is loaded
    options: dict[str, Any] = {
        "host": settings.host,
        "port": settings.port,
        "log_level": "info",
        "access_log": False,  # a path can hold a key
        "server_header": False,
        "http": Refusing,
        "timeout_keep_alive": _KEPT_SECONDS,
        "timeout_graceful_shutdown": _FINISHING_SECONDS,
    }
    if settings.workers == 1:
        uvicorn.run(create_app(Service.of(settings)), **options)
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-metrics-") as folder:
        os.environ[FOLDER] = folder
        os.environ[_SETTINGS] = settings.json()
        uvicorn.run(
            "evenhand.serving.run:worker", factory=True, workers=settings.workers, **options
        )


def worker() -> Litestar:
    """The application of one of several processes."""
    return create_app(Service.of(Settings.of_json(os.environ[_SETTINGS])))
