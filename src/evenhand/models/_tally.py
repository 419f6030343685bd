"""Which texts a server was asked for, refused, or was known to score; by digest, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from evenhand.models._refusals import Refused
from evenhand.models.score_cache import Kept, digest


@dataclass
class Tally:
    """What happened so far, for provenance."""

    asked: set[bytes] = field(default_factory=set)
    refused: set[bytes] = field(default_factory=set)
    kept: set[bytes] = field(default_factory=set)
    since: date | None = None
    checked: bool = False

    def know(self, kept: Mapping[str, Kept]) -> None:
        """Count kept scores; a text that was asked for in this run is not one from before."""
        days = {digest(text): found.day for text, found in kept.items()}
        before = days.keys() - self.asked
        self.kept |= before
        self.since = min(
            [days[key] for key in before] + ([self.since] if self.since else []), default=None
        )

    def answer(self, answers: Mapping[str, float | Refused]) -> None:
        """Count answers; a text that is asked for again counts as it was answered last."""
        asked = {digest(text) for text in answers}
        refused = {digest(text) for text, found in answers.items() if isinstance(found, Refused)}
        self.asked |= asked
        self.refused = (self.refused - asked) | refused
