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
    label: Annotated[
        bool, typer.Option("--label", help="Serve a small simulated campaign instead.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=1, help="Where --label serves it, on this machine.")
    ] = 8090,
    seed: o.Seed = 0,
    as_json: o.Json = False,
) -> None:
    """A made-up population of mild posts, checked from end to end; prints where the report is."""
    if label:
        from evenhand.cli.label_serve import FACTORY
        from evenhand.studies.demo_label import serve_demo

        serve_demo(out / "campaign", typer.echo, seed=seed, port=port, factory=FACTORY)
        return
    from evenhand.studies.demo import run_demo

    run = start(seed)
    with progress("Making up a population") as step:
        parts = run_demo(run, posts=posts, step=step)
    finish(run, as_json=as_json, out=out, parts=parts, brief=True)
