"""``evenhand score``: what a detector says of texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from evenhand.cli import options as o
from evenhand.cli.output import finish, progress, start

if TYPE_CHECKING:
    from evenhand.models.loaded import BaseRate

_INPUT = "-"


def score(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...", help="Texts to score; - for one text a line from standard input."
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
    ] = "evenhand-base",
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
    as_json: o.Json = False,
) -> None:
    """What a detector says of texts: a probability for each attribute, and why."""
    from evenhand.core.errors import BadInput
    from evenhand.models.loaded import load
    from evenhand.studies.scoring import Wanted, score_texts

    run = start()
    piped = texts == [_INPUT]
    if _INPUT in texts and not piped:
        raise BadInput("- means standard input and stands alone; leave the other texts away")
    # A text is nobody's business but the user's: the document of --json shows where it stood.
    run.command = ["…" if word in texts and word != _INPUT else word for word in run.command]
    source = "standard input" if piped else "arguments"
    wanted = Wanted(
        attribute=attribute,
        evidence=evidence,
        base_rate=_base_rate(base_rate),
        perspective_like=perspective_like,
    )
    with progress("Scoring") as step:
        parts = score_texts(
            run,
            load(detector, attribute=attribute),
            lines_of(sys.stdin.buffer, source) if piped else typed(texts),
            wanted,
            source=source,
            step=step,
        )
    finish(run, as_json=as_json, parts=parts)


def _base_rate(typed: list[str] | None) -> BaseRate:
    """``0.01`` for every attribute, or ``HATE=0.01`` for some."""
    from evenhand.core.errors import BadInput

    if not typed:
        return None
    found = {}
    for part in typed:
        name, equals, rate = part.rpartition("=")
        try:
            found[name] = float(rate)
        except ValueError:
            raise BadInput(
                f"--base-rate {part!r}; expected a share such as 0.01, or HATE=0.01"
            ) from None
        if bool(equals) != bool(name) or (not name and len(typed) > 1):
            raise BadInput(
                f"--base-rate {part!r}; expected one share for all, or ATTRIBUTE=SHARE each time"
            )
    return found.get("", found)


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
