r"""A table with its own columns, such as a paper's rows beside ours.

A grid holds texts only, written by whoever makes it, and every figure in it is also a finding.
It is shown in the terminal and on the page, and written as CSV and LaTeX beside the report.

>>> grid = Grid("table_2", "Table 2", ("class", "paper", "ours"), [("racism", ".702", ".71")])
>>> print(grid_csv(grid), end="")
class,paper,ours
racism,.702,.71
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.reports._html import element, escaped
from evenhand.reports.wording import printable


@dataclass(frozen=True)
class Grid:
    """Texts in rows and columns."""

    name: str
    """Of the files beside the report."""
    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    """How many columns, from the left, hold words; the others hold numbers."""
    narrow: Sequence[int] = ()
    """The columns to show where the terminal is too narrow for all; empty means all."""


def print_grid(grid: Grid, *, console: Console) -> None:
    """Print a grid in the terminal."""
    console.print(Text(printable(grid.title), style="bold"))
    every = range(len(grid.headings))
    table = _table(grid, every)
    unbounded = console.options.update(max_width=10_000)
    if grid.narrow and console.measure(table, options=unbounded).maximum > console.width:
        table = _table(grid, grid.narrow)
    console.print(table)


def _table(grid: Grid, columns: Sequence[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for index in columns:
        number = index >= grid.words
        heading = Text(grid.headings[index])
        table.add_column(heading, justify="right" if number else "left", no_wrap=number)
    for row in grid.rows:
        table.add_row(*(Text(printable(row[index])) for index in columns))
    return table


def grid_html(grid: Grid, name: str) -> str:
    """The grid as an HTML table that scrolls on a narrow screen."""
    kinds = ["number" if i >= grid.words else "short" for i in range(len(grid.headings))]
    heads = "".join(
        element("th", escaped(heading), scope="col", class_=kind)
        for heading, kind in zip(grid.headings, kinds, strict=True)
    )
    rows = "\n".join(
        element(
            "tr",
            "".join(
                element("td", escaped(cell), class_=kind)
                for cell, kind in zip(row, kinds, strict=True)
            ),
        )
        for row in grid.rows
    )
    caption = element("caption", escaped(grid.title), id=name)
    table = f"<table>{caption}<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    return element("div", table, class_="frame", role="region", aria_labelledby=name, tabindex="0")


def grid_csv(grid: Grid) -> str:
    """The grid as CSV."""
    from evenhand.reports.export import csv_cell  # brings Polars, which printing does without

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(grid.headings)
    writer.writerows([csv_cell(cell) for cell in row] for row in grid.rows)
    return out.getvalue()


def grid_latex(grid: Grid) -> str:
    """The grid as a LaTeX ``tabular``."""
    from evenhand.reports.export import latex_escaped

    columns = "l" * grid.words + "r" * (len(grid.headings) - grid.words)
    lines = [
        "% Needs \\usepackage{booktabs} and, with pdfLaTeX, \\usepackage[T1]{fontenc}.",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(latex_escaped, grid.headings)) + r" \\",
        r"\midrule",
        *(" & ".join(map(latex_escaped, row)) + r" \\" for row in grid.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"
