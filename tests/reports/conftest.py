"""Findings, runs and sections small enough to check by eye."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding
from evenhand.reports import Case, Section, bars


class Examples:
    POSTS = Finding(measure="posts", value=16035, n=16849, unit="post")
    SHARE = Finding(
        measure="top_author_share",
        value=0.6584,
        n=1970,
        group={"label": "racism", "top": 2},
        low=0.6412,
        high=0.6751,
        level=0.95,
        method="bootstrap",
        unit="author",
        cases=("waseem:1", "waseem:2"),
    )
    MISSING = Finding(
        measure="annotators", value=None, n=0, why="the corpus does not say who answered"
    )
    SIMULATED = Finding(
        measure="abuse_rate",
        value=0.03,
        n=1_000_000,
        group={"set": "all"},
        origin="simulated",
        method="known",
    )
    ALL = (POSTS, SHARE, MISSING, SIMULATED)

    def run(self, *findings: Finding) -> Run:
        return Run(
            command=["evenhand", "data", "describe", "my corpus"],
            seed=7,
            data=[DataUsed("waseem", 16849, "ab" * 32)],
            findings=list(findings or self.ALL),
            at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        )

    def sections(self) -> list[Section]:
        drawing = bars("Share by author", ["racism", "sexism"], [0.97, None], simulated=True)
        return [
            Section("What is there", ["As published: `posts`."], (self.POSTS, self.MISSING)),
            Section("Authors", findings=(self.SHARE,), cases=(Case("waseem:1"),)),
            Section("Made up", findings=(self.SIMULATED,), figures=(drawing,)),
        ]


@pytest.fixture(scope="session")
def examples() -> Examples:
    """Findings of every kind, and a run and sections that show them."""
    return Examples()
