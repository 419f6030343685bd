"""Detectors on held-out posts: HATE on the rounds, six attributes on ``jigsaw``, calibration.

Intervals are bootstraps of 1,000 resamples, at 95 %. Of the rounds, twins are drawn together; all
detectors see the same draws, so that their differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.audits.index import Index, figure
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.data.find import find
from evenhand.data.splits import ties
from evenhand.models.calibration import fitted
from evenhand.models.protocol import HATE
from evenhand.reports.numbers import NOTHING, bracket, count, number
from evenhand.stats._ranking import FIGURES, rank
from evenhand.stats._resampled import Resampling
from evenhand.stats.calibration import calibration
from evenhand.stats.intervals import RESAMPLES, wilson
from evenhand.stats.ratios import Clusters, Ratio, difference_finding, ratio_finding
from evenhand.studies.kirk_tables import EMOJI_ROUNDS, SETS, TABLE_8, TEXT_ROUNDS

from .compared import Row

Floats = NDArray[np.float64]

ROUNDS = {
    "hatemojibuild": ("HatemojiBuild", EMOJI_ROUNDS),
    "dynahate": ("DynaHate", TEXT_ROUNDS),
}
PUBLISHED = {"R8-T": "*kirk*'s R8-T (134 M)", "P-IA": "Perspective, identity attack, in *kirk*"}
UNIT = "posts, twins together"


def clustered(held_out: pl.DataFrame, corpus: str) -> pl.DataFrame:
    """The dev posts of a corpus of rounds; ``cluster`` names those that are twins."""
    rows = held_out.filter((pl.col("corpus") == corpus) & (pl.col("split") == "dev"))
    whole = find(corpus)
    posts = whole.posts.join(rows.select("id"), on="id", how="semi")
    together = pl.Series("cluster", ties(replace(whole, posts=posts), ("twin",))).cast(pl.String)
    return rows.join(posts.select("id").with_columns(together), on="id").sort("id")


def on_rounds(dev: pl.DataFrame, rows: Sequence[Row], corpus: str, reference: str) -> list[str]:
    """The table of a corpus of rounds."""
    title, on = ROUNDS[corpus]
    lines = [
        f"| detector | posts | accuracy | macro-F1 | accuracy minus that of `{reference}` |",
        "|---|---|---|---|---|",
    ]
    sides = ((f"{title} dev", dev), ("without kin", dev.filter(~pl.col("kin"))))
    for words, some in sides:
        clusters = Clusters.of(some["cluster"].to_list(), seed=0)
        truth = some[HATE].to_numpy()
        right = {row.name: (row.of(HATE, some["text"]) >= row.threshold) == truth for row in rows}
        every = np.ones(len(truth))
        for row in rows:
            share = Ratio.share(right[row.name], every)
            found = ratio_finding("accuracy", share, clusters, unit=UNIT, group={})
            apart = NOTHING
            if row.name != reference:
                apart = figure(
                    difference_finding(
                        "accuracy", share, Ratio.share(right[reference], every), clusters,
                        unit=UNIT, group={}, how="paired",
                    )
                )  # fmt: skip
            macro = _macro_f1(truth, right[row.name] == truth, clusters)
            lines.append(
                f"| {row.name}, {words} | {count(some.height)} | {figure(found)} | {macro} "
                f"| {apart} |"
            )
    column = list(SETS).index(on)
    for name, told in PUBLISHED.items():
        accuracy = TABLE_8[name][column][0]
        lines.append(
            f"| {told}: published, on {on}, not these posts | {count(SETS[on])} "
            f"| {number(accuracy)} | {NOTHING} | {NOTHING} |"
        )
    return lines


def on_ordinary(test: pl.DataFrame, rows: Sequence[Row], six: Sequence[str]) -> Iterator[str]:
    """How often HATE is said of comments, by what people said of them."""
    nothing, attack = ~pl.any_horizontal(six), pl.col("IDENTITY_ATTACK")
    sides = {
        "no attribute": test.filter(nothing),
        "some, but no identity attack": test.filter(~nothing & ~attack),
        "identity attack": test.filter(attack),
    }
    heads = " | ".join(f"{name}, {count(some.height)}" for name, some in sides.items())
    yield f"| detector | {heads} |"
    yield "|---|" + "---|" * len(sides)
    for row in rows:
        cells = []
        for some in sides.values():
            flagged = int((row.of(HATE, some["text"]) >= row.threshold).sum())
            cells.append(
                f"{number(flagged / some.height)} {bracket(*wilson(flagged, some.height))}"
            )
        yield f"| {row.name} | {' | '.join(cells)} |"


def _macro_f1(truth: NDArray[np.bool_], flagged: NDArray[np.bool_], clusters: Clusters) -> str:
    """The mean of both classes' F1, with its interval."""
    sides = []
    for real, said in ((truth, flagged), (~truth, ~flagged)):
        hit = 2.0 * (real & said)
        sides.append(Ratio(hit, hit + (real ^ said)))
    value = np.mean([clusters.value(side) or 0.0 for side in sides])
    drawn = np.mean([clusters.draws(side) for side in sides], axis=0)
    bounds = clusters.resampling(UNIT, *sides).percentiles(drawn)
    return f"{number(float(value))} {bracket(bounds.low, bounds.high)}"


