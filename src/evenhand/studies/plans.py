"""``evenhand train --plan``: a detector of several attributes from several corpora, calibrated."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core import registry
from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run, file_at_once
from evenhand.core.records import Finding
from evenhand.data.find import find, used
from evenhand.models.base_weights import find_base
from evenhand.models.calibration import Calibration, fitted
from evenhand.models.encoder_detector import EncoderDetector
from evenhand.models.fast import FastDetector
from evenhand.models.find import detector, recipe
from evenhand.models.lessons import Lessons, taught
from evenhand.models.material import Bools, Material, material
from evenhand.models.options import from_json
from evenhand.models.perspective_like import learn_maps, published_scores
from evenhand.models.plan import SYNTHETIC, Plan, Target, find_plan
from evenhand.models.protocol import Detector, Probabilities, Trained
from evenhand.models.saving import load, save
from evenhand.models.scoring import KnowsPosts
from evenhand.models.transformer import Transformer
from evenhand.models.watching import watching
from evenhand.reports import Section
from evenhand.studies.parts import Parts, Step, silent

_OF_ONE_CORPUS = {
    "balanced": "times and weight",
    "classes": "attributes",
    "hateful": "yes",
    "question": "attributes",
}
"""Options that a plan replaces, and by what."""
_ASKED = 2000
"""Texts a teacher is asked about at a time."""
Attributes = EncoderDetector | FastDetector
"""A detector of several attributes, which can be calibrated."""


@runtime_checkable
class LearnsMaterial(Protocol):
    """A recipe that learns the corpora of a plan."""

    def fit_material(self, given: Material, *, seed: int) -> Attributes:
        """Train on a plan's rows."""


