"""``evenhand label``: campaigns in which people judge posts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, print_json, progress, ready, start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.core.provenance import Run
    from evenhand.core.records import Finding
    from evenhand.data.corpus import Corpus
    from evenhand.data.user_file import FileOptions
    from evenhand.labelling.report import Estimate

app = typer.Typer(
    help="Labelling campaigns: new, invite, serve, export, report.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="A campaign's folder.")]
Url = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="EVENHAND_DATABASE",
        help="postgresql://… (default: SQLite in the campaign's folder).",
    ),
]


@app.command()
@o.with_file_options
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder to make.")],
    how: FileOptions,
    posts: Annotated[
        str, typer.Option("--posts", metavar="CORPUS", help="A file or a folder of records.")
    ],
    template: Annotated[
        str, typer.Option("--template", help="troll-patrol or rationale.")
    ] = "troll-patrol",
    as_json: o.Json = False,
) -> None:
    """Make a campaign: questionnaire to edit, posts, a secret."""
    from evenhand.data.find import find, used
    from evenhand.labelling.new import new_campaign

    run = start()
    with progress(f"Reading {posts}"):
        corpus = find(posts, how)
        run.data.append(used(corpus))
        path = new_campaign(folder, template, corpus)
    if as_json:
        print_json(run, campaign=str(path), posts=corpus.posts.height)
    else:
        typer.echo(f"{corpus.posts.height:,} posts. Edit {path}, then: evenhand label invite")


@app.command()
def invite(
    folder: Folder,
    cohort: Annotated[
        str | None, typer.Option("--cohort", help="Which cohort (default: the first).")
    ] = None,
    people: Annotated[
        int, typer.Option("--people", min=1, help="How many people the code lets in.")
    ] = 1,
    codes: Annotated[int, typer.Option("--codes", min=1, max=10_000, help="How many codes.")] = 1,
    days: Annotated[int, typer.Option("--days", min=1, help="How long it holds.")] = 30,
    note: Annotated[str, typer.Option("--note", help="For whom, for your own list.")] = "",
    database: Url = None,
    as_json: o.Json = False,
) -> None:
    """Print invite codes; they are kept as hashes only and cannot be shown again."""
    from evenhand.labelling import opened, read_campaign

    run = start()
    campaign = read_campaign(folder)
    name = cohort or campaign.cohorts[0].name
    with opened(campaign, database) as store:
        made = [store.invites.make(name, most=people, days=days, note=note) for _ in range(codes)]
    if as_json:
        print_json(run, cohort=name, codes=made)
    else:
        typer.echo("\n".join(made))


@app.command()
def export(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.")],
    form: Annotated[
        str, typer.Option("--form", help="records, dataset (with texts) or release (ids only).")
    ] = "records",
    database: Url = None,
    as_json: o.Json = False,
) -> None:
    """Write what people answered, for `agree` and `estimate` or to publish."""
    from evenhand.core.errors import BadInput
    from evenhand.labelling import opened, read_campaign, read_posts
    from evenhand.labelling.export import FORMS, export
    from evenhand.labelling.records import read_records

    if form not in FORMS:
        raise BadInput(f"--form {form}; expected one of {', '.join(FORMS)}")
    run = start()
    campaign = read_campaign(folder)
    with progress("Writing"), opened(campaign, database) as store:
        found = read_posts(campaign)
        store.load(found)
        records = read_records(store, found)
        export(out, form, campaign, records)
    judgements = records.corpus.judgements
    many = 0 if judgements is None else judgements.height
    if as_json:
        print_json(run, out=str(out), form=form, judgements=many)
    else:
        typer.echo(f"{many:,} answers about {records.corpus.posts.height:,} posts: {out}")


@app.command()
def report(
    folder: Folder,
    database: Url = None,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
) -> None:
    """Agreement by question and cohort, and estimates, with intervals."""
    from evenhand.data.find import ABOUT, about, tables, used
    from evenhand.labelling import opened, read_campaign, read_posts
    from evenhand.labelling.records import read_records
    from evenhand.labelling.report import report
    from evenhand.studies.parts import Parts

    ready(out)
    run = start(seed)
    campaign = read_campaign(folder)
    with progress("Computing agreement"), opened(campaign, database) as store:
        found = read_posts(campaign)
        store.load(found)
        records = read_records(store, found)
        made = report(campaign, records, estimate=estimator(run), seed=seed)
    corpus = records.corpus
    run.data.append(used(found.corpus))
    run.findings += made.findings
    parts = Parts(made.title, made.sections, made.summary, tables(corpus), {ABOUT: about(corpus)})
    finish(run, as_json=as_json, out=out, parts=parts)


def estimator(run: Run) -> Estimate:
    """Population shares of one cohort, as `estimate` computes them: handed to the report."""
    from evenhand.core.provenance import Run
    from evenhand.studies.estimates import Claim, estimate_population

    def estimate(corpus: Corpus, cohort: str) -> tuple[Sequence[Finding], Sequence[str]]:
        own = Run(run.command, run.seed)
        parts = estimate_population(own, corpus, Claim(cohort=cohort))
        return own.findings, parts.summary

    return estimate
