"""How long a full report card takes, scoring left out.

Both suites, all template sets, a second detector beside, 1,000 resamples, the page written.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.core.provenance import Run
from evenhand.models.callables import FunctionDetector
from evenhand.reports import write_report
from evenhand.studies.audit import Wanted, audit
from evenhand.studies.suites import Judged


class Timed:
    """A detector that knows how long it took."""

    def __init__(self, salt: int) -> None:
        self.salt, self.seconds, self.texts = salt, 0.0, 0

    def __call__(self, texts: Sequence[str]) -> list[float]:
        """A number from the text, and the time it took."""
        began = time.perf_counter()
        found = [(hash((self.salt, text)) % 1000) / 1000 for text in texts]
        self.seconds += time.perf_counter() - began
        self.texts += len(texts)
        return found


def main() -> None:
    """Print the table."""
    rows = []
    for words, beside in (("one detector", False), ("two detectors", True)):
        taken = []
        for _ in range(3):
            first, second = Timed(1), Timed(2)
            run = Run(["evenhand", "audit"], 0)
            began = time.perf_counter()
            card = audit(
                run,
                Judged(FunctionDetector("a", ("HATE",), first)),
                Wanted(),
                against=Judged(FunctionDetector("b", ("HATE",), second)) if beside else None,
            )
            audited = time.perf_counter() - began - first.seconds - second.seconds
            with tempfile.TemporaryDirectory() as folder:
                began = time.perf_counter()
                parts = card.parts
                write_report(Path(folder) / "out", run, parts.title, parts.sections, parts.tables)
                written = time.perf_counter() - began
            taken.append((audited, written))
        audited, written = np.median(taken, axis=0)
        rows.append((words, first.texts, len(run.findings), audited, written, audited + written))
    print("Median of three, one process; goal: under 60 s on two cores.\n")
    print("| | texts | findings | audit | page | together |")
    print("|---|---|---|---|---|---|")
    for words, texts, findings, audited, written, total in rows:
        print(
            f"| {words} | {texts:,} | {findings:,} | {audited:.1f} s | {written:.1f} s | "
            f"{total:.1f} s |"
        )


if __name__ == "__main__":
    main()
