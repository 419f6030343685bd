"""The cross-validated run: fit on one side, predict the other, fold by fold.

Whatever has ``fit`` and gives something that scores can be validated. It is handed the training
posts of a fold and their gold, and nothing else; after it has been fitted, the posts it says it has
seen are compared with the test posts, and one in common is a :class:`LeakFound`.

Folds are independent, so they can run in several processes, one core each. The seed of a fold
depends on the run's seed and the fold's number only: the result is the same on any number of
workers. A folder can keep the predictions of finished folds, so that a long run goes on after a
kill; a prediction is taken up only if recipe, seed, training rows and test texts are the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BrokenComponent, LeakFound
from evenhand.core.provenance import VERSION, sha256
from evenhand.core.streams import stream
from evenhand.stats.decisions import Decisions, Predicted
from evenhand.validation.plan import Plan, Task, original
from evenhand.validation.workers import side_by_side

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Step = Callable[[str, float, float | None], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """One fit and what it is to predict."""

    recipe: Any
    posts: pl.DataFrame
    gold: pl.DataFrame
    tests: pl.DataFrame
    seed: int
    classes: int
    """How many classes are told apart."""
    columns: int
    """How many columns scores have: one for hateful posts, else one per class."""
    copies: bool = True
    """Whether an exact copy of a training post among the test posts is a leak."""
    representation: Any = None
    """Learned elsewhere: a leak, made on request."""
    candidates: tuple[Any, ...] = ()
    """Recipes to choose from; empty for no choice."""
    judged: pl.DataFrame | None = None
    """What the choice is made on (columns id, code): a part of the training posts, or, as a leak,
    the test posts."""
    label: str = ""
    """What progress calls it."""

    def key(self) -> str | None:
        """A digest of everything the prediction depends on; None where that is not known."""
        if self.representation is not None:
            return None
        digest = hashlib.blake2b(digest_size=16)
        for part in (VERSION, self.recipe, self.seed, self.candidates, self.classes):
            digest.update(repr(part).encode())
        for path in _files_named(self.recipe):
            digest.update(sha256(path).encode())
        for table in (self.posts, self.tests):
            digest.update(repr(sorted(zip(table["id"], table["text"], strict=True))).encode())
        digest.update(repr(self.gold.sort("post").rows()).encode())
        if self.judged is not None:
            digest.update(repr(self.judged.sort("id").rows()).encode())
        return digest.hexdigest()


def _files_named(recipe: Any) -> list[Path]:
    """Files that a recipe names in its options, e.g. of word vectors."""
    names = sorted(getattr(recipe, "__dataclass_fields__", {}))
    texts = [value for name in names if isinstance(value := getattr(recipe, name), str) and value]
    return [path for path in map(Path, texts) if path.is_file()]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of one run for posts that the detector had not seen."""

    task: Task
    """Where the test posts come from."""
    rows: pl.DataFrame
    """Columns post, fold (from 1), cluster (author, or the post itself), truth, predicted."""
    p: Floats
    """Probabilities, one column per attribute, in the order of the rows."""
    attributes: tuple[str, ...]
    folds: tuple[str, ...]
    """The names of the folds."""
    chosen: tuple[str, ...] = ()
    """The options chosen in each fold, where there was a choice."""

    def decisions(self) -> Decisions:
        """The pooled predictions, ready to be measured."""
        return decisions([self])


def decisions(outcomes: Sequence[Outcome]) -> Decisions:
    """The pooled predictions of several runs."""
    return Decisions(outcomes[0].task.names, tuple(_predicted(outcome) for outcome in outcomes))


def _predicted(outcome: Outcome) -> Predicted:
    rows, task = outcome.rows, outcome.task
    hateful = [n for n, name in enumerate(task.classes) if name in task.hateful]
    truth = rows["truth"].to_numpy()
    if not task.classes:
        positive, score = truth == 1, outcome.p[:, 0]
    elif hateful:
        positive, score = np.isin(truth, hateful), np.clip(outcome.p[:, hateful].sum(axis=1), 0, 1)
    else:
        positive, score = None, None
    return Predicted(truth, rows["predicted"].to_numpy(), rows["cluster"], score, positive)


