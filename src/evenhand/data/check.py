"""Is a corpus fit to train and test on? Authors, duplicates, twins, conflicts, as findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evenhand.core.records import Finding
from evenhand.data.authors import author_findings
from evenhand.data.corpus import Corpus
from evenhand.data.describe import describe
from evenhand.data.duplicates import find_duplicates
from evenhand.data.leaks import LEAKS, conflict_findings, duplicate_findings, tie_findings


def check(corpus: Corpus, seed: int = 0) -> list[Finding]:
    """All findings of ``data check``."""
    found = find_duplicates(corpus.posts["text"])
    findings = [
        *author_findings(corpus, seed),
        *duplicate_findings(corpus, found),
        *conflict_findings(corpus, found),
        *tie_findings(corpus),
    ]
    return describe(corpus, seed) + [replace(f, origin=corpus.origin) for f in findings]


def leaks(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that say something crosses the published split."""
    return [f for f in findings if f.measure in LEAKS and f.value]
