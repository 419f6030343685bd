"""Every route for every role: the table of the policy is what the application does."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Any

import pytest

from evenhand.labelling import Store
from evenhand.labelling.web.policy import ROUTES
from labelling.conftest import ready

WHO = ("anonymous", "annotator", "other annotator", "expert", "owner")
ONLY_OWNER = {"/dashboard", "/agreement", "/invites", "/invites/revoke", "/export/{form:str}"}
PUBLIC = {"/", "/join/{code:str}", "/join", "/sign-in", "/owner/{link:str}", "/owner"}
FILLED = {"code:str": "ABCD", "link:str": "abc", "number:int": "0"}


def _path(path: str) -> str:
    filled = {**FILLED, "form:str": "records" if "export" in path else "token"}
    return re.sub(r"\{(.*?)\}", lambda match: filled[match[1]], path)


def csrf_of(store: Store, token: str) -> str:
    return hmac.new(store.campaign.secret, f"csrf {token}".encode(), "sha256").hexdigest()


@pytest.fixture
def people(make_web: Callable[..., Any]) -> Any:
    store, browser = make_web()
    one, two = ready(store, 2)
    (expert,) = ready(store, 1, "experts")
    owner = store.sessions.redeem(store.sessions.owner_link()).id
    ids = dict(zip(WHO, (None, one, two, expert, owner), strict=True))
    return store, browser, ids


def test_every_route_for_every_role(people: Any) -> None:
    store, browser, ids = people
    wrong = []
    for who in WHO:
        client = browser().client
        client.follow_redirects = False
        role = who.split()[-1]
        for route in ROUTES:
            token = "visit" if ids[who] is None else store.sessions.open(ids[who])
            client.cookies.clear()
            client.cookies.set("evenhand", token)
            form = {"csrf": csrf_of(store, token)} if route.method == "POST" else None
            got = client.request(route.method, _path(route.path), data=form)
            if role in route.roles:
                fine = got.status_code != 500 and "not for you" not in got.text
                # A code, link or form that is not there is refused for itself.
                fine = fine and (got.status_code != 403 or route.guarded)
            elif role == "anonymous" and route.method == "POST":
                fine = got.status_code == 403 and "not signed in any more" in got.text
            elif role == "anonymous":
                fine = (got.status_code, got.headers.get("location")) == (303, "/")
            else:
                fine = got.status_code == 403 and "not for you" in got.text
            if not fine:
                wrong.append((who, route.method, route.path, got.status_code))
    assert wrong == []


def test_what_only_an_owner_and_what_anybody_may_is_as_we_decided() -> None:
    assert {r.path for r in ROUTES if r.roles == {"owner"}} == ONLY_OWNER
    assert {r.path for r in ROUTES if "anonymous" in r.roles} == PUBLIC
    assert {r.path for r in ROUTES if "annotator" not in r.roles} == ONLY_OWNER | {"/cases"}
    assert all(r.roles for r in ROUTES)


def test_a_form_without_its_token_or_with_anothers_is_refused(people: Any) -> None:
    store, browser, ids = people
    client = browser().client
    token, others = store.sessions.open(ids["owner"]), store.sessions.open(ids["annotator"])
    for route in (route for route in ROUTES if route.method == "POST"):
        for csrf in (None, "", "x", csrf_of(store, others)):
            client.cookies.clear()
            client.cookies.set("evenhand", token if "owner" in route.roles else others)
            if csrf == csrf_of(store, others) and "owner" not in route.roles:
                csrf = csrf_of(store, token)
            got = client.post(_path(route.path), data=None if csrf is None else {"csrf": csrf})
            assert got.status_code == 403, (route.path, csrf)
            assert "too old" in got.text
