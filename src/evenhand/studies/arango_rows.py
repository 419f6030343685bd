"""The paper's rows beside ours: published findings, differences, the lines of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.core.records import Finding
from evenhand.reports import Grid
from evenhand.reports.numbers import bracket, number
from evenhand.studies.arango_tables import MACRO, PRINTED, ROWS, WEIGHTED

_MEASURES = ("precision", "recall", "f1")
HEADINGS = (
    "row", "paper F1", "F1", "95 % interval", "F1 − paper", "paper P", "paper R", "P", "R",
    "mean of folds",
)  # fmt: skip


def counts_grid(table: str, found: Sequence[Finding]) -> Grid:
    """Posts as counted here beside those the paper states."""
    counts = [f for f in found if f.measure == "posts"]
    rows = []
    for ours in (f for f in counts if f.origin == "data"):
        [printed] = [f for f in counts if f.origin == "published" and f.group == ours.group]
        words = [str(v) for k, v in ours.group.items() if k not in ("table", "label")]
        label = str(ours.group.get("label", "all"))
        rows.append([*words, label, *(f"{int(f.value or 0):,}" for f in (printed, ours))])
    return Grid(
        name=f"table_{table}_posts",
        title=f"Posts behind table {table}",
        headings=("set", "label", "paper", "ours"),
        rows=rows,
        words=2,
    )


def published(table: str, method: str) -> list[Finding]:
    """The printed figures of a method in a table."""
    found = []
    for row, values in PRINTED.get(table, {}).get(method, {}).items():
        for measure, value in zip(_MEASURES, values, strict=True):
            average = row in (WEIGHTED, MACRO)
            name = f"{row}_{measure}" if average else measure
            group = {"table": table, "method": method} | ({} if average else {"label": row})
            n = ROWS.get(table, 0)
            found.append(
                Finding(
                    measure=name,
                    value=round(value / 100, 4),
                    n=n,
                    group=group,
                    method="as printed" + ("; the paper calls it micro" if row == WEIGHTED else ""),
                    origin="published",
                    why="no interval printed" if n else "neither n nor an interval printed",
                )
            )
    return found


def differences(ours: Sequence[Finding], printed: Sequence[Finding]) -> list[Finding]:
    """Ours minus the paper's, with our interval moved along."""
    found = []
    for theirs in printed:
        mine = _same(ours, theirs.measure, theirs.group)
        group = {**theirs.group, "of": theirs.measure}
        if mine is None or mine.value is None or theirs.value is None:
            why = "no such figure here"
            found.append(
                Finding(measure="difference_from_paper", value=None, n=0, group=group, why=why)
            )
            continue
        found.append(
            Finding(
                measure="difference_from_paper",
                value=mine.value - theirs.value,
                n=mine.n,
                low=None if mine.low is None else mine.low - theirs.value,
                high=None if mine.high is None else mine.high - theirs.value,
                level=mine.level,
                group=group,
                method="ours minus the printed figure, which is taken as exact",
                unit=mine.unit,
                why=mine.why,
            )
        )
    return found


def _same(found: Sequence[Finding], measure: str, group: Mapping[str, Any]) -> Finding | None:
    wanted = (f for f in found if f.measure == measure and dict(f.group) == dict(group))
    return next(wanted, None)


def method_rows(
    method: str, printed: Sequence[Finding], ours: Sequence[Finding], means: Sequence[Finding]
) -> list[list[str]]:
    """The lines of a grid for one method."""
    labels = list(dict.fromkeys(str(f.group["label"]) for f in ours if "label" in f.group))
    rows = []
    for row in [*labels, WEIGHTED, MACRO]:
        average = row in (WEIGHTED, MACRO)
        group = dict(ours[0].group) | ({} if average else {"label": row})
        names = [f"{row}_{m}" if average else m for m in _MEASURES]
        theirs = [_same(printed, name, group) for name in names]
        mine = [_same(ours, name, group) for name in names]
        mean = _same(means, names[2], {**group, "average": "fold"})
        a, b = theirs[2], mine[2]
        both = a is not None and b is not None and a.value is not None and b.value is not None
        name = f"{row} (“micro”)" if row == WEIGHTED and a is not None else row
        shown = [
            number(a.value) if a else "",
            number(b.value) if b else "",
            bracket(b.low, b.high) if b else "",
            signed(b.value - a.value) if both else "",  # type: ignore[union-attr,operator]
        ]
        others = [number(f.value) if f else "" for f in (*theirs[:2], *mine[:2], mean)]
        rows.append([f"{method}, {name}", *shown, *others])
    for name, measure in (("accuracy (micro)", "micro_f1"), ("AUC of hateful", "auc")):
        f = _same(ours, measure, {k: v for k, v in ours[0].group.items() if k != "label"})
        if f is not None and f.value is not None:
            rows.append(_line(f"{method}, {name}", f))
    return rows


def _line(name: str, finding: Finding) -> list[str]:
    """A line of a grid with a figure of ours only."""
    shown = [number(finding.value), bracket(finding.low, finding.high)]
    return [name, "", *shown, *[""] * (len(HEADINGS) - 4)]


def signed(value: float) -> str:
    """A number with its sign."""
    return ("+" if value >= 0 else "") + number(value)


def constant_rows(found: Sequence[Finding]) -> list[list[str]]:
    """The lines of a grid for constants and look-ups: macro-F1 and F1 of hateful posts."""
    rows = []
    for f in found:
        if not {"baseline", "rows"} & set(f.group):
            continue
        hateful = f.measure == "f1" and f.group.get("label") == "hateful"
        if f.value is None or not (hateful or f.measure == "macro_f1"):
            continue
        row = "hateful" if hateful else MACRO
        keys = ("method", "baseline", "rows", "form", "test_share")
        who = [str(f.group[key]) for key in keys if key in f.group]
        rows.append(_line(f"{', '.join(who)}, {row}", f))
    return rows
