"""Components by name: readers, recipes, protocols and suites now, dialects as they come.

Every component, ours included, is announced by an entry point in the group ``evenhand.KIND``.
Listing names reads package metadata only and imports nothing; a component is imported when it is
asked for. An unknown name, a component that fails to import and a name offered twice are errors
that say which package is to blame.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from evenhand.core.errors import BrokenComponent, UnknownComponent

KINDS = {
    "readers": "a published corpus, read into posts",
    "recipes": "a way to train a detector",
    "protocols": "a way to split posts for validation",
    "suites": "cases with one right answer each, to find weaknesses",
}
"""The kinds of component and what each is."""


@cache
def _offers(kind: str) -> dict[str, list[EntryPoint]]:
    offers: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=f"evenhand.{kind}"):
        same = offers.setdefault(point.name, [])
        # The same distribution can be found twice on sys.path (an editable install beside a wheel).
        if all((p.value, _package(p)) != (point.value, _package(point)) for p in same):
            same.append(point)
    return offers


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown package"


def names(kind: str) -> list[str]:
    """The names registered for a kind, sorted. Imports nothing."""
    return sorted(_offers(kind))


def offered_by(kind: str, name: str) -> list[str]:
    """The packages that offer a component."""
    return sorted(_package(point) for point in _offers(kind).get(name, []))


def get(kind: str, name: str) -> Any:
    """Import and return the component ``name`` of ``kind``."""
    offers = _offers(kind).get(name)
    if not offers:
        raise UnknownComponent(unknown(kind, name))
    if len(offers) > 1:
        raise BrokenComponent(
            f"{kind} {name!r} is offered by {' and '.join(offered_by(kind, name))}; "
            "uninstall one of them"
        )
    try:
        return offers[0].load()
    except Exception as error:
        raise BrokenComponent(
            f"{kind} {name!r} from {_package(offers[0])} ({offers[0].value}) cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def unknown(kind: str, name: str) -> str:
    """The sentence for a name nobody offers, with the nearest ones."""
    close = difflib.get_close_matches(name, names(kind), n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"no {kind.removesuffix('s')} named {name!r}: {hint}`evenhand plugins` lists them"
