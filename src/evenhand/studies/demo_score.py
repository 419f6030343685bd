"""The demo's last step: what the detector in the box says of three sentences, and why."""

from __future__ import annotations

from dataclasses import replace

from evenhand.core.provenance import Run
from evenhand.models.loaded import load
from evenhand.studies.parts import Parts
from evenhand.studies.scoring import Wanted, score_texts

_TITLE = "What evenhand-base says of three sentences: `evenhand score TEXT --evidence`"
SENTENCES = (
    "What a lovely evening, thank you all for coming",
    "You are an 1d1ot 🤡 and everybody here knows it",
    "Nobody should be called an idiot for asking a question",
)


def scored(run: Run) -> Parts:
    """Scores with evidence; the sentences are made up, the detector is the real one."""
    wanted = Wanted(evidence=True)
    parts = score_texts(run, load(), SENTENCES, wanted, source="three sentences (made up)")
    return Parts("", [replace(part, title=_TITLE) for part in parts.sections])
