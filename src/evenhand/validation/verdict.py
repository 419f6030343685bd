"""What a validation shows, in plain words that claim no more than it does.

"Better than" is said only where the lower end of the interval lies above the other figure. A fall
between a random and an author-disjoint split is never blamed on authors alone: authors, their
topics and the period of collection cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.records import Finding
from evenhand.validation.lookups import FITTED
from evenhand.validation.plan import Plan

_CANNOT = (
    "Authors, their topics and the period of collection change together: the difference does not "
    "show which of them the detector relies on."
)


def verdict(findings: Sequence[Finding], plan: Plan, name: str) -> list[str]:
    """Sentences about the findings of one validation."""
    main = _find(findings, {})
    if main is None or main.value is None:
        return ["There is no macro-F1: " + (main.why or "" if main else "nothing was measured")]
    sentences = [
        f"{name}, {plan.protocol}: macro-F1 {_figure(main)} over {main.n:,} predictions of posts "
        f"not trained on ({_promise(plan)})."
    ]
    sentences += _against_baselines(findings, main)
    beside = _find(findings, {"baseline": "random-split"})
    drop = _find(findings, {"against": "random-split"}, "macro_f1_difference")
    if beside is not None and beside.value is not None and drop is not None:
        sentences.append(_fall(beside, drop))
    for finding in findings:
        if finding.measure == "macro_f1_difference" and "leak" in finding.group:
            sentences.append(_leak(finding))
        elif finding.measure == "macro_f1_difference" and "recipe" in finding.group:
            sentences.append(_paired(finding, name))
    return sentences


def _find(
    findings: Sequence[Finding], group: dict[str, str], measure: str = "macro_f1"
) -> Finding | None:
    wanted = (f for f in findings if f.measure == measure and dict(f.group) == group)
    return next(wanted, None)


def _figure(finding: Finding, sign: str = "") -> str:
    """A figure with its interval; ``sign`` is + where both signs are to be shown."""
    text = f"{finding.value:{sign}.3f}"
    if finding.low is not None and finding.high is not None:
        text += f" [{finding.low:{sign}.3f}, {finding.high:{sign}.3f}]"
    return text.replace("-", "−")


def _promise(plan: Plan) -> str:
    return plan.splits[0].rule if plan.splits else "no splits"


def _against_baselines(findings: Sequence[Finding], main: Finding) -> list[str]:
    others = [
        f
        for f in findings
        if f.measure == "macro_f1"
        and set(f.group) == {"baseline"}
        and f.group["baseline"] in FITTED
        and f.value is not None
    ]
    if not others:
        return []
    best = max(others, key=lambda f: f.value or 0)
    name = best.group["baseline"]
    if main.low is not None and best.value is not None and main.low > best.value:
        return [
            "That is above everything here that reads no text and knows no more than the training "
            f"side (best: {name}, {best.value:.3f})."
        ]
    return [
        f"That is not shown to be better than reading no text at all: {name} gets {best.value:.3f}."
    ]


def _fall(beside: Finding, drop: Finding) -> str:
    shown = drop.high is not None and drop.high < 0
    meaning = _CANNOT if shown else "No fall is shown when authors are kept apart."
    return (
        f"A random split with the same class counts gives {_figure(beside)}, a difference of "
        f"{_figure(drop, '+')}. {meaning}"
    )


def _leak(finding: Finding) -> str:
    return (
        f"With the leak {finding.group['leak']!r} macro-F1 moves by "
        f"{_figure(finding, '+')}: no figure of a detector, but of what the leak is worth."
    )


def _paired(finding: Finding, name: str) -> str:
    other = finding.group["recipe"]
    if finding.low is None or finding.high is None:
        words = f"{name} and {other} cannot be compared without an interval"
    elif finding.low > 0:
        words = f"{name} is better than {other}"
    elif finding.high < 0:
        words = f"{name} is worse than {other}"
    else:
        words = f"{name} and {other} are level"
    return f"{words} on the same folds: difference in macro-F1 {_figure(finding, '+')}."
