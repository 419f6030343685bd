"""What only a browser shows: what is blurred, what keys do, what fits on a phone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from evenhand.labelling import Store, read_campaign, read_posts
from evenhand.labelling.web.app import create_app
from evenhand.labelling.web.settings import Settings
from labelling.conftest import CHEAP, COHORT, ready, write_campaign
from labelling.web.campaigns import DEFINITION, TUTORIAL
from labelling.web.conftest import EXPERTS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONG = "A campaign with a name that is far too long for the head of a page on a phone"


@contextmanager
def _served(folder: Path, more: str) -> Iterator[tuple[Store, str]]:
    file = write_campaign(folder, more=COHORT + EXPERTS + more) / "campaign.toml"
    file.write_text(file.read_text().replace('title = "Small"', f'title = "{LONG}"'))
    campaign = read_campaign(folder)
    store = Store(campaign, codes=CHEAP)
    store.load(read_posts(campaign))
    app = create_app(store, Settings(folder=str(folder)))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.05)
        yield store, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def signed_in(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Pages of people who are signed in, each in a window of its own."""
    contexts = []

    def page(store: Store, base: str, person: int, **options: Any) -> Any:
        contexts.append(chromium.new_context(**options))
        token = store.sessions.open(person)
        contexts[-1].add_cookies([{"name": "evenhand", "value": token, "url": base}])
        return contexts[-1].new_page()

    yield page
    for context in contexts:
        context.close()


def _blurred(page: Any) -> bool:
    shown = page.locator(".words-list").evaluate("list => getComputedStyle(list).filter")
    return bool(shown != "none")


def test_words_can_be_read_in_practice_and_are_blurred_with_a_hidden_post(
    tmp_path: Path, signed_in: Callable[..., Any]
) -> None:
    with _served(tmp_path / "campaign", TUTORIAL + DEFINITION) as (store, base):
        (person,) = ready(store)
        store.people.finish_tutorial(person)
        page = signed_in(store, base, person)
        page.goto(f"{base}/practice")
        page.get_by_label("Abusive").check()
        assert not _blurred(page)
        store.people.practise(person, 0, {"abuse": "Abusive", "type": "insult"})
        # Enter sends a form that has no button to save, too.
        page.goto(f"{base}/check")
        page.get_by_label("No, not enough").check()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{base}/label")
        page.get_by_label("Abusive").check()
        assert _blurred(page)
        page.keyboard.press("t")
        assert not _blurred(page)


def test_a_key_opens_the_note_to_an_expert(tmp_path: Path, signed_in: Callable[..., Any]) -> None:
    with _served(tmp_path / "campaign", "") as (store, base):
        (person,) = ready(store)
        page = signed_in(store, base, person)
        page.goto(f"{base}/label")
        page.keyboard.press("f")
        page.keyboard.type("unsure, kd")  # letters of a note are no keys
        page.get_by_role("button", name="Hand it on").click()
        page.get_by_text("Handed on to an expert.").wait_for()
        (expert,) = ready(store, 1, "experts")
        assert store.experts.next(expert).notes == ["unsure, kd"]


def test_stop_stays_in_the_first_line_on_a_phone(
    tmp_path: Path, signed_in: Callable[..., Any]
) -> None:
    with _served(tmp_path / "campaign", "") as (store, base):
        (person,) = ready(store)
        page = signed_in(store, base, person, viewport={"width": 390, "height": 844})
        page.goto(f"{base}/label")
        page.mouse.wheel(0, 2000)
        stop = page.get_by_role("link", name="Stop now").bounding_box()
        assert stop["y"] < 20
        assert stop["x"] + stop["width"] <= 390
        assert page.locator("header").bounding_box()["height"] < 100
