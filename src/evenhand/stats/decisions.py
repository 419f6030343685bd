"""Decisions about classes, with intervals that resample whole clusters (authors).

Posts of one author are not independent, and folds share training rows, so neither posts nor folds
are resampled: predictions are pooled over the folds and whole clusters are drawn. Where the same
posts were predicted in several runs, a figure is the mean over the runs of what each run's pooled
predictions give, and a drawn cluster brings its predictions of every run.

Two sets of decisions are compared by drawing clusters jointly: a cluster brings its share of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats._ranking import FIGURES, Ranked, rank
from evenhand.stats.classification import Codes, Floats, all_figures, macro_f1
from evenhand.stats.intervals import LEVEL, RESAMPLES, resampled_sums

_ENOUGH = 0.95
FEWEST = 10
"""With fewer clusters there is no interval: their resamples say too little."""
_AUC = FIGURES.index("auc")
_METHODS = {
    "macro": "unweighted mean over classes",
    "weighted": "mean over classes weighted by their size",
    "micro": "all decisions pooled: equal to accuracy",
}

Key = tuple[str, str | None]


@dataclass(frozen=True, eq=False)
class Predicted:
    """One prediction of every row."""

    truth: Codes
    predicted: Codes
    clusters: pl.Series
    score: Floats | None = None
    """Of being hateful; None where that does not exist."""
    positive: NDArray[np.bool_] | None = None
    """Which rows are hateful; None where that is not known."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions of one or several runs on the same clusters."""

    names: tuple[str, ...]
    """The classes."""
    runs: tuple[Predicted, ...]

    @property
    def rows(self) -> int:
        """Rows in a run."""
        return len(self.runs[0].truth)

    def counts(self) -> Floats:
        """Confusion counts of each run."""
        return np.stack([_table(run, len(self.names)) for run in self.runs])

    def by_cluster(self, order: pl.Series) -> Floats:
        """Confusion counts by cluster (in the given order) and run."""
        size = len(self.names)
        cells = np.zeros((len(order), len(self.runs), size * size))
        for number, run in enumerate(self.runs):
            at = _places(run.clusters, order)
            np.add.at(cells[:, number], (at, run.truth * size + run.predicted), 1)
        return cells.reshape(len(order), len(self.runs), size, size)


def _table(run: Predicted, size: int) -> Floats:
    flat = np.bincount(run.truth * size + run.predicted, minlength=size * size)
    return flat.reshape(size, size).astype(np.float64)


def _places(clusters: pl.Series, order: pl.Series) -> Codes:
    table = pl.DataFrame({"cluster": order, "at": np.arange(len(order))})
    rows = clusters.alias("cluster").to_frame()
    at: Codes = rows.join(table, on="cluster", how="left", maintain_order="left")["at"].to_numpy()
    return at


def _order(*many: Decisions) -> pl.Series:
    """Every cluster once, in an order that does not depend on the rows'."""
    every = [run.clusters.cast(pl.String).alias("c") for some in many for run in some.runs]
    return pl.concat(every).unique().sort()


def figures(
    decisions: Decisions,
    *,
    unit: str,
    seed: int,
    group: Mapping[str, str | int] | None = None,
    resamples: int = RESAMPLES,
) -> list[Finding]:
    """All figures of the decisions, pooled, with intervals over clusters."""
    cells = decisions.by_cluster(_order(decisions))
    values = _means(decisions.counts(), decisions.names)
    drawn = _drawn(
        cells.reshape(len(cells), -1),
        lambda sums: _means(sums.reshape(-1, *cells.shape[1:]), decisions.names),
        stream(seed, "decisions"),
        resamples,
    )
    found = [
        _finding(key, value, drawn.get(key), decisions, unit, dict(group or {}), resamples)
        for key, value in values.items()
    ]
    return [*found, auc(decisions, unit=unit, seed=seed, group=group, resamples=resamples)]


def _means(counts: Floats, names: Sequence[str]) -> dict[Key, Floats]:
    """Every figure, averaged over the runs (the axis before the two of the tables)."""
    return {key: value.mean(axis=-1) for key, value in all_figures(counts, names).items()}


def _drawn(
    cells: Floats,
    statistics: Callable[[Floats], dict[Key, Floats]],
    rng: np.random.Generator,
    resamples: int,
) -> dict[Key, Floats]:
    """Figures of resamples of clusters; empty where there are too few."""
    if len(cells) < FEWEST or not resamples:
        return {}
    parts = [statistics(sums) for sums in resampled_sums(cells, rng, resamples)]
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _finding(
    key: Key,
    value: Floats,
    drawn: Floats | None,
    decisions: Decisions,
    unit: str,
    group: dict[str, str | int],
    resamples: int,
) -> Finding:
    measure, name = key
    if name is not None:
        group = group | {"label": name}
    how = _METHODS.get(measure.partition("_")[0], "pooled predictions")
    return _with_interval(
        measure,
        float(value),
        drawn,
        n=decisions.rows,
        group=group,
        how=_over_runs(how, decisions),
        unit=unit,
        resamples=resamples,
        missing=f"nothing is predicted to be {name}" if measure == "precision" else None,
    )


