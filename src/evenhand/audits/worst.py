"""The worst findings of an audit.

Weaknesses are ranked by the conservative end of their intervals: "at least 79 % are missed" ranks
below "at least 85 %", whatever the figures in the middle. One without an interval cannot be ranked
and is only counted. Errors on single functionalities are so many that they would fill any list, so
kinds take turns: the worst of each kind has a place before the second of any. The list says how
many were compared, those that were tested and not claimed among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.audits.weaknesses import Compared, Weakness

MOST = 10
_FLOOR = 0.01
"""Weaknesses that may be smaller than this are not worth a sentence."""


@dataclass(frozen=True)
class Worst:
    """The list, and what it was chosen from."""

    listed: Sequence[Weakness]
    compared: int
    unranked: int
    """Weaknesses without an interval."""


def worst(compared: Compared) -> Worst:
    """The ten worst."""
    every = compared.weaknesses
    ranked = sorted(
        (weakness for weakness in every if weakness.finding.low is not None),
        key=lambda weakness: (-weakness.at_least, weakness.kind, weakness.sentence),
    )
    bad = [weakness for weakness in ranked if weakness.at_least > _FLOOR]
    chosen = sorted(_by_turns(bad)[:MOST], key=lambda weakness: -weakness.at_least)
    return Worst(chosen, len(every) + compared.unclaimed, len(every) - len(ranked))


def _by_turns(ranked: Sequence[Weakness]) -> list[Weakness]:
    """The worst of each kind, then the second of each, and so on."""
    turn: Counter[str] = Counter()
    turns = []
    for weakness in ranked:
        turns.append(turn[weakness.kind])
        turn[weakness.kind] += 1
    return [ranked[at] for at in sorted(range(len(ranked)), key=lambda at: turns[at])]
