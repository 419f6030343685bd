"""The errors a user can meet, in one tree.

::

    EvenhandError
    ├── BadInput          the user's file, option or record is wrong; lists every fault
    ├── NotEnoughData     the input is well formed, but too small for what was asked
    ├── LeakFound         a promise about leakage failed
    ├── GateFailed        a detector does not pass the gates it was given
    ├── UnknownComponent  no plug-in of that kind has that name
    ├── BrokenComponent   a plug-in is registered but cannot be used
    └── MissingExtra      an optional dependency is not installed

A message says what was found, where, what was expected and what to do. The command line turns the
tree into exit codes in one place (:mod:`evenhand.cli`); anything outside the tree is our bug.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_FAULTS = 20
"""How many faults a message lists; the rest are counted."""


class EvenhandError(Exception):
    """Anything a user can cause or mend."""

    exit_code = 2


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an input, and where."""

    where: str
    """The file or record, e.g. ``posts.csv``."""
    what: str
    """What was found, what was expected, what to do."""
    line: int | None = None
    """Line in the file (1 is the first), or None where lines do not apply."""
    unit: str = "line"
    """What ``line`` counts: lines of a text file, rows of a Parquet file."""

    def __str__(self) -> str:
        place = self.where if self.line is None else f"{self.where} {self.unit} {self.line}"
        return f"{place}: {self.what}"


class BadInput(EvenhandError):
    """The input is wrong: every fault is named, at most twenty are listed."""

    def __init__(self, *faults: Fault | str, total: int | None = None) -> None:
        self.faults = faults
        """The faults kept for listing."""
        self.total = max(len(faults), total or 0)
        """How many there were in all."""
        lines = [str(fault) for fault in faults[:MOST_FAULTS]]
        if self.total > len(lines):
            lines.append(f"… and {self.total - len(lines)} more faults like these")
        super().__init__("\n".join(lines))


class NotEnoughData(EvenhandError):
    """The input is well formed but too small for what was asked."""


class LeakFound(EvenhandError):
    """A promise about leakage cannot be kept, or a gate found a leak."""

    exit_code = 3


class GateFailed(EvenhandError):
    """A detector does not pass the gates it was given."""

    exit_code = 3


class UnknownComponent(EvenhandError):
    """No component of that kind has that name."""


class BrokenComponent(EvenhandError):
    """A component is registered but cannot be loaded, or two packages offer the same name."""


class MissingExtra(EvenhandError):
    """An optional dependency is missing; the message says which extra to install."""


class Faults:
    """Collects faults so that a reader can report all of them, not the first.

    Keeps the first twenty and counts the rest, so that a million bad rows cost no memory.

    >>> faults = Faults("posts.csv")
    >>> faults.add("column 'text' is empty", line=3)
    >>> bool(faults), faults.total
    (True, 1)
    """

    def __init__(self, where: str, unit: str = "line") -> None:
        self.where = where
        self.unit = unit
        self.total = 0
        self._kept: list[Fault] = []

    def add(self, what: str, line: int | None = None) -> None:
        """Remember one fault."""
        self.total += 1
        if len(self._kept) < MOST_FAULTS:
            self._kept.append(Fault(self.where, what, line, self.unit))

    def add_lines(self, what: str, lines: Iterable[int]) -> None:
        """Remember the same fault at several lines."""
        for line in lines:
            self.add(what, line)

    def __bool__(self) -> bool:
        return self.total > 0

    def raise_if_any(self) -> None:
        """Raise :class:`BadInput` with everything found so far, in order of line."""
        if self:
            kept = sorted(self._kept, key=lambda fault: fault.line or 0)
            raise BadInput(*kept, total=self.total)
