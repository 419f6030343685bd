"""Which papers' tables can be had with one command."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evenhand.core.errors import UnknownComponent
from evenhand.core.provenance import Run
from evenhand.studies import arango, delisle, park
from evenhand.studies.parts import How, Parts

Study = Callable[[Run, list[str], How], Parts]
_PAPERS: dict[str, tuple[Study, Sequence[str]]] = {
    arango.PAPER: (arango.reproduce, arango.TABLES),
    delisle.PAPER: (lambda run, tables, how: delisle.reproduce(run, tables), delisle.TABLES),
    park.PAPER: (park.reproduce, park.TABLES),
}


def reproduce(run: Run, paper: str, tables: Sequence[str], how: How | None = None) -> Parts:
    """A paper's tables beside ours; all of them if none is named."""
    if paper not in _PAPERS:
        raise UnknownComponent(f"no paper {paper!r}; known: {', '.join(_PAPERS)}")
    study, known = _PAPERS[paper]
    return study(run, list(tables) or list(known), how or How())
