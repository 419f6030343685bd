import csv
import io
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.records import Finding
from evenhand.core.tables import findings_table
from evenhand.reports import findings_csv, findings_latex, findings_parquet

SPECIAL = Finding(measure="rows", value=-1, n=1, group={"a": r"\{}$&#%_^~<>|[*]\"–·≥é"}, why="[x]")


def rows(*findings: Finding) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(findings_csv(findings))))


def test_csv_has_a_column_per_group_key_and_full_precision(examples: Any) -> None:
    share = rows(*examples.ALL)[1]
    assert (share["group.label"], share["group.top"], share["value"]) == ("racism", "2", "0.6584")
    assert share["cases"] == "waseem:1; waseem:2"
    assert rows(*examples.ALL)[0]["value"] == "16035"


def test_csv_leaves_missing_empty_with_the_reason(examples: Any) -> None:
    missing = rows(*examples.ALL)[2]
    assert (missing["value"], missing["why"]) == ("", "the corpus does not say who answered")


def test_csv_does_not_start_a_formula() -> None:
    finding = Finding(
        measure="rows", value=-1, n=1, group={"label": '=HYPERLINK("x")', "top": "-2"}
    )
    row = rows(finding)[0]
    assert (row["group.label"], row["group.top"], row["value"]) == ('\'=HYPERLINK("x")', "-2", "-1")


def test_latex_escapes_every_special_character() -> None:
    row = findings_latex([SPECIAL]).splitlines()[5]
    assert row == (
        r"rows & a=\textbackslash{}\{\}\$\&\#\%\_\textasciicircum{}\textasciitilde{}"
        r"\textless{}\textgreater{}\textbar{}{[}*{]}\textbackslash{}\char34{}--"
        r"\textperiodcentered{}$\geq$é & $-$1 &  & 1 & {[}x{]} \\"
    )


def test_latex_marks_missing_and_simulated(examples: Any) -> None:
    text = findings_latex(examples.ALL)
    assert "annotators &  & -- &  & 0 & the corpus does not say who answered \\\\" in text
    assert "& 1,000,000 & simulated \\\\" in text
    assert "95 \\% interval" in text


def test_parquet_is_exact(tmp_path: Path, examples: Any) -> None:
    findings_parquet(examples.ALL, tmp_path / "f.parquet")
    assert pl.read_parquet(tmp_path / "f.parquet").equals(findings_table(examples.ALL))