def train_plan(
    run: Run,
    name: str,
    recipe_name: str,
    folder: Path,
    *,
    without: Sequence[str] = (),
    resume: bool = False,
    step: Step = silent,
) -> Parts:
    """Train, calibrate, map to Perspective's scale, save; checkpoints are kept meanwhile."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; expected a folder to save the detector in")
    plan = find_plan(name).without(list(without))
    ready = planned(recipe_name, plan)
    _expect_whole(plan, ready)
    step(f"reading {len(plan.parts)} corpora", 0, None)
    given = material(plan, seed=run.seed)
    _expect_both(plan, given)
    checkpoints = folder.parent / f".{folder.name}.checkpoints"
    if not resume:
        shutil.rmtree(checkpoints, ignore_errors=True)
    with watching(step=step, checkpoints=checkpoints):
        given = taught_material(ready, plan, given, run.seed, checkpoints, step)
        learned = ready.fit_material(given, seed=run.seed)
    step("calibrating", 0, None)
    made, found = ready_to_score(learned, plan, given, run.seed)
    run.data.extend(given.data)
    run.findings += found
    save(made, folder, data=run.data)
    shutil.rmtree(checkpoints, ignore_errors=True)
    read = [
        Finding(
            measure="posts",
            value=count,
            n=sum(counts.values()),
            group={"corpus": corpus, "split": split},
        )
        for corpus, counts in given.counts.items()
        for split, count in counts.items()
    ]
    run.findings += read
    return Parts(
        f"Training of {recipe_name} by plan {plan.name}",
        [Section("Learned from", [], read), Section("Calibrated", [], found)],
        [
            f"Saved to {folder}. It scores {', '.join(made.attributes)}.",
            "How good it is: `evenhand audit` and `evenhand compare` measure it.",
        ],
    )


def _expect_whole(plan: Plan, student: LearnsMaterial) -> None:
    """Refuse before corpora are read what would fail after the training."""
    if plan.perspective:
        published_scores(find(plan.perspective))
    if any(what.varied for what in (*plan.parts, *([plan.synthetic] if plan.synthetic else ()))):
        find_base("")  # whose words stand for each other
    for name in plan.teachers.detectors if plan.teachers else ():
        detector(name)
    learning = [student] if isinstance(student, Transformer) else []
    if plan.teachers and plan.teachers.networks:
        learning.append(_own_recipe(student, plan))
    for own in learning:
        own.expect_parts()
        find_base(own.base)


def _expect_both(plan: Plan, given: Material) -> None:
    """Refuse before the training dev posts to which nothing can be calibrated."""
    dev, faults = _judging(given), []
    for attribute in plan.attributes:
        target = _target(plan, attribute)
        answers = dev.filter(_on(attribute, target))[attribute]
        if answers.n_unique() < 2:
            faults.append(
                f"{attribute}: {answers.len()} dev posts of {', '.join(target.corpora)}, none with "
                "another answer than the others; calibrating needs both: hold out more (held_out) "
                "or name other corpora under [calibrate]"
            )
    if faults:
        raise NotEnoughData("; ".join(faults))


def _judging(given: Material) -> pl.DataFrame:
    """The dev posts that people wrote."""
    return given.held_out.filter((pl.col("split") == "dev") & (pl.col("source") != SYNTHETIC))


def _target(plan: Plan, attribute: str) -> Target:
    """What an attribute is calibrated to: as the plan says, or all that labels it."""
    labelling = [part.name for part in plan.parts if attribute in part.yes]
    return plan.calibrate.get(attribute) or Target(corpora=labelling)


def _on(attribute: str, target: Target) -> pl.Expr:
    """The rows that it is calibrated on."""
    return pl.col(attribute).is_not_null() & pl.col("corpus").is_in(target.corpora)


def _own_recipe(student: LearnsMaterial, plan: Plan) -> Transformer:
    """What the plan's teachers are trained by: the student's recipe with options of their own."""
    if plan.teachers is None or not isinstance(student, Transformer):
        raise BadInput(f"plan {plan.name} trains teachers, which the recipe transformer does")
    return replace(student, **from_json(type(student), plan.teachers.options))


def planned(name: str, plan: Plan) -> LearnsMaterial:
    """The recipe a user named, with the plan's options where the user gave none."""
    plain, _, typed = name.partition(":")
    kind = registry.get("recipes", plain)
    given = recipe(name)
    if not isinstance(given, LearnsMaterial):
        raise BadInput(f"recipe {plain!r} learns one corpus; transformer and fast learn a plan")
    said = {part.partition("=")[0].strip() for part in typed.split(",")} if typed else set()
    options = {key: value for key, value in plan.options.items() if key not in said}
    made: Any = replace(given, **from_json(kind, options))  # type: ignore[type-var]
    for option, instead in _OF_ONE_CORPUS.items():
        if getattr(made, option, None):
            raise BadInput(f"recipe {plain!r}: {option} is for one corpus; a plan has {instead}")
    return made  # type: ignore[no-any-return]


def taught_material(
    student: LearnsMaterial, plan: Plan, given: Material, seed: int, kept: Path, step: Step
) -> Material:
    """The rows with the mean answer of teachers; those trained for it are kept in a folder.

    They are asked about what is read in some epoch of the training and what it is a mate of.
    A student that is guided gets the vectors of the first teacher that has any, about their mean.
    """
    if plan.teachers is None:
        return given
    names, trust = plan.teachers.attributes, plan.teachers.trust
    train = given.train
    labels, left = _answered(plan, train, names)
    read = _read(student, train, seed)
    labels, left = labels & read[:, None], left & read[:, None]
    rows = np.flatnonzero((labels | left).any(axis=1))
    texts = [train.texts[row] for row in rows.tolist()]
    answers = list[Probabilities]()
    vectors = None
    guided = isinstance(student, Transformer) and student.guide > 0
    for name, teacher in _teachers(student, plan, given.held_out, seed, kept, step):
        absent = [attribute for attribute in names if attribute not in teacher.attributes]
        if absent:
            raise BadInput(f"plan {plan.name}: {name} does not answer {', '.join(absent)}")
        columns = [teacher.attributes.index(attribute) for attribute in names]
        if isinstance(student, Transformer) and isinstance(teacher, EncoderDetector):
            # Of a long text it reads what the student reads: the beginning.
            teacher = replace(teacher, encoder=replace(teacher.encoder, windows=1))
        asked = partial(_remembered, teacher, name, texts, kept, step)
        if guided and vectors is None and isinstance(teacher, EncoderDetector):
            from evenhand.models._shown import shown

            apart = shown(teacher)
            vectors = asked("vectors", apart.vectors)
            answers.append(apart.score(vectors)[:, columns])
        else:
            answers.append(asked("answers", teacher.score)[:, columns])
    mean = np.full((len(train), len(names)), np.nan)
    mean[rows] = np.mean(answers, axis=0)
    if vectors is not None:
        middle = vectors.mean(axis=0, dtype=np.float32)
        every = np.zeros((len(train), vectors.shape[1]), dtype=np.float16)
        every[rows] = vectors - middle
        train = replace(train, vectors=every)
    shares = np.where(labels, trust, left.astype(np.float64))
    return replace(given, train=taught(train, names, mean, shares=shares))


