"""``evenhand suite list / build / run`` and ``evenhand audit``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, ready, start

if TYPE_CHECKING:
    from evenhand.data.corpus import Corpus
    from evenhand.data.user_file import FileOptions
    from evenhand.models.remote import RemoteOptions
    from evenhand.studies.audit_site import Site
    from evenhand.studies.suites import Judged

suite_app = typer.Typer(help="Functional suites: list, build, run.", no_args_is_help=True)

SuiteName = Annotated[
    str,
    typer.Argument(metavar="SUITE", help="A registered suite, or a folder or file of templates."),
]
DetectorName = Annotated[
    str,
    typer.Argument(
        metavar="DETECTOR",
        help="A folder of train --save, hf:FOLDER, perspective:URL, openai:URL, predictions:FILE "
        "or python:module:function.",
    ),
]
Threshold = Annotated[
    float, typer.Option("--threshold", help="A text is flagged when its score is at least this.")
]
Attribute = Annotated[
    str | None,
    typer.Option("--attribute", help="Which attribute to judge, such as IDENTITY_ATTACK."),
]
Rate = Annotated[
    float | None,
    typer.Option("--rate", min=0.01, help="Requests a second to a detector behind a URL."),
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", min=0.1, help="Seconds to wait for such a detector.")
]
Suites = Annotated[
    list[str] | None,
    typer.Option("--suite", metavar="SUITE", help="Which suites; repeatable (default: ours)."),
]
Templates = Annotated[
    str | None,
    typer.Option(
        "--templates",
        metavar="A,B",
        help="Which identity templates: names or TOML files; none for none (default: all).",
    ),
]
Column = Annotated[
    str | None,
    typer.Option("--column", metavar="NAME", help="Of a file of predictions: where the score is."),
]
Judgements = Annotated[
    str | None,
    typer.Option("--judgements", metavar="FOLDER", help="People's answers about the cases."),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Ask such a detector again about texts it has scored.")
]


@suite_app.command("list")
def list_(as_json: o.Json = False, out: o.Out = None) -> None:
    """Every suite, with its size where it is installed."""
    from evenhand.studies.suites import list_suites

    run = start()
    finish(run, as_json=as_json, out=out, parts=list_suites(run))


@suite_app.command("build")
def build(
    suite: SuiteName,
    judgements: Judgements = None,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Make the cases of a suite from its templates; with --out, write them as a corpus."""
    from evenhand.studies.suites import build_suite

    run = start(seed)
    parts = build_suite(run, suite, _votes(judgements))
    finish(run, as_json=as_json, out=out, parts=parts)


@suite_app.command("run")
def run_(
    suite: SuiteName,
    detector: Annotated[
        str, typer.Option("--detector", metavar="DETECTOR", help="As for evenhand audit.")
    ],
    threshold: Threshold = 0.5,
    attribute: Attribute = None,
    column: Column = None,
    hateful: Annotated[
        list[str] | None,
        typer.Option("--hateful", metavar="CLASS", help="Of a file of classes: which are hateful."),
    ] = None,
    judgements: Judgements = None,
    rate: Rate = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
    with_text: o.WithText = False,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """A detector on one suite: accuracy by functionality, set and identity."""
    from evenhand.models.addresses import without_key
    from evenhand.studies.suites import run_suite

    run = start(seed)
    ready(out)
    with progress(f"Asking {without_key(detector)}") as step:
        parts = run_suite(
            run,
            suite,
            _judged(
                detector,
                attribute,
                threshold,
                _remote(rate, timeout, no_cache),
                column,
                tuple(hateful or ()),
            ),
            votes=_votes(judgements),
            with_text=with_text,
            step=step,
        )
    finish(run, as_json=as_json, out=out, parts=parts)


@suite_app.command("texts")
def texts(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A CSV file to write.")],
    suites: Suites = None,
    templates: Templates = None,
) -> None:
    """Every text an audit asks about, with ids, for a detector that runs elsewhere."""
    from evenhand.core.errors import BadInput
    from evenhand.studies.audit import SUITES, TEMPLATES
    from evenhand.studies.suites import texts as all_texts

    table = all_texts(suites or SUITES, TEMPLATES if templates is None else _names(templates))
    try:
        table.write_csv(out)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error}") from None
    typer.echo(
        f"{table.height:,} texts in {out}. Score them, write a file with the columns id and score, "
        "and audit predictions:FILE."
    )


