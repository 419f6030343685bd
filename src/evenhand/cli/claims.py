"""``evenhand sample``, ``weigh`` and ``estimate``: from a population to a claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start

if TYPE_CHECKING:
    from evenhand.data.user_file import FileOptions

Volumes = Annotated[
    Path | None,
    typer.Option("--volumes", metavar="FILE", help="True volumes: columns stratum and volume."),
]
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of records.")]


@o.with_file_options
def sample(
    corpus: o.CorpusName,
    how: FileOptions,
    target: Annotated[
        int | None, typer.Option("--target", min=1, help="Posts to draw in proportion to volume.")
    ] = None,
    enrich: Annotated[
        int, typer.Option("--enrich", min=0, help="More posts to draw from the flagged rest.")
    ] = 0,
    stratum: Annotated[
        str, typer.Option("--stratum", metavar="COLUMN", help="What to stratify by.")
    ] = "day",
    volumes: Volumes = None,
    filter_: Annotated[
        str | None,
        typer.Option("--filter", metavar="DETECTOR", help="What flags posts, for --enrich."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option("--train", metavar="CORPUS", help="Labelled posts to fit a recipe filter on."),
    ] = None,
    cut: Annotated[
        float, typer.Option("--cut", min=0, max=1, help="A post is flagged from this score on.")
    ] = 0.5,
    from_labelled: Annotated[
        str | None,
        typer.Option(
            "--from-labelled",
            metavar="A=N,B=N",
            help="Draw a second phase from labelled posts: flagged=284,rest=284.",
        ),
    ] = None,
    votes: Annotated[
        int | None,
        typer.Option("--votes", min=1, help="Second phase: only posts with so many votes."),
    ] = None,
    plan: Annotated[
        float | None,
        typer.Option(
            "--plan", metavar="SHARE", help="Draw nothing; say what ±SHARE costs, from a pilot."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Plan: the precision in each of these groups."),
    ] = None,
    design_effect: Annotated[
        float, typer.Option("--design-effect", min=1, help="Plan: how much weighting costs.")
    ] = 1.0,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Draw posts by stratum and enrich them; or a second phase; or plan a sample."""
    from evenhand.core.errors import BadInput
    from evenhand.data.find import find
    from evenhand.studies import samples
    from evenhand.studies.filters import flags_of

    run = start(seed)
    with progress(f"Reading {corpus}") as step:
        posts = find(corpus, how)
        if plan is not None:
            parts = samples.plan_sample(
                run, posts, half_width=plan, by=by, design_effect=design_effect
            )
        elif from_labelled is not None:
            parts = samples.draw_again(run, posts, sizes=o.sizes(from_labelled), votes=votes)
        elif target is None:
            raise BadInput("say how many posts to draw: --target N (or --plan, --from-labelled)")
        else:
            step("Flagging posts", 0, None)
            flags = None
            if filter_ is not None:
                flags = flags_of(run, posts, filter_, train=train, cut=cut)
            elif enrich:
                raise BadInput("--enrich needs --filter: what should flag posts?")
            step("Drawing", 0, None)
            parts = samples.draw_sample(
                run,
                posts,
                stratum=stratum,
                volumes=samples.read_volumes(volumes) if volumes else None,
                target=target,
                enrich=enrich,
                flags=flags,
            )
    finish(run, as_json=as_json, out=out, parts=parts)


def weigh(
    folder: Folder,
    volumes: Volumes = None,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Weigh the posts that got labels back to the population; with --out, write the weights."""
    from evenhand.data.find import find
    from evenhand.studies import samples

    run = start()
    corpus = find(folder)
    parts = samples.weigh_sample(run, corpus, samples.read_volumes(volumes) if volumes else None)
    finish(run, as_json=as_json, out=out, parts=parts)


def estimate(
    folder: Folder,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="COLUMN", help="Group by this; A,B for their intersection."),
    ] = None,
    over: Annotated[
        str, typer.Option("--over", help="Resample posts, annotators, authors or targets.")
    ] = "posts",
    people: Annotated[
        Path | None,
        typer.Option("--people", metavar="FILE", help="Who is in which group: column target, …"),
    ] = None,
    cohort: Annotated[
        str | None, typer.Option("--cohort", help="Only judgements of this cohort.")
    ] = None,
    count_votes: Annotated[
        bool, typer.Option("--count-votes", help="Posts with more votes weigh more.")
    ] = False,
    detector: Annotated[
        str | None,
        typer.Option(
            "--detector", metavar="DETECTOR", help="Also a prediction-powered estimate with it."
        ),
    ] = None,
    frame: Annotated[
        str | None,
        typer.Option("--frame", metavar="CORPUS", help="All posts the sample was drawn from."),
    ] = None,
    stratum: Annotated[
        str, typer.Option("--stratum", metavar="COLUMN", help="Stratum of the posts of --frame.")
    ] = "day",
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Population shares by group with intervals, and sentences that can be quoted."""
    from evenhand.core.errors import BadInput
    from evenhand.data.find import find
    from evenhand.stats.population import OVERS
    from evenhand.studies.estimates import Claim, estimate_population
    from evenhand.studies.powered import Power

    if over not in OVERS:
        raise BadInput(f"--over {over}; expected one of {', '.join(OVERS)}")
    if (detector is None) != (frame is None):
        raise BadInput("--detector and --frame go together: the scores of all posts are needed")
    run = start(seed)
    claim = Claim(
        by=[[part.strip() for part in columns.split(",")] for columns in by or ()],
        over=over,
        cohort=cohort,
        count_votes=count_votes,
        people=people,
    )
    with progress(f"Estimating from {folder}"):
        power = Power(detector, find(frame), stratum) if detector and frame else None
        parts = estimate_population(run, find(folder), claim, power)
    finish(run, as_json=as_json, out=out, parts=parts)
