import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.core.records import Finding
from evenhand.reports import Grid, Section, write_report

FILES = {"findings.csv", "findings.parquet", "findings.tex", "report.html", "run.json"}


def test_writes_the_folder_and_says_where_the_page_is(tmp_path: Path, examples: Any) -> None:
    out = tmp_path / "deep" / "out"
    table = pl.DataFrame({"a": [1]})
    report = write_report(out, examples.run(), "Card", examples.sections(), {"posts": table})
    assert report == out / "report.html"
    assert {path.name for path in out.iterdir()} == FILES | {"posts.parquet"}
    assert pl.read_parquet(out / "posts.parquet").equals(table)
    assert pl.read_parquet(out / "findings.parquet").height == len(examples.ALL)


def test_page_and_run_json_tell_the_same_time(tmp_path: Path, examples: Any) -> None:
    run = examples.run()
    run.started -= 61.26
    report = write_report(tmp_path / "out", run, "Card", [])
    seconds = json.loads((tmp_path / "out" / "run.json").read_text())["seconds"]
    assert f"{seconds:.1f} s" in report.read_text()


def test_failure_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: Any
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("evenhand.reports.folder.write_parquet", fail)
    tables = {"posts": pl.DataFrame({"a": [1]})}
    with pytest.raises(OSError, match="disk is full"):
        write_report(tmp_path / "out", examples.run(), "Card", [], tables)
    assert list(tmp_path.iterdir()) == []


def test_a_page_shows_only_what_the_files_hold(tmp_path: Path, examples: Any) -> None:
    other = Section("Other", findings=(Finding(measure="rows", value=1, n=1),))
    with pytest.raises(ValueError, match="'Other' shows 1 findings that the run does not have"):
        write_report(tmp_path / "out", examples.run(), "Card", [other])


@pytest.mark.parametrize("name", ["findings", "../posts", "", "a/b"])
def test_refuses_names_that_would_go_astray(tmp_path: Path, name: str, examples: Any) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        write_report(tmp_path / "out", examples.run(), "Card", [], {name: pl.DataFrame()})


def test_files_of_an_older_report_go_and_others_stay(tmp_path, examples):
    out = tmp_path / "out"
    run = examples.run(*examples.ALL)
    old = Section("Old", grids=[Grid("old_table", "Old", ("a",), [("1",)])])
    write_report(out, run, "First", [old])
    (out / "mine.csv").write_text("a\n")
    assert (out / "old_table.csv").exists()
    write_report(out, run, "Second", [Section("New")])
    assert not (out / "old_table.csv").exists() and not (out / "old_table.tex").exists()
    assert (out / "mine.csv").exists() and (out / "findings.csv").exists()
