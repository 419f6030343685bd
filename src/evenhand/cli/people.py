"""``evenhand agree`` and ``aggregate``: how far people agree, and gold from what they said."""

from __future__ import annotations

from typing import Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start

Name = Annotated[
    str | None,
    typer.Option("--question", help="Which question (default: the main one; or `all`)."),
]
Cohort = Annotated[str | None, typer.Option("--cohort", help="Only judgements of this cohort.")]


def agree(
    corpus: o.CorpusName,
    question: Name = None,
    cohort: Cohort = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale", help="nominal, ordinal, interval or set (default: by the answers)."
        ),
    ] = None,
    order: Annotated[
        str | None, typer.Option("--order", metavar="A,B,C", help="Ordinal answers, least first.")
    ] = None,
    votes: Annotated[
        int | None, typer.Option("--votes", min=2, help="Only posts with exactly so many votes.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="Also by this column of the posts.")
    ] = None,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Agreement between annotators, with intervals."""
    from evenhand.core.errors import BadInput
    from evenhand.data.find import find
    from evenhand.studies import people

    scales = ("nominal", "ordinal", "interval", "set")
    if scale is not None and scale not in scales:
        raise BadInput(f"--scale {scale}; expected one of {', '.join(scales)}")
    run = start(seed)
    asked = people.Question(
        name=question,
        cohort=cohort,
        scale=scale,
        order=[part.strip() for part in order.split(",")] if order else None,
        exactly=votes,
        by=by,
    )
    with progress(f"Reading {corpus}"):
        parts = people.agree(run, find(corpus), asked)
    finish(run, as_json=as_json, out=out, parts=parts)


def aggregate(
    corpus: o.CorpusName,
    method: Annotated[
        str, typer.Option("--method", help="shares, majority or dawid-skene.")
    ] = "shares",
    question: Name = None,
    cohort: Cohort = None,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Gold from judgements, and a sheet per annotator; with --out, write the records."""
    from evenhand.data.find import find
    from evenhand.studies import people

    run = start(seed)
    asked = people.Question(name=question, cohort=cohort)
    with progress(f"Reading {corpus}"):
        parts = people.aggregate(run, find(corpus), asked, method=method)
    finish(run, as_json=as_json, out=out, parts=parts)
