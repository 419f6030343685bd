"""``evenhand score``: what a detector says of texts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start

if TYPE_CHECKING:
    from evenhand.core.provenance import Run
    from evenhand.models.loaded import BaseRate

_INPUT, _USUAL = "-", "evenhand-base"
_FILES = "Scoring a file"


def score(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Texts to score; - for one text a line from standard input; or one file (CSV, "
            "JSON lines, Parquet) or folder of Parquet files, with --out.",
        ),
    ],
    detector: Annotated[
        str,
        typer.Option(
            "--detector",
            metavar="NAME",
            help="evenhand-base, evenhand-fast, a saved folder, hf:FOLDER, perspective:URL, "
            "openai:URL or python:module:function.",
        ),
    ] = _USUAL,
    attribute: Annotated[
        str | None,
        typer.Option("--attribute", help="The only attribute to show, and what evidence is of."),
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Also show the words that the score goes by.")
    ] = False,
    base_rate: Annotated[
        list[str] | None,
        typer.Option(
            "--base-rate",
            metavar="[ATTRIBUTE=]RATE",
            help="Map probabilities to this share of posts with the attribute; may be repeated.",
        ),
    ] = None,
    perspective_like: Annotated[
        bool,
        typer.Option("--perspective-like", help="Scores in the scale of the Perspective API."),
    ] = False,
    cascade: Annotated[
        bool,
        typer.Option(
            "--cascade", help="evenhand-fast decides the clear cases, evenhand-base the rest."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Where the scores of a file go. The same command again goes on after a stop.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="COLUMN",
            help="Column with the texts (default: text).",
            rich_help_panel=_FILES,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column with ids, copied to the scores (default: id, if there is one).",
            rich_help_panel=_FILES,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Processes (default: one per core).", rich_help_panel=_FILES
        ),
    ] = None,
    as_json: o.Json = False,
) -> None:
    """What a detector says of texts, or of the rows of a file: a probability for each attribute."""
    if out is not None and workers != 1:
        from evenhand.serving.workers import begin

        begin()  # they load while this process does
    from evenhand.core.errors import BadInput
    from evenhand.models.cascade import CASCADE, opened
    from evenhand.studies.scoring import Wanted, score_texts

    run = start()
    if cascade:
        if detector not in (_USUAL, CASCADE):
            raise BadInput(f"--cascade is of the detectors in the box; leave --detector {detector}")
        detector = CASCADE
    path = _file(texts)
    if path is not None:
        if out is None:
            raise BadInput(
                f"{path} is a file; say by --out DIR where the scores of its rows go. (To score "
                "these words as a text, send them through standard input, with -.)"
            )
        if evidence:
            raise BadInput("--evidence is of single texts; leave it out for a file")
        rates = o.base_rate(base_rate)
        _score_file(
            run, path, out, detector, attribute, rates, perspective_like, text, id, workers, as_json
        )
        return
    for option, given in (("--out", out), ("--text", text), ("--id", id), ("--workers", workers)):
        if given is not None and len(texts) > 1:
            raise BadInput(f"{option} is for a file; name one file and no texts")
        if given is not None:
            what = "is none" if os.path.lexists(texts[0]) else "does not exist"
            raise BadInput(
                f"{option} is for a file, and {texts[0]!r} {what}; expected one that ends in .csv, "
                ".tsv, .jsonl or .parquet (all but Parquet also with .gz), or a folder of .parquet "
                "files"
            )
    piped = texts == [_INPUT]
    if _INPUT in texts and not piped:
        raise BadInput("- means standard input and stands alone; leave the other texts out")
    # A text is nobody's business but the user's: the document of --json shows where it stood.
    run.command = ["…" if word in texts and word != _INPUT else word for word in run.command]
    source = "standard input" if piped else "arguments"
    wanted = Wanted(
        attribute=attribute,
        evidence=evidence,
        base_rate=o.base_rate(base_rate),
        perspective_like=perspective_like,
    )
    with progress("Scoring") as step:
        parts = score_texts(
            run,
            opened(detector, attribute=attribute),
            lines_of(sys.stdin.buffer, source) if piped else typed(texts),
            wanted,
            source=source,
            step=step,
        )
    finish(run, as_json=as_json, parts=parts)


def _file(texts: list[str]) -> Path | None:
    """The one argument, where it is a file that can be scored and not a text."""
    from evenhand.core.errors import BadInput
    from evenhand.data.files import format_of

    for word in texts if len(texts) > 1 else ():
        if _file([word]) is not None:
            raise BadInput(
                f"{word} is a file, and one file is scored at a time; name it alone, with --out DIR"
            )
    if len(texts) > 1 or not texts[0]:
        return None
    path = Path(texts[0])
    try:
        if path.is_dir():
            return path if any(path.glob("*.parquet")) else None
        format_of(path)
        is_there = path.exists()
    except (BadInput, OSError, ValueError):  # another ending, too long for a name, a NUL in it
        return None
    if not is_there and len(texts[0].split()) == 1:
        raise BadInput(
            f"{texts[0]}: does not exist. (To score these words as a text, send them through "
            "standard input, with -.)"
        )
    return path if is_there else None


def _score_file(
    run: Run, path: Path, out: Path, detector: str, attribute: str | None, rates: BaseRate,
    perspective_like: bool, text: str | None, id: str | None, workers: int | None, as_json: bool,
) -> None:  # fmt: skip
    from evenhand.serving.files import Wanted
    from evenhand.studies.score_files import score_to_file

    wanted = Wanted(detector, attribute, rates, perspective_like)
    with progress("Scoring") as step:
        parts, before = score_to_file(
            run, path, out, wanted, text=text, id=id, workers=workers, step=step
        )
    # A run that had nothing to do does not take the place of the one that did the work.
    written = before and (out / "run.json").is_file()
    finish(run, as_json=as_json, out=None if written else out, parts=parts)


def lines_of(stream: BinaryIO, source: str) -> Iterator[str]:
    """One text a line; after a line that is not UTF-8 only further such lines are looked for."""
    from evenhand.core.errors import Faults

    faults = Faults(source)
    for at, line in enumerate(stream, start=1):
        try:
            text = line.decode("utf-8-sig" if at == 1 else "utf-8")
        except UnicodeDecodeError as error:
            faults.add(
                f"byte {error.start + 1} is not UTF-8; convert the text first, for example with "
                "`iconv -f WINDOWS-1252 -t UTF-8`",
                at,
            )
        else:
            if not faults:
                yield text.removesuffix("\n").removesuffix("\r")
    faults.raise_if_any()


def typed(texts: Sequence[str]) -> list[str]:
    """Texts typed as arguments; refuses bytes that are not UTF-8."""
    from evenhand.core.errors import Faults

    faults = Faults("arguments", unit="text")
    for at, text in enumerate(texts, start=1):
        if any("\ud800" <= character <= "\udfff" for character in text):
            faults.add("is not UTF-8; convert it, or set the terminal's encoding", at)
    faults.raise_if_any()
    return list(texts)
