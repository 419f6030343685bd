"""The report card's own parts: the worst findings, the comparison, limits, how to repeat it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from evenhand.audits.against import verdicts
from evenhand.audits.index import Index, figure
from evenhand.audits.weaknesses import OPERATING, Weakness
from evenhand.audits.worst import MOST, Worst
from evenhand.core.records import Finding
from evenhand.reports import LIMITS, Grid, Section
from evenhand.reports.numbers import count, percent
from evenhand.reports.wording import group_text


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
        f
        for f in index.all("identity_flip_rate")
        if f.group.get("threshold") == OPERATING and "label" not in f.group and f.value is not None
    ]
    identities = [f for f in flips if f.group.get("templates") not in swearing]
    if identities:
        worst = max(identities, key=lambda f: f.value or 0.0)
        yield (
            f"One identity in place of another changes its answer in up to "
            f"{percent(worst.value or 0)} of otherwise equal pairs of sentences "
            f"({worst.group.get('templates')} templates, {count(worst.n)} pairs)."
        )
    if uneven:
        yield (
            f"It treats identities unevenly beyond chance in {len(uneven)} of the comparisons "
            "(corrected together)."
        )
    elif identities:
        yield "No unevenness between identities beyond chance was found; that does not prove none."


def against_section(other: str, findings: Sequence[Finding]) -> Section:
    """Where the detector is worse or better than another."""
    worse, better = verdicts(findings)
    compared = [f for f in findings if f.measure == "accuracy_difference"]
    words = [against_sentence(other, findings)]
    if not (worse or better):
        words.append("A difference that is not shown is not shown to be absent.")
    p = Index(findings)
    rows = []
    for finding in [*worse, *better]:
        group = {k: v for k, v in finding.group.items() if k != "against"}
        adjusted = p.get("accuracy_difference_p", **finding.group)
        verdict = "worse" if (finding.value or 0) < 0 else "better"
        rows.append(
            [group_text(group), verdict, count(finding.n), figure(finding), figure(adjusted)]
        )
    grid = Grid(
        "against",
        f"Beside {other}: what differs, of {count(len(compared))} comparisons",
        ("cases", "verdict", "n", "accuracy difference", "p (Holm)"),
        rows,
        words=2,
    )
    return Section(f"Against {other}", words, findings, grids=[grid] if rows else [])


def against_sentence(other: str, findings: Sequence[Finding]) -> str:
    """Whether the detector is worse than the other anywhere."""
    worse, better = verdicts(findings)
    compared = sum(f.measure == "accuracy_difference" for f in findings)
    first = f"worse in {len(worse)}" if worse else "worse in none"
    where = ""
    if worse:
        group = {k: v for k, v in worst_first(worse).group.items() if k != "against"}
        where = f" (most: {group_text(group)}, {figure(worst_first(worse))})"
    return (
        f"Beside {other}, of {count(compared)} comparisons of accuracy, corrected together: "
        f"{first}{where}, better in {len(better)}."
    )


def worst_first(findings: Sequence[Finding]) -> Finding:
    """The finding with the lowest value."""
    return min(findings, key=lambda finding: finding.value or 0.0)


def gates_section(total: int, broken: Sequence[str]) -> Section:
    """Which gates did not hold."""
    words = [f"{total - len(broken)} of {total} gates hold."]
    return Section("Gates", [*words, *(f"Broken: {why}" for why in broken)])


def limits_section(notes: Sequence[str]) -> Section:
    """What the card does not say."""
    return Section(
        "Limits",
        [
            "Passing a suite shows the absence of these weaknesses only; templates are not people, "
            "and nobody wrote these sentences to anybody.",
            "The suites are in English, their identities are few and never combined, and the right "
            "answers are ours unless a section says that people judged them.",
            "What a score means on your site is not known without labels from your site.",
            *notes,
            LIMITS,
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
