"""Findings as a table in the terminal.

Six columns: measure, group, value, interval, n, note; a column that would be empty is left out. On
a narrow terminal notes become numbered footnotes and long measure names break at an underscore.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.core.records import Finding
from evenhand.reports.numbers import count, interval_text, value_text
from evenhand.reports.wording import (
    SIMULATED,
    group_text,
    interval_heading,
    note,
    printable,
    simulated_suffix,
    usual_level,
)

_WIDE = 100
_LONGEST_MEASURE = 16
_LONGEST_NOTE = 10


def print_findings(
    findings: Sequence[Finding], *, console: Console, title: str | None = None
) -> None:
    """Print findings as one table, in the order given."""
    if title:
        suffix = simulated_suffix(finding.origin == SIMULATED for finding in findings)
        console.print(Text(printable(title) + suffix, style="bold"))
    if not findings:
        console.print(Text("No findings."))
        return
    wide = console.width >= _WIDE
    level = usual_level(findings)
    notes = [note(finding, level=level) for finding in findings]
    footnotes: list[str] = [] if wide else _footnotes(notes)
    cells = [
        _cells(finding, _shortened(text, footnotes), wide)
        for finding, text in zip(findings, notes, strict=True)
    ]
    console.print(_table(findings, cells))
    for position, text in enumerate(footnotes, start=1):
        console.print(_footnote(position, text))


def _cells(finding: Finding, text: str, wide: bool) -> tuple[Text, ...]:
    measure = printable(finding.measure)
    style = "italic" if finding.origin == SIMULATED else ""
    return (
        Text(measure if wide else _broken(measure), style=style),
        Text(group_text(finding.group), style=style),
        Text(value_text(finding), style="bold"),
        Text(interval_text(finding)),
        Text(count(finding.n)),
        Text(text, style="dim"),
    )


def _table(findings: Sequence[Finding], cells: list[tuple[Text, ...]]) -> Table:
    """The table, without the columns that nobody fills."""
    headings = ("measure", "group", "value", interval_heading(findings), "n", "note")
    filled = [index for index in range(len(headings)) if any(row[index].plain for row in cells)]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for index in filled:
        # Numbers and names of measures stay whole; groups and notes give way.
        table.add_column(
            Text(headings[index]),
            justify="right" if index in (2, 3, 4) else "left",
            no_wrap=index in (0, 2, 3, 4),
            overflow="fold",
        )
    for row in cells:
        table.add_row(*(row[index] for index in filled))
    return table


def _footnotes(notes: Sequence[str]) -> list[str]:
    """The notes too long for a narrow column, each once."""
    return list(dict.fromkeys(text for text in notes if len(text) > _LONGEST_NOTE))


def _shortened(text: str, footnotes: Sequence[str]) -> str:
    """The note, or the number of its footnote; ``simulated`` always stays in the row."""
    if text not in footnotes:
        return text
    mark = f"[{footnotes.index(text) + 1}]"
    return f"{SIMULATED}\n{mark}" if text.startswith(SIMULATED) else mark


def _footnote(position: int, text: str) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text(f"[{position}]"), Text(text.removeprefix(f"{SIMULATED}; ")))
    return grid


def _broken(measure: str) -> str:
    """A long name on several lines, broken after underscores."""
    lines = [""]
    for part in measure.replace("_", "_\n").split("\n"):
        if lines[-1] and len(lines[-1] + part) > _LONGEST_MEASURE:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)
