"""What a study hands to whoever shows it: a title, sections and sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from evenhand.reports import Section

Step = Callable[[str, float, float | None], None]
"""Told how far the work is: what is being done, how much is done, of how much (None: unknown)."""


def silent(what: str, done: float, total: float | None) -> None:
    """A step that nobody watches."""


@dataclass(frozen=True)
class How:
    """How long work is carried out."""

    quick: bool = False
    """Less work: the study says what is left out."""
    workers: int = 1
    """Processes; each trains on one core."""
    finished: Path | None = None
    """A folder that keeps finished folds, so that a long run can go on after a kill."""
    step: Step = silent


@dataclass(frozen=True)
class Parts:
    """A result ready to be shown in a terminal or on a page."""

    title: str
    sections: Sequence[Section]
    summary: Sequence[str] = ()
    """Sentences for a reader in a hurry."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Records to be written beside the report."""
    documents: Mapping[str, object] = field(default_factory=dict)
    """JSON to be written beside the report."""
    also: Mapping[str, object] = field(default_factory=dict)
    """What the JSON document holds besides the findings."""
    terminal: Sequence[Section] | None = None
    """What a terminal shows, where the page has too much for one."""
