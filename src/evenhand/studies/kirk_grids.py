"""Kirk's tables for people to read: as printed, and on what is installed here; figure 2 as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evenhand.audits.index import Index, figure
from evenhand.audits.suite_figures import AS_PRINTED, MATCHED, WITHOUT_APPEND
from evenhand.audits.suite_section import RATES
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL
from evenhand.reports import Figure, Grid, bars
from evenhand.reports.numbers import NOTHING, count, number
from evenhand.stats.group_rates import COMPARABLE
from evenhand.studies.kirk_rows import ALWAYS, MEAN, NEVER, Group, verdict
from evenhand.studies.kirk_tables import (
    ALL_ROUNDS,
    MODELS,
    NAMES,
    RATIOS,
    SETS,
    TABLE_3,
    TABLE_4,
    TABLE_8,
    TABLE_9,
    label_of,
)

SHOWN = ("P-IA", "R8-T")
"""The printed rows that ours stand beside in grids; findings have all."""
TRUE_SHARE = "truly hateful"
_CONSTANTS = {ALWAYS: "always hateful", NEVER: "never hateful"}
_EMOJI = "emoji difference"
_FORMS = {
    AS_PRINTED: "emoji diff, as printed",
    WITHOUT_APPEND: "emoji diff, no append",
    MATCHED: "emoji diff, matched",
}
_SETS = {
    "orig": "originals",
    "identity_perturb": "identity perturbations",
    "polarity_perturb": "polarity perturbations",
    "no_emoji_perturb": "no-emoji perturbations",
}
_PANELS = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "fpr": "False-positive rate",
    "fnr": "False-negative rate",
    "selection_rate": "Selection rate (share flagged)",
}
_BESIDE = tuple(f"beside {name}" for name in SHOWN)


def name_of(who: Group) -> str:
    """A detector's name, or a constant answer in words."""
    [name] = who.values()
    return _CONSTANTS.get(str(name), str(name))


def words_of(part: Group) -> str:
    """Some cases of the suite in words."""
    set_ = str(part.get("set", ""))
    return str(part.get("label") or _SETS.get(set_, set_) or "all cases")


def printed_3(printed: Sequence[Finding]) -> Grid:
    """Table 3 in the paper's order, constant answers beside it."""
    index = Index(printed)
    who = [{"detector": model} for model in MODELS]
    who += [{"baseline": name} for name in _CONSTANTS]
    rows = []
    for part, (n, _) in TABLE_3.items():
        values = [index.value("accuracy", table="3", **own, **dict(part)) for own in who]
        rows.append([words_of(dict(part)), count(n), *map(number, values)])
    for form in (AS_PRINTED, WITHOUT_APPEND):
        values = [index.value("emoji_difference", table="3", **own, form=form) for own in who]
        rows.append([_FORMS[form], "", *map(number, values)])
    headings = ("cases", "n", *MODELS, "always", "never")
    title = "Table 3 as printed, constant answers, the emoji difference without append"
    return Grid("table_3", title, headings, rows)


def ours_3(ours: Sequence[Finding], gaps: Sequence[Finding], who: Sequence[Group]) -> Grid:
    """Accuracies and emoji differences on the installed cases."""
    index, compared = Index(ours), Index(gaps)
    rows = []
    for own in who:
        for part in TABLE_3:
            found = index.get("accuracy", table="3", **own, **dict(part))
            rows += _line([name_of(own), words_of(dict(part))], found, compared)
        for form, words in _FORMS.items():
            found = index.get("emoji_difference", table="3", **own, form=form)
            rows += _line([name_of(own), words], found, None)
    headings = ("detector", "cases", "n", "accuracy", *_BESIDE)
    title = "Table 3 on the installed cases"
    return Grid("table_3_here", title, headings, rows, words=2, narrow=range(4))


def _line(words: Sequence[str], found: Finding | None, compared: Index | None) -> list[list[str]]:
    """A line with a figure of ours; none where there is no such figure."""
    if found is None:
        return []
    beside = [""] * len(SHOWN) if compared is None else _beside(found, compared)
    return [[*words, count(found.n), figure(found), *beside]]


