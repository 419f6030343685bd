"""``evenhand reproduce``: a paper's tables beside ours."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start
from evenhand.cli.training import Resume, Workers, finished_folder, forget


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="arango, delisle, kirk, park.")],
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE]...",
            help="Which tables (default: all); kirk's figure 2 comes with its table 9.",
        ),
    ] = None,
    detectors: Annotated[
        list[str] | None,
        typer.Option(
            "--detector",
            metavar="DETECTOR",
            help="A row of its own beside kirk's; repeatable; as for evenhand audit.",
        ),
    ] = None,
    attribute: Annotated[
        str | None,
        typer.Option(
            "--attribute",
            help="What these detectors are judged by, where they have it (default: first).",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Less work, in under three minutes; says what is less.")
    ] = False,
    workers: Workers = None,
    resume: Resume = False,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """A published table beside the same computed here."""
    from evenhand.studies.parts import How
    from evenhand.studies.reproduce import reproduce as reproduce_tables

    run = start(seed)
    finished = finished_folder(out, resume)
    with progress(f"Reproducing {paper}") as step:
        how = How(
            quick=quick,
            workers=workers or os.cpu_count() or 1,
            finished=finished,
            step=step,
        )
        parts = reproduce_tables(
            run, paper, tables or (), how, detectors=detectors or (), attribute=attribute
        )
    finish(run, as_json=as_json, out=out, parts=parts)
    forget(finished)
