"""The one way in: session, role, step, token of the form, limits; then the page; then the errors.

Runs in a thread, because the store waits for its database.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.core.errors import BadInput
from evenhand.labelling.errors import CodeRefused, NotAllowed, NotHeld, StoreError
from evenhand.labelling.person import Person
from evenhand.labelling.web.asking import Ask, Reply, home, to
from evenhand.labelling.web.policy import Route
from evenhand.labelling.web.site import Site

_LOG = logging.getLogger("uvicorn.error")


@dataclass(frozen=True)
class Raw:
    """A request as it came."""

    token: str | None = None
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    languages: str = ""
    """The header Accept-Language."""


def answered(site: Site, route: Route, raw: Raw) -> Reply:
    """The reply to a request on a route of the table."""
    ask = Ask(site, _language(site, None, raw), raw.token or "")
    try:
        person = site.store.sessions.person(raw.token) if raw.token else None
        ask = _ask(site, person, raw)
        return _new_visit(ask, raw, _admitted(route, ask))
    except Exception as error:
        return failed(ask, error)


def _admitted(route: Route, ask: Ask) -> Reply:
    person = ask.person
    if (person.role if person else "anonymous") not in route.roles:
        return ask.page("refused.html", 403, why="forbidden") if person else to("/")
    if route.method == "POST" and not _same(ask.one("csrf"), ask.site.csrf(ask.token)):
        return ask.page("refused.html", 403, why="csrf")
    if person and person.role != "owner" and route.stage not in (None, person.stage):
        return to(home(person))
    return _guarded(route, ask) if route.guarded else route.answer(ask)


def _guarded(route: Route, ask: Ask) -> Reply:
    failures = ask.site.failures
    wait = failures.wait(ask.address)
    if wait:
        page = ask.page("refused.html", 429, why="often")
        return replace(page, headers={"Retry-After": str(wait)})
    try:
        return route.answer(ask)
    except CodeRefused:
        failures.add(ask.address)
        return ask.page("refused.html", 403, why="code")


def failed(ask: Ask, error: Exception) -> Reply:
    """A page for an error; what a log gets holds no text of a post and no answer."""
    if isinstance(error, NotHeld):
        return ask.page("refused.html", 409, why="old")
    if isinstance(error, NotAllowed):
        return ask.page("refused.html", 403, why="forbidden")
    if isinstance(error, StoreError):
        _LOG.error("%s", error)
        return ask.page("refused.html", 503, why="store")
    if isinstance(error, BadInput):
        return ask.page("refused.html", 400, why="input")
    places = "".join(traceback.format_tb(error.__traceback__))
    _LOG.error("%s (its words are left out: they can hold texts)\n%s", type(error).__name__, places)
    return ask.page("refused.html", 500, why="bug")


def _ask(site: Site, person: Person | None, raw: Raw) -> Ask:
    token = raw.token or secrets.token_urlsafe(32)
    language = _language(site, person, raw)
    return Ask(site, language, token, person, raw.form, raw.query, raw.path, raw.address)


def _new_visit(ask: Ask, raw: Raw, reply: Reply) -> Reply:
    """Give a first visitor a token, so that the next form can be told from a forged one."""
    if raw.token or reply.cookie is not None:
        return reply
    return replace(reply, cookie=ask.token)


def _language(site: Site, person: Person | None, raw: Raw) -> str:
    known = site.campaign.languages
    if person is not None:
        return person.language
    asked = [raw.query.get("language", ""), *raw.form.get("language", ())]
    asked += [part.split(";")[0].strip() for part in raw.languages.split(",")]
    for tag in asked:
        for match in (tag, tag.split("-")[0]):
            if match in known:
                return match
    return known[0]


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())
