"""``evenhand train`` and ``evenhand validate``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start

if TYPE_CHECKING:
    from evenhand.data.user_file import FileOptions

RecipeName = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE", help="A registered recipe, with options as NAME:key=value,key=value."
    ),
]
DataName = Annotated[
    str,
    typer.Option("--data", metavar="CORPUS", help="Labelled posts: a name, a file or a folder."),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="published|A|B",
        help="Tell published labels apart: all of them, or those named (default: hateful or not).",
    ),
]
Cap = Annotated[
    int | None,
    typer.Option("--cap", min=1, metavar="N", help="At most N posts per author and class."),
]
Add = Annotated[
    list[str] | None,
    typer.Option("--add", metavar="CORPUS:LABEL", help="Add another corpus's posts of a label."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Processes, one core each (default: all cores)."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where a run with the same settings was stopped.")
]


@o.with_file_options
def train(
    recipe: RecipeName,
    save: Annotated[
        Path, typer.Option("--save", metavar="DIR", help="Write the detector to this folder.")
    ],
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="CORPUS", help="Labelled posts: a name, a file or a folder."
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan",
            metavar="PLAN",
            help="Several corpora and attributes: evenhand-base, evenhand-fast or a TOML file.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="CORPUS", help="Leave a corpus of the plan out."),
    ] = None,
    classes: Classes = None,
    cap: Cap = None,
    add: Add = None,
    resume: Resume = False,
    as_json: o.Json = False,
    seed: o.Seed = 0,
    *,
    how: FileOptions,
) -> None:
    """Fit a recipe on labelled posts, or on the corpora of a plan, and save the detector."""
    from evenhand.core.errors import BadInput
    from evenhand.data.find import find
    from evenhand.data.user_file import FileOptions
    from evenhand.studies.plans import train_plan
    from evenhand.studies.training import train as train_detector

    if (data is None) == (plan is None):
        raise BadInput("name what to learn from: --data CORPUS, or --plan PLAN (one of them)")
    if plan and (classes or cap or add or how != FileOptions()):
        raise BadInput("--plan says what is read and how; options for --data do not go with it")
    if without and not plan:
        raise BadInput("--without leaves a corpus of a plan out; name one with --plan")
    run = start(seed)
    with progress(f"Training {recipe}") as step:
        if plan is not None:
            parts = train_plan(
                run, plan, recipe, save, without=without or [], resume=resume, step=step
            )
        else:
            parts = train_detector(
                run,
                find(str(data), how),
                recipe,
                save,
                classes=classes,
                cap_at=cap,
                added=add or (),
                resume=resume,
                step=step,
            )
    finish(run, as_json=as_json, parts=parts)


@o.with_file_options
def validate(
    recipe: RecipeName,
    data: DataName,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            metavar="NAME[:ARGUMENT]",
            help="kfold:10, holdout:0.15, author-disjoint:10, arango-partitions, transfer:CORPUS.",
        ),
    ] = "kfold:10",
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="RECIPE", help="A second recipe on the same folds."),
    ] = None,
    classes: Classes = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="A,B",
            help="What no two sides share, of author, twin, template, duplicate; none for nothing.",
        ),
    ] = None,
    cap: Cap = None,
    add: Add = None,
    leak: Annotated[
        list[str] | None,
        typer.Option(
            "--leak", metavar="KIND", help="Show a leak: features, oversample, select-on-test."
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", metavar="OPTION=A|B", help="Choose an option on dev splits; repeatable."
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="Repeat with other seeds and show the range.")
    ] = 1,
    workers: Workers = None,
    resume: Resume = False,
    as_json: o.Json = False,
    out: o.Out = None,
    seed: o.Seed = 0,
    *,
    how: FileOptions,
) -> None:
    """How good a recipe is under a protocol, beside constants, look-ups and leaks."""
    from evenhand.data.find import find
    from evenhand.studies.validation import Asked
    from evenhand.studies.validation import validate as validate_recipe

    run = start(seed)
    finished = finished_folder(out, resume)
    with progress(f"Validating {recipe}") as step:
        parts = validate_recipe(
            run,
            find(data, how),
            recipe,
            Asked(
                protocol=protocol,
                against=against,
                classes=classes,
                keep=kept(keep),
                cap=cap,
                add=tuple(add or ()),
                leaks=tuple(leak or ()),
                select=tuple(select or ()),
                runs=runs,
                workers=workers or os.cpu_count() or 1,
                finished=finished,
                step=step,
            ),
        )
    finish(run, as_json=as_json, out=out, parts=parts)
    forget(finished)


def kept(text: str | None) -> tuple[str, ...] | None:
    """``author,duplicate`` as names; None where nothing was said."""
    if text is None:
        return None
    return () if text == "none" else tuple(part.strip() for part in text.split(",") if part.strip())


def finished_folder(out: Path | None, resume: bool) -> Path | None:
    """Where finished folds are kept until the report is written: beside its folder."""
    from evenhand.core.errors import BadInput

    if out is None:
        if resume:
            raise BadInput("--resume needs --out DIR: finished folds are kept beside the report")
        return None
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: is a file; --out expects a folder")
    place = out.resolve()
    folder = place.parent / f".{place.name}.folds"
    if not resume:
        forget(folder)
    return folder


def forget(folder: Path | None) -> None:
    """Remove finished folds."""
    import shutil

    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
