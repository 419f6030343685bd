"""An application in this process, over a detector that is quick and known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from litestar.testing import TestClient

from evenhand.serving.app import create_app
from evenhand.serving.service import Service
from evenhand.serving.settings import Settings
from serving_detectors import write_detectors


@contextmanager
def application(folder: Path, **settings: Any) -> Iterator[TestClient[Any]]:
    """A client of an application; TOXICITY is the length of a text over 20, INSULT .25."""
    write_detectors(folder)
    told = {"detector": "python:served:plain", "keys": str(folder / "keys.json"), **settings}
    made = create_app(Service.of(Settings(**told)))
    with TestClient(made, base_url="http://127.0.0.1") as client:
        yield client
