"""Every comparison that Arango's tables make, theirs and ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.records import Finding
from evenhand.reports import Grid, Section
from evenhand.reports.numbers import number
from evenhand.studies.arango_rows import signed
from evenhand.studies.arango_tables import AGRAWAL, BADJATIYA, METHODS


@dataclass(frozen=True)
class Direction:
    """A comparison that the paper's tables make."""

    words: str
    first: tuple[str, str, str]
    """Table, method and measure (f1 is that of hateful posts)."""
    second: tuple[str, str, str]


_STEPS = (
    ("the leak lifts macro-F1", "1", "2", "macro_f1"),
    ("10-fold above another corpus", "2", "3", "macro_f1"),
    ("10-fold above unseen authors", "2", "4", "macro_f1"),
    ("more authors lift unseen authors", "5", "4", "macro_f1"),
    ("more authors lift another corpus, macro-F1", "6", "3", "macro_f1"),
    ("more authors lift another corpus, F1 of hateful", "6", "3", "f1"),
    ("more authors lift another corpus, AUC (not in the paper)", "6", "3", "auc"),
)
"""What the paper says of both methods: words, the table that is above, the other, the measure."""
_RANKS = (
    ("1", AGRAWAL, BADJATIYA),
    ("2", AGRAWAL, BADJATIYA),
    ("4", BADJATIYA, AGRAWAL),
    ("5", BADJATIYA, AGRAWAL),
    ("6", AGRAWAL, BADJATIYA),
)
"""Which method is above the other in a table; in table 3 they are level."""


def _pairs() -> list[Direction]:
    steps = [
        Direction(f"{method}: {words}", (first, method, measure), (second, method, measure))
        for method in METHODS
        for words, first, second, measure in _STEPS
    ]
    ranks = [
        Direction(f"table {table}: {a} above {b}", (table, a, "macro_f1"), (table, b, "macro_f1"))
        for table, a, b in _RANKS
    ]
    return steps + ranks


def directions(found: Sequence[Finding]) -> Section | None:
    """Every comparison for which both tables were run."""
    rows = []
    for pair in _pairs():
        sides = (pair.first, pair.second)
        first, second = (figure_of(found, side, "data") for side in sides)
        if first is None or second is None or first.value is None or second.value is None:
            continue
        theirs = [figure_of(found, side, "published") for side in sides]
        ends = (first.low or 0.0, first.high or 1.0)
        outside = not ends[0] <= second.value <= ends[1]
        rows.append(
            [
                pair.words,
                *(number(f.value) if f is not None else "" for f in theirs),
                *(number(f.value) for f in (first, second)),
                signed(first.value - second.value),
                "yes" if first.value > second.value else "no",
                "yes" if outside else "no",
            ]
        )
    if not rows:
        return None
    grid = Grid(
        name="directions",
        title="Is the first figure above the second?",
        headings=(
            "comparison", "paper 1st", "2nd", "ours 1st", "2nd", "1st − 2nd", "above",
            "outside interval",
        ),
        rows=rows,
        narrow=(0, 3, 4, 6, 7),
    )  # fmt: skip
    prose = [
        "Figures are those of the tables above. The last column: does the second figure lie "
        "outside the interval of the first? Intervals over authors are wide here, because two "
        "authors wrote two thirds of the hateful posts."
    ]
    return Section("Directions", prose, grids=[grid])


def figure_of(found: Sequence[Finding], side: tuple[str, str, str], origin: str) -> Finding | None:
    """A figure of a table, ours or printed; None where it does not exist."""
    table, method, measure = side
    group: dict[str, Any] = {"table": table, "method": method}
    if measure == "f1":
        group["label"] = "hateful"
    same = (
        f for f in found if f.measure == measure and f.origin == origin and dict(f.group) == group
    )
    return next(same, None)
