"""Which papers' tables can be had with one command."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.errors import UnknownComponent
from evenhand.core.provenance import Run
from evenhand.studies import delisle
from evenhand.studies.parts import Parts

_PAPERS = {delisle.PAPER: (delisle.reproduce, delisle.TABLES)}


def reproduce(run: Run, paper: str, tables: Sequence[str]) -> Parts:
    """A paper's tables beside ours; all of them if none is named."""
    if paper not in _PAPERS:
        raise UnknownComponent(f"no paper {paper!r}; known: {', '.join(_PAPERS)}")
    study, known = _PAPERS[paper]
    return study(run, list(tables) or list(known))
