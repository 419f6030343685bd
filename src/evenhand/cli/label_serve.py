"""``evenhand label serve``: a campaign's pages."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from evenhand.cli.label import Folder, Url, estimator

FACTORY = "evenhand.cli.label_serve:worker"
"""What every process of the server calls."""


def serve(
    folder: Folder,
    database: Url = None,
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.")] = 8090,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Processes; more than one needs PostgreSQL.")
    ] = 1,
    public_url: Annotated[
        str | None,
        typer.Option("--public-url", metavar="URL", help="The address people use, https://…"),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen to other machines without https.")
    ] = False,
) -> None:
    """Serve a campaign's pages; prints a link that signs its owner in, once."""
    from evenhand.core.errors import MissingExtra

    try:
        from evenhand.labelling.web.run import serve as run
        from evenhand.labelling.web.settings import Settings
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{error.name} is not installed; campaigns need: pip install 'evenhand[label]'"
        ) from error
    settings = Settings(
        folder=str(folder.absolute()), database=database, host=host, port=port, workers=workers,
        public_url=public_url, insecure=insecure,
    )  # fmt: skip
    run(settings, lambda link: typer.echo(f"Owner, once, within an hour: {link}"), factory=FACTORY)


def worker() -> Any:
    """The application of one process, with estimates, which join rooms above `labelling`."""
    from evenhand.core.provenance import Run
    from evenhand.labelling.web.run import worker

    return worker(estimator(Run(["evenhand", "label", "serve"], 0)))
