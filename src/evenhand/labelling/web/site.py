"""What all pages of one server share."""

from __future__ import annotations

import hmac
import threading
import time
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from evenhand.labelling.posts import CampaignPosts, read_posts
from evenhand.labelling.progress import Progress
from evenhand.labelling.store import Store
from evenhand.labelling.web.limits import Failures
from evenhand.labelling.web.settings import Settings
from evenhand.labelling.wellbeing import masked

if TYPE_CHECKING:
    from evenhand.labelling.report import Estimate  # with scipy: loaded when figures are asked for

_FRESH_SECONDS = 15


class Site:
    """A campaign's store and how it is served."""

    def __init__(self, store: Store, settings: Settings, estimate: Estimate | None = None) -> None:
        self.store = store
        self.campaign = store.campaign
        self.settings = settings
        self.estimate = estimate
        self.failures = Failures(max(1, settings.failures // settings.workers))
        self.definitions: dict[str, Markup] = {}
        """The drawn definitions, by language."""
        self._lock = threading.Lock()
        self._totals: tuple[float, Progress] | None = None

    def csrf(self, token: str) -> str:
        """What a form must send along: only pages of ours can know it."""
        return hmac.new(self.campaign.secret, f"csrf {token}".encode(), "sha256").hexdigest()

    @cached_property
    def posts(self) -> CampaignPosts:
        """The posts as their owner gave them; read when an owner asks for figures first."""
        return read_posts(self.campaign)

    @cached_property
    def masked_words(self) -> tuple[str, ...]:
        """What is masked for those who ask."""
        name = self.campaign.wellbeing.mask_words
        if name is None:
            return ()
        lines = (self.campaign.folder / name).read_text(encoding="utf-8").splitlines()
        return tuple(w for w in map(str.strip, lines) if w and not w.startswith("#"))

    def masked(self, text: str, wanted: bool) -> str:
        """The text, masked for those who want that."""
        return masked(text, self.masked_words) if wanted else text

    def totals(self) -> Progress:
        """How far the campaign is, a few seconds ago: counting it costs more than a page."""
        with self._lock:
            if self._totals is None or time.monotonic() > self._totals[0] + _FRESH_SECONDS:
                self._totals = (time.monotonic(), self.store.progress())
            return self._totals[1]
