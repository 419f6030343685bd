"""Writes docs/reference/commands.md, measures.md and corpora.md from the code.

Run ``python tools/reference.py`` after changing a command, a measure or a reader; a test compares.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import typer

from evenhand.cli.app import app
from evenhand.core import registry
from evenhand.core.measures import MEASURES
from evenhand.data.find import reader

HERE = Path(__file__).parents[1] / "docs" / "reference"


def commands() -> str:
    """Every command with its arguments and options."""
    root = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        "`evenhand COMMAND`, also `python -m evenhand COMMAND`. Every command takes `--json`: one"
        " document on stdout, described in [JSON](json.md). Exit codes: 0 done, 2 the input is bad,"
        " 3 a gate failed, 1 our bug.",
    ]
    for name, command in _walk(root, "evenhand"):
        lines += ["", f"## `{name}`", "", inspect.cleandoc(command.help or ""), ""]
        rows = [row for parameter in command.params if (row := _row(parameter))]
        if rows:
            lines += ["| argument or option | meaning | default |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _walk(command: Any, name: str) -> list[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if not children:
        return [(name, command)]
    return [found for child in children for found in _walk(children[child], f"{name} {child}")]


def _row(parameter: Any) -> str | None:
    if parameter.name == "help":
        return None
    flag = max(parameter.opts, key=len) if parameter.param_type_name == "option" else ""
    shown = f"{flag} {parameter.metavar or ''}".strip()
    default = parameter.default
    hidden = default is None or default is False or callable(default)
    text = "" if hidden else f"`{default}`"
    meaning = (getattr(parameter, "help", "") or "").replace("|", "\\|")
    return f"| `{shown}` | {meaning} | {text} |"


def measures() -> str:
    """Every measure in one sentence."""
    lines = [
        "# Measures",
        "",
        "The names that stand under `measure` in findings. Every finding also has n, an interval"
        " where one exists, how it was obtained, and a reason where there is no value.",
        "",
        "| measure | what it is |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in sorted(MEASURES.items())),
    ]
    return "\n".join(lines) + "\n"


def corpora() -> str:
    """Every registered corpus."""
    lines = [
        "# Corpora",
        "",
        "Published corpora Evenhand reads by name. None of them is part of Evenhand:"
        " `evenhand data get NAME` fetches what its publisher offers, or says how to get it."
        " Their texts are abusive.",
    ]
    for name in registry.names("readers"):
        known = reader(name)
        labels = ", ".join(f"`{label}` ({meaning})" for label, meaning in known.labels.items())
        files = ", ".join(f"`{file}`" for file in known.files).replace("|", "` or `")
        lines += [
            "",
            f"## `{name}`",
            "",
            f"{known.title}. {known.citation}.",
            "",
            f"- Labels: {labels}. Counted as hateful: {', '.join(known.hateful)}.",
            f"- Licence: {known.licence}. May a shipped detector be trained on it: "
            f"{known.may_train}.",
            f"- Files, plain or `.gz`, below `EVENHAND_DATA`: {files}.",
        ]
        if known.homepage:
            lines.append(f"- From: <{known.homepage}>")
    return "\n".join(lines) + "\n"


PAGES = {"commands.md": commands, "measures.md": measures, "corpora.md": corpora}

if __name__ == "__main__":
    HERE.mkdir(parents=True, exist_ok=True)
    for page, write in PAGES.items():
        (HERE / page).write_text(write(), encoding="utf-8")
