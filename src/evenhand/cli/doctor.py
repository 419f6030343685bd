"""``evenhand doctor``: what this machine can run and how large the install is."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.cli import options as o
from evenhand.cli.output import print_json, start


def doctor(as_json: o.Json = False) -> None:
    """What this machine can run, which extras are there, how large the install is."""
    from evenhand.studies.doctor import examine

    run = start()
    lines = examine(run)
    if as_json:
        print_json(run, machine=lines)
        return
    console = Console()
    table = Table("what", "found", "what to do", show_edge=False)
    for line in lines:
        table.add_row(*(Text(line[key]) for key in ("what", "found", "todo")))
    console.print(table)
