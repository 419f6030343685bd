"""``evenhand plugins``: what is registered, by kind."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from evenhand.cli import options as o
from evenhand.cli.output import print_json, start
from evenhand.core import registry
from evenhand.core.records import Finding


def plugins(as_json: o.Json = False) -> None:
    """Components by kind and the package each comes from. Imports none of them."""
    run = start()
    found = [
        {"kind": kind, "name": name, "packages": registry.offered_by(kind, name)}
        for kind in registry.KINDS
        for name in registry.names(kind)
    ]
    for kind in registry.KINDS:
        count = len(registry.names(kind))
        run.findings.append(
            Finding(measure="components", value=count, n=count, group={"kind": kind})
        )
    if as_json:
        print_json(run, components=found)
        return
    console = Console()
    for kind, what in registry.KINDS.items():
        table = Table("name", "package", title=f"{kind}: {what}", title_justify="left")
        for entry in found:
            if entry["kind"] == kind:
                packages = list(entry["packages"])
                twice = "  (offered twice: unusable)" if len(packages) > 1 else ""
                table.add_row(str(entry["name"]), " and ".join(packages) + twice)
        console.print(table)
