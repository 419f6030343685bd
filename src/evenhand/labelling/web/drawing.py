"""Pages from templates; every value in them is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from evenhand.labelling.web.texts import called, text

if TYPE_CHECKING:
    from evenhand.labelling.web.asking import Ask

STATIC: Mapping[str, str] = {"style.css": "text/css", "script.js": "text/javascript"}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("evenhand.labelling.web"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["day"] = lambda at: datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    return made


def _definitions(ask: Ask) -> Markup:
    """Definitions and examples, on every page with questions: drawn once for a language."""
    kept = ask.site.definitions
    if ask.language not in kept:
        macros: Any = _environment().get_template("macros.html").module
        speak = partial(text, ask.language)
        kept[ask.language] = macros.definitions(ask.site.campaign, ask.say, speak)
    return kept[ask.language]


def drawn(name: str, ask: Ask, **values: Any) -> str:
    """A page for who asks, in their language."""
    site = ask.site
    return (
        _environment()
        .get_template(name)
        .render(
            ask=ask,
            person=ask.person,
            campaign=site.campaign,
            csrf=site.csrf(ask.token),
            language=ask.language,
            say=ask.say,
            called=called,
            definitions=_definitions(ask),
            t=partial(text, ask.language),
            **values,
        )
    )


@cache
def static(name: str) -> str:
    """A style sheet or script of ours."""
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")
