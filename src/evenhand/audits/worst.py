"""The worst findings of an audit, in plain sentences.

Every *weakness* is a share of answers that go wrong (or change when they should not), read at the
conservative end of its interval: "at least 79 % are missed" ranks below "at least 85 %", whatever
the figures in the middle. A weakness without an interval cannot be ranked and is only counted.

Errors on single functionalities are so many that they would fill any list, so kinds take turns:
the worst of each kind has a place before the second of any; the list says how many were compared.
Differences between identities are claimed only where shuffling the identities within the same
sentences hardly ever gives as much, with all such claims of the audit corrected together (Holm).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.audits.suite_figures import MATCHED
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL
from evenhand.stats.intervals import wilson
from evenhand.stats.multiple import holm

MOST = 10
_FLOOR = 0.01
"""Weaknesses that may be smaller than this are not worth a sentence."""
ALPHA = 0.05
PROFANITY = "profanity"
OPERATING = "operating"
TRANSFER = "transfer"

Key = tuple[str, tuple[tuple[str, str | int], ...]]


@dataclass(frozen=True)
class Weakness:
    """Something a detector gets wrong."""

    kind: str
    """What it is about; the list keeps kinds apart."""
    finding: Finding
    at_least: float
    """How large it is at the conservative end of its interval."""
    sentence: str


@dataclass(frozen=True)
class Worst:
    """The list, and what it was chosen from."""

    listed: Sequence[Weakness]
    compared: int
    unranked: int
    """Weaknesses without an interval."""


def worst(findings: Sequence[Finding], *, titles: Mapping[str, str] | None = None) -> Worst:
    """The ten worst of an audit's findings; ``titles`` are the words for a functionality."""
    every = list(weaknesses(findings, titles or {}))
    ranked = sorted(
        (w for w in every if w.finding.low is not None),
        key=lambda w: (-w.at_least, w.kind, w.sentence),
    )
    bad = [weakness for weakness in ranked if weakness.at_least > _FLOOR]
    chosen = sorted(_by_turns(bad)[:MOST], key=lambda w: -w.at_least)
    return Worst(chosen, len(every), len(every) - len(ranked))


def _by_turns(ranked: Sequence[Weakness]) -> list[Weakness]:
    """The worst of each kind, then the second of each, and so on."""
    turn: Counter[str] = Counter()
    turns = []
    for weakness in ranked:
        turns.append(turn[weakness.kind])
        turn[weakness.kind] += 1
    return [ranked[at] for at in sorted(range(len(ranked)), key=lambda at: turns[at])]


def weaknesses(findings: Sequence[Finding], titles: Mapping[str, str]) -> Iterator[Weakness]:
    """Everything that is compared."""
    yield from _suite_errors(findings, titles)
    yield from _emoji(findings)
    yield from _gaps(findings)
    yield from _flips(findings)
    yield from _calibration(findings)
    yield from _transfer(findings)


def _suite_errors(findings: Iterable[Finding], titles: Mapping[str, str]) -> Iterator[Weakness]:
    for finding in findings:
        group = finding.group
        single = finding.measure == "accuracy" and {"functionality", "set", "label"} <= set(group)
        if not single or finding.value is None:
            continue
        suite, functionality = str(group.get("suite", "")), str(group["functionality"])
        missed = group["label"] == HATEFUL
        name = titles.get(functionality, functionality.replace("_", " "))
        what = f"{name}, {_set_words(str(group['set']))}" if group["set"] != "orig" else name
        low = 1 - (finding.high if finding.high is not None else 1.0)
        kind = f"{'misses' if missed else 'false alarms'} in {suite}"
        deed, cases = ("Misses", "hateful") if missed else ("Flags", "harmless")
        yield Weakness(
            kind,
            finding,
            low,
            f"{deed} {_percent(1 - finding.value)} of {finding.n} {cases} cases in {suite}: "
            f"{what} (at least {_percent(low)}).",
        )


def _set_words(name: str) -> str:
    return {
        "identity_perturb": "the identity replaced by something unprotected",
        "polarity_perturb": "turned into something kind",
        "no_emoji_perturb": "the same without emoji",
    }.get(name, name.replace("_", " "))


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
            f"{finding.n} cases).",
        )


def _gaps(findings: Sequence[Finding]) -> Iterator[Weakness]:
    """Gaps between identities that chance does not explain, all of an audit corrected together."""
    by_key = {_key(finding): finding for finding in findings}
    ps = [f for f in findings if f.measure in _CLAIMS and f.value is not None and _counts(f)]
    for finding, adjusted in zip(ps, holm([p.value or 0.0 for p in ps]), strict=True):
        measure = finding.measure.removesuffix("_p")
        gap = by_key.get((measure, _key(finding)[1]))
        chance = by_key.get((f"{measure}_shuffled", _key(finding)[1]))
        if adjusted > ALPHA or gap is None or gap.value is None:
            continue
        expected = chance.value if chance and chance.value is not None else 0.0
        low = gap.low if gap.low is not None else gap.value
        if measure in _SUMS:  # of distances: above 0 by chance in every resample
            low -= expected
        rate, words = _CLAIMS[finding.measure]
        yield Weakness(
            "unevenness",
            gap,
            low,
            f"{words} unevenly in {_where(gap)}: {_extremes(findings, rate, gap.group)}; "
            f"{_points(gap.value)} in all, where chance gives {_points(expected)}.",
        )


