"""The words around a finding: its group, where it comes from, and what to know about it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evenhand.core.records import Finding
from evenhand.reports.numbers import count

SIMULATED = "simulated"

_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def printable(text: str) -> str:
    r"""Text without characters that could command a terminal, break a page or turn a line around.

    >>> printable("a\x1b[31mb\nc")
    'a�[31mb c'
    """
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\r\t\u2028\u2029":
        return " "
    if character in _TURNING:
        return ""
    broken = unicodedata.category(character) in ("Cc", "Cs") or character in "\ufffe\uffff"
    return "\ufffd" if broken else character


def group_text(group: Mapping[str, str | int]) -> str:
    """A group on one line.

    >>> group_text({"label": "racism", "top": 2})
    'label=racism · top=2'
    """
    return " · ".join(f"{printable(key)}={printable(str(value))}" for key, value in group.items())


def origin_mark(finding: Finding) -> str:
    """``simulated`` or ``published``; empty for a figure computed from data."""
    return "" if finding.origin == "data" else finding.origin


def remarks(finding: Finding, *, level: float | None = None) -> list[str]:
    """Why there is no value or interval, its level if not ``level``, whether weights were used."""
    parts = [printable(finding.why)] if finding.why else []
    if _has_interval(finding) and finding.level not in (None, level):
        parts.append(f"{_percent(finding.level or 0)} interval")
    if finding.weighted:
        effective = finding.n_effective
        parts.append("weighted" + (f", effective n {count(effective)}" if effective else ""))
    return parts


def note(finding: Finding, *, level: float | None = None) -> str:
    """Origin and remarks on one line."""
    mark = origin_mark(finding)
    return "; ".join([mark] * bool(mark) + remarks(finding, level=level))


def usual_level(findings: Iterable[Finding]) -> float | None:
    """The commonest confidence level (of equals the first), or None where none is stated."""
    levels = Counter(f.level for f in findings if f.level is not None and _has_interval(f))
    return levels.most_common(1)[0][0] if levels else None


def _has_interval(finding: Finding) -> bool:
    return finding.low is not None or finding.high is not None


def interval_heading(findings: Sequence[Finding]) -> str:
    """The heading of the interval column, with the usual level; others are noted in their row."""
    level = usual_level(findings)
    return "interval" if level is None else f"{_percent(level)} interval"


def _percent(share: float) -> str:
    """A confidence level in words: 0.95 is ``95 %``."""
    return f"{round(share * 100, 2):g} %"


def simulated_suffix(origins: Iterable[bool]) -> str:
    """What a title adds when all or some of what it heads is simulated.

    >>> simulated_suffix([True, True]), simulated_suffix([True, False]), simulated_suffix([])
    (' (simulated)', ' (partly simulated)', '')
    """
    found = set(origins)
    if True not in found:
        return ""
    return f" ({SIMULATED})" if len(found) == 1 else f" (partly {SIMULATED})"
