"""Running a campaign's pages: posts are brought in once, then one process or several serve."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import uvicorn
from litestar import Litestar

from evenhand.labelling.campaign import read_campaign
from evenhand.labelling.posts import read_posts
from evenhand.labelling.store import Store, opened
from evenhand.labelling.web.app import create_app
from evenhand.labelling.web.settings import Settings

if TYPE_CHECKING:
    from evenhand.labelling.report import Estimate  # with scipy: loaded when figures are asked for

_SETTINGS = "EVENHAND_LABEL"
"""Hands the settings on to the workers."""
_FINISHING_SECONDS = 30
FACTORY = "evenhand.labelling.web.run:worker"


def serve(
    settings: Settings, say: Callable[[str], None], *, factory: str = FACTORY, link: bool = True
) -> None:
    """Serve until told to stop; ``say`` gets the owner's one-time link before the first page."""
    if settings.port == 0:
        settings = replace(settings, port=_free(settings.host))  # the link names it
    campaign = read_campaign(settings.path)
    with opened(campaign, settings.database) as store:
        store.load(read_posts(campaign))
        if link:
            say(f"{settings.base}/owner/{store.sessions.owner_link()}")
    os.environ[_SETTINGS] = settings.json()
    uvicorn.run(
        factory,
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_level="info",
        access_log=False,  # a path can hold an invite code
        server_header=False,
        timeout_graceful_shutdown=_FINISHING_SECONDS,
    )


def worker(estimate: Estimate | None = None) -> Litestar:
    """The application of one process."""
    settings = Settings.of_json(os.environ[_SETTINGS])
    store = Store(read_campaign(settings.path), settings.database)
    return create_app(store, settings, estimate)


def _free(host: str) -> int:
    with socket.create_server((host, 0), family=_family(host)) as found:
        return int(found.getsockname()[1])


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
