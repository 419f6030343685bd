"""What every command does at its end: tables for people, JSON for programs, a folder on request."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from evenhand.core.provenance import Run
    from evenhand.studies.parts import Parts

_LOGGED_SECONDS = 60.0
_PATIENCE_SECONDS = 2.0

Step = Callable[[str, float, float | None], None]


def start(seed: int = 0) -> Run:
    """A run of the command that was typed; a key in a URL is left out."""
    from evenhand.core.provenance import Run
    from evenhand.models.addresses import without_key

    return Run(command=["evenhand", *map(without_key, sys.argv[1:])], seed=seed)


def ready(out: Path | None) -> None:
    """Refuse a folder that cannot be written before the work begins."""
    from evenhand.core.provenance import refuse_unwritable

    if out is not None:
        refuse_unwritable(out)


def marked(run: Run, sentences: Sequence[str]) -> list[str]:
    """The sentences, each marked where all that was found is simulated."""
    if not run.findings or any(finding.origin != "simulated" for finding in run.findings):
        return list(sentences)
    return [f"Simulated: {sentence}" for sentence in sentences]


def print_json(run: Run, **also: Any) -> None:
    """Print the run's document, with whatever a command adds."""
    print(json.dumps(run.document() | also, ensure_ascii=False, allow_nan=False))


def finish(
    run: Run, *, as_json: bool, out: Path | None = None, parts: Parts, brief: bool = False
) -> None:
    """Show the findings (only the sentences if ``brief``), and write the folder that was named."""
    page = None
    summary = marked(run, parts.summary)
    if out is not None:
        from evenhand.reports import write_report

        page = write_report(
            out,
            run,
            parts.title,
            parts.sections,
            parts.tables,
            summary=summary,
            documents=parts.documents,
        )
    if as_json:
        print_json(run, **parts.also)
        return
    from evenhand.reports import print_findings, print_grid

    console = Console()
    for section in parts.sections if parts.terminal is None else parts.terminal:
        if section.points:
            console.print(section.title, style="bold", markup=False, highlight=False)
            for text in section.paragraphs:
                console.print(text, markup=False, highlight=False)
            for number, point in enumerate(section.points, start=1):
                console.print(f"{number:2}. {point}", markup=False, highlight=False)
            console.print()
        for grid in section.grids:
            print_grid(grid, console=console)
            console.print()
        # What a grid shows is not shown twice; --out and --json have every finding.
        if section.findings and not section.grids and not brief:
            print_findings(section.findings, console=console, title=section.title)
            console.print()
    for sentence in summary:
        console.print(f"• {sentence}", markup=False, highlight=False)
    if page:
        console.print(f"Report: {page}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[Step]:
    """A progress bar on stderr, shown once the work has taken two seconds.

    Where stderr is no terminal, such as in a log file, a line once a minute says as much. Yields
    ``step(what, done, total)``; ``total`` None means that nobody knows.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None)
    timer = threading.Timer(_PATIENCE_SECONDS, bar.start)
    timer.daemon = True
    seen = sys.stderr.isatty()
    if seen:
        timer.start()
    began = told = time.monotonic()

    def step(name: str, done: float, total: float | None) -> None:
        nonlocal told
        bar.update(task, description=name, completed=done, total=total)
        now = time.monotonic()
        if not seen and now - told >= _LOGGED_SECONDS:
            told = now
            share = f" ({done / total:.0%})" if total else ""
            print(f"{(now - began) / 60:.0f} min: {name}{share}", file=sys.stderr, flush=True)

    try:
        yield step
    finally:
        timer.cancel()
        if bar.live.is_started:
            bar.stop()
