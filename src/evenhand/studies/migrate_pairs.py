"""The texts of one attribute with old and new scores, and what becomes of their decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from evenhand.core.records import Finding
from evenhand.serving.mapping import AttributeMap
from evenhand.serving.recording import axis_of
from evenhand.studies.migrate_thresholds import FLAG_RATE

UNIT = "texts"
KEPT, NEWLY, GONE = "decisions_kept_share", "newly_flagged_share", "no_longer_flagged_share"
_MOST_CASES = 20
_FEWEST_OF_GROUP = 10

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Keep:
    """What a new threshold is to keep."""

    what: str = FLAG_RATE
    share: float = 0.9
    """Precision or recall against the old decisions, where there are no labels."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The texts of one attribute, sorted by id."""

    attribute: str
    ids: Sequence[str]
    old: Floats
    new: Floats
    truth: Floats
    """0, 1, or NaN where nobody said."""
    mentions: Sequence[Sequence[str]]

    @property
    def labelled(self) -> Bools:
        """Which texts have a label."""
        return np.asarray(np.isfinite(self.truth))

    def ranks(self) -> tuple[Floats, Floats]:
        """Old and new ranks as shares, equal scores with their middle rank."""
        a, b = rankdata(self.old), rankdata(self.new)
        return a / len(a), b / len(b)


@dataclass(frozen=True, eq=False)
class Migrated:
    """What changes for one attribute."""

    pairs: Pairs
    recorded_threshold: float
    threshold: float | None
    why: str | None
    """Why there is no threshold."""
    findings: Sequence[Finding]
    map: AttributeMap | None
    groups: Mapping[tuple[str, str], Bools] = field(default_factory=dict)
    """(axis or identity, its name) → which texts mention it."""

    @property
    def before(self) -> Bools:
        """Which texts the recorded threshold flagged."""
        return np.asarray(self.pairs.old >= self.recorded_threshold)

    @property
    def after(self) -> Bools:
        """Which texts the new threshold flags."""
        if self.threshold is None:
            return np.zeros(len(self.pairs.new), dtype=np.bool_)
        return np.asarray(self.pairs.new >= self.threshold)


def flips(result: Migrated) -> dict[str, Bools]:
    """Which texts keep their decision, are newly flagged, or are no longer."""
    before, after = result.before, result.after
    return {KEPT: before == after, NEWLY: after & ~before, GONE: before & ~after}


def clearest(result: Migrated, which: Bools) -> list[str]:
    """The clearest of them first: where the two scores are furthest apart in rank."""
    a, b = result.pairs.ranks()
    rows = sorted(
        map(int, np.flatnonzero(which)), key=lambda at: (-abs(a[at] - b[at]), result.pairs.ids[at])
    )
    return [result.pairs.ids[at] for at in rows[:_MOST_CASES]]


def groups_of(mentions: Sequence[Sequence[str]]) -> dict[tuple[str, str], Bools]:
    """Texts that mention an identity, or any of its kind; groups of few texts are left out."""
    found: dict[tuple[str, str], Bools] = {}
    for row, names in enumerate(mentions):
        keys = {("identity", name) for name in names} | {("axis", axis_of(n)) for n in names}
        for key in keys:
            found.setdefault(key, np.zeros(len(mentions), dtype=np.bool_))[row] = True
    some = np.array([len(names) > 0 for names in mentions], dtype=np.bool_)
    found |= {("mentions", "any"): some, ("mentions", "none"): ~some}
    return {key: found[key] for key in sorted(found) if found[key].sum() >= _FEWEST_OF_GROUP}
