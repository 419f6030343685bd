"""Predictions as findings: pooled with author intervals, folds as points, runs as a range.

The main figures come from predictions pooled over folds; the papers' way, the mean over folds,
stands beside them without an interval (folds share training rows, so their spread is too small).
A figure of a class that is absent from a fold does not exist there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.stats.classification import Codes, all_figures, confusion
from evenhand.stats.decisions import Decisions, Predicted, difference
from evenhand.stats.decisions import figures as pooled
from evenhand.validation.lookups import NOT_HERE, baselines
from evenhand.validation.plan import Plan, Task
from evenhand.validation.run import Outcome, decisions

Group = Mapping[str, str | int]
_SHORT = ("macro_f1", "weighted_f1", "micro_f1")
_FOLD_MEANS = ("macro_f1", "weighted_f1", "macro_precision", "macro_recall", "weighted_precision",
               "weighted_recall", "precision", "recall", "f1")  # fmt: skip


def unit_of(task: Task) -> str:
    """What is resampled: authors where they are known, else posts."""
    return "authors" if task.corpus.posts["author"].is_not_null().any() else "posts"


def main_findings(outcomes: Sequence[Outcome], *, seed: int, group: Group) -> list[Finding]:
    """Every figure of the pooled predictions of one or several runs."""
    task = outcomes[0].task
    every = decisions(outcomes)
    found = pooled(every, unit=unit_of(task), seed=seed, group=group)
    joined = collapsed(every, task)
    if joined is not None:
        also = pooled(joined, unit=unit_of(task), seed=seed, group=group)
        found += [f for f in also if f.group.get("label") == HATEFUL]
    return found


def collapsed(every: Decisions, task: Task) -> Decisions | None:
    """Decisions between named classes as decisions between hateful and not; None if none are."""
    hateful = [n for n, name in enumerate(task.classes) if name in task.hateful]
    if not hateful or HATEFUL in task.classes:
        return None
    runs = tuple(
        replace(
            run,
            truth=np.isin(run.truth, hateful).astype(np.int64),
            predicted=np.isin(run.predicted, hateful).astype(np.int64),
        )
        for run in every.runs
    )
    return Decisions((OTHER, HATEFUL), runs)


def fold_findings(outcome: Outcome, *, group: Group) -> list[Finding]:
    """Macro-F1 of every fold as a point, and the mean over folds of each figure."""
    names = outcome.task.names
    tables = [(number, _counts(outcome, number)) for number in range(1, len(outcome.folds) + 1)]
    by_fold = [all_figures(table, names) for _, table in tables]
    absent = [[names[n] for n in np.flatnonzero(table.sum(axis=1) == 0)] for _, table in tables]
    points = [
        _point("macro_f1", figures["macro_f1", None], table, {**group, "fold": number}, gone)
        for (number, table), figures, gone in zip(tables, by_fold, absent, strict=True)
    ]
    means = []
    for measure, label in by_fold[0]:
        if measure not in _FOLD_MEANS:
            continue
        own = {**group, "average": "fold"} | ({"label": label} if label else {})
        values = [
            float(figures[measure, label])
            for figures, gone in zip(by_fold, absent, strict=True)
            if not (gone if label is None else label in gone)
        ]
        means.append(_mean(measure, [v for v in values if np.isfinite(v)], len(tables), own))
    return [*points, *means]


def _counts(outcome: Outcome, fold: int) -> np.ndarray:
    rows = outcome.rows.filter(pl.col("fold") == fold)
    size = len(outcome.task.names)
    return confusion(rows["truth"].to_numpy(), rows["predicted"].to_numpy(), size)


def _point(
    measure: str, value: np.ndarray, table: np.ndarray, group: Group, absent: Sequence[str]
) -> Finding:
    n = int(table.sum())
    if absent:
        why = f"no test post of the fold is {', '.join(absent)}"
        return Finding(measure=measure, value=None, n=n, group=group, why=why)
    return Finding(
        measure=measure,
        value=float(value),
        n=n,
        group=group,
        method="test posts of one fold",
        why="a point: no interval",
    )


def _mean(measure: str, values: Sequence[float], folds: int, group: Group) -> Finding:
    if not values:
        why = "the figure exists in no fold"
        return Finding(measure=measure, value=None, n=folds, group=group, why=why)
    missing = "" if len(values) == folds else f" of the {len(values)} in which it exists"
    return Finding(
        measure=measure,
        value=float(np.mean(values)),
        n=len(values),
        group=group,
        method=f"mean over {folds} folds{missing}, as the papers report",
        unit="folds",
        why="no interval: folds share training rows",
    )


def run_findings(outcomes: Sequence[Outcome], *, group: Group) -> list[Finding]:
    """Macro-F1 of every run as a point, and their range."""
    if len(outcomes) < 2:
        return []
    rows = outcomes[0].rows.height
    values = [
        float(all_figures(o.decisions().counts()[0], o.task.names)["macro_f1", None])
        for o in outcomes
    ]
    points = [
        Finding(
            measure="macro_f1",
            value=value,
            n=rows,
            group={**group, "run": number},
            method="pooled predictions of one run",
            why="a point: no interval",
        )
        for number, value in enumerate(values, start=1)
    ]
    spread = Finding(
        measure="macro_f1",
        value=float(np.mean(values)),
        n=len(values),
        low=min(values),
        high=max(values),
        group={**group, "run": "range"},
        method="mean over runs; low and high are the least and the largest, no confidence interval",
        unit="runs",
    )
    return [*points, spread]


def baseline_findings(plan: Plan, outcome: Outcome, *, seed: int) -> list[Finding]:
    """The constants and look-ups under the same protocol."""
    found = []
    for name, predicted in baselines(plan, outcome):
        group = {"baseline": name}
        if predicted is None:
            why = NOT_HERE[name]
            n = outcome.rows.height
            found.append(Finding(measure="macro_f1", value=None, n=n, group=group, why=why))
        else:
            found += short_findings(outcome, predicted, seed=seed, group=group)
    return found


def short_findings(outcome: Outcome, predicted: Codes, *, seed: int, group: Group) -> list[Finding]:
    """The averages, and F1 of hateful posts, of somebody else's predictions of the same rows."""
    task = outcome.task
    rows = outcome.rows
    run = Predicted(rows["truth"].to_numpy(), predicted, rows["cluster"])
    every = Decisions(task.names, (run,))
    found = pooled(every, unit=unit_of(task), seed=seed, group=group)
    kept = [f for f in found if f.measure in _SHORT]
    joined = collapsed(every, task)
    if joined is not None:
        found = pooled(joined, unit=unit_of(task), seed=seed, group=group)
    return kept + [f for f in found if f.measure == "f1" and f.group.get("label") == HATEFUL]


def compared(
    first: Sequence[Outcome], second: Sequence[Outcome], *, seed: int, group: Group
) -> Finding:
    """The difference in macro-F1 between two sets of predictions."""
    unit = unit_of(first[0].task)
    return difference(decisions(first), decisions(second), unit=unit, seed=seed, group=group)
