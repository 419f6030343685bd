"""Figures at the chosen threshold and in bins: flips of groups, precision and recall, curves.

Shares are at the chosen threshold and have Wilson's interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from evenhand.core.records import Finding
from evenhand.stats.calibration import BINS, reliability
from evenhand.stats.decisions import FEWEST
from evenhand.stats.intervals import LEVEL, wilson
from evenhand.studies.migrate_pairs import KEPT, UNIT, Bools, Migrated, Pairs, clearest, flips


def flips_of(result: Migrated, inside: Bools, group: Mapping[str, str | int]) -> list[Finding]:
    """The flips among the texts of a group."""
    n = int(inside.sum())
    found = []
    for measure, which in flips(result).items():
        yes = int((which & inside).sum())
        low, high = wilson(yes, n)
        found.append(
            Finding(
                measure=measure,
                value=yes / n,
                n=n,
                group=group,
                low=low,
                high=high,
                level=LEVEL,
                method="Wilson, at the chosen threshold",
                unit=UNIT,
                cases=clearest(result, which & inside) if measure != KEPT else (),
            )
        )
    return found


def judged(result: Migrated, base: Finding) -> list[Finding]:
    """Precision and recall of old and new decisions: against labels, or new against old ones."""
    pairs = result.pairs
    rows = pairs.labelled if pairs.labelled.any() else np.ones(len(pairs.old), dtype=np.bool_)
    against = "labels" if pairs.labelled.any() else "the old decisions"
    truth = pairs.truth[rows] == 1 if pairs.labelled.any() else result.before[rows]
    sides = {"new": result.after[rows]}
    if pairs.labelled.any():
        sides["recorded"] = result.before[rows]
    found = []
    for scores, flagged in sides.items():
        for measure, below in (("precision", flagged), ("recall", truth)):
            n, yes = int(below.sum()), int((flagged & truth).sum())
            group = {**base.group, "scores": scores, "against": against}
            own = replace(base, measure=measure, group=group, n=n)
            if not n:
                found.append(replace(own, value=None, why="nothing to divide by"))
                continue
            low, high = wilson(yes, n)
            how = "Wilson, at the chosen threshold"
            found.append(replace(own, value=yes / n, low=low, high=high, level=LEVEL, method=how))
    return found


def curve(pairs: Pairs, base: Finding) -> list[Finding]:
    """The mean new score in bins of equally many recorded scores."""
    order = np.argsort(pairs.old, kind="stable")
    found = []
    for number, rows in enumerate(np.array_split(order, min(BINS, len(order))), start=1):
        new, n = pairs.new[rows], len(rows)
        value = float(new.mean())
        half = float(norm.ppf(0.5 + LEVEL / 2) * new.std(ddof=1) / np.sqrt(n)) if n > 1 else None
        ends = f"recorded scores {pairs.old[rows].min():.3f} to {pairs.old[rows].max():.3f}"
        wide = half is not None and n >= FEWEST
        found.append(
            replace(
                base,
                measure="score_mean",
                value=value,
                n=n,
                group={**base.group, "by": "recorded", "bin": number},
                low=max(0.0, value - half) if wide and half is not None else None,
                high=min(1.0, value + half) if wide and half is not None else None,
                level=LEVEL if wide else None,
                method=f"{ends}; normal approximation" if wide else ends,
                why=None if wide else f"no interval: fewer than {FEWEST} {UNIT}",
            )
        )
    return found


def decisions(pairs: Pairs, before: Bools, base: Finding) -> list[Finding]:
    """The share that the recorded threshold flagged, in bins of equally many new scores."""
    return [
        replace(
            base,
            measure="reliability",
            value=part.share,
            n=part.n,
            group={**base.group, "by": "new", "bin": number},
            low=part.low,
            high=part.high,
            level=LEVEL,
            method=f"new scores {part.lowest:.4f} to {part.highest:.4f}; "
            "positive is what the recorded threshold flagged; Wilson",
        )
        for number, part in enumerate(reliability(before.astype(int), pairs.new), start=1)
    ]
