"""Kirk's tables in sentences: what is installed, what follows from print, what a detector gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from evenhand.audits.answers import HALF
from evenhand.audits.index import Index, figure
from evenhand.audits.suite_figures import AS_PRINTED, MATCHED, WITHOUT_APPEND
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.reports.numbers import count, number
from evenhand.stats.group_rates import COMPARABLE
from evenhand.studies.kirk_rows import ALWAYS, verdict
from evenhand.studies.kirk_sets import ROUNDS, SUITES, AnyDetector, Bench
from evenhand.studies.kirk_tables import (
    ALL_ROUNDS,
    CHECK,
    EMOJI_ROUNDS,
    MODELS,
    NAMES,
    SETS,
    TABLE_8,
    TEXT_ROUNDS,
    rounds_disagree,
)

RULE = (
    "Better is said where our lower bound exceeds the printed figure, worse where our upper bound "
    "is below it, level of what lies between; without an interval nothing is said. Each is read by "
    "itself, not corrected for their number."
)
_WAYS = {"better": "better than", "level": "level with", "worse": "worse than"}


def installed(bench: Bench, on: str, detectors: Sequence[AnyDetector]) -> Iterator[str]:
    """How much of a set is there, and what of it was not used."""
    name, n = NAMES.get(on, on), bench.size(on)
    if isinstance(n, str):
        yield f"{name}: {n}."
        return
    if n != SETS[on]:
        yield (
            f"{name}: {count(n)} are installed, {count(SETS[on])} are in the paper. Ours are of "
            "the former: a comparison with printed rows holds as far as they stand for all."
        )
    for detector in detectors:
        parts = (on,) if on in SUITES else ROUNDS[on]
        left = sum(bench.left_out.get((detector.name, part), 0) for part in parts)
        if left:
            reason = "or on others of their template" if on in SUITES else "or on copies"
            yield (
                f"{name}: {count(left)} left out for {detector.name}, which was trained on them "
                f"{reason}."
            )


def failed(ours: Sequence[Finding]) -> Iterator[str]:
    """Who failed on how many texts."""
    for found in ours:
        if found.measure == "unscored" and found.value:
            where = NAMES.get(str(found.group.get("on", CHECK)), found.group.get("on"))
            yield (
                f"{found.group['detector']} failed on {count(found.value)} texts of {where}, which "
                "count as answered wrongly."
            )


def about_rounds() -> str:
    """Which printed accuracies on all rounds do not fit their parts."""
    off, names = rounds_disagree(), list(SETS)
    whole, *parts = (names.index(name) for name in (ALL_ROUNDS, EMOJI_ROUNDS, TEXT_ROUNDS))
    above = [
        row for row in off if TABLE_8[row][whole][0] > max(TABLE_8[row][at][0] for at in parts)
    ]
    return (
        "The accuracy printed for all rounds is the mean of its two parts in "
        f"{len(TABLE_8) - len(off)} of {len(TABLE_8)} rows; that of {', '.join(above)} lies above "
        "both parts."
    )


def summary(
    bench: Bench, detectors: Sequence[AnyDetector], found: Sequence[Finding]
) -> Iterator[str]:
    """Sentences for a reader in a hurry."""
    printed = Index(f for f in found if f.origin == "published")
    ours = Index(f for f in found if f.origin == "data")
    tables = {str(f.group.get("table")) for f in found}
    yield from _sample(bench, tables)
    if "3" in tables:
        yield _emoji(printed)
    if "8" in tables:
        yield _below_constants(printed)
        yield about_rounds()
    for detector in detectors:
        yield from _detector(bench, detector, ours, tables)
    if not detectors:
        yield "Only printed figures and constant answers: name detectors with --detector."
    elif ours.all("difference_from_paper"):
        yield RULE


def _sample(bench: Bench, tables: set[str]) -> Iterator[str]:
    sizes = {on: bench.size(on) for on in (SETS if "8" in tables else (CHECK,))}
    words = [
        f"{count(n)} of the {count(SETS[on])} cases of {NAMES[on]}"
        for on, n in sizes.items()
        if on in SUITES and isinstance(n, int) and n < SETS[on]
    ]
    if words:
        yield f"Only a sample is installed: {', '.join(words)}."
    for why in dict.fromkeys(n for n in sizes.values() if isinstance(n, str)):
        yield f"{why[0].upper()}{why[1:]}."


def _emoji(printed: Index) -> str:
    def of(model: str, form: str) -> str:
        own = {"table": "3", "detector": model, "form": form}
        return number(printed.value("emoji_difference", **own))

    pairs = [f"{model} {of(model, AS_PRINTED)} → {of(model, WITHOUT_APPEND)}" for model in MODELS]
    return (
        "The printed overall emoji differences include append, for which the paper calls the "
        f"difference undefined; without it: {', '.join(pairs)}."
    )


def _below_constants(printed: Index) -> str:
    words = []
    for name, measure, label in (("accuracy", "accuracy", {}), ("F1", "f1", {"label": HATEFUL})):
        own = {"table": "8", "on": CHECK, **label}
        always = printed.value(measure, **own, baseline=ALWAYS) or 0.0
        below = [r for r in TABLE_8 if (printed.value(measure, **own, detector=r) or 0.0) < always]
        words.append(f"{name} {number(always)} (below it: {', '.join(below)})")
    return f"Always hateful gets on HatemojiCheck {' and '.join(words)}."


def _detector(bench: Bench, detector: AnyDetector, ours: Index, tables: set[str]) -> Iterator[str]:
    name = detector.name
    own = {"detector": name}
    yield f"{name} is judged by its {bench.judged_by(detector)} score, from {HALF} on."
    if "3" in tables and (accuracy := _exists(ours, table="3", **own)):
        matched = ours.get("emoji_difference", table="3", **own, form=MATCHED)
        always = number(ours.value("accuracy", table="3", baseline=ALWAYS))
        difference = _with_n(matched) if matched else figure(matched)
        yield (
            f"{name}: accuracy {_with_n(accuracy)} on HatemojiCheck, "
            f"{_against(accuracy, ours, MODELS)}; always hateful gets {always} there. Emoji "
            f"difference, template-matched: {difference}."
        )
    if "4" in tables and (tally := _tally(ours, name)):
        yield tally
    for on in SETS if "8" in tables else ():
        accuracy = _exists(ours, table="8", **own, on=on)
        if accuracy and (on != CHECK or "3" not in tables):
            always = number(ours.value("accuracy", table="8", baseline=ALWAYS, on=on))
            yield (
                f"{name}: accuracy {_with_n(accuracy)} on {NAMES.get(on, on)}, "
                f"{_against(accuracy, ours, list(TABLE_8))}; always hateful gets {always} there."
            )
    if "9" in tables and ours.get("recall_gap", table="9", **own):
        yield f"{name} between identities: {_between(ours, own)}."


def _exists(ours: Index, **group: str) -> Finding | None:
    found = ours.get("accuracy", **group)
    return found if found and found.value is not None else None


def _with_n(found: Finding) -> str:
    return f"{figure(found)} (n = {count(found.n)})"


def _against(found: Finding, ours: Index, names: Sequence[str]) -> str:
    """How an accuracy compares with printed rows."""
    group = {**found.group, "of": found.measure}
    judged: dict[str, list[str]] = {}
    for name in names:
        gap = ours.get("difference_from_paper", **group, against=name)
        judged.setdefault(verdict(gap), []).append(name)
    words = [f"{way} {', '.join(judged[end])}" for end, way in _WAYS.items() if end in judged]
    return "; ".join(words) or "without an interval, so not compared"


def _tally(ours: Index, name: str) -> str | None:
    """How many sets of table 4 are better, level or worse than those of the last model."""
    last = MODELS[-1]
    own = {"table": "4", "detector": name, "against": last}
    gaps = [f for f in ours.all("difference_from_paper") if own.items() <= f.group.items()]
    if not gaps:
        return None
    counted = Counter(map(verdict, gaps))
    words = [f"{counted[end]} {end}" for end in _WAYS]
    few = len(gaps) - sum(counted[end] for end in _WAYS)
    none = sum(gap.group["label"] == OTHER for gap in gaps)
    return (
        f"{name} beside {last} in {len(gaps)} sets of functionalities: {', '.join(words)}, {few} "
        f"with too few templates to say. Each has one right answer: who flags nothing is right in "
        f"{none} of them."
    )


def _between(ours: Index, own: Mapping[str, str]) -> str:
    words = []
    for measure, name in (("recall_gap", "recall"), ("fpr_gap", "false-positive rate")):
        gap, chance, p = (
            ours.get(f"{measure}{end}", table="9", **own, **COMPARABLE)
            for end in ("", "_shuffled", "_p")
        )
        words.append(
            f"gap in {name} {figure(gap)}, by chance {figure(chance, interval=False)} "
            f"(p = {figure(p)})"
        )
    return "; ".join(words)
