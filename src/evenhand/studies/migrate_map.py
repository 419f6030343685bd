"""The map of one attribute to the recorded scale, and how near it comes on texts kept apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.models.calibration import Knots
from evenhand.serving.mapping import AttributeMap, Chosen, knots_of
from evenhand.stats.intervals import LEVEL
from evenhand.studies.migrate_pairs import UNIT, Floats, Keep, Migrated, Pairs

FEWEST_TO_MAP = 30
"""Texts below which there is no map."""
_FOLDS = 5


def map_of(
    result: Migrated, keep: Keep, ends: tuple[float | None, float | None], seed: int
) -> tuple[AttributeMap | None, list[Finding]]:
    """The map, and how near it comes on texts kept apart; none from few or constant scores."""
    pairs = result.pairs
    measure = "mean_absolute_difference"
    n = len(pairs.old)
    why = None
    if n < FEWEST_TO_MAP:
        why = f"no map: {n} {UNIT}, fewer than {FEWEST_TO_MAP}"
    elif min(len(np.unique(pairs.old)), len(np.unique(pairs.new))) < 2:
        why = "no map: all scores are equal"
    own = Finding(
        measure=measure, value=None, n=n, group={"attribute": pairs.attribute}, why=why or "-"
    )
    if why:
        return None, [own]
    apart = _held_out(pairs, seed) - pairs.old
    found = []
    for name, values in ((measure, np.abs(apart)), ("mean_difference", apart)):
        half = float(norm.ppf(0.5 + LEVEL / 2) * values.std(ddof=1) / np.sqrt(n))
        value = float(values.mean())
        found.append(
            replace(
                own,
                measure=name,
                value=value,
                low=value - half,
                high=value + half,
                level=LEVEL,
                method=f"mapped scores of {_FOLDS} folds; normal approximation",
                unit=UNIT,
                why=None,
            )
        )
    low, high = ends
    chosen = None
    if result.threshold is not None:
        chosen = Chosen(
            recorded=result.recorded_threshold,
            p=result.threshold,
            low=low,
            high=high,
            keep=keep.what,
        )
    first = found[0]
    return (
        AttributeMap(
            knots=_knots(pairs.new, pairs.old, result),
            n=n,
            threshold=chosen,
            difference=(first.value, first.low, first.high),
        ),
        found,
    )


def _knots(new: Floats, old: Floats, result: Migrated) -> Knots:
    at = result.threshold
    return knots_of(new, old, anchor=None if at is None else (at, result.recorded_threshold))


def _held_out(pairs: Pairs, seed: int) -> Floats:
    """The mapped score of each text by a map that was learned without its fifth."""
    fold = stream(seed, "migrate", "folds").permutation(len(pairs.old)) % _FOLDS
    mapped = np.empty(len(pairs.old))
    for each in range(_FOLDS):
        out = fold == each
        known, scores = zip(*knots_of(pairs.new[~out], pairs.old[~out]), strict=True)
        mapped[out] = np.interp(pairs.new[out], known, scores)
    return mapped
