"""Kirk's printed figures as findings, ours under the same names, and how far they are apart.

A figure of ours has the group of the printed one but for the detector. "Better" is said only where
our lower bound exceeds the printed figure, "worse" only where our upper bound is below it, and
"level" of everything between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evenhand.audits.index import Index
from evenhand.audits.suite_figures import AS_PRINTED, CONSTANTS, NO_EMOJI, ORIGINAL, WITHOUT_APPEND
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL
from evenhand.reports.numbers import NOTHING
from evenhand.studies.arango_rows import differences
from evenhand.studies.kirk_tables import (
    ALL_ROUNDS,
    CHECK,
    EMOJI_3,
    EMOJI_4,
    MODELS,
    RATIOS,
    SETS,
    TABLE_3,
    TABLE_4,
    TABLE_8,
    TABLE_9,
    Part,
    hateful_cases,
    label_of,
    mean_of_rounds,
    without_append,
)

Group = Mapping[str, str | int]

ALWAYS, NEVER = CONSTANTS
MEAN = "mean of its parts"
_BETWEEN = (*RATIOS, "recall_gap", "fpr_gap", "selection_gap", "ungrouped")
_NO_INTERVAL = "no interval printed"


def published_3() -> Iterator[Finding]:
    """Table 3: accuracy by part, and the overall emoji difference with and without *append*."""
    for part, (n, figures) in TABLE_3.items():
        for model, value in zip(MODELS, figures, strict=True):
            yield _printed("accuracy", value, n, {"table": "3", "detector": model, **dict(part)})
        for name, value in _constants(part, n):
            yield _follows("accuracy", value, n, {"table": "3", "baseline": name, **dict(part)})
    n = sum(TABLE_3[(("set", name),)][0] for name in (ORIGINAL, NO_EMOJI))
    for model, value in zip(MODELS, EMOJI_3, strict=True):
        own = {"table": "3", "detector": model}
        yield _printed("emoji_difference", value, n, {**own, "form": AS_PRINTED})
        yield _less_append(model, {**own, "form": WITHOUT_APPEND})
    # Originals are all hateful; of the no-emoji cases those of append are not.
    part = (("set", NO_EMOJI),)
    other = 1 - hateful_cases(part) / TABLE_3[part][0]
    for name, value in ((ALWAYS, other), (NEVER, -other)):
        own = {"table": "3", "baseline": name}
        yield _follows("emoji_difference", value, n, {**own, "form": AS_PRINTED})
        yield _follows("emoji_difference", 0.0, n, {**own, "form": WITHOUT_APPEND})


def _less_append(model: str, group: Group) -> Finding:
    value, low, high = without_append(model)
    n = sum(TABLE_4[f][s][0] for f in EMOJI_4 for s in (ORIGINAL, NO_EMOJI))
    return replace(
        _follows("emoji_difference", value, n, group),
        low=low,
        high=high,
        method="the sets of table 3 less the rows of append in table 4; low and high are what "
        "rounding leaves, no confidence interval",
    )


def published_4() -> Iterator[Finding]:
    """Table 4: accuracy by functionality and set, and the emoji difference of each."""
    for functionality, sets in TABLE_4.items():
        for set_, (n, figures) in sets.items():
            part = {"functionality": functionality, "set": set_}
            part["label"] = label_of(functionality, set_)
            for model, value in zip(MODELS, figures, strict=True):
                yield _printed("accuracy", value, n, {"table": "4", "detector": model, **part})
        n = sets[ORIGINAL][0] + sets[NO_EMOJI][0]
        values = EMOJI_4.get(functionality, [None] * len(MODELS))
        for model, difference in zip(MODELS, values, strict=True):
            group = {"table": "4", "detector": model, "functionality": functionality}
            found = _printed("emoji_difference", difference, n, group)
            yield (
                found
                if difference is not None
                else replace(
                    found, why="as printed, not defined: without emoji the label is another"
                )
            )


def published_8() -> Iterator[Finding]:
    """Table 8: accuracy and F1 by test set; constants as far as the paper prints counts."""
    for row, pairs in TABLE_8.items():
        for (on, n), (accuracy, f1) in zip(SETS.items(), pairs, strict=True):
            own = {"table": "8", "detector": row, "on": on}
            yield _printed("accuracy", accuracy, n, own)
            yield _printed("f1", f1, n, {**own, "label": HATEFUL})
        group = {"table": "8", "detector": row, "on": ALL_ROUNDS, "form": MEAN}
        yield _follows("accuracy", mean_of_rounds(row), SETS[ALL_ROUNDS], group)
    for on, n in SETS.items():
        known = dict(_constants((), n)) if on == CHECK else {}
        share = known.get(ALWAYS)
        f1s = {ALWAYS: None if share is None else 2 * share / (1 + share), NEVER: 0.0}
        for name, value in f1s.items():
            own = {"table": "8", "baseline": name, "on": on}
            yield _follows("accuracy", known.get(name), n, own)
            yield _follows("f1", value, n, {**own, "label": HATEFUL})


def published_9() -> Iterator[Finding]:
    """Table 9: the two ratios; a constant answer has both at 1, or neither."""
    for row, values in TABLE_9.items():
        for measure, value in zip(RATIOS, values, strict=True):
            found = _printed(measure, value, 0, {"table": "9", "detector": row})
            yield replace(found, why="neither n nor an interval printed")
    for measure in RATIOS:
        yield _follows(measure, 1.0, 0, {"table": "9", "baseline": ALWAYS})
        never = _follows(measure, None, 0, {"table": "9", "baseline": NEVER})
        yield replace(never, why="nothing is flagged")


def _constants(part: Part, n: int) -> Iterator[tuple[str, float]]:
    share = hateful_cases(part) / n
    yield ALWAYS, share
    yield NEVER, 1 - share


def _printed(measure: str, value: float | None, n: int, group: Group) -> Finding:
    return Finding(
        measure=measure,
        value=value,
        n=n,
        group=group,
        method="as printed",
        unit="cases",
        origin="published",
        why=_NO_INTERVAL,
    )


def _follows(measure: str, value: float | None, n: int, group: Group) -> Finding:
    """What follows from printed figures."""
    why = "no interval: computed from printed figures"
    if value is None:
        why = "the paper does not print how many of these are hateful"
    return replace(_printed(measure, value, n, group), method="from printed figures", why=why)


def placed(found: Iterable[Finding], who: Group) -> Iterator[Finding]:
    """Figures of HatemojiCheck under the table, or the figure, of the paper they belong to."""
    for finding in found:
        for where in _places(finding):
            yield replace(finding, group={**where, **who, **finding.group})


def _places(finding: Finding) -> list[dict[str, str]]:
    keys, measure = set(finding.group), finding.measure
    if "baseline" in keys:  # constants have rows of their own
        return []
    if measure == "unscored":
        return [{"table": table} for table in ("3", "4", "9")]
    if "identity" in keys:
        return [{"figure": "2"}]
    if measure.startswith(_BETWEEN):
        return [{"table": "9"}]
    if measure not in ("accuracy", "emoji_difference") or "section" in keys:
        return []
    if "functionality" not in keys:
        return [{"table": "3"}]
    return [{"table": "4"}] if measure == "emoji_difference" or "set" in keys else []


def placed_on(on: str, found: Iterable[Finding], who: Group) -> Iterator[Finding]:
    """Accuracy and F1 overall, under table 8."""
    for finding in found:
        main = {"accuracy": {}, "unscored": {}, "f1": {"label": HATEFUL}}.get(finding.measure)
        if main == dict(finding.group):
            yield replace(finding, group={"table": "8", **who, "on": on, **finding.group})


def from_paper(ours: Sequence[Finding], printed: Sequence[Finding]) -> Iterator[Finding]:
    """Each accuracy and F1 of a detector minus that of every printed row, taken as exact."""
    index = Index(ours)
    names = list(dict.fromkeys(f.group["detector"] for f in ours if "detector" in f.group))
    for theirs in printed:
        if theirs.measure not in ("accuracy", "f1") or not _comparable(theirs):
            continue
        for name in names:
            mine = index.get(theirs.measure, **{**theirs.group, "detector": name})
            if mine is None or mine.value is None:
                continue
            [gap] = differences([replace(mine, group=theirs.group)], [theirs])
            against = {"of": theirs.measure, "against": theirs.group["detector"]}
            yield replace(gap, group={**mine.group, **against})


def _comparable(theirs: Finding) -> bool:
    return "detector" in theirs.group and "form" not in theirs.group and theirs.value is not None


def verdict(gap: Finding | None) -> str:
    """``better`` or ``worse`` only where the whole interval is; nothing without an interval."""
    if gap is None or gap.low is None or gap.high is None:
        return NOTHING
    return "better" if gap.low > 0 else "worse" if gap.high < 0 else "level"
