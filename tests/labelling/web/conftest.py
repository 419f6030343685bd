"""Campaigns served in this process, and people who use them as a browser without scripts does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from evenhand.labelling import Person, Store, read_campaign, read_posts
from evenhand.labelling.web.app import create_app
from evenhand.labelling.web.settings import Settings
from labelling.conftest import CHEAP, COHORT, Clock, write_campaign

EXPERTS = '\n[[cohort]]\nname = "experts"\nrole = "expert"\noverlap = 1\n'


class Browser:
    """Follows redirects and sends the forms of the page it is on."""

    def __init__(self, served: TestClient[Any]) -> None:
        self.client = httpx.Client(
            transport=served._transport, base_url=served.base_url, follow_redirects=True
        )
        self.page = ""
        self.url = ""

    def go(self, path: str, status: int = 200) -> str:
        return self._keep(self.client.get(path), status)

    def send(self, path: str, status: int = 200, **fields: Any) -> str:
        data = {"csrf": self.csrf, **{name.replace("__", "."): v for name, v in fields.items()}}
        return self._keep(self.client.post(path, data=data), status)

    def _keep(self, response: Any, status: int) -> str:
        assert response.status_code == status, (response.url, response.status_code, response.text)
        self.page, self.url = response.text, response.url.path
        return self.page

    @property
    def csrf(self) -> str:
        return self.value("csrf")

    def value(self, name: str) -> str:
        found = re.search(rf'name="{name}" value="([^"]*)"', self.page)
        assert found, (name, self.page)
        return unescape(found[1])

    def shown(self) -> list[str]:
        """The questions on the page."""
        parts = re.findall(r"<fieldset class=\"question.*?>", self.page)
        on = [part for part in parts if " hidden" not in part]
        return [re.search(r'data-question="(.*?)"', part)[1] for part in on]

    def vote(self, status: int = 200, **answers: Any) -> str:
        """Answer the post on the page and save."""
        fields = {f"q__{name}": value for name, value in answers.items()}
        fields = {"token": self.value("token"), "shown": self.shown(), "action": "vote", **fields}
        return self.send("/label", status, **fields)

    def sign_in(self, store: Store, person: Person | int) -> Browser:
        token = store.sessions.open(person if isinstance(person, int) else person.id)
        self.client.cookies.set("evenhand", token)
        return self


@pytest.fixture
def make_web(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Makes an application over a small campaign: (store, new browser)."""
    with ExitStack() as stack:

        def make(*, settings: dict | None = None, **options: Any) -> Any:
            options.setdefault("more", COHORT + EXPERTS)
            folder = write_campaign(tmp_path / "campaign", **options)
            campaign = read_campaign(folder)
            store = Store(campaign, clock=Clock(), codes=CHEAP)
            store.load(read_posts(campaign))
            app = create_app(store, Settings(folder=str(folder), **(settings or {})))
            served = stack.enter_context(TestClient(app, raise_server_exceptions=False))
            return store, lambda: Browser(served)

        yield make
