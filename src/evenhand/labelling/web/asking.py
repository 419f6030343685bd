"""What a page is asked and what it answers, without the web framework."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand.labelling._reading import Text, said
from evenhand.labelling.person import Person
from evenhand.labelling.web.drawing import drawn

if TYPE_CHECKING:
    from evenhand.labelling.web.site import Site

QUESTION = "q."
"""Begins the names of fields that are answers, so that a question can be called anything."""


@dataclass(frozen=True)
class Reply:
    """What goes back."""

    body: str | bytes = ""
    status: int = 200
    media_type: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)
    cookie: str | None = None
    """A new token for the browser; empty to take the old one away."""
    lasting: bool = False
    """Whether the cookie outlives the browser's session."""


Again = tuple[str, Sequence[tuple[str, str]]]
"""Where a form goes and its fields, to send it once more."""


@dataclass(frozen=True)
class Ask:
    """One request of somebody whose right to ask has been checked."""

    site: Site
    language: str
    token: str
    """Of the session, or of the visit of somebody who is not signed in."""
    person: Person | None = None
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    address: str = ""

    @property
    def me(self) -> Person:
        """Who asks, on routes that need somebody."""
        assert self.person is not None
        return self.person

    def one(self, name: str) -> str:
        """A field of the form; empty where it was not sent."""
        return next(iter(self.form.get(name, ())), "")

    def answers(self) -> dict[str, list[str]]:
        """The answers in the form, by question."""
        return {
            name.removeprefix(QUESTION): list(values)
            for name, values in self.form.items()
            if name.startswith(QUESTION)
        }

    def say(self, text: Text) -> str:
        """A text of the campaign in the person's language."""
        return said(text, self.language)

    def page(self, name: str, status: int = 200, **values: Any) -> Reply:
        """A page from a template."""
        return Reply(drawn(name, self, **values), status)

    def refused(self, status: int, why: str, again: Again | None = None) -> Reply:
        """The page that says why something was not done; ``again`` offers to try once more."""
        return self.page("refused.html", status, why=why, again=again)


def to(path: str) -> Reply:
    """Somewhere else, by GET: a form that is loaded again is not sent again."""
    return Reply("", 303, headers={"Location": path})


def opened(ask: Ask, person: Person, path: str) -> Reply:
    """A new session for the browser, and on to a page; annotators stay signed in."""
    token = ask.site.store.sessions.open(person.id)
    return replace(to(path), cookie=token, lasting=person.role == "annotator")


def attached(name: str) -> dict[str, str]:
    """The header that makes a browser keep a file under a name, of which only plain letters stay.

    >>> attached("my campaign.zip")
    {'Content-Disposition': 'attachment; filename="my-campaign.zip"'}
    """
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name)
    return {"Content-Disposition": f'attachment; filename="{plain}"'}


def home(person: Person | None) -> str:
    """Where somebody goes on."""
    if person is None:
        return "/"
    if person.role == "owner":
        return "/dashboard"
    return "/label" if person.stage == "ready" else f"/{person.stage}"