def on_attributes(
    test: pl.DataFrame, rows: Sequence[Row], attributes: Sequence[str], reference: str
) -> Iterator[list[str]]:
    """ROC-AUC and average precision, weighted: means over the attributes, then each of them."""
    rows = [row for row in rows if {*attributes} <= {*row.p}]
    drawn = {row.name: _ranked(test, row, attributes) for row in rows}
    resampling = Resampling(unit="posts", units=test.height, resamples=RESAMPLES)

    def shown(values: Floats) -> str:
        """The figure, first, and its resamples behind it."""
        if np.isnan(values[0]):
            return NOTHING  # posts of one kind only
        bounds = resampling.percentiles(values[1:])
        return f"{number(float(values[0]))} {bracket(bounds.low, bounds.high)}"

    lines = [
        "| detector | posts | mean ROC-AUC | mean average precision "
        f"| ROC-AUC minus `{reference}`'s |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        auc, precision = (drawn[row.name][:, :, which].mean(axis=1) for which in (0, 1))
        apart = NOTHING
        if row.name != reference:
            apart = shown(auc - drawn[reference][:, :, 0].mean(axis=1))
        lines.append(
            f"| {row.name} | {count(test.height)} | {shown(auc)} | {shown(precision)} | {apart} |"
        )
    yield lines
    names = " | ".join(row.name for row in rows)
    lines = [
        f"| attribute | yes, of {count(test.height)} | {names} |",
        "|---|---|" + "---|" * len(rows),
    ]
    for at, attribute in enumerate(attributes):
        cells = " | ".join(shown(drawn[row.name][:, at, 0]) for row in rows)
        lines.append(f"| {attribute} | {count(test[attribute].sum())} | {cells} |")
    yield lines


def _ranked(test: pl.DataFrame, row: Row, attributes: Sequence[str]) -> Floats:
    """AUC and average precision: of the sample, then of every resample; × attribute × figure."""
    rng = stream(0, "held-out posts")
    places = [FIGURES.index(name) for name in ("auc", "average_precision")]
    weight = test["weight"].to_numpy()
    ranks = [
        rank(test[a].cast(pl.Int8).to_numpy(), row.of(a, test["text"]), weight) for a in attributes
    ]
    found = np.empty((1 + RESAMPLES, len(attributes), len(places)))
    for resample in range(1 + RESAMPLES):
        drawn = rng.integers(test.height, size=test.height) if resample else np.arange(test.height)
        times = np.bincount(drawn, minlength=test.height)
        for at, ranked in enumerate(ranks):
            figures = ranked.figures(ranked.weight * times[ranked.order], None)
            found[resample, at] = figures[places]
    return found


def on_calibration(
    dev: pl.DataFrame,
    test: pl.DataFrame,
    row: Row,
    attributes: Sequence[str],
    margins: Floats | None,
) -> list[str]:
    """Whether scores are probabilities; HATE by two halves, each calibrated on the other."""
    lines = [
        "| attribute | on | posts | base rate | calibration error | by chance | Brier score |",
        "|---|---|---|---|---|---|---|",
    ]
    if margins is not None:
        truth = dev[HATE].to_numpy()
        p = _by_halves(dev, truth, margins)
        yes = truth.mean()
        weight = np.where(truth, 0.5 / yes, 0.5 / (1 - yes))
        found = calibration(truth, p, weights=weight, clusters=dev["cluster"].to_list(), unit=UNIT)
        lines.append(_calibrated(HATE, "dev posts of both rounds, by halves, balanced", found))
    for attribute in attributes:
        truth, p = test[attribute].to_numpy(), row.of(attribute, test["text"])
        found = calibration(truth, p, weights=test["weight"].to_numpy())
        lines.append(_calibrated(attribute, "`jigsaw`, test tenth", found))
    return lines


def _by_halves(dev: pl.DataFrame, truth: NDArray[np.bool_], margins: Floats) -> Floats:
    """Probabilities of each half of the clusters by a calibration on the other half."""
    names = dev["cluster"].unique().sort()
    first = names.filter(pl.Series(stream(0, "halves").random(len(names)) < 0.5))
    half = dev["cluster"].is_in(first.implode()).to_numpy()
    p = np.empty(len(truth))
    for side in (half, ~half):
        other = fitted(margins[~side], truth[~side], base_rate=0.5, corpus="the other half")
        p[side] = other.probability(margins[side])
    return p


def _calibrated(attribute: str, on: str, found: Sequence[Finding]) -> str:
    index = Index(found)
    base, error, chance, brier = (
        index.get(measure)
        for measure in ("base_rate", "calibration_error", "calibration_error_chance", "brier")
    )
    n = base.n if base else 0
    return (
        f"| {attribute} | {on} | {count(n)} | {figure(base, interval=False)} | {figure(error)} "
        f"| {figure(chance, interval=False)} | {figure(brier)} |"
    )
