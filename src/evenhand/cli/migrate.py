"""``evenhand migrate``: keep a service's scores before they are gone, and see what changes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start
from evenhand.cli.output import ready as check_folder

app = typer.Typer(
    help="Record what Perspective answers, and see what a detector in its place would change.",
    no_args_is_help=True,
)
_PROXY, _FILE = "As a proxy", "Over a file"
_DETECTOR = "evenhand-base"


@app.command("record")
def record(
    upstream: Annotated[str, typer.Option("--upstream", metavar="URL", help="The service to ask.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="The recording, new or to go on with.")
    ],
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file", metavar="FILE", help="The service's key, for callers without one."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="To wait for an answer.")
    ] = 10.0,
    host: Annotated[
        str, typer.Option("--host", help="To listen on.", rich_help_panel=_PROXY)
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, help="0: any free.", rich_help_panel=_PROXY),
    ] = 8090,
    sample: Annotated[
        float,
        typer.Option("--sample", metavar="RATE", help="Share of texts.", rich_help_panel=_PROXY),
    ] = 1.0,
    no_text: Annotated[
        bool,
        typer.Option(
            "--no-text",
            help="Keep no texts: a keyed digest and the detector's scores instead.",
            rich_help_panel=_PROXY,
        ),
    ] = False,
    detector: Annotated[
        str,
        typer.Option(
            "--detector",
            metavar="NAME",
            help="Scores beside, with --no-text.",
            rich_help_panel=_PROXY,
        ),
    ] = _DETECTOR,
    texts: Annotated[
        Path | None,
        typer.Option(
            "--texts",
            metavar="FILE",
            help="CSV, JSON lines or Parquet with texts to ask for.",
            rich_help_panel=_FILE,
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="COLUMN", help="With the text.", rich_help_panel=_FILE),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="COLUMN",
            help="With what people said (0 or 1), to keep beside.",
            rich_help_panel=_FILE,
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option("--rate", metavar="N", help="Requests a second.", rich_help_panel=_FILE),
    ] = 1.0,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            help="To ask for; may be repeated (default: the six of Perspective).",
            rich_help_panel=_FILE,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            help="Of the texts (default: the service detects it).",
            rich_help_panel=_FILE,
        ),
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Keep the service's scores: as a proxy in front of it, or of the texts in a file."""
    from evenhand.core.errors import BadInput
    from evenhand.models.loaded import load
    from evenhand.serving.recording import ATTRIBUTES, Where, record_file, run_proxy, upstream_of
    from evenhand.studies.migrate_records import file_parts, proxy_parts, texts_in

    run = start()
    to = upstream_of(upstream, key_file)
    if texts is not None:
        if no_text:
            raise BadInput("--no-text: the texts are in your file; it is for the proxy")
        with progress("Asking") as step:
            done = record_file(
                texts_in(run, texts, text, labels),
                to,
                out,
                attributes=attribute or ATTRIBUTES,
                language=language,
                per_second=rate,
                timeout_seconds=timeout,
                step=step,
            )
        finish(run, as_json=as_json, parts=file_parts(run, done, out))
        return

    def tell(address: str) -> None:
        print(
            f"Recording what {to.url} answers into {out}. Point callers at {address}; Ctrl-C ends.",
            file=sys.stderr,
            flush=True,
        )

    counts = run_proxy(
        to,
        out,
        Where(host, port),
        sample=sample,
        scorer=load(detector) if no_text else None,
        timeout_seconds=timeout,
        ready=tell,
    )
    finish(run, as_json=as_json, parts=proxy_parts(run, counts, out))


@app.command("report")
def report(
    recorded: Annotated[
        str,
        typer.Argument(
            metavar="RECORDED",
            help="A folder of migrate record, a corpus with published scores, or a file with a "
            "column for each attribute.",
        ),
    ],
    detector: Annotated[
        str, typer.Option("--detector", metavar="NAME", help="What takes the service's place.")
    ] = _DETECTOR,
    attribute: Annotated[
        list[str] | None,
        typer.Option("--attribute", help="To compare; may be repeated (default: all in common)."),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="flag-rate|precision|recall",
            help="What the new threshold keeps of the old one.",
        ),
    ] = "flag-rate",
    share: Annotated[
        float,
        typer.Option(
            "--share", help="Without labels: the precision or recall against old decisions."
        ),
    ] = 0.9,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            metavar="ATTRIBUTE=SCORE",
            help="The old threshold; may be repeated (default: 0.8, as in Coral).",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="COLUMN",
            help="What people said: a column of 0 and 1, a label of a corpus, or `suggested` for "
            "what moderators sent to the service.",
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="COLUMN", help="With the text, in a file.")
    ] = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="With the id, in a file.")
    ] = None,
    posts: Annotated[
        int | None,
        typer.Option("--posts", metavar="N", help="At most so many texts, drawn at random."),
    ] = None,
    with_text: o.WithText = False,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """What a detector in the service's place would change, and the mapping for serve."""
    from evenhand.models.loaded import load
    from evenhand.studies.migrate import Wanted, migrate_report
    from evenhand.studies.migrate_pairs import Keep
    from evenhand.studies.migrate_rows import read_recorded

    run = start(seed)
    check_folder(out)
    wanted = Wanted(
        attributes=attribute or (),
        keep=Keep(what=keep, share=share),
        thresholds=_thresholds(threshold),
        posts=posts,
        with_text=with_text,
    )
    with progress(f"Reading {recorded}") as step:
        found = read_recorded(recorded, labels=labels, text=text, id_=id_)
        parts = migrate_report(run, found, load(detector), wanted, step=step)
    finish(run, as_json=as_json, out=out, parts=parts)


def _thresholds(typed: list[str] | None) -> dict[str, float]:
    from evenhand.core.errors import BadInput

    found = {}
    for part in typed or ():
        name, _, score = part.partition("=")
        try:
            found[name] = float(score)
        except ValueError:
            raise BadInput(f"--threshold {part!r}; expected for example TOXICITY=0.8") from None
    return found
