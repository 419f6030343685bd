"""``train``: a recipe fitted on all labelled posts of a corpus, and saved."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.data.corpus import Corpus
from evenhand.models.find import recipe
from evenhand.models.saving import save
from evenhand.models.training import for_corpus
from evenhand.models.watching import watching
from evenhand.reports import Section
from evenhand.studies.parts import Parts, Step, silent
from evenhand.studies.validation import classes_of, reshaped


def train(
    run: Run,
    corpus: Corpus,
    name: str,
    folder: Path,
    *,
    classes: str | None = None,
    cap_at: int | None = None,
    added: Sequence[str] = (),
    resume: bool = False,
    step: Step = silent,
) -> Parts:
    """Fit, save and say what was learned from; checkpoints are kept beside the folder meanwhile."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; expected a folder to save the detector in")
    corpus = reshaped(run, corpus, cap_at=cap_at, added=added)
    if corpus.gold is None:
        raise BadInput(f"{corpus.name}: no labels to learn; name the column with --label")
    ready = for_corpus(recipe(name), corpus, classes=classes_of(corpus, classes))
    checkpoints = folder.parent / f".{folder.name}.checkpoints"
    if not resume:
        shutil.rmtree(checkpoints, ignore_errors=True)
    with watching(step=step, checkpoints=checkpoints):
        detector = ready.fit(corpus.posts, corpus.gold, seed=run.seed)
    save(detector, folder, data=run.data)
    shutil.rmtree(checkpoints, ignore_errors=True)
    about = detector.provenance
    found = [
        Finding(measure="posts", value=about["posts"], n=corpus.posts.height, unit="posts"),
        *(
            Finding(measure="posts", value=count, n=about["posts"], group={"label": label})
            for label, count in about["classes"].items()
        ),
        *(
            Finding(
                measure="unlabelled", value=count, n=corpus.posts.height, group={"reason": reason}
            )
            for reason, count in about["left_out"].items()
        ),
    ]
    run.findings += found
    return Parts(
        f"Training of {name} on {corpus.name}",
        [Section("Learned from", [], found)],
        [
            f"Saved to {folder}. It scores {', '.join(detector.attributes)}.",
            "How good it is, nobody knows yet: `evenhand validate` measures the recipe.",
        ],
    )