def _beside(found: Finding | None, compared: Index) -> list[str]:
    if found is None or "baseline" in found.group:
        return [""] * len(SHOWN)
    group = {**found.group, "of": found.measure}
    return [verdict(compared.get("difference_from_paper", **group, against=name)) for name in SHOWN]


def printed_4(printed: Sequence[Finding]) -> Grid:
    """Table 4 as printed."""
    index = Index(printed)
    rows = []
    for functionality, sets in TABLE_4.items():
        name = functionality.replace("_", " ")
        own = {"table": "4", "functionality": functionality}
        for set_, (n, _) in sets.items():
            part = {"set": set_, "label": label_of(functionality, set_)}
            values = [index.value("accuracy", **own, **part, detector=model) for model in MODELS]
            rows.append([name, _SETS[set_], part["label"], count(n), *map(_hundredths, values)])
        values = [index.value("emoji_difference", **own, detector=model) for model in MODELS]
        rows.append([name, _EMOJI, "", "", *map(_hundredths, values)])
    headings = ("functionality", "set", "right answer", "n", *MODELS)
    narrow = (0, 1, *range(4, len(headings)))
    return Grid("table_4", "Table 4 as printed", headings, rows, words=3, narrow=narrow)


def _hundredths(value: float | None) -> str:
    """A figure that is printed with two decimals: the third would be invented."""
    return NOTHING if value is None else number(value)[:-1]


def ours_4(ours: Sequence[Finding], gaps: Sequence[Finding], who: Sequence[Group]) -> Grid:
    """Accuracy by functionality and set on the installed cases, in the paper's order."""
    compared = Index(gaps)
    rows = []
    for own in who:
        mine = [f for f in ours if own.items() <= f.group.items() and "functionality" in f.group]
        for found in sorted(mine, key=_paper_order):
            functionality = str(found.group["functionality"]).replace("_", " ")
            set_ = str(found.group.get("set", _EMOJI))
            words = [name_of(own), functionality, _SETS.get(set_, set_)]
            rows += _line(words, found, compared if "set" in found.group else None)
    headings = ("detector", "functionality", "set", "n", "accuracy", *_BESIDE)
    title = "Table 4 on the installed cases"
    return Grid("table_4_here", title, headings, rows, words=3, narrow=range(1, 5))


def _paper_order(finding: Finding) -> tuple[int, str, int]:
    """Functionalities as in table 4 and unknown ones behind them, sets likewise."""
    name, set_ = str(finding.group["functionality"]), str(finding.group.get("set", ""))
    functionalities, sets = [*TABLE_4], [*_SETS]
    return (
        functionalities.index(name) if name in functionalities else len(functionalities),
        name,
        sets.index(set_) if set_ in sets else len(sets),
    )


def printed_8(printed: Sequence[Finding]) -> Grid:
    """Table 8 as printed, with the means of the parts of all rounds."""
    index = Index(printed)
    who = [{"detector": row} for row in TABLE_8] + [{"baseline": name} for name in _CONSTANTS]
    rows = []
    for own in who:
        cells = []
        for on in SETS:
            cells.append(number(index.value("accuracy", table="8", **own, on=on)))
            cells.append(number(index.value("f1", table="8", **own, on=on, label=HATEFUL)))
        mean = index.value("accuracy", table="8", **own, on=ALL_ROUNDS, form=MEAN)
        rows.append([name_of(own), *cells, number(mean)])
    headings = [
        heading for on in SETS for heading in (NAMES.get(on, on).removesuffix(" test"), "F1")
    ]
    return Grid(
        "table_8",
        "Table 8 as printed (accuracy and F1), and constant answers",
        ("model", *headings, "mean of parts"),
        rows,
        narrow=(0, 1, 2, 3, 4, 5, 7, 9),
    )


def ours_8(ours: Sequence[Finding], gaps: Sequence[Finding], who: Sequence[Group]) -> Grid:
    """Accuracy and F1 on the installed test sets."""
    index, compared = Index(ours), Index(gaps)
    rows = []
    for own in who:
        for on in SETS:
            accuracy = index.get("accuracy", table="8", **own, on=on)
            f1 = index.get("f1", table="8", **own, on=on, label=HATEFUL)
            if accuracy and (accuracy.value is not None or "detector" in own):
                cells = [figure(accuracy), figure(f1), *_beside(accuracy, compared)]
                rows.append([name_of(own), NAMES.get(on, on), count(accuracy.n), *cells])
    headings = ("detector", "test set", "n", "accuracy", "F1", *_BESIDE)
    title = "Table 8 on what is installed"
    return Grid("table_8_here", title, headings, rows, words=2, narrow=range(5))


