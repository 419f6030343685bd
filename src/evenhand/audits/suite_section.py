"""A suite's part of the report card: grids for people, cases to look at, a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from evenhand.audits.answers import Answers
from evenhand.audits.index import Index, figure
from evenhand.audits.suite_figures import (
    AS_PRINTED,
    CONSTANTS,
    MATCHED,
    ORIGINAL,
    WITHOUT_APPEND,
)
from evenhand.audits.suites import Suite
from evenhand.audits.validated import validation_words
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.reports import Case, Figure, Grid, Section, bars
from evenhand.reports.numbers import count, number, percent
from evenhand.stats.group_rates import COMPARABLE

_MOST_CASES = 12
_MOST_TEMPLATES = 15
RATES = ("accuracy", "precision", "recall", "fpr", "fnr", "selection_rate")
_BETWEEN = {
    "recall_gap": "gap in recall",
    "fpr_gap": "gap in FPR",
    "selection_gap": "gap in what is flagged",
    "demographic_parity_ratio": "demographic parity ratio",
    "equalized_odds_ratio": "equalized odds ratio",
}
_RATE_HEADINGS = ("accuracy", "precision", "recall", "FPR", "FNR", "flagged")


def suite_section(
    suite: Suite,
    answers: Answers,
    findings: Sequence[Finding],
    *,
    base: Mapping[str, str],
    with_text: bool = False,
) -> Section:
    """What a detector did on a suite; ``base`` is the group of its main figure."""
    index = Index(findings)
    grids = [_overall(suite, answers, index, base), _by_functionality(suite, answers, index, base)]
    identities = answers.table["identity"].drop_nulls().unique().sort().to_list()
    if len(identities) > 1:
        grids.append(identity_grid(suite.name, identities, index, base))
        grids.append(_between_grid(suite.name, index, base))
    failures = _failure_grid(suite.name, answers)
    if failures.rows:
        grids.append(failures)
    return Section(
        f"Suite {suite.name}",
        list(_words(suite, answers, index, base)),
        findings,
        [_parts_figure(suite.name, answers, index, base)],
        cases=_cases(answers, with_text),
        grids=grids,
    )


def _parts_figure(name: str, answers: Answers, index: Index, base: Mapping[str, str]) -> Figure:
    """Accuracy by section, or by functionality and label where sections say no more."""
    sections = answers.table["section"].unique().sort().to_list()
    by = "section" if len(sections) < answers.table["functionality"].n_unique() else "functionality"
    names = answers.table[by].unique().sort().to_list()
    shown = [index.get("accuracy", **base, **{by: value}) for value in names]
    return bars(
        f"{name}: share answered rightly, by {by}",
        names,
        [finding.value if finding else None for finding in shown],
        low=[finding.low if finding else None for finding in shown],
        high=[finding.high if finding else None for finding in shown],
        axis="accuracy",
        caption="95 % intervals over templates.",
    )


def sentence(suite: str, index: Index, base: Mapping[str, str]) -> str:
    """The suite in plain words, beside the best constant answer."""
    found = index.get("accuracy", **base)
    if found is None or found.value is None:
        return f"{suite}: no figure."
    words = f"{suite}: {_percent(found)} of {count(found.n)} cases are answered rightly"
    constant = best_constant(index, **base)
    words += f", where always the same answer gets {percent(constant)}" if constant else ""
    missed, alarms = (index.get("accuracy", **base, label=label) for label in (HATEFUL, OTHER))
    if missed and missed.value is not None and alarms and alarms.value is not None:
        words += (
            f". It misses {percent(1 - missed.value)} of the hateful cases and flags "
            f"{percent(1 - alarms.value)} of the harmless ones"
        )
    return f"{words}."


def _percent(finding: Finding) -> str:
    value = f"{100 * (finding.value or 0):.0f} %"
    if finding.low is None or finding.high is None:
        return value
    return f"{value} [{100 * finding.low:.0f}, {100 * finding.high:.0f}]"


def best_constant(index: Index, **group: str | int) -> float | None:
    """Accuracy of the better constant answer."""
    values = [index.value("accuracy", **group, baseline=name) for name in CONSTANTS]
    known = [value for value in values if value is not None]
    return max(known) if known else None


def _words(suite: Suite, answers: Answers, index: Index, base: Mapping[str, str]) -> Iterator[str]:
    yield f"{suite.title}. {sentence(suite.name, index, base)}"
    yield validation_words(suite, index, base)
    matched = index.get("emoji_difference", **base, form=MATCHED)
    if matched is not None:
        parts = [
            f"{form} {figure(index.get('emoji_difference', **base, form=form))}"
            for form in (MATCHED, WITHOUT_APPEND, AS_PRINTED)
        ]
        yield (
            "Emoji difference (accuracy on originals minus accuracy on the same without emoji): "
            f"{'; '.join(parts)}."
        )
    if answers.failed:
        reasons = sorted(set(answers.failed.values()))[:3]
        yield (
            f"The detector failed on {count(len(answers.failed))} cases, which count as answered "
            f"wrongly: {'; '.join(reasons)}."
        )
    yield from suite.corpus.notes


def _overall(suite: Suite, answers: Answers, index: Index, base: Mapping[str, str]) -> Grid:
    table = answers.table
    groups: list[tuple[str, dict[str, str]]] = [("all cases", {})]
    groups += [(f"label: {label}", {"label": label}) for label in (HATEFUL, OTHER)]
    for name in ("set", "section"):
        values = table[name].unique().sort().to_list()
        if 1 < len(values) < table["functionality"].n_unique():
            groups += [(f"{name}: {value}", {name: value}) for value in values]
    rows = []
    for words, group in groups:
        found = index.get("accuracy", **base, **group)
        if found is not None:
            constant = best_constant(index, **base, **group)
            rows.append([words, count(found.n), figure(found), number(constant)])
    return Grid(
        f"{suite.name}_overall",
        f"{suite.name}: accuracy beside the best constant answer",
        ("cases", "n", "accuracy", "best constant"),
        rows,
    )


def _by_functionality(
    suite: Suite, answers: Answers, index: Index, base: Mapping[str, str]
) -> Grid:
    cells = answers.table.group_by("functionality", "set").agg(
        pl.col("hateful").first(), wrong=(~pl.col("right")).sum()
    )
    order = pl.when(pl.col("set") == ORIGINAL).then(0).otherwise(1)
    rows = []
    for functionality, set_, hateful, wrong in cells.sort("functionality", order, "set").rows():
        label = HATEFUL if hateful else OTHER
        group = {"functionality": functionality, "set": set_, "label": label}
        found = index.get("accuracy", **base, **group)
        n = count(found.n) if found else ""
        rows.append([functionality, set_, label, n, count(wrong), figure(found)])
    return Grid(
        f"{suite.name}_functionalities",
        f"{suite.name}: accuracy by functionality and set",
        ("functionality", "set", "right answer", "n", "wrong", "accuracy"),
        rows,
        words=3,
        narrow=(0, 1, 3, 5),
    )


def identity_grid(
    name: str, identities: Sequence[str], index: Index, base: Mapping[str, str]
) -> Grid:
    """Rates of every identity."""
    rows = []
    for identity in identities:
        cells = [index.get(rate, **base, identity=identity) for rate in RATES]
        n = cells[0].n if cells[0] else 0
        rows.append([identity, count(n), *(figure(cell) for cell in cells)])
    return Grid(
        f"{name}_identities",
        f"{name}: what is done to whom",
        ("identity", "n", *_RATE_HEADINGS),
        rows,
        narrow=(0, 1, 4, 5),
    )


def _between_grid(name: str, index: Index, base: Mapping[str, str]) -> Grid:
    """Gaps and ratios between identities beside what chance and the constant answers give."""
    rows = []
    for measure, words in _BETWEEN.items():
        for which in (COMPARABLE, {}) if measure.endswith("_gap") else ({},):
            found = index.get(measure, **base, **which)
            constants = (index.get(measure, **base, baseline=name) for name in CONSTANTS)
            rows.append(
                [
                    words,
                    "comparable" if which else "all",
                    count(found.n) if found else "",
                    figure(found),
                    figure(index.get(f"{measure}_shuffled", **base, **which)),
                    figure(index.get(f"{measure}_p", **base, **which)) if which else "",
                    *("" if measure.endswith("_gap") else figure(one) for one in constants),
                ]
            )
    return Grid(
        f"{name}_between",
        f"{name}: between identities; comparable cases differ in nothing else (p uncorrected)",
        ("measure", "cases", "n", "found", "by chance", "p", "always hateful", "never hateful"),
        rows,
        words=2,
        narrow=(0, 1, 3, 4, 5),
    )


def _failure_grid(name: str, answers: Answers) -> Grid:
    """The templates with the most wrong answers."""
    groups = answers.table.group_by("template", "set", "hateful").agg(
        n=pl.len(), wrong=(~pl.col("right")).sum()
    )
    failing = groups.filter(pl.col("wrong") > 0).sort(
        pl.col("wrong") / pl.col("n"),
        "wrong",
        "template",
        "set",
        descending=[True, True, False, False],
    )
    rows = [
        [template, set_, HATEFUL if hateful else OTHER, count(n), count(wrong)]
        for template, set_, hateful, n, wrong in failing.head(_MOST_TEMPLATES).rows()
    ]
    shown = f"the {count(len(rows))} worst of {count(failing.height)}"
    return Grid(
        f"{name}_failures",
        f"{name}: cases answered wrongly, by template and set ({shown}; answers.parquet has all)",
        ("template", "set", "right answer", "n", "wrong"),
        rows,
        words=3,
    )


def _cases(answers: Answers, with_text: bool) -> list[Case]:
    """One wrong case of each functionality and set in turn, the surest mistakes first."""
    sure = (pl.col("p") - answers.threshold).abs().fill_null(1.0)
    wrong = answers.table.filter(~pl.col("right")).with_columns(sure=sure)
    wrong = wrong.sort("sure", "id", descending=[True, False])
    turn = pl.int_range(pl.len()).over("functionality", "set")
    shown = wrong.with_columns(turn=turn).sort(
        "turn", "sure", "id", descending=[False, True, False]
    )
    return [
        Case(id_, text if with_text else None)
        for id_, text in shown.head(_MOST_CASES).select("id", "shown").rows()
    ]
