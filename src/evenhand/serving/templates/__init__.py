"""The pages of the server, as templates; every value in them is escaped."""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup, escape

from evenhand.reports import LIMITS

_NOTHING = 0.01
"""A smaller change is not marked."""


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("evenhand.serving"), autoescape=select_autoescape(["html"])
    )
    made.filters["strength"] = strength
    made.filters["parted"] = parted
    return made


def parted(name: str) -> Markup:
    """A name that a narrow column may break between its words.

    >>> parted("doNotStore"), parted("SEVERE_TOXICITY")
    (Markup('do<wbr>Not<wbr>Store'), Markup('SEVERE_<wbr>TOXICITY'))
    """
    return Markup(re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=_)", "<wbr>", str(escape(name))))


def strength(weight: float) -> int:
    """How strongly a word is marked, from 0 to 5.

    >>> [strength(weight) for weight in (0.004, 0.01, -0.25, 0.9)]
    [0, 1, 3, 5]
    """
    return 0 if abs(weight) < _NOTHING else min(5, math.ceil(abs(weight) * 10))


@cache
def style() -> str:
    """The style sheet of all pages."""
    return (files(__name__) / "style.css").read_text(encoding="utf-8")


def rendered(name: str, **values: Any) -> str:
    """A page."""
    return _environment().get_template(name).render(limits=LIMITS, **values)
