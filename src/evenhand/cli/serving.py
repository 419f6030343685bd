"""``evenhand serve`` and ``evenhand keys``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import print_json, start

if TYPE_CHECKING:
    from evenhand.serving.keys import Keys

keys_app = typer.Typer(help="Keys of a server: made here, shown once.", no_args_is_help=True)
_File = Annotated[
    Path | None, typer.Option("--keys", metavar="FILE", help="Where keys are kept, as hashes.")
]


def serve(
    detector: Annotated[
        str,
        typer.Option(
            "--detector",
            metavar="NAME",
            help="evenhand-base, evenhand-fast, a saved folder, hf:FOLDER or "
            "python:module:function.",
        ),
    ] = "evenhand-base",
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.")] = 8080,
    workers: Annotated[int, typer.Option("--workers", help="Processes; one a core.")] = 1,
    keys: _File = None,
    require_key: Annotated[
        bool, typer.Option("--require-key", help="Want a key on this machine, too.")
    ] = False,
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="N", help="Requests a minute of a key without its own."),
    ] = None,
    batch: Annotated[
        int, typer.Option("--batch", help="Texts scored together; 1 for one by one.")
    ] = 32,
    patience_ms: Annotated[
        int, typer.Option("--patience-ms", help="The longest wait; more is answered 429.")
    ] = 500,
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="TAG",
            help="A language that the detector was tested on; may be repeated; en unless said.",
        ),
    ] = None,
    allow_untested_language: Annotated[
        bool,
        typer.Option(
            "--allow-untested-language",
            help="Score texts in languages that the detector was not tested on, and say so.",
        ),
    ] = False,
    drop_unsupported: Annotated[
        bool,
        typer.Option("--drop-unsupported", help="Leave unknown attributes away without an error."),
    ] = False,
    base_rate: Annotated[
        list[str] | None,
        typer.Option(
            "--base-rate",
            metavar="[ATTRIBUTE=]RATE",
            help="Map probabilities to this share of posts with the attribute; may be repeated.",
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="FILE", help="What `migrate report` has learned."),
    ] = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(
            "--thresholds", metavar="FILE", help="Sets of thresholds, and who uses which."
        ),
    ] = None,
    suggestions: Annotated[
        Path | None,
        typer.Option("--suggestions", metavar="FILE", help="Where suggested scores are kept."),
    ] = None,
    store_by_default: Annotated[
        bool,
        typer.Option(
            "--store-by-default", help="Keep suggestions that say nothing of doNotStore, too."
        ),
    ] = False,
    shadow: Annotated[
        str | None,
        typer.Option("--shadow", metavar="NAME", help="Another detector to run beside it."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="FILE", help="Remembers which of the two answers."),
    ] = None,
) -> None:
    """Serve scores over HTTP: in Perspective's dialect, OpenAI's and our own."""
    from evenhand.core.errors import BadInput, MissingExtra
    from evenhand.serving.languages import primary

    try:
        from evenhand.serving.run import serve as run
        from evenhand.serving.settings import Settings, keys_file
    except ImportError as error:
        raise MissingExtra(
            f"serving needs {error.name}; install it: pip install 'evenhand[serve]'"
        ) from error
    if store_by_default and suggestions is None:
        raise BadInput("--store-by-default keeps nothing without --suggestions FILE")
    if shadow and workers > 1 and state is None:
        raise BadInput("--shadow with several workers needs --state FILE, so that all change over")
    settings = Settings(
        detector=detector, host=host, port=port, workers=workers,
        keys=str(keys or keys_file()), require_key=require_key, rate=rate, batch=batch,
        patience=patience_ms / 1000, languages=tuple(map(primary, language or ["en"])),
        allow_untested_language=allow_untested_language,
        drop_unsupported=drop_unsupported, base_rate=o.base_rate(base_rate),
        mapping=_path(mapping), thresholds=_path(thresholds), suggestions=_path(suggestions),
        store_by_default=store_by_default, shadow=shadow, state=_path(state),
    )  # fmt: skip
    if settings.needs_key and not any(not key.revoked for key in _keys(keys).all()):
        typer.echo(
            f"No key yet in {settings.keys}: add one with `evenhand keys add NAME`.", err=True
        )
    who = "this machine only" if settings.where.loopback else f"all who can reach {host}"
    key = "a key is needed" if settings.needs_key else "any key or none is accepted"
    typer.echo(f"Serving {detector} to {who}; {key}. / is a page to try it on.", err=True)
    run(settings)


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _keys(path: Path | None) -> Keys:
    from evenhand.serving.keys import Keys
    from evenhand.serving.settings import keys_file

    return Keys(path or keys_file())


@keys_app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="N", help="Requests a minute.")
    ] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="It may put another detector in place.")
    ] = False,
    keys: _File = None,
    as_json: o.Json = False,
) -> None:
    """Make a key; it is shown once."""
    run = start()
    made, key = _keys(keys).add(name, rate=rate, admin=admin)
    if as_json:
        print_json(run, key=made, id=key.id, name=key.name, rate=key.rate, admin=key.admin)
        return
    typer.echo(made)
    typer.echo(
        f"The key of {name} ({key.id}). It is not shown again: only its hash is kept.", err=True
    )


@keys_app.command("list")
def listed(keys: _File = None, as_json: o.Json = False) -> None:
    """All keys, by name and the beginning of their hashes."""
    from rich.console import Console
    from rich.table import Column, Table

    run = start()
    found = _keys(keys).all()
    if as_json:
        fields = ("id", "name", "made", "rate", "admin", "revoked")
        print_json(run, keys=[{field: getattr(key, field) for field in fields} for key in found])
        return
    if not found:
        typer.echo("No keys yet: `evenhand keys add NAME` makes one.")
        return
    made, revoked = (Column(name, no_wrap=True) for name in ("made (UTC)", "revoked (UTC)"))
    table = Table("name", "id", made, "a minute", "admin", revoked, box=None)
    for key in found:
        rate = "–" if key.rate is None else f"{key.rate:g}"
        table.add_row(
            key.name, key.id, _minute(key.made), rate, "yes" if key.admin else "",
            _minute(key.revoked or ""),
        )  # fmt: skip
    Console().print(table)
    if any(key.rate is None for key in found):
        typer.echo("– as many requests a minute as `evenhand serve --rate` says.")


def _minute(at: str) -> str:
    """A time of ours as a person reads it."""
    return at[:16].replace("T", " ")


@keys_app.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(help="Name or id of the key.")],
    keys: _File = None,
    as_json: o.Json = False,
) -> None:
    """Make a key useless; running servers refuse it within a second."""
    run = start()
    key = _keys(keys).revoke(name)
    if as_json:
        print_json(run, id=key.id, name=key.name, revoked=key.revoked)
        return
    typer.echo(f"Revoked the key of {key.name} ({key.id}).")