@o.with_file_options
def audit(
    detector: DetectorName,
    suites: Suites = None,
    templates: Templates = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="CORPUS", help="Labelled posts, to say what a score means."),
    ] = None,
    base_rate: Annotated[
        float | None,
        typer.Option("--base-rate", help="Share of hateful posts on your site, if you know it."),
    ] = None,
    flag_rate: Annotated[
        float | None,
        typer.Option("--flag-rate", help="Share of posts you can afford to flag."),
    ] = None,
    transfer: Annotated[
        int | None,
        typer.Option(
            "--transfer",
            min=0,
            metavar="N",
            help="Try it on N posts of every installed corpus (default: 1000, 0 behind a URL).",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="DETECTOR", help="Another detector, case by case."),
    ] = None,
    gate: Annotated[
        Path | None,
        typer.Option("--gate", metavar="FILE", help="Exit with 3 unless these conditions hold."),
    ] = None,
    threshold: Threshold = 0.5,
    attribute: Attribute = None,
    against_threshold: Annotated[
        float | None,
        typer.Option("--against-threshold", help="Of the other detector (default: the same)."),
    ] = None,
    against_attribute: Annotated[
        str | None,
        typer.Option("--against-attribute", help="Of the other detector (default: its first)."),
    ] = None,
    column: Column = None,
    judgements: Judgements = None,
    rate: Rate = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
    with_text: o.WithText = False,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
    *,
    how: FileOptions,
) -> None:
    """The report card of a detector: suites, identities, thresholds, what is worst."""
    from evenhand.audits.gates import read_gates
    from evenhand.core.errors import GateFailed
    from evenhand.models.addresses import without_key
    from evenhand.studies.audit import SUITES, TEMPLATES, Wanted, can_be_asked_much
    from evenhand.studies.audit import audit as audit_detector

    run = start(seed)
    ready(out)
    gates = read_gates(gate) if gate else []
    remote = _remote(rate, timeout, no_cache)
    judged = _judged(detector, attribute, threshold, remote, column, how.hateful)
    cut = threshold if against_threshold is None else against_threshold
    other = (
        _judged(against, against_attribute, cut, remote, column, how.hateful) if against else None
    )
    plenty = 1000 if can_be_asked_much(judged.detector) else 0
    wanted = Wanted(
        suites=tuple(suites or SUITES),
        templates=TEMPLATES if templates is None else _names(templates),
        site=_site(data, how, base_rate, flag_rate),
        transfer=plenty if transfer is None else transfer,
        votes=_votes(judgements),
        gates=gates,
        with_text=with_text,
    )
    with progress(f"Auditing {without_key(detector)}") as step:
        card = audit_detector(run, judged, wanted, against=other, step=step)
    finish(run, as_json=as_json, out=out, parts=card.parts)
    if card.broken:
        raise GateFailed(
            f"{len(card.broken)} of {len(gates)} gates broken:\n" + "\n".join(card.broken)
        )


def _names(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(part.strip() for part in text.split(",") if part.strip())


def _remote(rate: float | None, timeout: float | None, no_cache: bool) -> RemoteOptions:
    from evenhand.models.remote import RemoteOptions

    options = RemoteOptions(per_second=rate, cache=not no_cache)
    return options if timeout is None else replace(options, timeout_seconds=timeout)


def _judged(
    name: str,
    attribute: str | None,
    threshold: float,
    remote: RemoteOptions,
    column: str | None,
    hateful: Sequence[str],
) -> Judged:
    from evenhand.models.find import detector
    from evenhand.studies.suites import Judged

    found = detector(name, column=column, hateful=hateful, attribute=attribute, remote=remote)
    return Judged(found, threshold, attribute)


def _votes(folder: str | None) -> Corpus | None:
    from evenhand.data.find import find

    return find(folder) if folder else None


def _site(
    data: str | None, how: FileOptions, base_rate: float | None, flag_rate: float | None
) -> Site | None:
    from evenhand.core.errors import BadInput
    from evenhand.data.find import find
    from evenhand.studies.audit_site import Site

    if data is None:
        if base_rate is not None or flag_rate is not None:
            raise BadInput("--base-rate and --flag-rate need --data CORPUS: labelled posts")
        return None
    return Site(find(data, how), base_rate=base_rate, flag_rate=flag_rate)
