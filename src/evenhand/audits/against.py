"""One detector against another, case by case: is the new one worse than the old one anywhere?

Both answered the same cases, so every difference is paired: templates are drawn jointly. Many
subsets are compared at once, so intervals and p-values are corrected for their number together
(Bonferroni for the intervals, Holm for the p-values); "worse" and "better" are said only of what
survives that. The spread of a difference comes from resamples of templates and is read against
Student's t with one degree of freedom fewer than there are templates.

Where all templates differ alike there is no spread to read. The p-value is then that of the sign
test over templates, and the interval is Wilson's, with the number of templates as n: of the size of
the difference where the sign test excludes 0, and otherwise with as many templates unlike these as
it allows. So two detectors that decide alike in all cases are 0 apart, give or take that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from evenhand.audits.answers import Answers
from evenhand.audits.suite_figures import UNIT
from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.stats.decisions import FEWEST
from evenhand.stats.intervals import LEVEL, RESAMPLES, wilson
from evenhand.stats.multiple import holm
from evenhand.stats.ratios import Clusters, Ratio, alike_difference

ALPHA = 1 - LEVEL
_MOST_CASES = 20

Group = Mapping[str, str | int]


@dataclass(frozen=True, eq=False)
class Pair:
    """What two detectors said of the same suite."""

    suite: str
    mine: Answers
    other: Answers


@dataclass(frozen=True, eq=False)
class _Difference:
    """One subset's difference before it is corrected."""

    group: Group
    n: int
    value: float
    spread: float
    """0 where every template differs by the same."""
    templates: int
    broken: Sequence[str]
    """Cases only the other one got right."""

    @property
    def alike(self) -> bool:
        """Whether every template differs by the same."""
        return self.spread == 0

    @property
    def p(self) -> float:
        """Two-sided, uncorrected."""
        if self.value == 0:
            return 1.0
        if self.alike:
            return float(min(1.0, 2 * 0.5**self.templates))
        return float(2 * stats.t.sf(abs(self.value) / self.spread, self.templates - 1))

    def interval(self, comparisons: int) -> tuple[float, float]:
        """At a level that holds for so many comparisons together."""
        alpha = ALPHA / comparisons
        if not self.alike:
            far = float(stats.t.ppf(1 - alpha / 2, self.templates - 1)) * self.spread
            return max(-1.0, self.value - far), min(1.0, self.value + far)
        if self.p > alpha:
            return alike_difference(self.value, self.templates, 1 - alpha)
        size = abs(self.value)
        near, far = wilson(size * self.templates, self.templates, 1 - alpha)
        return (near, far) if self.value > 0 else (-far, -near)

    @property
    def how(self) -> str:
        """Where the p-value and the interval come from."""
        if self.alike:
            return f"all {UNIT} differ alike: sign test and Wilson's interval over {UNIT}"
        return f"paired t over {UNIT} with a bootstrapped spread"


def compared(
    pairs: Sequence[Pair], other: str, *, seed: int, resamples: int = RESAMPLES
) -> list[Finding]:
    """Accuracy of the first detector minus that of the other, everywhere, corrected together."""
    every = [d for pair in pairs for d in _differences(pair, seed, resamples)]
    judged = [difference for difference in every if difference.templates >= FEWEST]
    adjusted = dict(zip(map(id, judged), holm([d.p for d in judged]), strict=True))
    found = []
    for difference in every:
        group = {**difference.group, "against": other}
        found.append(_finding(difference, group, len(judged)))
        if id(difference) in adjusted:
            found.append(
                Finding(
                    measure="accuracy_difference_p",
                    value=adjusted[id(difference)],
                    n=difference.n,
                    group=group,
                    method=f"{difference.how}, Holm over {len(judged)} comparisons",
                    unit=UNIT,
                    why="a p-value, no interval",
                )
            )
    return found


def _differences(pair: Pair, seed: int, resamples: int) -> Iterator[_Difference]:
    mine, other = pair.mine.table, pair.other.table
    if mine["id"].sort().to_list() != other["id"].sort().to_list():
        raise BadInput(f"suite {pair.suite!r}: the two detectors answered different cases")
    right = other.select("id", other="right")
    table = mine.join(right, on="id", maintain_order="left")
    clusters = Clusters.of(table["template"].to_list(), seed=seed, resamples=resamples)
    for group, inside in _subsets(table):
        yield _difference(table, clusters, {"suite": pair.suite, **group}, inside)


def _subsets(table: pl.DataFrame) -> Iterator[tuple[Group, NDArray[np.bool_]]]:
    yield {}, np.ones(table.height, dtype=np.bool_)
    for label, says in ((HATEFUL, True), (OTHER, False)):
        inside = (table["hateful"] == says).to_numpy()
        if inside.any():
            yield {"label": label}, inside
    for name in ("set", "identity"):
        values = table[name].drop_nulls().unique().sort()
        if len(values) > 1:
            for value in values:
                yield {name: value}, (table[name] == value).fill_null(False).to_numpy()
    for functionality, set_ in table.select("functionality", "set").unique().sort(pl.all()).rows():
        both = (table["functionality"] == functionality) & (table["set"] == set_)
        yield {"functionality": functionality, "set": set_}, both.to_numpy()


def _difference(
    table: pl.DataFrame, clusters: Clusters, group: Group, inside: NDArray[np.bool_]
) -> _Difference:
    change = table["right"].cast(pl.Int8) - table["other"].cast(pl.Int8)
    ratio = Ratio.share(change.to_numpy(), inside)
    broken = table.filter(pl.Series(inside) & (change < 0)).sort("id")["id"]
    return _Difference(
        group=group,
        n=int(inside.sum()),
        value=clusters.value(ratio) or 0.0,
        spread=clusters.spread(ratio),
        templates=clusters.with_cases(ratio),
        broken=broken.head(_MOST_CASES).to_list(),
    )


def _finding(difference: _Difference, group: Group, comparisons: int) -> Finding:
    plain = Finding(
        measure="accuracy_difference",
        value=difference.value,
        n=difference.n,
        group=group,
        method="accuracy minus that of the other detector, case by case",
        unit=UNIT,
        cases=difference.broken,
    )
    if difference.templates < FEWEST:
        few = f"no interval: {difference.templates} {UNIT}, fewer than {FEWEST}"
        return replace(plain, why=few)
    low, high = difference.interval(comparisons)
    return replace(
        plain,
        low=low,
        high=high,
        level=LEVEL,
        method=f"{plain.method}; {difference.how}; {LEVEL:.0%} holds for all {comparisons} "
        "comparisons together (Bonferroni)",
    )


def verdicts(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Where the first detector is worse and where it is better, worst and best first.

    Said only where the corrected interval leaves out zero.
    """
    known = [
        finding
        for finding in findings
        if finding.measure == "accuracy_difference"
        and finding.low is not None
        and finding.high is not None
    ]
    worse = [finding for finding in known if (finding.high or 0.0) < 0]
    better = [finding for finding in known if (finding.low or 0.0) > 0]
    return (
        sorted(worse, key=lambda finding: finding.value or 0.0),
        sorted(better, key=lambda finding: -(finding.value or 0.0)),
    )
