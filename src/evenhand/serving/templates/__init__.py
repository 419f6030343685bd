"""The pages of the server, as templates; every value in them is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

from evenhand.reports import LIMITS


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("evenhand.serving"), autoescape=select_autoescape(["html"])
    )


@cache
def style() -> str:
    """The style sheet of all pages."""
    return (files(__name__) / "style.css").read_text(encoding="utf-8")


def rendered(name: str, **values: Any) -> str:
    """A page."""
    return _environment().get_template(name).render(limits=LIMITS, **values)