def printed_9(printed: Sequence[Finding]) -> Grid:
    """Table 9 as printed."""
    index = Index(printed)
    who = [{"detector": row} for row in TABLE_9] + [{"baseline": name} for name in _CONSTANTS]
    rows = [
        [name_of(own), *(number(index.value(measure, table="9", **own)) for measure in RATIOS)]
        for own in who
    ]
    headings = ("model", "demographic parity ratio", "equalized odds ratio")
    return Grid("table_9", "Table 9 as printed, and constant answers", headings, rows)


def ours_9(ours: Sequence[Finding], who: Sequence[Group]) -> Grid:
    """Ratios and gaps between identities, each beside its value by chance."""
    index = Index(ours)
    rows = []
    for own in who:
        cells = []
        for measure in (*RATIOS, "recall_gap", "fpr_gap"):
            where = {"table": "9", **own, **({} if measure in RATIOS else COMPARABLE)}
            found = [index.get(f"{measure}{end}", **where) for end in ("", "_shuffled")]
            cells += [figure(found[0]), figure(found[1], interval=False)]
            if measure not in RATIOS:
                cells.append(figure(index.get(f"{measure}_p", **where)))
        rows.append([name_of(own), *cells])
    ratios = [heading for name in ("DPR", "EOR") for heading in (name, "by chance")]
    gaps = [heading for name in ("recall", "FPR") for heading in (f"{name} gap", "by chance", "p")]
    return Grid(
        "table_9_here",
        "Table 9 on the installed cases (gaps: comparable ones only)",
        ("detector", *ratios, *gaps),
        rows,
        narrow=range(5),
    )


def panels(ours: Sequence[Finding], names: Sequence[str]) -> Iterator[Figure]:
    """Figure 2: a panel for each rate, bars by identity and detector."""
    index = Index(ours)
    identities = sorted({str(f.group["identity"]) for f in ours if "identity" in f.group})
    for rate, title in _PANELS.items():
        found: dict[str, Finding | None] = {}
        for identity in identities:
            for name in names:
                label = f"{identity}: {name}" if len(names) > 1 else identity
                found[label] = index.get(rate, figure="2", detector=name, identity=identity)
            if rate == "selection_rate":
                share = index.get("label_share", figure="2", identity=identity, label=HATEFUL)
                found[f"{identity}: {TRUE_SHARE}"] = share
        if found:
            yield bars(
                title,
                list(found),
                [f.value if f else None for f in found.values()],
                low=[f.low if f else None for f in found.values()],
                high=[f.high if f else None for f in found.values()],
                caption=_caption(rate, names),
            )


def _caption(rate: str, names: Sequence[str]) -> str:
    whose = f"{names[0]} on HatemojiCheck" if len(names) == 1 else "By identity and detector"
    beside = "; below each, the share that is truly hateful" if rate == "selection_rate" else ""
    return f"{whose}{beside}. Lines are 95 % intervals over templates; a dash: no such case."


def shares_grid(ours: Sequence[Finding], names: Sequence[str]) -> Grid:
    """The numbers behind figure 2."""
    index = Index(ours)
    identities = sorted({str(f.group["identity"]) for f in ours if "identity" in f.group})
    rows = []
    for name in names:
        for identity in identities:
            own: Mapping[str, str] = {"figure": "2", "identity": identity}
            cells = [index.get(rate, **own, detector=name) for rate in RATES]
            share = index.get("label_share", **own, label=HATEFUL)
            n = count(share.n) if share else ""
            rows.append([name, identity, n, *map(figure, cells), figure(share)])
    headings = ("detector", "identity", "n", "accuracy", "precision", "recall", "FPR", "FNR")
    return Grid(
        "figure_2",
        "The numbers behind figure 2",
        (*headings, "flagged", TRUE_SHARE),
        rows,
        words=2,
        narrow=(0, 1, 2, 6, 7),
    )
