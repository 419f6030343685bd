"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from evenhand.data.user_file import FileOptions
    from evenhand.models.loaded import BaseRate

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write report.html and the findings to this folder."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
WithText = Annotated[
    bool,
    typer.Option("--with-text", help="Show example texts in the report (blurred until clicked)."),
]
CorpusName = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        help="A registered name, a file (CSV, TSV, JSON lines, Parquet), a folder.",
    ),
]

_PANEL = "Reading your own file"


@dataclass(frozen=True)
class _FileOption:
    """One option for reading a user's file."""

    name: str
    kind: Any
    metavar: str | None
    help: str
    default: Any = None

    def parameter(self) -> inspect.Parameter:
        flag = f"--{self.name.replace('_', '-')}"
        option = typer.Option(flag, metavar=self.metavar, help=self.help, rich_help_panel=_PANEL)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=self.default,
            annotation=Annotated.__class_getitem__((self.kind, option)),  # type: ignore[attr-defined]
        )


_Text = str | None
_Texts = list[str] | None
_COLUMNS = (
    _FileOption("text", _Text, "COLUMN", "Column with the text."),
    _FileOption("label", _Text, "COLUMN", "Column with the label."),
    _FileOption("author", _Text, "COLUMN", "Column with the author."),
    _FileOption("id", _Text, "COLUMN", "Column with a unique id (default: file and line)."),
    _FileOption("date", _Text, "COLUMN", "Column with the date (ISO 8601)."),
    _FileOption("split", _Text, "COLUMN", "Column with train, dev or test."),
    _FileOption("targets", _Text, "COLUMN", "Column with the people mentioned, separated by |."),
)
_OTHERS = (
    _FileOption("label_map", _Texts, "OLD=NEW", "Rename a label; may be repeated."),
    _FileOption("labels", _Text, "A,B", "The labels to expect; any other is a fault."),
    _FileOption("hateful", _Texts, "LABEL", "A label that counts as hateful; may be repeated."),
    _FileOption("source", _Text, "NAME", "Source of the posts (default: the file's name)."),
    _FileOption("no_quotes", bool, None, "Quotes are ordinary letters.", False),
)


def with_file_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for reading a user's file; the command gets them as ``how``."""
    # The type of ``how`` is heavy to import and of no interest to the parser.
    signature = inspect.signature(command, eval_str=True, locals={"FileOptions": Any})
    own = signature.parameters.values()
    kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name != "how"]
    parameters = [*kept, *(option.parameter() for option in (*_COLUMNS, *_OTHERS))]

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        given = {option.name: values.pop(option.name) for option in (*_COLUMNS, *_OTHERS)}
        command(**values, how=_file_options(given))

    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapper


def _file_options(given: dict[str, Any]) -> FileOptions:
    from evenhand.core.errors import BadInput
    from evenhand.data.user_file import Columns, FileOptions

    pairs = {}
    for pair in given["label_map"] or ():
        old, equals, new = pair.partition("=")
        if not equals or not new:
            raise BadInput(f"--label-map {pair!r}; expected OLD=NEW")
        pairs[old] = new
    return FileOptions(
        columns=Columns(**{option.name: given[option.name] for option in _COLUMNS}),
        label_map=pairs,
        labels=tuple(part.strip() for part in (given["labels"] or "").split(",") if part.strip()),
        hateful=tuple(given["hateful"] or ()),
        source=given["source"],
        quotes=not given["no_quotes"],
    )


def sizes(text: str) -> dict[str, int]:
    """``a=3,b=5`` as numbers by name."""
    from evenhand.core.errors import BadInput

    found = {}
    for part in text.split(","):
        name, equals, number = part.strip().partition("=")
        if not equals or not number.isdigit():
            raise BadInput(f"{text!r}; expected NAME=NUMBER,NAME=NUMBER")
        found[name] = int(number)
    return found


def base_rate(typed: list[str] | None) -> BaseRate:
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
