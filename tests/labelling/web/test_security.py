"""What people with bad intent would try first."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from evenhand.core.errors import BadInput
from evenhand.labelling.errors import StoreFull
from evenhand.labelling.web import drawing
from evenhand.labelling.web.limits import Failures
from evenhand.labelling.web.settings import Settings
from labelling.conftest import ready

FORM = {"content-type": "application/x-www-form-urlencoded"}
EVIL = '<script>alert(1)</script> "><img src=x onerror=alert(2)> {{ 1234*2 }}'


def test_a_planted_session_is_not_taken_over(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    me = browser()
    me.client.cookies.set("evenhand", "planted-by-somebody-else")
    me.go("/")
    me.client.follow_redirects = False
    code = store.invites.make("volunteers")
    joined = me.client.post("/join", data={"csrf": me.csrf, "code": code})
    assert joined.status_code == 303
    new = joined.headers["set-cookie"].split(";")[0].removeprefix("evenhand=")
    assert new != "planted-by-somebody-else"
    assert store.sessions.person("planted-by-somebody-else") is None
    assert store.sessions.person(new) is not None


def test_signing_out_everywhere_and_a_new_password_end_the_other_sessions(
    make_web: Callable[..., Any],
) -> None:
    store, browser = make_web()
    (id,) = ready(store)
    here, there = browser().sign_in(store, id), browser().sign_in(store, id)
    here.go("/settings")
    here.send("/password", password="long enough to keep")
    assert here.url == "/settings"  # still signed in, under a new token
    there.go("/settings")
    assert there.url == "/"
    there.sign_in(store, id).go("/settings")
    here.send("/sign-out-everywhere")
    for me in (here, there):
        me.go("/settings")
        assert me.url == "/"


def test_a_vote_of_somebody_signed_out_is_said_to_be_lost(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    (id,) = ready(store)
    me = browser().sign_in(store, id)
    me.go("/label")
    store.sessions.close_all(id)
    assert "this was not saved" in me.vote(403, abuse="No")
    assert "voted" not in store.progress().states


def test_signing_out_ends_the_session_on_the_server(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    token = store.sessions.open(ready(store)[0])
    me = browser()
    me.client.cookies.set("evenhand", token)
    me.go("/label")
    me.send("/sign-out")
    assert store.sessions.person(token) is None


def test_a_post_of_another_cannot_be_answered_or_looked_at(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    mine, other = ready(store, 2)
    theirs = store.work.next(other)
    assert theirs is not None
    me = browser().sign_in(store, mine)
    me.go("/label")
    sent = {"token": theirs.token, "shown": ["abuse", "note"], "q__abuse": "No"}
    me.send("/label", 409, **sent)
    me.go(f"/picture/{theirs.token}/0", 409)
    me.go("/label")
    me.send("/label", 409, token=theirs.token, action="skip")
    assert store.progress().states == {"held": 2}


def test_everybody_sees_only_their_own_data(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    one, two = (store.people.get(id) for id in ready(store, 2))
    me = browser().sign_in(store, one)
    data = me.go("/my-data.json")
    assert one.name in data
    assert two.name not in data
    me.go("/settings")
    me.send("/my-data/delete", 422, person=str(two.id))
    me.send("/my-data/delete", sure="yes", person=str(two.id))
    assert store.people.get(two.id).name == two.name
    me.go("/my-data")
    assert me.url == "/"


def test_text_of_a_post_is_never_markup(make_web: Callable[..., Any]) -> None:
    store, browser = make_web(posts=[{"id": "a", "text": EVIL, "context": EVIL}])
    me = browser().sign_in(store, ready(store)[0])
    me.go("/label")
    me.send("/label", token=me.value("token"), action="flag", flag_note=EVIL)
    expert = browser().sign_in(store, ready(store, 1, "experts")[0])
    owner = browser().sign_in(store, store.sessions.redeem(store.sessions.owner_link()))
    expert.go("/label")
    vote = {"abuse": "Abusive", "type": "insult"}
    expert.vote(**vote)
    for page in (expert.page, expert.go("/cases"), me.go("/my-data"), owner.go("/cases"),
                 owner.go("/invites"), owner.send("/invites", cohort="volunteers", most="1",
                 days="1", note=EVIL)):  # fmt: skip
        for raw in ("<script>alert", "<img src=x", "2468"):
            assert raw not in page
    assert "&lt;script&gt;alert(1)" in expert.go("/cases")


def test_a_code_is_a_code_and_not_sql(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    store.invites.make("volunteers", most=5)
    me = browser()
    for code in ("' OR 1=1 --", "%", "A'; DROP TABLE people; --", "", "\x00"):
        me.go("/")
        me.send("/join", 403, code=code)
    assert store.progress().cohorts[0].people == 0


def test_an_expired_or_revoked_invite_lets_nobody_in(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    late = store.invites.make("volunteers", days=1)
    gone = store.invites.make("volunteers", days=9)
    store.invites.revoke(store.invites.all()[0].id)
    store.context.clock.now += 2 * 86_400
    full = store.invites.make("volunteers", most=1)
    store.people.join(full)
    for code, why in ((late, "has expired"), (gone, "was revoked"), (full, "as many people as")):
        me = browser()
        me.go("/")
        assert why in me.send("/join", 403, code=code)
    assert store.progress().cohorts[0].people == 1


def test_an_old_invite_is_no_guess(make_web: Callable[..., Any]) -> None:
    store, browser = make_web(settings={"failures": 2})
    late = store.invites.make("volunteers", days=1)
    store.context.clock.now += 2 * 86_400
    for _ in range(4):  # a class with an old link, behind one router
        me = browser()
        me.go("/")
        me.send("/join", 403, code=late)
    me.go("/")
    me.send("/join", code=store.invites.make("volunteers"))
    assert me.url == "/consent"


def test_guessing_is_slowed_down_and_guests_are_not(make_web: Callable[..., Any]) -> None:
    store, browser = make_web(settings={"failures": 2})
    good = store.invites.make("volunteers", most=9)
    for _ in range(3):
        guest = browser()
        guest.go("/")
        guest.send("/join", code=good)
    me = browser()
    me.go("/sign-in")
    csrf = me.csrf
    me.send("/sign-in", 403, name="p-abcdef", password="not this one")
    guess = me.client.post("/owner", data={"csrf": csrf, "link": "guess"})
    assert guess.status_code == 403
    answer = me.client.post("/join", data={"csrf": csrf, "code": good})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 600


def test_failures_are_forgotten_after_ten_minutes() -> None:
    now = [0.0]
    failures = Failures(2, clock=lambda: now[0])
    failures.add("a")
    failures.add("a")
    assert (failures.wait("a"), failures.wait("b")) == (600, 0)
    now[0] = 600.0
    assert failures.wait("a") == 0


def test_an_answer_outside_the_form_is_not_counted(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    me = browser().sign_in(store, ready(store)[0])
    me.go("/label")
    assert "not one of the answers" in me.vote(422, abuse="Lovely")
    me.vote(422, abuse="No", more="x")
    me.vote(abuse=["No", "Abusive"])
    assert "one answer only" in me.vote(422, abuse=["No", "Abusive"], type="insult")
    me.vote(422, abuse="Abusive", type="insult", words="1-99")
    assert "voted" not in store.progress().states


def test_a_form_that_is_sent_again_is_one_vote(make_web: Callable[..., Any]) -> None:
    store, browser = make_web()
    me = browser().sign_in(store, ready(store)[0])
    me.go("/label")
    token = me.value("token")
    again = {"token": token, "shown": ["abuse", "note"], "q__abuse": "No"}
    for _ in range(3):
        me.send("/label", **again)
        assert me.url == "/label"
    assert store.progress().states == {"voted": 1, "held": 1}


def test_headers_on_every_kind_of_answer(make_web: Callable[..., Any]) -> None:
    _, browser = make_web(settings={"public_url": "https://label.example.org"})
    client = browser().client
    for path in ("/", "/nowhere", "/dashboard", "/style.css", "/join/x"):
        got = client.get(path)
        policy = got.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert got.headers["referrer-policy"] == "no-referrer"
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["strict-transport-security"].startswith("max-age=")
        assert got.headers["cache-control"] == (
            "no-store" if "style" not in path else "max-age=300"
        )
    cookie = client.get("/").headers["set-cookie"]
    assert cookie.startswith("__Host-evenhand=")
    for part in ("Secure", "HttpOnly", "SameSite=lax", "Path=/"):
        assert part in cookie
    assert "Domain" not in cookie


def test_templates_have_no_script_or_style_inside() -> None:
    folder = Path(drawing.__file__).parent / "templates"
    for path in folder.glob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script(?! src)", page), path
        assert "|safe" not in page


@pytest.mark.parametrize(
    "more",
    [{"host": "0.0.0.0"}, {"host": "192.168.1.5", "public_url": "http://label.example.org"},
     {"public_url": "label.example.org"}, {"public_url": "https://a.org/path"}, {"workers": 2}],
)  # fmt: skip
def test_an_unsafe_way_to_serve_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Settings(folder=".", **more)


def test_safe_ways_to_serve_are_not() -> None:
    Settings(folder=".", host="0.0.0.0", public_url="https://label.example.org")
    Settings(folder=".", host="0.0.0.0", insecure=True)
    Settings(folder=".", host="::1")
    made = Settings(folder=".", workers=3, database="postgresql://x/y")
    assert Settings.of_json(made.json()) == made


def test_a_full_disk_is_said_and_a_bug_does_not_put_texts_in_the_log(
    make_web: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    text = "blorp " * 2
    store, browser = make_web(posts=[{"id": "a", "text": text}])
    me = browser().sign_in(store, ready(store)[0])

    def full(person: int) -> None:
        raise StoreFull("the disk is full")

    def broken(person: int) -> None:
        raise RuntimeError(text)

    with caplog.at_level(logging.DEBUG):
        me.go("/label")
        monkeypatch.setattr(store.work, "next", full)
        assert "not saved" in me.go("/label", 503)
        monkeypatch.setattr(store.work, "next", broken)
        me.go("/label", 500)
    assert "RuntimeError" in caplog.text
    assert text.strip() not in caplog.text


def test_a_form_the_full_disk_did_not_take_can_be_sent_again(
    make_web: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, browser = make_web()
    me = browser().sign_in(store, ready(store)[0])
    me.go("/label")

    def full(*args: Any, **more: Any) -> None:
        raise StoreFull("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store.work, "vote", full)
        page = me.vote(503, abuse="No", note='"><b>mine')
    assert "disk is full" in page
    assert "<b>" not in page
    fields = re.findall(r'type="hidden" name="(.*?)" value="(.*?)"', page.split("<main")[1])
    assert dict(fields)["q.note"] == "&#34;&gt;&lt;b&gt;mine"
    sent = [(name, unescape(value)) for name, value in fields]
    me.client.post("/label", content=urlencode(sent), headers=FORM)
    assert store.progress().states["voted"] == 1


def test_neither_secrets_nor_forms_of_others_are_sent_back(
    make_web: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, browser = make_web()
    me = browser().sign_in(store, ready(store)[0])
    me.go("/settings")

    def full(*args: Any, **more: Any) -> None:
        raise StoreFull("the disk is full")

    monkeypatch.setattr(store.people, "set_password", full)
    assert "my long secret" not in me.send("/password", 503, password="my long secret")
    monkeypatch.setattr(store.sessions, "person", full)
    got = me.client.post("/label", data={"csrf": "forged", "token": "planted"})
    assert got.status_code == 503
    assert "planted" not in got.text
