"""``evenhand demo``: the whole chain on a made-up population."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the report.")
    ] = Path("evenhand-demo"),
    posts: Annotated[
        int, typer.Option("--posts", min=200, help="Size of the population.")
    ] = 20_000,
    seed: o.Seed = 0,
    as_json: o.Json = False,
) -> None:
    """A made-up population of mild posts, checked from end to end; prints where the report is."""
    from evenhand.studies.demo import run_demo

    run = start(seed)
    with progress("Making up a population") as step:
        parts = run_demo(run, posts=posts, step=step)
    finish(run, as_json=as_json, out=out, parts=parts, brief=True)
