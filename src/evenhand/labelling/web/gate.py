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
from evenhand.labelling.errors import CodeRefused, NotAllowed, NotHeld, StoreError, StoreFull
from evenhand.labelling.person import Person
from evenhand.labelling.web.asking import Again, Ask, Reply, home, to
from evenhand.labelling.web.policy import Route
from evenhand.labelling.web.site import Site

_LOG = logging.getLogger("uvicorn.error")
_GUESSES = ("code", "password", "link")
"""A code that was right once is no guess: a class with an old invite is not held up."""


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
        return failed(ask, error, _again(site, route, raw))


def _again(site: Site, route: Route, raw: Raw) -> Again | None:
    """A form of ours that holds no secret, to be sent once more when the store is back."""
    csrf = next(iter(raw.form.get("csrf", ())), "")
    if route.secret or not raw.form or not _same(csrf, site.csrf(raw.token or "")):
        return None
    return route.path, [(name, value) for name in raw.form for value in raw.form[name]]


def _admitted(route: Route, ask: Ask) -> Reply:
    person = ask.person
    if (person.role if person else "anonymous") not in route.roles:
        if person:
            return ask.refused(403, "forbidden")
        return ask.refused(403, "signed_out") if route.method == "POST" else to("/")
    if route.method == "POST" and not _same(ask.one("csrf"), ask.site.csrf(ask.token)):
        return ask.refused(403, "csrf")
    if person and person.role != "owner" and route.stage not in (None, person.stage):
        return to(home(person))
    return _guarded(route, ask) if route.guarded else route.answer(ask)


def _guarded(route: Route, ask: Ask) -> Reply:
    failures = ask.site.failures
    wait = failures.wait(ask.address)
    if wait:
        page = ask.refused(429, "often")
        return replace(page, headers={"Retry-After": str(wait)})
    try:
        return route.answer(ask)
    except CodeRefused as refused:
        if refused.why in _GUESSES:
            failures.add(ask.address)
        return ask.refused(403, refused.why)


def failed(ask: Ask, error: Exception, again: Again | None = None) -> Reply:
    """A page for an error; what a log gets holds no text of a post and no answer."""
    if isinstance(error, NotHeld):
        return ask.refused(409, "old")
    if isinstance(error, NotAllowed):
        return ask.refused(403, "forbidden")
    if isinstance(error, StoreError):
        _LOG.error("%s", error)
        return ask.refused(503, "full" if isinstance(error, StoreFull) else "store", again)
    if isinstance(error, BadInput):
        return ask.refused(400, "input")
    places = "".join(traceback.format_tb(error.__traceback__))
    _LOG.error("%s (its words are left out: they can hold texts)\n%s", type(error).__name__, places)
    return ask.refused(500, "bug")


def _ask(site: Site, person: Person | None, raw: Raw) -> Ask:
    token = raw.token or secrets.token_urlsafe(32)
    language = _language(site, person, raw)
    return Ask(site, language, token, person, raw.form, raw.query, raw.path, raw.address)


def _new_visit(ask: Ask, raw: Raw, reply: Reply) -> Reply:
    """Give a first visitor a token, so that the next form can be told from a forged one."""
    if raw.token or reply.cookie is not None:
        return reply
    return replace(reply, cookie=ask.token)


def language_of(site: Site, header: str) -> str:
    """The language of somebody of whom only the header Accept-Language is known."""
    return _language(site, None, Raw(languages=header))


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
