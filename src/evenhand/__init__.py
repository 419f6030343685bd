"""Evenhand: build, prove and run abuse detectors you can answer for.

A lazy façade: ``evenhand.load`` (a detector; ``evenhand.load().score(["a text"])``),
``evenhand.Post`` and the other records, ``evenhand.find`` (a corpus by name, file or folder),
``evenhand.describe`` and ``evenhand.check``. Importing the package imports nothing
heavy; a name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Post": "core.records",
    "Draw": "core.records",
    "Judgement": "core.records",
    "Gold": "core.records",
    "Split": "core.records",
    "Score": "core.records",
    "Finding": "core.records",
    "EvenhandError": "core.errors",
    "Corpus": "data.corpus",
    "find": "data.find",
    "describe": "data.describe",
    "check": "data.check",
    "load": "models.loaded",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("evenhand.core.provenance").VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    return getattr(import_module(f"evenhand.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
