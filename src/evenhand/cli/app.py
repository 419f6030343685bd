"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from evenhand.cli import (
    audits,
    claims,
    data,
    demo,
    detectors,
    doctor,
    label,
    label_serve,
    migrate,
    people,
    plugins,
    reproduce,
    scoring,
    serving,
    training,
)
from evenhand.core.provenance import VERSION

app = typer.Typer(
    name="evenhand",
    help="Build, prove and run abuse detectors you can answer for.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data.app, name="data")
app.add_typer(audits.suite_app, name="suite")
app.add_typer(serving.keys_app, name="keys")
app.add_typer(migrate.app, name="migrate")
app.add_typer(label.app, name="label")
label.app.command("serve")(label_serve.serve)
app.command("demo")(demo.demo)
app.command("sample")(claims.sample)
app.command("weigh")(claims.weigh)
app.command("agree")(people.agree)
app.command("aggregate")(people.aggregate)
app.command("estimate")(claims.estimate)
app.command("train")(training.train)
app.command("validate")(training.validate)
app.command("score")(scoring.score)
app.command("serve")(serving.serve)
app.command("compare")(detectors.compare)
app.command("audit")(audits.audit)
app.command("reproduce")(reproduce.reproduce)
app.command("plugins")(plugins.plugins)
app.command("doctor")(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"evenhand {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