@dataclass(frozen=True)
class Setting:
    """How a run is carried out."""

    seed: int = 0
    workers: int = 1
    """Processes; each trains on one core."""
    finished: Path | None = None
    """A folder that keeps predictions of finished folds; None for none."""
    step: Step = field(default=lambda what, done, total: None)


def cross_validate(
    recipe: Any,
    plan: Plan,
    setting: Setting,
    *,
    representation: Callable[[pl.DataFrame, int], Any] | None = None,
    choose: Callable[[Job, Plan], Job] | None = None,
) -> Outcome:
    """Predictions for every test post of every fold.

    Args:
        recipe: What fits.
        plan: The splits.
        setting: Seed, workers, where finished folds are kept.
        representation: From all posts of a fold and a seed to a representation: the leak.
        choose: Adds candidates and what they are judged on to a job.
    """
    jobs = _jobs(recipe, plan, setting, representation, choose)
    return _outcome(plan, jobs, _all(jobs, setting))


def cross_validate_all(cases: Sequence[tuple[Any, Plan]], setting: Setting) -> list[Outcome]:
    """The same for several recipes and plans, all side by side so that no core waits."""
    jobs = [_jobs(recipe, plan, setting) for recipe, plan in cases]
    results = iter(_all([job for mine in jobs for job in mine], setting))
    return [
        _outcome(plan, mine, [next(results) for _ in mine])
        for (_, plan), mine in zip(cases, jobs, strict=True)
    ]


def _jobs(
    recipe: Any,
    plan: Plan,
    setting: Setting,
    representation: Callable[[pl.DataFrame, int], Any] | None = None,
    choose: Callable[[Job, Plan], Job] | None = None,
) -> list[Job]:
    jobs = []
    for number, split in enumerate(plan.splits, start=1):
        seed = int(stream(setting.seed, "fold", number).integers(2**31))
        posts, tests = plan.task.part(split.train), plan.test.part(split.test)
        job = Job(
            recipe=recipe,
            posts=posts,
            gold=plan.task.gold_of(posts),
            tests=tests,
            seed=seed,
            classes=len(plan.task.names),
            columns=len(plan.task.classes) or 1,
            copies="duplicate" in plan.keep,
            representation=representation(pl.concat([posts, tests]), setting.seed)
            if representation
            else None,
            label=f"{getattr(recipe, 'name', 'recipe')}: {split.name}",
        )
        jobs.append(choose(job, plan) if choose else job)
    return jobs


def _outcome(plan: Plan, jobs: Sequence[Job], results: Sequence[tuple[Floats, str]]) -> Outcome:
    rows = pl.concat(
        _rows(plan.test, job.tests, number) for number, job in enumerate(jobs, start=1)
    )
    p = np.concatenate([found for found, _ in results])
    return Outcome(
        task=plan.test,
        rows=rows.with_columns(predicted=pl.Series(decided(p))),
        p=p,
        attributes=plan.task.classes or ("HATE",),
        folds=tuple(split.name for split in plan.splits),
        chosen=tuple(chosen for _, chosen in results if chosen),
    )


def decided(p: Floats) -> Codes:
    """The class of each row: hateful from one half on, or the likeliest."""
    return (p[:, 0] >= 0.5).astype(np.int64) if p.shape[1] == 1 else p.argmax(axis=1)


def _rows(task: Task, tests: pl.DataFrame, fold: int) -> pl.DataFrame:
    truth = task.codes.rename({"post": "id"})
    own = pl.coalesce("author", pl.format("post {}", original(pl.col("id"))))
    return tests.join(truth, on="id", maintain_order="left").select(
        post="id", fold=pl.lit(fold), cluster=own, truth="code"
    )


def _all(jobs: Sequence[Job], setting: Setting) -> list[tuple[Floats, str]]:
    """The results of all jobs, in order."""
    results: list[tuple[Floats, str] | None] = [_kept(job, setting.finished) for job in jobs]
    open_jobs = [number for number, result in enumerate(results) if result is None]
    done = len(jobs) - len(open_jobs)
    for number, result in _worked(jobs, open_jobs, setting, done):
        results[number] = result
        _keep(jobs[number], result, setting.finished)
    return [result for result in results if result is not None]


