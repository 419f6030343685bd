"""The demo's last steps: the detectors in the box on a whole file, and on three sentences."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from evenhand.core.provenance import Run
from evenhand.data.corpus import Corpus
from evenhand.models.loaded import load
from evenhand.models.shipped import FAST
from evenhand.serving.files import Wanted as FileWanted
from evenhand.studies.parts import Parts
from evenhand.studies.score_files import score_to_file
from evenhand.studies.scoring import Wanted, score_texts

_FILE = f"A file of all posts scored by {FAST}: `evenhand score FILE --out DIR`"
_TITLE = "What evenhand-base says of three sentences: `evenhand score TEXT --evidence`"
_SERVE = (
    "`evenhand serve` answers the same over HTTP, to clients of Perspective and OpenAI as well, "
    "and `evenhand demo --label` serves a small campaign to try."
)
SENTENCES = (
    "What a lovely evening, thank you all for coming",
    "You are an 1d1ot 🤡 and everybody here knows it",
    "Nobody should be called an idiot for asking a question",
)


def scored_file(run: Run, corpus: Corpus) -> Parts:
    """The whole population as a file; its posts are simulated, the detector is the real one."""
    own = Run(run.command, run.seed)
    with tempfile.TemporaryDirectory() as folder:
        posts = Path(folder) / "posts.parquet"
        corpus.posts.select("id", "text").write_parquet(posts)
        wanted = FileWanted(detector=FAST)
        parts, _ = score_to_file(own, posts, Path(folder) / "scores", wanted, workers=1)
    findings = [replace(finding, origin=corpus.origin) for finding in own.findings]
    run.findings += findings
    [rows, *_] = parts.sections
    return Parts("", [replace(rows, title=_FILE, findings=findings)])


def scored(run: Run) -> Parts:
    """Scores with evidence; the sentences are made up, the detector is the real one."""
    wanted = Wanted(evidence=True)
    parts = score_texts(run, load(), SENTENCES, wanted, source="three sentences (made up)")
    return Parts("", [replace(part, title=_TITLE, paragraphs=[_SERVE]) for part in parts.sections])
