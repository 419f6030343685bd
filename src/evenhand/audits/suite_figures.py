"""What a suite shows of a detector: right answers by label, set, functionality and identity.

Beside every accuracy over cases of both labels stands that of the best constant answer, because a
bare accuracy misleads: two thirds of HatemojiCheck are hateful, so always "hateful" gets .675.

The *emoji difference* is accuracy on originals minus that on their no-emoji versions. As printed by
Kirk et al. it includes *append*, whose no-emoji versions have the other label; without *append* the
two sides still hold different mixes of templates; matched, every no-emoji case counts as often as
its template and identity have originals. Sentences use the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.audits.answers import Answers
from evenhand.audits.index import COUNTED
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.stats.group_rates import group_rates
from evenhand.stats.intervals import RESAMPLES
from evenhand.stats.ratios import Clusters, Ratio, difference_finding, ratio_finding

ORIGINAL, NO_EMOJI = "orig", "no_emoji_perturb"
AS_PRINTED, WITHOUT_APPEND, MATCHED = "as printed", "without append", "template-matched"
CONSTANTS = {"always-positive": True, "always-negative": False}
UNIT = "templates"
RATIOS = ("demographic_parity_ratio", "equalized_odds_ratio")
_MOST_CASES = 20
_BOTH = ("set", "functionality", "section")

Group = Mapping[str, str | int]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Figures:
    """The cases of a suite, ready to be counted."""

    answers: Answers
    clusters: Clusters
    group: Group

    def column(self, name: str) -> NDArray[np.object_]:
        found: NDArray[np.object_] = self.answers.table[name].to_numpy()
        return found

    def accuracy(self, inside: Mask, group: Group) -> Finding:
        right = self.answers.table["right"].to_numpy()
        return ratio_finding(
            "accuracy",
            Ratio.share(right, inside),
            self.clusters,
            unit=UNIT,
            group={**self.group, **group},
            how="share of cases answered rightly",
            cases=self.wrong(inside),
        )

    def constants(self, inside: Mask, group: Group) -> Iterator[Finding]:
        """Accuracy of the two constant answers, where cases of both labels are inside."""
        hateful = self.answers.table["hateful"].to_numpy()
        if not (hateful[inside].any() and (~hateful[inside]).any()):
            return
        for name, says in CONSTANTS.items():
            yield ratio_finding(
                "accuracy",
                Ratio.share(hateful == says, inside),
                self.clusters,
                unit=UNIT,
                group={**self.group, **group, "baseline": name},
                how="share of cases a constant answer gets right",
            )

    def wrong(self, inside: Mask) -> list[str]:
        """Some cases answered wrongly, the surest mistakes first."""
        table = self.answers.table.filter(pl.Series(inside) & ~pl.col("right"))
        sure = (pl.col("p") - self.answers.threshold).abs().fill_null(1.0)
        return table.sort(sure, "id", descending=[True, False])["id"].head(_MOST_CASES).to_list()


def suite_figures(
    answers: Answers, *, seed: int, group: Group | None = None, resamples: int = RESAMPLES
) -> list[Finding]:
    """Every figure of a detector on a suite."""
    table = answers.table
    clusters = Clusters.of(
        table["template"].to_list(),
        seed=seed,
        resamples=resamples,
        outcome=table["right"].to_numpy(),
        within=table.select(pl.format("{}/{}", "functionality", "set")).to_series().to_list(),
    )
    figures = _Figures(answers, clusters, dict(group or {}))
    every = np.ones(table.height, dtype=np.bool_)
    found = [figures.accuracy(every, {}), *figures.constants(every, {}), _f1(figures)]
    hateful = table["hateful"].to_numpy()
    for label, says in ((HATEFUL, True), (OTHER, False)):
        found.append(figures.accuracy(hateful == says, {"label": label}))
    for name in _BOTH:
        for value in table[name].unique().sort():
            inside = figures.column(name) == value
            found += [figures.accuracy(inside, {name: value})]
            found += figures.constants(inside, {name: value})
    found += _by_functionality_and_set(figures)
    found += emoji_differences(figures)
    found += _identities(figures, seed, resamples)
    return [*found, _unscored(answers, figures.group)]


def _by_functionality_and_set(figures: _Figures) -> Iterator[Finding]:
    """Accuracy of every set of every functionality; its one label is named too."""
    cells = figures.answers.table.group_by("functionality", "set").agg(
        pl.col("hateful").first(), one=pl.col("hateful").n_unique() == 1
    )
    for functionality, set_, hateful, one in cells.sort("functionality", "set").rows():
        inside = (figures.column("functionality") == functionality) & (
            figures.column("set") == set_
        )
        group = {"functionality": functionality, "set": set_}
        label = {"label": HATEFUL if hateful else OTHER} if one else {}
        yield figures.accuracy(inside, {**group, **label})


def _f1(figures: _Figures) -> Finding:
    hateful, flagged = (figures.answers.table[c].to_numpy() for c in ("hateful", "flagged"))
    hit = 2.0 * (hateful & flagged)
    return ratio_finding(
        "f1",
        Ratio(hit, hit + (hateful ^ flagged)),
        figures.clusters,
        unit=UNIT,
        group={**figures.group, "label": HATEFUL},
        how="2 × hits over 2 × hits + misses + false alarms",
        why="nothing is hateful, and nothing was flagged",
    )


def emoji_differences(figures: _Figures) -> Iterator[Finding]:
    """The three forms overall, and the difference of each functionality that has one."""
    table = figures.answers.table
    sides = [figures.column("set") == name for name in (ORIGINAL, NO_EMOJI)]
    if not sides[1].any():
        return
    right = table["right"].to_numpy()
    kept = _same_label(table)

    def difference(inside: Mask, group: Group, how: str) -> Finding:
        first, second = (Ratio.share(right, side & inside) for side in sides)
        return _emoji_difference(figures, first, second, group, how)

    every = np.ones(table.height, dtype=np.bool_)
    yield difference(every, {"form": AS_PRINTED}, "all functionalities")
    yield difference(kept, {"form": WITHOUT_APPEND}, "where both have the same label")
    yield _matched(figures, kept, {"form": MATCHED})
    for name in table.filter(pl.Series(kept))["functionality"].unique().sort():
        inside = kept & (figures.column("functionality") == name)
        if (inside & sides[0]).any() and (inside & sides[1]).any():
            yield difference(inside, {"functionality": name}, "in this functionality")


def _same_label(table: pl.DataFrame) -> Mask:
    """Cases of functionalities whose no-emoji versions keep the label of the originals."""
    labels = table.filter(pl.col("set").is_in([ORIGINAL, NO_EMOJI]))
    flips = labels.group_by("functionality").agg(pl.col("hateful").n_unique())
    mixed = flips.filter(pl.col("hateful") > 1)["functionality"].to_list()
    kept: Mask = (~table["functionality"].is_in(mixed)).to_numpy()
    return kept


def _matched(figures: _Figures, kept: Mask, group: Group) -> Finding:
    """Every no-emoji case weighs as much as its template and identity have originals."""
    table = figures.answers.table
    cell = pl.struct("template", "identity")
    originals = ((pl.col("set") == ORIGINAL).sum().over(cell)).cast(pl.Float64)
    without = ((pl.col("set") == NO_EMOJI).sum().over(cell)).cast(pl.Float64)
    both = (originals > 0) & (without > 0) & pl.Series(kept)
    weight = table.select(
        first=(both & (pl.col("set") == ORIGINAL)).cast(pl.Float64),
        second=pl.when(both & (pl.col("set") == NO_EMOJI)).then(originals / without).otherwise(0.0),
    )
    right = table["right"].to_numpy()
    first, second = (
        Ratio(right * weight[side].to_numpy(), weight[side].to_numpy()) for side in weight.columns
    )
    how = "the same templates and identities on both sides"
    return _emoji_difference(figures, first, second, group, how)


def _emoji_difference(
    figures: _Figures, first: Ratio, second: Ratio, group: Group, how: str
) -> Finding:
    return difference_finding(
        "emoji_difference",
        first,
        second,
        figures.clusters,
        unit=UNIT,
        group={**figures.group, **group},
        how=f"accuracy on originals minus accuracy without emoji, {how}",
        why="nothing has both originals and cases without emoji",
    )


def _identities(figures: _Figures, seed: int, resamples: int) -> list[Finding]:
    table = figures.answers.table
    if table["identity"].drop_nulls().n_unique() < 2:
        return []

    def rates(flagged: Mask, group: Group, resamples: int) -> list[Finding]:
        return group_rates(
            table["hateful"].to_numpy(),
            flagged,
            table["identity"].to_list(),
            clusters=table["template"].to_list(),
            frames=table["frame"].to_list(),
            unit=UNIT,
            seed=seed,
            group={**figures.group, **group},
            resamples=resamples,
        )

    found = rates(table["flagged"].to_numpy(), {}, resamples)
    for name, says in CONSTANTS.items():
        constant = rates(np.full(table.height, says), {"baseline": name}, 0)
        found += [finding for finding in constant if finding.measure in RATIOS]
    return found


def _unscored(answers: Answers, group: Group) -> Finding:
    return Finding(
        measure="unscored",
        value=float(len(answers.failed)),
        n=answers.table.height,
        group=group,
        method="cases the detector failed on; each counts as answered wrongly",
        unit="cases",
        why=COUNTED,
        cases=sorted(answers.failed)[:_MOST_CASES],
    )