def _read(student: LearnsMaterial, train: Lessons, seed: int) -> Bools:
    """The rows that a student reads, and their mates; all of them where it has no epochs."""
    if not isinstance(student, Transformer):
        return np.ones(len(train), dtype=np.bool_)
    read = np.zeros(len(train), dtype=np.bool_)
    for epoch in range(student.epochs):
        read[train.read_in(epoch, seed)] = True
    if train.mates is not None:
        has = train.mates >= 0
        read[train.mates[has & read]] = True
    return read


def _answered(plan: Plan, train: Lessons, names: Sequence[str]) -> tuple[Bools, Bools]:
    """What teachers answer, a column a name: beside a label, and in place of one.

    Where no label at all means no (``none_means_no``), nobody is asked; what is made of posts
    (``spliced``, ``varied``) has no label.
    """
    labels = {part.name: set(part.yes) for part in plan.parts}
    answers = {part.name: {*part.yes, *part.taught} for part in plan.parts}
    if plan.synthetic:
        labels[SYNTHETIC] = answers[SYNTHETIC] = {plan.synthetic.attribute}
    numbers = {task.name: number for number, task in enumerate(train.tasks)}
    known = train.labelled[:, [numbers[name] for name in names]]
    own = np.array([[name in labels[part] for name in names] for part in train.parts])
    asked = np.array([[name in answers[part] for name in names] for part in train.parts])
    return known & own, asked & ~known


def _remembered(
    teacher: Detector,
    name: str,
    texts: Sequence[str],
    kept: Path,
    step: Step,
    what: str,
    ask: Callable[[Sequence[str]], NDArray[Any]],
) -> NDArray[Any]:
    """What a teacher says of texts: as it was kept, or asked now."""
    known = list[Any]()
    if isinstance(teacher, Trained):
        known = [repr(teacher.record.recipe), teacher.record.provenance]
        known.append(repr(sorted(getattr(teacher, "calibrations", {}).items())))
    if isinstance(teacher, EncoderDetector):
        known.append(teacher.encoder.windows)
    digest = hashlib.sha256(json.dumps([name, known, list(texts)], sort_keys=True).encode())
    path = kept / f"{what}-{digest.hexdigest()[:16]}.npy"
    if path.exists():
        found: NDArray[Any] = np.load(path, allow_pickle=False)
        return found
    found = _asked(ask, name, texts, step)
    with file_at_once(path) as part, part.open("wb") as file:
        np.save(file, found)
    return found


def _asked(
    ask: Callable[[Sequence[str]], NDArray[Any]], name: str, texts: Sequence[str], step: Step
) -> NDArray[Any]:
    """What a teacher says of texts, on all cores."""
    parts = [texts[start : start + _ASKED] for start in range(0, len(texts), _ASKED)]
    if len(parts) < 2:
        step(f"asking {name}", 0, None)
        return ask(texts)
    found = []
    with get_context("spawn").Pool(os.cpu_count() or 1, _begin, (ask,)) as pool:
        for done, part in enumerate(pool.imap(_in_worker, parts)):
            step(f"asking {name}", done, len(parts))
            found.append(part)
    return np.concatenate(found)


_ask: Callable[[Sequence[str]], NDArray[Any]] | None = None


def _begin(ask: Callable[[Sequence[str]], NDArray[Any]]) -> None:
    """In a worker, once: whom it asks."""
    global _ask
    _ask = ask