def _extremes(findings: Iterable[Finding], rate: str, group: Mapping[str, str | int]) -> str:
    """The groups with the highest and the lowest rate."""
    known = {
        str(next(iter(more.values()))): finding.value
        for finding in findings
        if finding.measure == rate
        and finding.value is not None
        and group.items() <= finding.group.items()
        and len(more := {k: v for k, v in finding.group.items() if k not in group}) == 1
        and set(more) <= {"identity", "group"}
    }
    if not known:
        return "the groups differ"
    most, least = max(known, key=lambda g: known[g]), min(known, key=lambda g: known[g])
    return f"{_percent(known[most])} for {most}, {_percent(known[least])} for {least}"


def uneven(findings: Sequence[Finding]) -> list[Weakness]:
    """What is called uneven in these findings."""
    return list(_gaps(findings))


_CLAIMS = {
    "recall_gap_p": ("recall", "Finds hate"),
    "fpr_gap_p": ("fpr", "Raises false alarms"),
    "fped_p": ("fpr", "Raises false alarms"),
    "fned_p": ("fnr", "Misses abuse"),
}
"""p-value of a gap → the rate that differs, and what is done."""
_SUMS = ("fped", "fned")


def _counts(finding: Finding) -> bool:
    """Whether a claim is made of it: template sets at the threshold in use, identities only."""
    return (
        finding.group.get("threshold", OPERATING) == OPERATING
        and finding.group.get("templates") != PROFANITY
    )


def _where(finding: Finding) -> str:
    if "suite" in finding.group:
        return str(finding.group["suite"])
    return f"the {finding.group.get('templates', 'identity')} templates"


def _flips(findings: Iterable[Finding]) -> Iterator[Weakness]:
    for finding in findings:
        group = finding.group
        if finding.measure != "identity_flip_rate" or finding.value is None or "label" in group:
            continue
        low = finding.low if finding.low is not None else 0.0
        profane = group.get("templates") == PROFANITY
        change = (
            "a swear word stands for an ordinary one"
            if profane
            else "one identity stands for another"
        )
        where = "" if profane else f", {group.get('templates', '')} templates"
        threshold = str(group.get("threshold", OPERATING))
        where += "" if threshold == OPERATING else f", threshold of {threshold}"
        yield Weakness(
            PROFANITY if profane else "identity flips",
            finding,
            low,
            f"Changes its answer in {_percent(finding.value)} of {finding.n:,} pairs of sentences "
            f"when {change} (at least {_percent(low)}{where}).",
        )


def _calibration(findings: Sequence[Finding]) -> Iterator[Weakness]:
    by_key = {_key(finding): finding for finding in findings}
    for finding in findings:
        if finding.measure != "calibration_error" or finding.value is None:
            continue
        chance = by_key.get(("calibration_error_chance", _key(finding)[1]))
        expected = chance.value if chance and chance.value is not None else 0.0
        low = (finding.low if finding.low is not None else 0.0) - expected
        yield Weakness(
            "calibration",
            finding,
            low,
            f"Its scores are {_points(finding.value)} off the share that is really hateful on "
            f"{finding.group.get('corpus', 'the labelled corpus')} "
            f"(a score that meant what it says would show {_points(expected)}).",
        )


def _transfer(findings: Sequence[Finding]) -> Iterator[Weakness]:
    by_key = {_key(finding): finding for finding in findings}
    for finding in findings:
        corpus = finding.group.get("corpus")
        if finding.measure != "recall" or finding.value is None:
            continue
        if finding.group.get("on") != TRANSFER:
            continue
        high = finding.high if finding.high is not None else 1.0
        rate = by_key.get(("base_rate", _key(finding)[1]))
        positives = round((rate.value or 0.0) * finding.n) if rate else 0
        if high == finding.low and positives:  # resamples of all alike cannot differ
            high = wilson(round(finding.value * positives), positives)[1]
        yield Weakness(
            TRANSFER,
            finding,
            1 - high,
            f"Misses {_percent(1 - finding.value)} of the hateful posts in {corpus} (at least "
            f"{_percent(1 - high)}; {finding.n:,} posts).",
        )


def _key(finding: Finding) -> Key:
    return finding.measure, tuple(sorted(finding.group.items()))


def _percent(share: float) -> str:
    """A share in words; what is merely close to none or all never reads as 0 or 100 %."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def _points(share: float) -> str:
    return f"{100 * share:.0f} points"
