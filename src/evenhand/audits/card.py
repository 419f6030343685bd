"""The report card's own parts: the worst findings, the comparison, limits, how to repeat it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from evenhand.audits.against import verdicts
from evenhand.audits.index import Index, figure
from evenhand.audits.suite_figures import ORIGINAL
from evenhand.audits.weaknesses import OPERATING, Weakness
from evenhand.audits.worst import MOST, Worst
from evenhand.core.records import Finding
from evenhand.reports import Grid, Section
from evenhand.reports.numbers import count, percent


def worst_section(found: Worst) -> Section:
    """The worst findings in plain sentences."""
    words = [
        f"{count(found.compared)} possible weaknesses were compared"
        + (
            f" ({count(found.unranked)} had too few templates to be ranked)"
            if found.unranked
            else ""
        )
        + f". They are ranked by the conservative end of their intervals; kinds of weakness "
        f"take turns, so that one kind does not fill the {MOST} places.",
    ]
    if not found.listed:
        words.append("None of them is surely larger than one in a hundred.")
    return Section(
        "The ten worst findings",
        words,
        points=[weakness.sentence for weakness in found.listed],
    )


def brief(
    index: Index, uneven: Sequence[Weakness], swearing: Collection[str] = ()
) -> Iterator[str]:
    """What the identity measures say, in sentences."""
    flips = [
        finding
        for finding in index.all("identity_flip_rate")
        if finding.group.get("threshold") == OPERATING
        and "label" not in finding.group
        and finding.value is not None
        and finding.group.get("templates") not in swearing
    ]
    if flips:
        worst = max(flips, key=lambda finding: finding.value or 0.0)
        rate = percent(worst.value or 0.0)
        yield (
            f"One identity in place of another changes its answer in up to {rate} of otherwise "
            f"equal pairs of sentences ({worst.group.get('templates')} templates, "
            f"{count(worst.n)} pairs)."
            if worst.value
            else "One identity in place of another never changes its answer."
        )
    if uneven:
        yield (
            f"It treats identities unevenly beyond chance in {len(uneven)} of the comparisons "
            "(corrected together)."
        )
    elif flips:
        yield "No unevenness between identities beyond chance was found; that does not prove none."


def against_section(other: str, findings: Sequence[Finding]) -> Section:
    """Where the detector is worse or better than another."""
    worse, better = verdicts(findings)
    compared = [f for f in findings if f.measure == "accuracy_difference"]
    words = [against_sentence(other, findings)]
    if not (worse or better):
        words.append("A difference that is not shown is not shown to be absent.")
    index = Index(findings)
    rows = []
    for finding in [*worse, *better]:
        verdict = "worse" if (finding.value or 0) < 0 else "better"
        adjusted = index.get("accuracy_difference_p", **finding.group)
        cells = [figure(finding), count(finding.n), figure(adjusted)]
        rows.append([verdict, _cases_words(finding), *cells])
    grid = Grid(
        "against",
        f"Beside {other}: what differs, of {count(len(compared))} comparisons",
        ("verdict", "cases", "accuracy difference", "n", "p (Holm)"),
        rows,
        words=2,
    )
    return Section(f"Against {other}", words, findings, grids=[grid] if rows else [])


def _cases_words(finding: Finding) -> str:
    """Which cases a comparison is about."""
    group = {k: str(v) for k, v in finding.group.items() if k != "against"}
    suite = group.pop("suite", "")
    if group.get("set") == ORIGINAL and "functionality" in group:
        group.pop("set")
    return f"{suite}: {', '.join(group.values()) or 'all cases'}"


def against_sentence(other: str, findings: Sequence[Finding]) -> str:
    """Whether the detector is worse than the other anywhere."""
    worse, better = verdicts(findings)
    compared = sum(f.measure == "accuracy_difference" for f in findings)
    if not worse:
        first = "worse in none"
    else:
        first = f"worse in {len(worse)} (most in {_cases_words(worse[0])}, {figure(worse[0])})"
    return (
        f"Beside {other}, of {count(compared)} comparisons of accuracy, corrected together: "
        f"{first}, better in {len(better)}."
    )


def gates_section(judged: Sequence[tuple[str, str | None]]) -> Section:
    """Every gate, and why it broke."""
    broken = [why for _, why in judged if why is not None]
    rows = [[words, "holds" if why is None else f"broken: {why}"] for words, why in judged]
    grid = Grid("gates", "Gates", ("gate", "verdict"), rows, words=2)
    words = f"{len(judged) - len(broken)} of {len(judged)} gates hold."
    return Section("Gates", [words], grids=[grid])


def limits_section(notes: Sequence[str]) -> Section:
    """What the card does not say; the words at the foot of the page are not repeated."""
    return Section(
        "Limits",
        [
            "The suites are in English, their identities are few and never combined, and the right "
            "answers are ours unless a section says that people judged them.",
            "What a score means on your site is not known without labels from your site.",
            *dict.fromkeys(notes),
        ],
    )


def repeat_section(command: str, facts: Sequence[tuple[str, str]]) -> Section:
    """How to get the same card again."""
    rows = [list(fact) for fact in facts]
    return Section(
        "How to repeat it",
        [f"`{command}`", "The same command on the same files gives the same figures."],
        grids=[Grid("materials", "What was asked", ("what", "which"), rows, words=2)],
    )
