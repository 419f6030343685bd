"""Joining, signing in, settings, consent, and one's own data, on both databases."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from evenhand.core.errors import BadInput
from evenhand.labelling._tables import assignments, events, invites, people, sessions, slots
from evenhand.labelling.codes import Codes
from evenhand.labelling.errors import AnswersRefused, CodeRefused, NotAllowed

from .conftest import COHORT

BAD = {"abuse": "Abusive", "type": ["insult"], "note": "ask @jane"}
FULL = (
    COHORT
    + """
[tutorial]
enough = 1
[[tutorial.page]]
title = "How"
text = "Like this."
[[tutorial.practice]]
text = "you fool"
answers = { abuse = "Abusive", type = "insult" }
feedback = "An insult."
[[tutorial.check]]
id = "sure"
text = "Sure?"
right = "yes"
[[tutorial.check.answer]]
id = "yes"
text = "Yes"
[[tutorial.check.answer]]
id = "no"
text = "No"
[background]
consent = "Counted only."
[[background.question]]
id = "age"
kind = "one"
text = "Age?"
[[background.question.answer]]
id = "young"
text = "Young"
[[background.question.answer]]
id = "old"
text = "Old"
"""
)


def table(store, wanted):
    with store.context.database.read() as connection:
        return connection.execute(sa.select(wanted)).all()


def test_a_code_lets_so_many_in_until_a_day(make_store, clock):
    store = make_store()
    code = store.invites.make("volunteers", most=2, days=1, note="the choir")
    one = store.people.join(code.lower().replace("-", " "), "en")
    other = store.people.join(code)
    assert one.name != other.name and one.cohort == "volunteers"
    with pytest.raises(CodeRefused, match="used up"):
        store.people.join(code)
    late = store.invites.make("volunteers", days=1)
    clock.now += 90_000
    with pytest.raises(CodeRefused, match="expired"):
        store.people.join(late)
    gone = store.invites.make("volunteers")
    store.invites.revoke(store.invites.all()[0].id)
    with pytest.raises(CodeRefused, match="revoked"):
        store.people.join(gone)
    assert [invite.used for invite in store.invites.all()] == [0, 0, 2]


@pytest.mark.parametrize("code", ["", "AAAA", "AAAA-BBBB-CCCC-DDDD", "' OR 1=1 --", "x" * 10_000])
def test_a_wrong_code_is_refused_after_one_verification(make_store, monkeypatch, code):
    store = make_store()
    store.invites.make("volunteers")
    asked = []
    verify = Codes.verify
    monkeypatch.setattr(Codes, "verify", lambda *a: asked.append(a) or verify(*a))
    with pytest.raises(CodeRefused, match="not known"):
        store.people.join(code)
    assert len(asked) == 1


def test_codes_passwords_and_tokens_are_kept_as_hashes(make_store):
    store = make_store()
    code = store.invites.make("volunteers")
    person = store.people.join(code)
    store.people.set_password(person.id, "correct horse battery")
    token = store.sessions.open(person.id)
    link = store.sessions.owner_link()
    kept = repr([table(store, each) for each in (invites, people, sessions, events)])
    for secret in (code, code[-9:].replace("-", ""), "correct horse", token, link):
        assert secret not in kept
    assert "$argon2" in kept


def test_sign_in_by_pseudonym_and_password(make_store):
    store = make_store()
    person = store.people.join(store.invites.make("volunteers"))
    for name, password in ((person.name, "anything at all"), ("nobody", "anything at all")):
        with pytest.raises(CodeRefused, match="name or password is wrong"):
            store.people.sign_in(name, password)
    with pytest.raises(BadInput, match="10 to 200"):
        store.people.set_password(person.id, "short")
    store.people.set_password(person.id, "long enough, surely")
    assert store.people.sign_in(person.name, "long enough, surely").id == person.id


def test_sessions_expire_and_can_be_revoked(make_store, people_ready, clock):
    store = make_store()
    [person] = people_ready(store)
    one, two, three = (store.sessions.open(person) for _ in range(3))
    assert store.sessions.person(one).id == person
    assert store.sessions.person("guess") is None
    store.sessions.close(one)
    assert store.sessions.person(one) is None
    assert store.sessions.close_all(person) == 2
    assert store.sessions.person(two) is store.sessions.person(three) is None
    last = store.sessions.open(person)
    clock.now += 3600 * 24 * 31
    assert store.sessions.person(last) is None
    store.sessions.close("guess")
    told = [row.kind for row in table(store, events) if row.person == person][2:]
    assert told == ["signed-in"] * 3 + ["signed-out", "revoked", "signed-in"]


def test_the_owner_signs_in_by_a_link_once(make_store, clock):
    store = make_store()
    link = store.sessions.owner_link()
    owner = store.sessions.redeem(link)
    assert (owner.role, owner.cohort) == ("owner", None)
    for wrong in (link, "guess"):
        with pytest.raises(CodeRefused):
            store.sessions.redeem(wrong)
    assert store.sessions.redeem(store.sessions.owner_link()).id == owner.id
    old = store.sessions.owner_link()
    clock.now += 3601
    with pytest.raises(CodeRefused, match="expired"):
        store.sessions.redeem(old)
    with pytest.raises(NotAllowed):
        store.work.next(owner.id)


def test_the_steps_before_the_first_post(make_store):
    store = make_store(more=FULL)
    person = store.people.join(store.invites.make("volunteers"))
    stages = [person.stage, store.people.consent(person.id).stage]
    stages.append(store.people.finish_tutorial(person.id).stage)
    stages.append(store.people.practise(person.id, 0, {"abuse": "No"}).stage)
    assert stages == ["consent", "tutorial", "practice", "check"]
    assert store.people.practise(person.id, 0, {"abuse": "No"}).practised == 1
    assert store.people.take_check(person.id, {"sure": "no"}) == (False, ["sure"])
    with pytest.raises(NotAllowed, match="check comes first"):
        store.work.next(person.id)
    assert store.people.take_check(person.id, {"sure": "yes"}) == (True, [])
    assert store.work.next(person.id) is not None


def test_background_is_kept_only_with_consent(make_store, people_ready):
    store = make_store(more=FULL)
    [person] = people_ready(store)
    assert store.people.set_background(person, {"age": "old"}, consent=True).background == {
        "age": ["old"]
    }
    with pytest.raises(AnswersRefused):
        store.people.set_background(person, {"age": "blue"}, consent=True)
    assert store.people.set_background(person, {}, consent=False).background is None


def test_settings(make_store, people_ready):
    store = make_store()
    [person] = people_ready(store)
    found = store.people.change(person, blur=False, mask=True)
    assert (found.blur, found.mask) == (False, True)
    for wrong in ({"language": "xx"}, {"opt_outs": ["moons"]}, {"role": "owner"}):
        with pytest.raises(BadInput, match="cannot be chosen"):
            store.people.change(person, **wrong)


def test_people_can_see_and_delete_all_of_it(make_store, people_ready):
    store = make_store(posts=2, more='\n[[cohort]]\nname = "volunteers"\noverlap = 1\n')
    one, other = people_ready(store, 2)
    store.people.set_password(one, "long enough, surely")
    session = store.sessions.open(one)
    task = store.work.next(one)
    store.work.vote(one, task.token, BAD)
    store.work.next(one)
    mine = store.people.data(one)
    assert json.loads(json.dumps(mine))["posts"][0]["post_text"] == task.text
    assert mine["posts"][0]["answers"]["chosen"]["abuse"] == ["Abusive"]
    assert "password" not in mine["person"] and task.token not in repr(mine)
    # The clock of these tests starts at 1,800,000,000 seconds: 15 January 2027.
    for kept in (mine["person"]["joined_at"], mine["posts"][0]["done_at"], mine["log"][0]["at"]):
        assert kept.startswith("2027-01-15T08:00:0")
    store.people.erase(one)
    assert store.sessions.person(session) is None
    assert [row for row in table(store, assignments) if row.person == one] == []
    assert {(slot.votes, slot.held, slot.open) for slot in table(store, slots)} == {(0, 0, True)}
    assert [row.kind for row in table(store, events) if row.person == one] == []
    assert table(store, events)[-1].kind == "erased"
    for act in (store.people.get, store.work.next, store.people.consent):
        with pytest.raises(NotAllowed):
            act(one)
    # Both posts are there for others.
    assert store.work.next(other) is not None


def test_the_log_is_append_only(make_store, people_ready):
    store = make_store()
    people_ready(store)
    for change in (sa.delete(events), sa.update(events).values(kind="nothing")):
        with (
            pytest.raises(sa.exc.DBAPIError, match="append-only"),
            store.context.database.write() as connection,
        ):
            connection.execute(change)
