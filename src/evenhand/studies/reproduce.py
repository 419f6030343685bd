"""Which papers' tables can be had with one command."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.core.provenance import Run
from evenhand.models.find import detector
from evenhand.studies import arango, delisle, kirk, park
from evenhand.studies.parts import How, Parts

Study = Callable[[Run, list[str], How], Parts]
_PAPERS: dict[str, tuple[Study, Sequence[str]]] = {
    arango.PAPER: (arango.reproduce, arango.TABLES),
    delisle.PAPER: (lambda run, tables, how: delisle.reproduce(run, tables), delisle.TABLES),
    kirk.PAPER: (kirk.reproduce, kirk.TABLES),
    park.PAPER: (park.reproduce, park.TABLES),
}


def reproduce(
    run: Run,
    paper: str,
    tables: Sequence[str],
    how: How | None = None,
    *,
    detectors: Sequence[str] = (),
    attribute: str | None = None,
) -> Parts:
    """A paper's tables beside ours; all of them if none is named.

    ``detectors`` are named as a user types them and stand beside the rows of kirk, each judged by
    ``attribute`` where it has that.
    """
    if paper not in _PAPERS:
        raise UnknownComponent(f"no paper {paper!r}; known: {', '.join(_PAPERS)}")
    study, known = _PAPERS[paper]
    wanted, how = list(tables) or list(known), how or How()
    if paper == kirk.PAPER:
        given = [detector(name, attribute=attribute) for name in detectors]
        return kirk.reproduce(run, wanted, how, given, attribute=attribute)
    if detectors or attribute:
        raise BadInput(
            f"--detector and --attribute are for {kirk.PAPER}: {paper} trains its own detectors. "
            "Leave them out"
        )
    return study(run, wanted, how)
