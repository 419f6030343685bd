"""``evenhand data``: what corpora there are, what is in them, what leaks in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from evenhand.cli import options as o
from evenhand.cli.output import finish, print_json, progress, start

if TYPE_CHECKING:
    from evenhand.data.user_file import FileOptions

app = typer.Typer(help="Corpora: list, describe, check for leaks, get.", no_args_is_help=True)


@app.command("list")
def list_(as_json: o.Json = False) -> None:
    """List the published corpora and which are installed."""
    from evenhand.data.find import data_folder
    from evenhand.studies.data_reports import list_corpora

    run = start()
    lines = list_corpora(run)
    if as_json:
        print_json(run, corpora=lines)
        return
    table = Table("name", "installed", "what it is", "licence", title_justify="left")
    for line in lines:
        table.add_row(line["name"], line["installed"], line["title"], line["licence"])
    console = Console()
    console.print(table)
    console.print(f"Data folder: {data_folder()} (EVENHAND_DATA)", soft_wrap=True, highlight=False)


@app.command()
@o.with_file_options
def describe(
    corpus: o.CorpusName,
    how: FileOptions,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Describe a corpus; with --out, write its data card."""
    from evenhand.data.find import find
    from evenhand.studies.data_reports import describe_corpus

    run = start(seed)
    with progress(f"Reading {corpus}"):
        parts = describe_corpus(run, find(corpus, how))
    finish(run, as_json=as_json, out=out, parts=parts)


@app.command()
@o.with_file_options
def check(
    corpus: o.CorpusName,
    how: FileOptions,
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit with 3 when something crosses a published split.")
    ] = False,
    as_json: o.Json = False,
    out: o.Out = None,
    with_text: o.WithText = False,
    seed: o.Seed = 0,
) -> None:
    """Look for what would leak: authors, duplicates, twins, conflicting labels."""
    from evenhand.core.errors import LeakFound
    from evenhand.data.check import leaks
    from evenhand.data.find import find
    from evenhand.studies.data_reports import check_corpus

    run = start(seed)
    with progress(f"Reading {corpus}") as step:
        parts = check_corpus(run, find(corpus, how), with_text=with_text, step=step)
    finish(run, as_json=as_json, out=out, parts=parts)
    broken = leaks(run.findings) if gate else []
    if broken:
        raise LeakFound(
            "the gate failed: " + "; ".join(f"{f.measure} is {f.value:g}" for f in broken)
        )


@app.command()
def get(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A registered name.")],
    force: Annotated[bool, typer.Option("--force", help="Replace installed files.")] = False,
    as_json: o.Json = False,
) -> None:
    """Download a corpus from its publisher, or say how to get it.

    EVENHAND_MIRROR names another place that holds the files as FOLDER/FILE.
    """
    from evenhand.data.find import data_folder, reader
    from evenhand.data.get import fetch
    from evenhand.studies.data_reports import got_corpus

    run = start()
    known = reader(corpus)
    with progress(f"Getting {corpus}") as step:
        files = fetch(
            known,
            data_folder(),
            mirror=os.environ.get("EVENHAND_MIRROR") or None,
            force=force,
            progress=step,
        )
    finish(run, as_json=as_json, parts=got_corpus(run, known, files))
