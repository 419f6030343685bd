import io
from typing import Any

import pytest
from rich.console import Console

from evenhand.core.records import Finding
from evenhand.reports import print_findings


def printed(*findings: Finding, width: int = 120, title: str | None = None) -> str:
    out = io.StringIO()
    print_findings(findings, console=Console(file=out, width=width), title=title)
    return out.getvalue()


def line_with(text: str, word: str) -> str:
    return next(line for line in text.splitlines() if word in line)


@pytest.mark.parametrize("width", [80, 120])
def test_everything_is_there_and_fits(width: int, examples: Any) -> None:
    text = printed(*examples.ALL, width=width)
    row = line_with(text, "top_author_share")
    assert all(part in row for part in (".658", "[.641, .675]", "1,970"))
    assert "label=racism ·" in text and "top=2" in text
    assert "95 % interval" in text
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [80, 120])
def test_missing_value_has_a_dash_and_its_reason(width: int, examples: Any) -> None:
    text = printed(*examples.ALL, width=width)
    assert "–" in line_with(text, "annotators")
    assert "the corpus does not say who answered" in " ".join(text.split())


@pytest.mark.parametrize("width", [80, 120])
def test_simulated_stands_in_the_row_and_the_title(width: int, examples: Any) -> None:
    text = printed(*examples.ALL, width=width, title="Card")
    assert "simulated" in line_with(text, "abuse_rate")
    assert text.startswith("Card (partly simulated)")


def test_simulated_stays_in_the_row_beside_a_footnote() -> None:
    finding = Finding(measure="auc", value=None, n=3, origin="simulated", why="no negatives here")
    text = printed(finding, width=80)
    assert "simulated" in line_with(text, "auc")
    assert "[1] no negatives here" in text


def test_long_names_break_at_an_underscore_on_a_narrow_terminal() -> None:
    finding = Finding(measure="duplicates_across_splits", value=4, n=9, group={"split": "test"})
    assert "duplicates_ " in line_with(printed(finding, width=80), "split=test")


def test_another_level_than_the_usual_is_noted(examples: Any) -> None:
    other = Finding(measure="auc", value=0.9, n=9, low=0.8, high=0.95, level=0.9, method="DeLong")
    assert "90 % interval" in line_with(printed(examples.SHARE, examples.SHARE, other), "auc")


def test_markup_and_control_characters_are_only_text() -> None:
    finding = Finding(measure="rows", value=1, n=1, group={"label": "[red]\x1b[31mx[/red]"})
    assert "label=[red]\ufffd[31mx[/red]" in printed(finding)


def test_empty_columns_are_left_out_and_no_findings_said(examples: Any) -> None:
    assert "interval" not in printed(examples.POSTS)
    assert printed() == "No findings.\n"
