"""A file scored for a reader: how many rows, which were skipped and why, how many are flagged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding
from evenhand.reports import LIMITS, Grid, Section
from evenhand.reports.numbers import count, number
from evenhand.serving.files import FileScores, Wanted, score_file
from evenhand.studies.parts import Parts, Step, silent

_SHOWN = 20


def score_to_file(
    run: Run,
    path: Path,
    out: Path,
    wanted: Wanted,
    *,
    text: str | None = None,
    id: str | None = None,
    workers: int | None = None,
    step: Step = silent,
) -> tuple[Parts, bool]:
    """Score a file into a folder; what is to be said of it, and whether it was done before."""
    found = score_file(path, out, wanted, text=text, id=id, workers=workers, step=step)
    run.data.append(DataUsed(found.input, found.rows, found.sha256))
    findings = list(_findings(found))
    run.findings += findings
    grids = [_skipped(found, most) for most in (len(found.listed), _SHOWN)] if found.listed else []
    page, terminal = (
        [Section("Rows", findings=findings), *skipped]
        for skipped in (
            [Section("Skipped rows", grids=grids[:1])] if grids else [],
            [Section("Skipped rows", grids=grids[1:])] if grids else [],
        )
    )
    return (
        Parts(
            f"Scores of {Path(found.input).name} by {wanted.detector}",
            page,
            _sentences(found, wanted),
            also={
                "scores": str(found.path),
                "finished_before": found.finished_before,
                "skipped": [{"row": row, "why": why} for row, why in found.listed],
            },
            terminal=terminal,
        ),
        found.finished_before,
    )


def _findings(found: FileScores) -> Iterator[Finding]:
    scored = found.rows - found.skipped
    yield Finding(measure="rows", value=found.rows, n=found.rows)
    yield Finding(measure="scored", value=scored, n=found.rows)
    yield Finding(
        measure="skipped",
        value=found.skipped,
        n=found.rows,
        cases=[str(row) for row, _ in found.listed],
    )
    for name, flagged in found.flagged.items():
        yield Finding(
            measure="flagged_share",
            value=flagged / scored if scored else None,
            why=None if scored else "no row was scored",
            n=scored,
            group={"attribute": name},
            method=f"at or above the shipped threshold, {number(found.thresholds[name])}",
        )


def _skipped(found: FileScores, most: int) -> Grid:
    cells = [[str(row), why] for row, why in found.listed[:most]]
    return Grid("skipped", "Skipped rows", ("row", "why"), cells, words=2)


def _rates(rate: float | Mapping[str, float]) -> str:
    if not isinstance(rate, Mapping):
        return f"{100 * rate:.3g} %"
    return ", ".join(f"{name} {100 * share:.3g} %" for name, share in rate.items())


def _sentences(found: FileScores, wanted: Wanted) -> list[str]:
    checksum = f" (SHA-256 {found.detector[:12]})" if found.detector else ""
    told = [
        f"{found.path}: a row for each of {count(found.rows)} rows, in their order, with the "
        f"scores of {wanted.detector}{checksum}."
    ]
    if wanted.perspective_like:
        told.append("Perspective-like scores: its order in the scale of published scores.")
    elif wanted.base_rate is not None:
        told.append(
            f"Probabilities are mapped to {_rates(wanted.base_rate)} of posts, as if only the "
            "share were another than where it was calibrated."
        )
    if found.finished_before:
        told.insert(0, "These scores were finished before; nothing was left to do.")
    if found.skipped:
        told.append(
            f"{count(found.skipped)} rows could not be scored; column `skipped` says why"
            + (f", the first {_SHOWN} are above." if found.skipped > _SHOWN else ".")
        )
    if found.flagged:
        told.append("Columns `…_flagged` are decisions at the shipped thresholds.")
    if found.agreement:
        told.append(
            f"The cascade's decisions were those of evenhand-base in "
            f"{100 * found.agreement['agree_together']:.1f} % of all, on "
            f"{count(found.agreement['posts'])} held-out comments (jigsaw); on other posts they "
            "can agree less."
        )
    return [*told, LIMITS]