def _over_runs(how: str, decisions: Decisions) -> str:
    runs = len(decisions.runs)
    return how if runs == 1 else f"{how}; mean over {runs} runs"


def _with_interval(
    measure: str,
    value: float,
    drawn: Floats | None,
    *,
    n: int,
    group: Mapping[str, str | int],
    how: str,
    unit: str,
    resamples: int,
    missing: str | None = None,
) -> Finding:
    """A finding with the percentile interval of its resamples, or the reason why it has none."""
    if np.isnan(value):
        why = missing or "a class that does not occur has no such figure"
        return Finding(measure=measure, value=None, n=n, group=group, method=how, why=why)
    known = np.empty(0) if drawn is None else drawn[np.isfinite(drawn)]
    if not len(known) or len(known) < _ENOUGH * resamples:
        why = (
            f"no interval: fewer than {FEWEST} {unit}"
            if drawn is None
            else f"no interval: the figure does not exist in many resamples of {unit}"
        )
        return Finding(
            measure=measure, value=value, n=n, group=group, method=how, unit=unit, why=why
        )
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Finding(
        measure=measure,
        value=value,
        n=n,
        group=group,
        low=float(low),
        high=float(high),
        level=LEVEL,
        method=f"{how}; percentile bootstrap over {unit}, {resamples:,} resamples",
        unit=unit,
    )


def auc(
    decisions: Decisions,
    *,
    unit: str,
    seed: int,
    group: Mapping[str, str | int] | None = None,
    resamples: int = RESAMPLES,
) -> Finding:
    """Area under the ROC curve of being hateful, over pooled scores."""
    own = dict(group or {})
    ranked = [_ranked(run) for run in decisions.runs]
    if any(found is None for found in ranked):
        why = "AUC needs scores of being hateful, and both hateful posts and others"
        return Finding(measure="auc", value=None, n=decisions.rows, group=own, why=why)
    order = _order(decisions)
    places = [
        _places(run.clusters, order)[found.order]
        for run, found in zip(decisions.runs, ranked, strict=True)
        if found is not None
    ]

    def mean(times: Floats) -> float:
        values = [
            found.figures(times[at], None)[_AUC]
            for found, at in zip(ranked, places, strict=True)
            if found is not None
        ]
        return float(np.mean(values))

    drawn = None
    if len(order) >= FEWEST and resamples:
        rng = stream(seed, "auc")
        even = np.full(len(order), 1 / len(order))
        drawn = np.array(
            [mean(rng.multinomial(len(order), even).astype(float)) for _ in range(resamples)]
        )
    return _with_interval(
        "auc",
        mean(np.ones(len(order))),
        drawn,
        n=decisions.rows,
        group=own,
        how=_over_runs("pooled scores", decisions),
        unit=unit,
        resamples=resamples,
    )


def _ranked(run: Predicted) -> Ranked | None:
    if run.score is None or run.positive is None:
        return None
    if not run.positive.any() or run.positive.all():
        return None
    return rank(run.positive.astype(float), run.score)


def difference(
    first: Decisions,
    second: Decisions,
    *,
    unit: str,
    seed: int,
    group: Mapping[str, str | int],
    resamples: int = RESAMPLES,
) -> Finding:
    """Macro-F1 of the first minus that of the second, clusters drawn jointly."""
    order = _order(first, second)
    cells = [some.by_cluster(order) for some in (first, second)]
    flat = [part.reshape(len(order), -1) for part in cells]
    width = flat[0].shape[1]

    def statistics(sums: Floats) -> dict[Key, Floats]:
        mine = sums[:, :width].reshape(-1, *cells[0].shape[1:])
        other = sums[:, width:].reshape(-1, *cells[1].shape[1:])
        return {("d", None): macro_f1(mine).mean(axis=-1) - macro_f1(other).mean(axis=-1)}

    drawn = _drawn(np.hstack(flat), statistics, stream(seed, "difference"), resamples)
    value = float(macro_f1(first.counts()).mean() - macro_f1(second.counts()).mean())
    return _with_interval(
        "macro_f1_difference",
        value,
        drawn.get(("d", None)),
        n=first.rows,
        group=group,
        how="macro-F1 minus that of the other, clusters drawn jointly",
        unit=unit,
        resamples=resamples,
    )
