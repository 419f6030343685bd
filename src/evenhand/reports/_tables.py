"""Findings as HTML tables, one for each combination of group keys, one column for each key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evenhand.core.measures import MEASURES
from evenhand.core.records import Finding
from evenhand.reports._html import element, escaped, prose
from evenhand.reports.numbers import count, interval_text, value_text
from evenhand.reports.wording import (
    SIMULATED,
    interval_heading,
    origin_mark,
    remarks,
    simulated_suffix,
    usual_level,
)

_SHORT = 30


@dataclass(frozen=True)
class _Column:
    """A column: its heading, how to write a cell, by what to sort."""

    heading: str
    cell: Callable[[Finding], str]
    key: Callable[[Finding], object] | None = None
    kind: str | None = None
    """Class of the column in the style sheet."""


def tables(findings: Sequence[Finding], prefix: str) -> str:
    """All tables of a section; ``prefix`` begins the ids."""
    parts: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        parts.setdefault(tuple(finding.group), []).append(finding)
    return "\n".join(
        _table(keys, part, f"{prefix}-table-{position}")
        for position, (keys, part) in enumerate(parts.items(), start=1)
    )


def _table(keys: Sequence[str], findings: Sequence[Finding], name: str) -> str:
    columns = [column for column in _columns(keys, findings) if _filled(column, findings)]
    heads = "".join(
        element("th", escaped(column.heading), scope="col", class_=column.kind)
        for column in columns
    )
    rows = "\n".join(_row(finding, columns) for finding in findings)
    caption = element("caption", _caption(keys, findings), id=name)
    table = f"<table>{caption}<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    # The frame scrolls on a narrow screen, so the keyboard has to reach it.
    return element("div", table, class_="frame", role="region", aria_labelledby=name, tabindex="0")


def _caption(keys: Sequence[str], findings: Sequence[Finding]) -> str:
    words = "overall"
    if keys:
        words = "by " + ", ".join(keys[:-1]) + (" and " if len(keys) > 1 else "") + keys[-1]
    words += simulated_suffix(finding.origin == SIMULATED for finding in findings)
    if _one_measure(keys, findings):
        return f"{_measure(findings[0])} {escaped(words)}"
    return escaped(words[0].upper() + words[1:])


def _one_measure(keys: Sequence[str], findings: Sequence[Finding]) -> bool:
    """Whether the caption can name the measure, and its column be left out."""
    return bool(keys) and len({finding.measure for finding in findings}) == 1


def _columns(keys: Sequence[str], findings: Sequence[Finding]) -> list[_Column]:
    level = usual_level(findings)
    return [
        *([] if _one_measure(keys, findings) else [_Column("measure", _measure)]),
        *(_group_column(key, findings) for key in keys),
        _Column("value", lambda f: escaped(value_text(f)), lambda f: f.value, "number"),
        _Column(
            interval_heading(findings),
            lambda f: escaped(interval_text(f)),
            lambda f: f.low if f.low is not None else f.high,
            "number",
        ),
        _Column("n", lambda f: escaped(count(f.n)), lambda f: f.n, "number"),
        _Column("note", lambda f: escaped("; ".join(remarks(f, level=level))), kind="words"),
        _Column("how", _how, kind=_kind(map(_how, findings))),
        _Column("cases", _cases, lambda f: len(f.cases), "cases"),
    ]


def _group_column(key: str, findings: Sequence[Finding]) -> _Column:
    return _Column(
        key,
        lambda f: escaped(f.group[key]),
        lambda f: f.group[key] if isinstance(f.group[key], int) else None,
        _kind(str(finding.group[key]) for finding in findings),
    )


def _kind(texts: Iterable[str]) -> str:
    """``short`` for a column whose cells all fit on a line, ``words`` for one that has to wrap."""
    return "short" if all(len(text) <= _SHORT for text in texts) else "words"


def _filled(column: _Column, findings: Iterable[Finding]) -> bool:
    return any(column.cell(finding) for finding in findings)


def _row(finding: Finding, columns: Sequence[_Column]) -> str:
    cells = []
    for position, column in enumerate(columns):
        key = column.key(finding) if column.key else None
        cells.append(
            element(
                "td" if position else "th",
                column.cell(finding) + ("" if position else mark(finding)),
                scope=None if position else "row",
                class_=column.kind,
                data_sort=None if key is None else str(key),
            )
        )
    return element("tr", "".join(cells), class_=origin_mark(finding) or None)


def _measure(finding: Finding) -> str:
    name = escaped(finding.measure)
    if finding.measure in MEASURES:
        target = f"#measure-{finding.measure}"
        name = element("a", name, href=target, title=MEASURES[finding.measure].replace("`", ""))
    return name


def mark(finding: Finding) -> str:
    """A badge that says ``simulated`` or ``published``; empty for a figure computed from data."""
    origin = origin_mark(finding)
    return " " + element("span", escaped(origin), class_=f"mark {origin}") if origin else ""


def _how(finding: Finding) -> str:
    unit = f" · {escaped(finding.unit)}" if finding.unit else ""
    return escaped(finding.method) + unit


def _cases(finding: Finding) -> str:
    if not finding.cases:
        return ""
    ids = "".join(element("li", escaped(case)) for case in finding.cases)
    words = f"{count(len(finding.cases))} {'id' if len(finding.cases) == 1 else 'ids'}"
    return f"<details><summary>{words}</summary><ul>{ids}</ul></details>"


def glossary(findings: Iterable[Finding], explained: set[str]) -> str:
    """What the measures mean that are not in ``explained`` yet; adds them to it."""
    names = dict.fromkeys(finding.measure for finding in findings)
    fresh = [name for name in names if name in MEASURES and name not in explained]
    explained.update(fresh)
    if not fresh:
        return ""
    entries = "".join(
        element("dt", escaped(name), id=f"measure-{name}") + element("dd", prose(MEASURES[name]))
        for name in fresh
    )
    return f'<h3>What is measured</h3>\n<dl class="glossary">{entries}</dl>'
