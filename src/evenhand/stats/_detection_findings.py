"""Figures of a detector and their resamples, as findings: intervals, reasons, cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.records import Finding
from evenhand.stats._ranking import FIGURES, Floats, Ranked
from evenhand.stats.intervals import wilson

_CASES = 10
_ENOUGH = 0.95
_AT_CUT = ("precision", "recall", "f1")
_SHARES = ("base_rate", "precision", "recall")
_NEEDS_SCORES = ("average_precision", "auc", "threshold_best")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all findings of one comparison have in common."""

    group: Mapping[str, str | int]
    cut: float | None
    classes_only: bool
    weighted: bool
    unit: str
    units: int
    in_strata: bool
    resamples: int
    level: float

    def method(self) -> str:
        """How the interval was obtained."""
        inside = " within strata (Rao–Wu)" if self.in_strata else ""
        return f"percentile bootstrap over {self.unit}{inside}, {self.resamples:,} resamples"


def findings(
    ranked: Ranked,
    setting: Setting,
    values: Floats,
    drawn: Floats | None,
    posts: Sequence[str] | None,
) -> list[Finding]:
    """One finding per measure, in the order of ``FIGURES``."""
    weight = ranked.weight
    effective = float(weight.sum() ** 2 / (weight @ weight)) if len(weight) else None
    made = []
    for number, measure in enumerate(FIGURES):
        value = float(values[number])
        exists = not np.isnan(value)
        low, high, why = (
            _interval(setting, None if drawn is None else drawn[:, number])
            if exists
            else (None, None, _why_missing(measure, ranked, setting))
        )
        method = setting.method()
        if low is not None and low == high and value in (0.0, 1.0) and measure in _SHARES:
            low, high = _all_alike(measure, value, ranked, setting)
            method = "all alike: Wilson's interval with the effective number of posts as n"
        made.append(
            Finding(
                measure=measure,
                value=value if exists else None,
                n=len(weight),
                group=setting.group,
                low=low,
                high=high,
                level=None if low is None else setting.level,
                method=method,
                unit=setting.unit,
                weighted=setting.weighted,
                n_effective=effective,
                why=why,
                cases=_cases(measure, ranked, setting.cut, values, posts),
            )
        )
    return made


def _all_alike(measure: str, value: float, ranked: Ranked, setting: Setting) -> tuple[float, float]:
    """The interval of a share of 0 or 1, whose resamples cannot differ."""
    cut = np.inf if setting.cut is None else setting.cut
    inside = {"precision": ranked.score >= cut, "recall": ranked.truth == 1}.get(measure)
    weight = ranked.weight if inside is None else ranked.weight[inside]
    n = float(weight.sum() ** 2 / (weight @ weight))
    return wilson(value * n, n, setting.level)


def _interval(
    setting: Setting, drawn: Floats | None
) -> tuple[float | None, float | None, str | None]:
    if drawn is None:
        few = f"fewer than two {setting.unit}" if setting.units < 2 else "no resamples asked for"
        return None, None, f"no interval: {few}"
    kept = drawn[np.isfinite(drawn)]
    if len(kept) < _ENOUGH * len(drawn):
        return None, None, "no interval: does not exist in more than one resample of twenty"
    tail = (1 - setting.level) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    return float(low), float(high), None


def _why_missing(measure: str, ranked: Ranked, setting: Setting) -> str:
    """Why a measure does not exist; asked only where it does not."""
    if not len(ranked.order):
        return "no posts"
    if setting.classes_only and measure in _NEEDS_SCORES:
        return "the detector gives classes only: posts are not ranked"
    if measure in _AT_CUT and setting.cut is None:
        return "no threshold was chosen on other posts"
    if measure == "auc" and ranked.weight @ ranked.truth > 0:
        return "no negative posts"
    if measure == "precision" or ranked.weight @ ranked.truth > 0:
        return "nothing is flagged"
    return "no positive posts"


def _cases(
    measure: str, ranked: Ranked, cut: float | None, values: Floats, posts: Sequence[str] | None
) -> tuple[str, ...]:
    """Ids of the wrongly flagged posts with the highest scores, or the missed with the lowest."""
    kind, _, best = measure.partition("_")
    threshold = values[FIGURES.index("threshold_best")] if best else cut
    if posts is None or kind not in ("precision", "recall") or threshold is None:
        return ()
    flagged = ranked.score >= threshold  # NaN flags nothing, and no case is given
    wrong = flagged & (ranked.truth == 0) if kind == "precision" else ~flagged & (ranked.truth == 1)
    rows = np.flatnonzero(wrong & (ranked.weight > 0) & ~np.isnan(threshold))
    rows = rows if kind == "precision" else rows[::-1]
    if len(rows) > _CASES:  # with all that tie with the last
        last = ranked.score[rows[_CASES - 1]]
        ahead = ranked.score[rows] >= last if kind == "precision" else ranked.score[rows] <= last
        rows = rows[ahead]
    sign = -1 if kind == "precision" else 1
    named = sorted((sign * ranked.score[row], str(posts[ranked.order[row]])) for row in rows)
    return tuple(name for _, name in named[:_CASES])
