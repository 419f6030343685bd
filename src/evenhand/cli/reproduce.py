"""``evenhand reproduce``: a paper's tables beside ours."""

from __future__ import annotations

from typing import Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="delisle.")],
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="Which tables (default: all).")
    ] = None,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """A published table beside the same computed here."""
    from evenhand.studies.reproduce import reproduce as reproduce_tables

    run = start(seed)
    with progress(f"Reproducing {paper}"):
        parts = reproduce_tables(run, paper, tables or ())
    finish(run, as_json=as_json, out=out, parts=parts)
