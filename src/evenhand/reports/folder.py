"""A folder of results: the page for people, the same findings for programs, where they come from.

``report.html``, ``findings.parquet``, ``findings.csv``, ``findings.tex``, ``run.json``, and one
Parquet file for each table, one JSON file for each document, one CSV and one LaTeX file for each
grid given. A failure leaves nothing
half-written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from evenhand.core.provenance import Run, folder_at_once
from evenhand.core.tables import write_parquet
from evenhand.reports.export import findings_csv, findings_latex, findings_parquet
from evenhand.reports.grids import grid_csv, grid_latex
from evenhand.reports.page import Section, page

_NAME = re.compile(r"\w[\w.-]*")


def write_report(
    out: Path,
    run: Run,
    title: str,
    sections: Sequence[Section],
    tables: Mapping[str, pl.DataFrame] | None = None,
    *,
    summary: Sequence[str] = (),
    documents: Mapping[str, object] | None = None,
) -> Path:
    """Write the folder and return the path of ``report.html``.

    The files hold ``run.findings``; a section may only show findings that are among them, so that
    every figure on the page can be found in the files. Files of an older report in the folder that
    this one does not have are removed; others are left alone.
    """
    tables = tables or {}
    _check(run, sections, tables)
    provenance = run.provenance()
    html = page(title, sections, run, summary=summary, provenance=provenance)
    before = _files(out)
    with folder_at_once(out) as folder:
        _write(folder / "report.html", html)
        _write(folder / "findings.csv", findings_csv(run.findings))
        _write(folder / "findings.tex", findings_latex(run.findings))
        for name, document in (documents or {}).items():
            _write_json(folder / f"{name}.json", document)
        for grid in (grid for section in sections for grid in section.grids):
            _write(folder / f"{grid.name}.csv", grid_csv(grid))
            _write(folder / f"{grid.name}.tex", grid_latex(grid))
        findings_parquet(run.findings, folder / "findings.parquet")
        for name, table in tables.items():
            write_parquet(table, folder / f"{name}.parquet")
        now = {"run.json", *(path.name for path in folder.iterdir())}
        _write_json(folder / "run.json", {**provenance, "files": sorted(now)})
    for name in before - now:
        (out / name).unlink(missing_ok=True)
    return out / "report.html"


def _files(out: Path) -> set[str]:
    """The files a report in this folder says that it has."""
    try:
        listed = json.loads((out / "run.json").read_text(encoding="utf-8"))["files"]
        return {name for name in listed if _NAME.fullmatch(name)}
    except (OSError, ValueError, KeyError, TypeError):
        return set()  # no report, or one that does not say


def _write_json(path: Path, document: object) -> None:
    _write(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _check(run: Run, sections: Sequence[Section], tables: Mapping[str, pl.DataFrame]) -> None:
    kept = {repr(finding) for finding in run.findings}
    for section in sections:
        lost = [finding for finding in section.findings if repr(finding) not in kept]
        if lost:
            raise ValueError(
                f"section {section.title!r} shows {len(lost)} findings that the run does not have, "
                f"the first {lost[0].measure!r}; add them to run.findings"
            )
    for name in tables:
        if not _NAME.fullmatch(name) or name == "findings":
            raise ValueError(f"{name!r} cannot be the name of a table beside the report")
