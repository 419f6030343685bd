"""A campaign in a real browser: from the invite to the export, with scripts and without."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from evenhand.labelling import Store, read_campaign, read_posts
from evenhand.labelling.web.app import create_app
from evenhand.labelling.web.settings import Settings
from labelling.conftest import CHEAP, COHORT, postgresql, ready, url, write_campaign  # noqa: F401
from labelling.web.campaigns import EVERYTHING
from labelling.web.conftest import EXPERTS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
POSTS = [{"id": f"p{n}", "text": f"you fool number {n}"} for n in range(4)]


@contextmanager
def served(folder: Path, database: str) -> Iterator[tuple[Store, str]]:
    """A campaign on a free port of this machine, in a thread of this process."""
    folder.mkdir(parents=True)
    (folder / "masked.txt").write_text("fool\n")
    more = COHORT.replace("overlap = 3", "overlap = 2") + EXPERTS + EVERYTHING
    campaign = read_campaign(write_campaign(folder, posts=POSTS, more=more))
    store = Store(campaign, database, codes=CHEAP)
    store.load(read_posts(campaign))
    app = create_app(store, Settings(folder=str(folder)))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield store, f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def campaign(tmp_path: Path, url: str) -> Iterator[tuple[Store, str]]:  # noqa: F811
    with served(tmp_path / "campaign", url) as found:
        yield found


@pytest.fixture
def people(chromium: Any) -> Iterator[Callable[..., Any]]:
    """New people, each with a browser window of their own."""
    contexts = []

    def person(**options: Any) -> Any:
        options.setdefault("viewport", {"width": 1200, "height": 900})
        contexts.append(chromium.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        return page

    yield person
    for context in contexts:
        context.close()


def _to_the_first_post(page: Any, base: str, code: str, *, scripts: bool = True) -> None:
    page.goto(f"{base}/join/{code}")
    page.get_by_role("button", name="Join").click()
    page.get_by_label("Yes.").check()
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("link", name="Leave it out").click()
    page.get_by_role("button", name="Try it on an example").click()
    page.get_by_label("Abusive").check()
    if not scripts:
        page.get_by_role("button", name="Compare").click()
    page.get_by_label("Insult").check()
    page.get_by_role("button", name="Compare").click()
    assert "A plain insult." in page.content()
    page.get_by_role("link", name="Go on").click()
    page.get_by_label("No, not enough").check()
    page.get_by_role("button", name="Check").click()
    assert page.url.startswith(f"{base}/label")


def _fits(page: Any) -> bool:
    return bool(page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"))


def _voted(store: Store) -> int:
    return store.progress().states.get("voted", 0)


def test_the_whole_journey(campaign: tuple[Store, str], people: Callable[..., Any]) -> None:
    store, base = campaign
    owner = people()
    owner.goto(f"{base}/owner/{store.sessions.owner_link()}")
    owner.get_by_role("button", name="Sign in").click()
    owner.get_by_role("link", name="Invites").click()
    owner.get_by_role("button", name="Make an invite").click()
    code = owner.locator(".code").inner_text()

    me = people()
    wrong: list[str] = []
    me.on("console", lambda message: wrong.append(message.text) if message.type == "error" else 0)
    _to_the_first_post(me, base, code)
    # Hidden until asked for, by a key; definitions are one key away.
    assert not me.locator(".post .text").is_visible()
    me.keyboard.press("t")
    assert me.locator(".post .text").is_visible()
    me.keyboard.press("d")
    assert me.get_by_text("What hurts.").is_visible()
    # Follow-ups come at once; numbers answer the question that is marked.
    assert not me.locator("legend", has_text="Which kind?").is_visible()
    me.keyboard.press("3")
    assert me.locator("legend", has_text="Which kind?").is_visible()
    me.get_by_label("Threat").check()
    me.locator(".word", has_text="fool").click()
    me.get_by_role("button", name="Save").click()
    me.get_by_text("Saved. Thank you.").wait_for()
    assert _voted(store) == 1
    me.get_by_role("button", name="Undo").click()
    me.get_by_text("Undone.").wait_for()
    assert _voted(store) == 0
    me.get_by_label("Abusive").check()
    me.get_by_label("Insult").check()
    me.locator("#post summary").click()
    me.locator(".word", has_text="fool").click()
    me.get_by_role("button", name="Save").click()
    me.get_by_role("heading", name="Time for a break?").wait_for()
    me.get_by_role("button", name="Go on reading").click()
    me.get_by_text("Welcome back.").wait_for()
    me.locator(".flagging summary").click()
    me.get_by_label("Why?").fill("not sure")
    me.get_by_role("button", name="Hand it on").click()
    me.get_by_text("Handed on to an expert.").wait_for()
    me.get_by_role("link", name="Stop now").click()
    assert me.get_by_role("link", name="Somebody to talk to").is_visible()
    assert wrong == []

    expert = people()
    token = store.sessions.open(_expert(store))
    expert.context.add_cookies([{"name": "evenhand", "value": token, "url": base}])
    expert.goto(f"{base}/cases")
    assert "not sure" in expert.content()
    expert.get_by_label("Abusive").check()
    expert.get_by_label("Threat").check()
    expert.get_by_role("button", name="Settle").click()
    expert.get_by_text("No case is waiting.").wait_for()

    owner.goto(f"{base}/dashboard")
    assert "1 of 8 votes" in owner.content()
    with owner.expect_download() as waiting:
        owner.get_by_role("link", name="records").click()
    assert Path(waiting.value.path()).stat().st_size > 1000
    (marked,) = [v for v in store.people.data(2)["posts"] if v["state"] == "voted"]
    assert marked["answers"]["spans"] == {"words": [[4, 8]]}


def _expert(store: Store) -> int:
    (id,) = ready(store, 1, "experts")
    store.people.finish_tutorial(id)
    store.people.practise(id, 0, {"abuse": "Abusive", "type": "insult"})
    store.people.take_check(id, {"rude": "no"})
    return id


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_without_scripts_on_a_phone_and_for_everybody(
    campaign: tuple[Store, str], people: Callable[..., Any]
) -> None:
    store, base = campaign
    me = people(java_script_enabled=False, viewport={"width": 390, "height": 844})
    _to_the_first_post(me, base, store.invites.make("volunteers"), scripts=False)
    me.locator("#post summary").click()
    me.get_by_label("Abusive").check()
    me.get_by_role("button", name="Save").click()
    me.get_by_text("There are follow-up questions now.").wait_for()
    assert _voted(store) == 0
    me.get_by_label("Insult").check()
    me.locator(".word", has_text="fool").click()
    me.get_by_role("button", name="Save").click()
    me.get_by_text("Saved. Thank you.").wait_for()
    assert _voted(store) == 1

    owner = store.sessions.redeem(store.sessions.owner_link()).id
    for who, paths in (
        (1, ("/label", "/rest", "/stop", "/settings", "/my-data", "/about-me", "/thanks")),
        (owner, ("/dashboard", "/agreement", "/invites", "/cases")),
        (None, ("/", "/sign-in")),
    ):
        page = people(bypass_csp=True, viewport={"width": 390, "height": 844}, color_scheme="dark")
        if who:
            token = store.sessions.open(who)
            page.context.add_cookies([{"name": "evenhand", "value": token, "url": base}])
        for path in paths:
            page.goto(base + path)
            assert _fits(page), path
            assert _serious(page) == [], path


def _serious(page: Any) -> list[Any]:
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.evaluate(axe)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (rule["id"], re.sub(r"\s+", " ", rule["nodes"][0]["html"])[:160])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
