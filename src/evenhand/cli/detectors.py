"""``evenhand compare``: detectors, and the crowd itself, against people."""

from __future__ import annotations

from typing import Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start


def compare(
    detectors: Annotated[
        list[str],
        typer.Argument(
            metavar="DETECTOR...",
            help="A saved folder, predictions:FILE or python:module:function.",
        ),
    ],
    data: Annotated[str, typer.Option("--data", metavar="CORPUS", help="Posts with judgements.")],
    crowd: Annotated[
        str | None, typer.Option("--crowd", metavar="COHORT", help="The volunteers' cohort.")
    ] = None,
    experts: Annotated[
        str | None, typer.Option("--experts", metavar="COHORT", help="The experts' cohort.")
    ] = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="Which attribute to judge (default: first).")
    ] = None,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Detectors and the crowd against people: precision, recall, F1, average precision, AUC."""
    from evenhand.data.find import find
    from evenhand.models.addresses import without_key
    from evenhand.models.find import detector
    from evenhand.studies.compare import compare as compare_detectors

    run = start(seed)
    with progress(f"Reading {data}"):
        corpus = find(data)
        found = {
            without_key(name): detector(name, hateful=corpus.hateful, attribute=attribute)
            for name in detectors
        }
        parts = compare_detectors(
            run, corpus, found, crowd=crowd, experts=experts, attribute=attribute
        )
    finish(run, as_json=as_json, out=out, parts=parts)
