"""What a detector gets wrong, each as a share and a plain sentence.

A *weakness* is the share of answers that go wrong, or change when they should not, read at the
conservative end of its interval. Differences between identities are claimed only where shuffling
the identities within the same sentences hardly ever gives as much, with all such claims of an audit
corrected together (Holm).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.audits.index import Index, figure
from evenhand.audits.suite_figures import MATCHED, ORIGINAL
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL
from evenhand.reports.numbers import count, percent
from evenhand.stats.multiple import holm

OPERATING = "operating"
TRANSFER = "transfer"
ALPHA = 0.025
"""A detector that cannot tell identities apart is called uneven in at most this share of audits."""
_GAPS = {
    "recall_gap": ("recall", "Finds hate"),
    "fpr_gap": ("fpr", "Raises false alarms"),
    "fped": ("fpr", "Raises false alarms"),
    "fned": ("fnr", "Misses abuse"),
}
"""What is tested → the rate that differs, and what is done."""
_SETS = {
    "identity_perturb": "the identity replaced by something unprotected",
    "polarity_perturb": "turned into something kind",
    "no_emoji_perturb": "the same without emoji",
}


@dataclass(frozen=True)
class Weakness:
    """Something a detector gets wrong."""

    kind: str
    """What it is about; the list of the worst keeps kinds apart."""
    finding: Finding
    at_least: float
    """How large it is at the conservative end of its interval."""
    sentence: str


@dataclass(frozen=True)
class Compared:
    """Everything that was looked at."""

    weaknesses: Sequence[Weakness]
    unclaimed: int
    """Differences between identities that were tested and are not claimed."""


def weaknesses(
    findings: Sequence[Finding],
    *,
    titles: Mapping[str, str] | None = None,
    swearing: Collection[str] = (),
) -> Compared:
    """All that is compared.

    ``titles`` are the words for a functionality; ``swearing`` the template sets that exchange swear
    words and no identities.
    """
    index = Index(findings)
    claims = uneven(findings, swearing=swearing)
    tested = len(_tested(findings, swearing))
    found = [
        *_suite_errors(findings, titles or {}),
        *_emoji(findings),
        *claims,
        *_flips(index, swearing),
        *_calibration(index),
        *_transfer(index),
    ]
    return Compared(found, tested - len(claims))


def _suite_errors(findings: Iterable[Finding], titles: Mapping[str, str]) -> Iterator[Weakness]:
    for finding in findings:
        group = finding.group
        single = finding.measure == "accuracy" and {"functionality", "set", "label"} <= set(group)
        if not single or finding.value is None:
            continue
        suite, functionality = str(group.get("suite", "")), str(group["functionality"])
        missed = group["label"] == HATEFUL
        name, set_ = titles.get(functionality, functionality.replace("_", " ")), str(group["set"])
        what = name if set_ == ORIGINAL else f"{name}, {_SETS.get(set_, set_.replace('_', ' '))}"
        low = 1 - (finding.high if finding.high is not None else 1.0)
        deed, cases = ("Misses", "hateful") if missed else ("Flags", "harmless")
        yield Weakness(
            f"{'misses' if missed else 'false alarms'} in {suite}",
            finding,
            low,
            f"{deed} {percent(1 - finding.value)} of {count(finding.n)} {cases} cases in {suite}: "
            f"{what} (at least {percent(low)}).",
        )


def _emoji(findings: Iterable[Finding]) -> Iterator[Weakness]:
    for finding in findings:
        form = finding.group.get("form")
        if finding.measure != "emoji_difference" or form != MATCHED or finding.value is None:
            continue
        low = -(finding.high if finding.high is not None else 0.0)
        yield Weakness(
            "emoji",
            finding,
            low,
            f"Gets {_points(-finding.value)} fewer right when the same thing is said with emoji, "
            f"in {finding.group.get('suite', 'the suite')} (at least {_points(low)}; "
            f"{count(finding.n)} cases).",
        )


def uneven(findings: Sequence[Finding], *, swearing: Collection[str] = ()) -> list[Weakness]:
    """Differences between identities that chance does not explain, corrected together."""
    index = Index(findings)
    tested = _tested(findings, swearing)
    found = []
    for p, adjusted in zip(tested, holm([p.value or 0.0 for p in tested]), strict=True):
        measure = p.measure.removesuffix("_p")
        # A sum over groups is no share: of the sets, the group that is furthest off is shown.
        gap = index.get(measure if measure.endswith("_gap") else f"{measure}_max", **p.group)
        if adjusted <= ALPHA and gap is not None and gap.value is not None:
            low = gap.low if gap.low is not None else gap.value
            found.append(Weakness("unevenness", gap, low, _uneven_words(measure, gap, index)))
    return found


def _tested(findings: Iterable[Finding], swearing: Collection[str]) -> list[Finding]:
    """The p-values of differences between identities, at the threshold in use."""
    return [
        finding
        for finding in findings
        if finding.measure.removesuffix("_p") in _GAPS
        and finding.measure.endswith("_p")
        and finding.value is not None
        and finding.group.get("threshold", OPERATING) == OPERATING
        and finding.group.get("templates") not in swearing
    ]


def _uneven_words(measure: str, gap: Finding, index: Index) -> str:
    rate, deed = _GAPS[measure]
    own = {key: value for key, value in gap.group.items() if key != "cases"}
    known = {
        str(next(iter(more.values()))): finding.value
        for finding in index.all(rate)
        if finding.value is not None
        and own.items() <= finding.group.items()
        and len(more := {k: v for k, v in finding.group.items() if k not in own}) == 1
        and set(more) <= {"identity", "group"}
    }
    most, least = max(known, key=lambda g: known[g]), min(known, key=lambda g: known[g])
    if "suite" in gap.group:
        chance = index.value(f"{measure}_shuffled", **gap.group)
        return (
            f"{deed} unevenly in {gap.group['suite']}: most often for {most}, least for {least}; "
            f"in {count(gap.n)} comparable cases the two ends are {_points(gap.value or 0)} apart, "
            f"where chance gives {_points(chance or 0)}."
        )
    spread = f"{percent(known[most])} for {most}, {percent(known[least])} for {least}"
    swapped = index.get(f"{measure}_swapped", **gap.group)
    total = index.value(measure, **gap.group) or 0.0
    by_terms = swapped is not None and swapped.high is not None and total <= swapped.high
    also = " (single terms differ as much as the groups do)" if by_terms else ""
    return (
        f"{deed} unevenly over the terms of the {gap.group.get('templates')} templates: "
        f"{spread}{also}."
    )


def _flips(index: Index, swearing: Collection[str]) -> Iterator[Weakness]:
    """Of each template set the threshold at which most pairs surely flip."""
    worst: dict[str, Finding] = {}
    for finding in index.all("identity_flip_rate"):
        name = str(finding.group.get("templates", ""))
        if finding.value is None or "label" in finding.group:
            continue
        if name not in worst or (finding.low or 0.0) > (worst[name].low or 0.0):
            worst[name] = finding
    for name, finding in worst.items():
        low = finding.low if finding.low is not None else 0.0
        profane = name in swearing
        change = (
            "when a swear word stands for an ordinary one"
            if profane
            else "in which only the identity differs"
        )
        threshold = str(finding.group.get("threshold", OPERATING))
        where = ""
        if threshold != OPERATING:
            used = index.value("identity_flip_rate", templates=name, threshold=OPERATING)
            where = f"; at the threshold of {threshold}, {percent(used or 0.0)} at that in use"
        auc = figure(index.get("auc", templates=name), interval=False)
        yield Weakness(
            "profanity" if profane else "identity flips",
            finding,
            low,
            f"Changes its answer in {percent(finding.value or 0)} of {count(finding.n)} pairs of "
            f"sentences {change} (at least {percent(low)}; {name} templates, AUC {auc}{where}).",
        )


def _calibration(index: Index) -> Iterator[Weakness]:
    for finding in index.all("calibration_error"):
        if finding.value is None:
            continue
        chance = index.value("calibration_error_chance", **finding.group) or 0.0
        low = finding.low if finding.low is not None else 0.0
        yield Weakness(
            "calibration",
            finding,
            low,
            f"Its scores are {_points(finding.value)} off the share that is really hateful on "
            f"{finding.group.get('corpus', 'the labelled corpus')} (at least {_points(low)}, "
            f"{count(finding.n)} posts; a score that meant what it says would show "
            f"{_points(chance)}).",
        )


def _transfer(index: Index) -> Iterator[Weakness]:
    for finding in index.all("recall"):
        if finding.value is None or finding.group.get("on") != TRANSFER:
            continue
        rate = index.value("base_rate", **finding.group)
        positives = round((rate or 0.0) * finding.n)
        high = finding.high if finding.high is not None else 1.0
        yield Weakness(
            TRANSFER,
            finding,
            1 - high,
            f"Misses {percent(1 - finding.value)} of {count(positives)} hateful posts in "
            f"{finding.group['corpus']} (at least {percent(1 - high)}).",
        )


def _points(share: float) -> str:
    if 0 < share < 0.005:
        return "under 1 point"
    points = f"{100 * share:.0f}"
    return f"{points} point{'' if points == '1' else 's'}"