def _worked(
    jobs: Sequence[Job], numbers: Sequence[int], setting: Setting, done: int
) -> Iterator[tuple[int, tuple[Floats, str]]]:
    workers = min(setting.workers, len(numbers))
    if workers <= 1:
        for number in numbers:
            setting.step(jobs[number].label, done, len(jobs))
            yield number, work(jobs[number])
            done += 1
        return
    setting.step(jobs[numbers[0]].label, done, len(jobs))
    for number, result in side_by_side(work, {n: jobs[n] for n in numbers}, workers):
        done += 1
        setting.step(jobs[number].label, done, len(jobs))
        yield number, result


def work(job: Job) -> tuple[Floats, str]:
    """Fit and predict; also which options were chosen, in words."""
    recipe, chosen = _chosen(job) if job.candidates else (job.recipe, "")
    detector = _fitted(recipe, job, job.posts, job.gold)
    return _scored(detector, job.tests, job), chosen


def _fitted(recipe: Any, job: Job, posts: pl.DataFrame, gold: pl.DataFrame) -> Any:
    more = {} if job.representation is None else {"representation": job.representation}
    return recipe.fit(posts, gold, seed=job.seed, **more)


def _scored(detector: Any, tests: pl.DataFrame, job: Job) -> Floats:
    seen = getattr(getattr(detector, "record", None), "seen", None)
    asked_for = job.representation is not None
    known = seen.among(tests, copies=job.copies) if seen is not None and not asked_for else []
    if known:
        raise LeakFound(
            f"{job.label}: the detector has seen {len(known)} of the {tests.height} test posts: "
            f"{', '.join(sorted(known)[:20])}"
        )
    p = np.asarray(detector.score(tests["text"].to_list()), dtype=np.float64)
    columns = job.columns
    if p.shape != (tests.height, columns) or not ((p >= 0) & (p <= 1)).all():
        raise BrokenComponent(
            f"{job.label}: scores of shape {p.shape} for {tests.height} posts; expected "
            f"{tests.height} rows of {columns} probabilities"
        )
    return p


def _chosen(job: Job) -> tuple[Any, str]:
    """The candidate with the best macro-F1 on the posts it is judged on, the first of equals."""
    from evenhand.stats.classification import confusion, macro_f1

    assert job.judged is not None, "a choice is judged on something"
    inside = job.posts.join(job.judged, on="id", how="anti", maintain_order="left")
    gold = job.gold.join(inside.select(post="id"), on="post", how="semi")
    columns = ("id", "text", "source")
    every = pl.concat([job.posts.select(columns), job.tests.select(columns)])
    judged = every.unique("id", maintain_order=True).join(
        job.judged, on="id", maintain_order="left"
    )
    scores = []
    for candidate in job.candidates:
        # Dev posts may have copies among the others: a choice is no figure to be reported.
        p = _scored(_fitted(candidate, job, inside, gold), judged, replace(job, copies=False))
        counts = confusion(judged["code"].to_numpy(), decided(p), job.classes)
        scores.append(float(macro_f1(counts)))
    best = int(np.argmax(scores))
    return job.candidates[best], _difference(job.recipe, job.candidates[best])


def _difference(base: Any, recipe: Any) -> str:
    """The options in which a candidate differs from the rest, in words."""
    names = sorted(getattr(recipe, "__dataclass_fields__", {}))
    own = [f"{n}={getattr(recipe, n)}" for n in names if getattr(recipe, n) != getattr(base, n)]
    return ", ".join(own) or "as given"


def _kept(job: Job, folder: Path | None) -> tuple[Floats, str] | None:
    if folder is None or (key := job.key()) is None:
        return None
    try:
        with np.load(folder / f"{key}.npz", allow_pickle=False) as arrays:
            return arrays["p"], str(arrays["chosen"])
    except (OSError, KeyError, ValueError, EOFError):
        return None


def _keep(job: Job, result: tuple[Floats, str], folder: Path | None) -> None:
    if folder is None or (key := job.key()) is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{key}.npz"
    aside = path.with_suffix(f".{os.getpid()}.part")
    with aside.open("wb") as file:
        np.savez(file, p=result[0], chosen=np.array(result[1]))
    os.replace(aside, path)