def _in_worker(texts: Sequence[str]) -> NDArray[Any]:
    if _ask is None:
        raise RuntimeError("a worker has nobody to ask")
    return _ask(texts)


def _teachers(
    student: LearnsMaterial,
    plan: Plan,
    held_out: pl.DataFrame,
    seed: int,
    kept: Path,
    step: Step,
) -> Iterator[tuple[str, Detector]]:
    """Those that are there, then those that are trained, each by its name."""
    if plan.teachers is None:
        return
    for name in plan.teachers.detectors:
        found = detector(name)
        if isinstance(found, KnowsPosts):
            raise BadInput(f"plan {plan.name}: {name} knows posts by id; a teacher reads texts")
        yield name, found
    if not plan.teachers.networks:
        return
    theirs = _own_recipe(student, plan)
    own = plan.of_teachers(plan.teachers.attributes)
    lessons = material(own, seed=seed, held_out=held_out)
    for number in range(1, plan.teachers.networks + 1):
        name = f"teacher {number}"

        def told(what: str, done: float, total: float | None, name: str = name) -> None:
            step(f"{name}, {what}", done, total)

        with watching(step=told, checkpoints=kept):
            yield name, _teacher(theirs, own, lessons, seed, number, kept / f"teacher-{number}")


def _teacher(
    recipe: Transformer, plan: Plan, lessons: Material, seed: int, number: int, folder: Path
) -> Trained:
    """A teacher as it was kept, or trained now; each has a seed of its own."""
    made_of = _made_of(recipe, plan, lessons, seed, number)
    if folder.exists():
        found = load(folder)
        if found.record.provenance.get("made_of") == made_of:
            return found
    learned = recipe.fit_material(lessons, seed=seed + number)
    about = {**learned.record.provenance, "made_of": made_of}
    learned = replace(learned, record=replace(learned.record, provenance=about))
    ready, _ = ready_to_score(learned, plan, lessons, seed)
    save(ready, folder, data=lessons.data)
    for left in folder.parent.glob("finetuning-*.safetensors"):
        left.unlink()  # five times as large as the network, and it is there now
    return load(folder)  # as a training that is resumed finds it


def _made_of(recipe: Transformer, plan: Plan, lessons: Material, seed: int, number: int) -> str:
    """One checksum for all that a teacher's answers depend on."""
    held_out = lessons.held_out.select(pl.exclude("key")).write_csv()
    made = [
        repr(recipe), find_base(recipe.base).sha256, seed, number, lessons.train.sha256(),
        repr(sorted(plan.calibrate.items())), held_out,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()


def ready_to_score(
    detector: Attributes, plan: Plan, given: Material, seed: int
) -> tuple[Attributes, list[Finding]]:
    """The detector calibrated on dev posts, and mapped if the plan says so."""
    dev = _judging(given)
    margins = detector.margins(dev["text"].to_list())
    calibrations = dict[str, Calibration]()
    for number, attribute in enumerate(detector.attributes):
        target = _target(plan, attribute)
        some = dev.with_row_index("row").filter(_on(attribute, target))
        calibrations[attribute] = fitted(
            margins[some["row"].to_numpy(), number],
            some[attribute].to_numpy(),
            weights=some["weight"].to_numpy(),
            base_rate=target.base_rate,
            corpus=", ".join(target.corpora),
        )
    detector = detector.calibrated(calibrations)
    found = [
        Finding(
            measure="base_rate",
            value=c.base_rate,
            n=c.n,
            group={"attribute": name, "corpus": c.corpus},
        )
        for name, c in calibrations.items()
    ]
    if plan.perspective is None:
        return detector, found
    corpus = find(plan.perspective)
    maps, agreement = learn_maps(
        detector.score, detector.attributes, corpus, detector.record.seen, seed
    )
    mapped = {n: replace(c, perspective=maps.get(n)) for n, c in calibrations.items()}
    provenance = {**detector.record.provenance, "perspective": vars(used(corpus))}
    detector = replace(detector, record=replace(detector.record, provenance=provenance))
    return detector.calibrated(mapped), [*found, *agreement]
