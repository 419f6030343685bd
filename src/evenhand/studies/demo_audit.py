"""The demo's last step: a detector learned from the made-up gold, and its report card in brief."""

from __future__ import annotations

from dataclasses import replace

from evenhand.core.provenance import Run
from evenhand.data.corpus import Corpus
from evenhand.reports import Section
from evenhand.studies.audit import Wanted, audit
from evenhand.studies.filters import fitted
from evenhand.studies.parts import Parts
from evenhand.studies.suites import Judged

_RESAMPLES = 200
_TEMPLATES = ("gender", "profanity")


def audited(run: Run, labelled: Corpus, recipe: str) -> Parts:
    """Train on all of the gold and audit; every figure is simulated, as the training posts are."""
    detector = fitted(recipe, labelled, seed=run.seed)
    own = Run(run.command, run.seed)
    card = audit(own, Judged(detector), Wanted(templates=_TEMPLATES, resamples=_RESAMPLES)).parts
    found = [replace(finding, origin="simulated") for finding in own.findings]
    run.findings += found
    run.data += own.data
    worst = card.sections[0]
    shown = [f for f in found if f.measure == "accuracy" and set(f.group) <= {"suite", "baseline"}]
    section = Section(
        "A detector trained on the gold, audited",
        [
            f"Simulated: {recipe} learned from the labelled sample above, whose mild sentences "
            "know nothing of real abuse; it was then asked about our suites. A detector of your "
            "own gets the whole card: `evenhand audit DETECTOR --out DIR`.",
            *worst.paragraphs,
        ],
        shown,
        points=worst.points,
    )
    return Parts("", [section], card.summary[:3])
