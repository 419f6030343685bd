r"""Findings as files for other programs: CSV for spreadsheets, LaTeX for papers, Parquet for code.

Parquet is the exact one. CSV has one column per group key, full precision, and an apostrophe before
a text that a spreadsheet would run as a formula. LaTeX is a ``tabular`` that needs ``booktabs``,
with the numbers written as everywhere in the reports.

>>> latex_escaped("50 % of #a_b")
'50 \\% of \\#a\\_b'
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from evenhand.core.records import Finding
from evenhand.core.tables import findings_table, write_parquet
from evenhand.reports.numbers import count, interval_text, value_text
from evenhand.reports.wording import group_text, interval_heading, note, printable, usual_level

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d+)?|\.\d+)")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "[": "{[}",  # \\[ would be read as an option of the line break
    "]": "{]}",
    "–": "--",
    "−": "$-$",
    "·": r"\textperiodcentered{}",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
}


def findings_csv(findings: Sequence[Finding]) -> str:
    """Findings as CSV, one row each, with one column ``group.KEY`` per group key."""
    keys = list(dict.fromkeys(key for finding in findings for key in finding.group))
    fields = [name for name in Finding.__dataclass_fields__ if name not in ("measure", "group")]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["measure", *(csv_cell(f"group.{key}") for key in keys), *fields])
    for finding in findings:
        row = [finding.measure, *(finding.group.get(key) for key in keys)]
        row += [getattr(finding, name) for name in fields]
        writer.writerow([csv_cell(value) for value in row])
    return out.getvalue()


def csv_cell(value: object) -> str:
    """A value as a cell that no spreadsheet runs as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value).removesuffix(".0")
    text = value if isinstance(value, str) else "; ".join(map(str, _as_sequence(value)))
    harmless = not text.startswith(_FORMULA) or _NUMBER.fullmatch(text)
    return text if harmless else f"'{text}"


def _as_sequence(value: object) -> Sequence[object]:
    if not isinstance(value, Sequence):
        raise TypeError(f"a field of a finding is {type(value).__name__}")
    return value


def findings_latex(findings: Sequence[Finding]) -> str:
    """Findings as a LaTeX ``tabular`` to include in a paper."""
    level = usual_level(findings)
    headings = ["measure", "group", "value", interval_heading(findings), "$n$", "note"]
    lines = [
        "% Needs \\usepackage{booktabs} and, with pdfLaTeX, \\usepackage[T1]{fontenc}.",
        r"\begin{tabular}{llrrrp{0.25\linewidth}}",
        r"\toprule",
        _latex_row([latex_escaped(h) if h != "$n$" else h for h in headings]),
        r"\midrule",
        *(_latex_row(_latex_cells(finding, level)) for finding in findings),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cells(finding: Finding, level: float | None) -> list[str]:
    cells = (
        finding.measure,
        group_text(finding.group),
        value_text(finding),
        interval_text(finding),
        count(finding.n),
        note(finding, level=level),
    )
    return [latex_escaped(cell) for cell in cells]


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def latex_escaped(text: str) -> str:
    """The text with every character that LaTeX would interpret escaped."""
    return "".join(_LATEX.get(character, character) for character in printable(text))


def findings_parquet(findings: Sequence[Finding], path: Path) -> None:
    """Write findings to a Parquet file, every field as it is."""
    write_parquet(findings_table(findings), path)
