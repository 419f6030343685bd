"""Gates: what an audit's findings must be, so that a release can be stopped.

A gate file is TOML::

    [[gate]]
    measure = "accuracy"
    group = { suite = "emoji-hate", label = "not hateful" }
    at_least = 0.7

A gate holds for the bad end of the interval (the lower for ``at_least``, the upper for
``at_most``), unless it says ``on = "point"``. A figure that does not exist, or that has no interval
to judge, breaks its gate: what is not known is not passed.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.audits.index import COUNTED
from evenhand.core.errors import BadInput, Fault
from evenhand.core.records import Finding

_KEYS = {"measure", "group", "at_least", "at_most", "on"}
_ENDS = ("bound", "point")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """One condition on one finding."""

    measure: str
    group: Mapping[str, str | int] = field(default_factory=dict)
    at_least: float | None = None
    at_most: float | None = None
    on: str = "bound"

    @property
    def words(self) -> str:
        """The gate on one line."""
        where = ", ".join(f"{key}={value}" for key, value in self.group.items())
        wanted = f"≥ {self.at_least}" if self.at_least is not None else f"≤ {self.at_most}"
        return f"{self.measure}{f' ({where})' if where else ''} {wanted}, on the {self.on}"

    def broken(self, finding: Finding) -> str | None:
        """Why the finding does not pass; None where it does."""
        lower = self.at_least is not None
        if finding.value is None:
            return f"there is no figure: {finding.why}"
        end = finding.value
        if self.on == "bound" and not _counted(finding):
            bound = finding.low if lower else finding.high
            if bound is None:
                return (
                    f"the figure is {finding.value:.3f} without an interval "
                    f'({finding.why}); say on = "point" to judge it alone'
                )
            end = bound
        passed = end >= (self.at_least or 0.0) if lower else end <= (self.at_most or 0.0)
        if passed:
            return None
        interval = (
            f", {finding.low:.3f} to {finding.high:.3f}"
            if finding.low is not None and finding.high is not None
            else ""
        )
        return f"found {finding.value:.3f}{interval} (n = {finding.n:,})"


def _counted(finding: Finding) -> bool:
    """Whether a figure was counted, so that there is nothing to be unsure of."""
    counted = finding.method == "count" and finding.why is None
    return finding.low is None and (counted or finding.why == COUNTED)


def read_gates(path: Path) -> list[Gate]:
    """The gates of a file; raises with every fault."""
    try:
        document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not TOML: {error}") from error
    entries = document.get("gate")
    if not isinstance(entries, list) or not entries or set(document) != {"gate"}:
        raise BadInput(f"{path}: expected one or more [[gate]] and nothing else")
    faults: list[Fault] = []
    gates = [_gate(entry, f"{path}, gate {at}", faults) for at, entry in enumerate(entries, 1)]
    if faults:
        raise BadInput(*faults)
    return [gate for gate in gates if gate is not None]


def _gate(entry: Any, where: str, faults: list[Fault]) -> Gate | None:
    if not isinstance(entry, Mapping):
        faults.append(Fault(where, f"is {entry!r}; expected a table"))
        return None
    wrong = [f"unknown key {key!r}" for key in sorted(set(entry) - _KEYS)]
    if not isinstance(entry.get("measure"), str):
        wrong.append("measure is missing; expected the name of a measure")
    if not isinstance(entry.get("group", {}), dict):
        wrong.append(f'group is {entry["group"]!r}; expected a table such as {{ suite = "…" }}')
    limits = [entry[key] for key in ("at_least", "at_most") if key in entry]
    if len(limits) != 1 or not _is_number(limits[0]):
        wrong.append("expected one number, as at_least or at_most")
    if entry.get("on", "bound") not in _ENDS:
        wrong.append(f"on is {entry['on']!r}; expected {' or '.join(_ENDS)}")
    faults += [Fault(where, what) for what in wrong]
    return None if wrong else Gate(**entry)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def judge(gates: Sequence[Gate], findings: Sequence[Finding]) -> list[tuple[str, str | None]]:
    """Every gate in words, and why it broke (None: it holds).

    A gate about nothing that was measured is broken too.
    """
    found: list[tuple[str, str | None]] = []
    for gate in gates:
        same = [f for f in findings if f.measure == gate.measure and dict(f.group) == gate.group]
        found += [(gate.words, gate.broken(finding)) for finding in same]
        found += [] if same else [(gate.words, _unknown(gate, findings))]
    return found


def _unknown(gate: Gate, findings: Sequence[Finding]) -> str:
    groups = [dict(f.group) for f in findings if f.measure == gate.measure]
    if not groups:
        measures = ", ".join(sorted({finding.measure for finding in findings}))
        return f"no such measure in this audit; it has {measures}"
    near = sorted(groups, key=lambda group: -len(group.items() & gate.group.items()))[:3]
    listed = "; ".join(str(group) for group in near)
    return f"no figure has exactly this group; the nearest are {listed}"
