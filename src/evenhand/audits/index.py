"""Findings by measure and group, and how a figure is written in a grid."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.core.records import Finding
from evenhand.reports.numbers import NOTHING, interval_text, value_text

COUNTED = "a count, no interval"
"""Why a figure has no interval where every case was counted."""


class Index:
    """Findings that can be asked for by what they are."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._found = {(f.measure, frozenset(f.group.items())): f for f in findings}

    def get(self, measure: str, **group: str | int) -> Finding | None:
        """The finding of exactly this group."""
        return self._found.get((measure, frozenset(group.items())))

    def all(self, measure: str) -> list[Finding]:
        """Every finding of a measure."""
        return [found for (name, _), found in self._found.items() if name == measure]

    def value(self, measure: str, **group: str | int) -> float | None:
        """Its value, where there is one."""
        found = self.get(measure, **group)
        return found.value if found else None


def figure(finding: Finding | None, *, interval: bool = True) -> str:
    """A figure with its interval."""
    if finding is None or finding.value is None:
        return NOTHING
    ends = interval_text(finding) if interval else ""
    return f"{value_text(finding)} {ends}".rstrip()
