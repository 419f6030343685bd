"""The whole way through plain forms, as in a browser without scripts."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.reports import LIMITS
from labelling.conftest import COHORT, QUESTIONS, ready
from labelling.web.campaigns import EVERYTHING
from labelling.web.conftest import EXPERTS

POSTS = [
    {"id": f"p{n}", "text": f"you fool number {n}", "topic": "sport", "context": "a fine day"}
    for n in range(4)
]


def _everything(make_web: Callable[..., Any], tmp_path: Path) -> Any:
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "masked.txt").write_text("# words\nfool\n")
    more = COHORT.replace("overlap = 3", "overlap = 1") + EXPERTS + EVERYTHING
    return make_web(posts=POSTS, more=more)


def test_from_an_invite_to_thanks(make_web: Callable[..., Any], tmp_path: Path) -> None:
    store, browser = _everything(make_web, tmp_path)
    code = store.invites.make("volunteers", most=1)
    me = browser()
    me.go(f"/join/{code}")
    assert me.value("code") == code
    me.send("/join", code=code)
    assert me.url == "/consent"
    assert "Careful." in me.page
    me.go("/label")
    assert me.url == "/consent"  # nothing is shown before
    me.send("/consent", 422)
    me.send("/consent", agreed="yes")
    assert me.url == "/about-me"
    me.send("/about-me", q__age="under 40", agreed="yes", shown="age")
    assert me.url == "/tutorial"
    me.send("/tutorial")
    assert me.url == "/practice"
    me.send("/practice", number="0", shown=me.shown(), q__abuse="Abusive")
    assert "follow-up" in me.page
    me.send("/practice", number="0", shown=me.shown(), q__abuse="Abusive", q__type="threat")
    assert "A plain insult." in me.page
    me.go("/")
    assert me.url == "/check"
    assert "think again" in me.send("/check", 422, q__rude="yes", shown="rude")
    me.send("/check", q__rude="no", shown="rude")
    assert me.url == "/label"
    # Follow-ups appear when the form is sent, and nothing is counted until they are answered.
    assert me.shown() == ["abuse", "note"]
    assert "a fine day" in me.page
    me.vote(abuse="Abusive")
    assert me.shown() == ["abuse", "type", "words", "note"]
    assert "voted" not in store.progress().states
    assert "Please answer this question" in me.vote(422, abuse="Abusive")
    me.vote(abuse="Abusive", type=["insult", "threat"], words=["4-8", "0-3"])
    assert "Saved" in me.page
    me.send("/undo")
    assert "Undone" in me.page
    me.vote(abuse="No")
    # A break is suggested after two posts (the file says so) and can be declined by one button.
    assert me.url == "/rest"
    assert "Somebody to talk to" in me.page
    me.send("/rest")
    assert me.url == "/label"
    me.vote(abuse="No")
    me.send("/label", token=me.value("token"), action="flag", flag_note="not sure")
    assert me.url == "/label"
    me.send("/label", token=me.value("token"), action="skip")
    assert me.url == "/rest"
    me.send("/rest")
    assert me.url == "/thanks"
    assert "of 4 votes" in me.page
    assert store.progress().states == {"voted": 2, "flagged": 1, "skipped": 1}


def test_settings_mask_words_and_a_password_brings_one_back(
    make_web: Callable[..., Any], tmp_path: Path
) -> None:
    store, browser = _everything(make_web, tmp_path)
    (id,) = ready(store)
    me = browser().sign_in(store, id)
    me.go("/settings")
    me.send("/settings", mask="yes", opt_outs="town")
    person = store.people.get(id)
    assert (person.mask, person.blur, person.opt_outs) == (True, False, ("town",))
    me.send("/settings", 400, opt_outs="weather")
    me.go("/settings")
    me.send("/password", 422, password="short")
    me.send("/password", password="long enough to keep")
    me.send("/sign-out")
    me.go("/sign-in")
    me.send("/sign-in", name=person.name, password="long enough to keep")
    assert me.url == "/tutorial"


def test_words_are_masked_for_those_who_ask(make_web: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "masked.txt").write_text("fool\n")
    more = COHORT + '[wellbeing]\nmask_words = "masked.txt"\nmask = true\nblur = false\n'
    store, browser = make_web(posts=POSTS, more=more)
    me = browser().sign_in(store, ready(store)[0])
    me.go("/label")
    assert "you f••• number" in me.page
    assert '<details class="post" id="post" open>' in me.page
    assert "fool" not in me.page


def test_an_expert_settles_and_the_owner_sees_totals_and_takes_the_export(
    make_web: Callable[..., Any], tmp_path: Path
) -> None:
    store, browser = make_web(posts=3, more=COHORT + EXPERTS, questions=QUESTIONS)
    one, two = (browser().sign_in(store, id) for id in ready(store, 2))
    for me in (one, two):
        me.go("/label")
        for answer in ("No", "Problematic", "Abusive"):
            me.vote(abuse=answer)
            if me.url == "/label" and "type" in me.shown():
                me.vote(abuse=answer, type="insult")
    expert = browser().sign_in(store, ready(store, 1, "experts")[0])
    third = browser().sign_in(store, ready(store)[0])
    third.go("/label")
    third.send("/label", token=third.value("token"), action="flag", flag_note="hm")
    expert.go("/cases")
    assert "Waiting: 1" in expert.page
    assert "hm" in expert.page
    token = expert.value("token")
    expert.send("/cases", token=token, shown=expert.shown(), q__abuse="Abusive")
    assert "type" in expert.shown()
    expert.send("/cases", 422, token=token, shown=expert.shown(), q__abuse="Abusive")
    sent = {"q__abuse": "Abusive", "q__type": "threat"}
    expert.send("/cases", token=token, shown=expert.shown(), **sent)
    assert "No case is waiting" in expert.page
    owner = browser()
    owner.go(f"/owner/{store.sessions.owner_link()}")
    owner.send("/owner", link=owner.value("link"))
    assert owner.url == "/dashboard"
    assert "6 of 9 votes" in owner.page
    figures = owner.go("/agreement")
    assert "fleiss kappa" in figures
    assert "no order of merit" in figures
    for id in (1, 2):
        assert store.people.get(id).name not in figures  # another pseudonym than the sign-in name
    archive = zipfile.ZipFile(io.BytesIO(owner.client.get("/export/records").content))
    lines = archive.read("records/judgements.jsonl").decode().splitlines()
    main = [json.loads(line) for line in lines if json.loads(line)["question"] == "abuse"]
    assert len(main) == 6
    owner.go("/export/everything", 404)
    owner.go("/invites")
    owner.send("/invites", 422, cohort="volunteers", most="0", days="1")
    owner.send("/invites", cohort="volunteers", most="2", days="1", note="class 4")
    assert "/join/" in owner.page
    owner.send("/invites/revoke", invite=owner.value("invite"))
    assert "revoked" in owner.page


def test_an_expert_rests_between_cases_and_leaves_one_to_others(
    make_web: Callable[..., Any],
) -> None:
    rest = "[wellbeing]\nbreak_after_posts = 1\n"
    store, browser = make_web(posts=1, more=COHORT + EXPERTS + rest)
    (person,) = ready(store)
    store.work.flag(person, store.work.next(person).token)
    me = browser().sign_in(store, ready(store, 1, "experts")[0])
    me.go("/cases")
    assert me.shown() == ["abuse", "note"]
    me.send("/cases", token=me.value("token"), action="skip")
    assert me.url == "/rest"  # one post was read, and the file says so
    me.send("/rest", back=me.value("back"))
    assert me.url == "/cases"
    assert "Welcome back" in me.page
    assert "left to them: 1" in me.page


def test_definitions_head_only_questions_that_have_some(make_web: Callable[..., Any]) -> None:
    text = 'text = "Problematic"'
    defined = QUESTIONS.replace(text, f'{text}\ndefinition = "Less than abuse."')
    store, browser = make_web(questions=defined)
    me = browser().sign_in(store, ready(store)[0])
    me.go("/label")
    inside = me.page.split('id="definitions"')[1].split("</details>")[0]
    assert re.findall("<h3>(.*?)</h3>", inside) == ["Is it abusive?"]
    assert "Less than abuse." in inside


def test_masking_is_offered_where_there_are_words_to_mask(
    make_web: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "campaign"
    folder.mkdir()
    (folder / "masked.txt").write_text("# nothing yet\n")
    store, browser = make_web(more=COHORT + '[wellbeing]\nmask_words = "masked.txt"\n')
    me = browser().sign_in(store, ready(store)[0])
    assert "Mask strong words" not in me.go("/settings")


def test_figures_say_once_that_a_cohort_has_not_answered(make_web: Callable[..., Any]) -> None:
    store, browser = make_web(posts=2)
    for person in ready(store, 2):
        while (task := store.work.next(person)) is not None:
            store.work.vote(person, task.token, {"abuse": "No"})
    me = browser().sign_in(store, store.sessions.redeem(store.sessions.owner_link()))
    page = me.go("/agreement")
    assert '<h2 id="section-1">Agreement: Is it abusive?</h2>' in page
    first = page.split("section-1")[2].split("</section>")[0]
    assert "percent agreement" in first
    # Of the experts only that they judged no post; of volunteers every measure.
    assert first.count("<td>experts</td>") == 1
    assert page.count("Nobody is ranked.") == 1
    assert LIMITS in page
