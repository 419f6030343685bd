"""``validate``: a recipe under a protocol, with everything its figure must stand beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.tables import scores_table
from evenhand.data.corpus import Corpus
from evenhand.data.find import find, used
from evenhand.data.labels import HATEFUL, published_labels
from evenhand.data.reshape import add, cap
from evenhand.models.find import recipe as find_recipe
from evenhand.models.options import choices
from evenhand.models.training import for_corpus
from evenhand.reports import Figure, Grid, Section, bars
from evenhand.reports.numbers import bracket, number
from evenhand.studies.parts import Parts, Step, silent
from evenhand.validation.beside import same_counts
from evenhand.validation.figures import (
    baseline_findings,
    compared,
    fold_findings,
    main_findings,
    run_findings,
    short_findings,
)
from evenhand.validation.leaks import expect_leak, leaky, one_copy
from evenhand.validation.lookups import copy_lookup, oversampling_formula
from evenhand.validation.plan import Plan, Task, make_plan, make_task
from evenhand.validation.run import Outcome, Setting, cross_validate
from evenhand.validation.selection import OnDev, candidates
from evenhand.validation.verdict import verdict

_TASK = ("question", "hateful", "classes")
"""Options that say what is learned, not how."""
PUBLISHED = "published"
"""Stands for all labels of a corpus where classes are named."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a user asks of a validation."""

    protocol: str = "kfold:10"
    against: str | None = None
    """A second recipe, compared on the same folds."""
    classes: str | None = None
    """``published`` for all labels, ``a|b|c`` for some; None for hateful or not."""
    keep: tuple[str, ...] | None = None
    cap: int | None = None
    add: Sequence[str] = ()
    """``CORPUS:LABEL`` each."""
    leaks: Sequence[str] = ()
    select: Sequence[str] = ()
    """``OPTION=A|B`` each."""
    runs: int = 1
    workers: int = 1
    finished: Path | None = None
    step: Step = field(default=silent)


@dataclass(frozen=True, eq=False)
class Case:
    """A recipe, made ready for a corpus, under a protocol."""

    run: Run
    recipe: Any
    plan: Plan
    asked: Asked
    grid: Mapping[str, Sequence[Any]]
    """Options to choose from; empty for no choice."""
    other: Any = None
    """The second recipe, where two are compared."""

    def setting(self, number: int = 0) -> Setting:
        """How run ``number`` is carried out."""
        return Setting(
            seed=self.run.seed + number,
            workers=self.asked.workers,
            finished=self.asked.finished,
            step=self.asked.step,
        )

    def outcome(self, plan: Plan, number: int = 0, *, recipe: Any = None) -> Outcome:
        """Predictions under a plan, with options chosen on dev splits where there is a choice."""
        mine = self.recipe if recipe is None else recipe
        choose = OnDev(candidates(mine, self.grid)) if self.grid and recipe is None else None
        return cross_validate(mine, plan, self.setting(number), choose=choose)

    @cached_property
    def plans(self) -> list[Plan]:
        """The plan of every run: the first, then others with other seeds."""
        more = [
            make_plan(
                self.asked.protocol,
                self.plan.task,
                keep=self.asked.keep,
                seed=self.run.seed + number,
            )
            for number in range(1, self.asked.runs)
        ]
        return [self.plan, *more]


def validate(run: Run, corpus: Corpus, recipe_name: str, asked: Asked) -> Parts:
    """The findings of a recipe under a protocol, and what they show."""
    corpus = reshaped(run, corpus, cap_at=asked.cap, added=asked.add)
    case = _case(run, corpus, recipe_name, asked)
    plan = case.plan
    outcomes = [case.outcome(each, number) for number, each in enumerate(case.plans)]
    main = main_findings(outcomes, seed=run.seed, group={})
    sections = [
        Section("How good", _promises(plan), main, [_figure(main)]),
        Section("Beside it", _BESIDE, _beside(case, outcomes)),
        Section(
            "Folds and runs",
            ["Points, not estimates: folds share training rows."],
            [*fold_findings(outcomes[0], group={}), *run_findings(outcomes, group={})],
        ),
        Section("Leaks on request", _LEAKS, _leaks(case, outcomes)),
        Section("Against another recipe", [], _second(case, outcomes)),
        Section("The splits", [], [*_left_out(plan.task), *plan.facts, *_chosen(outcomes)]),
    ]
    sections = [
        replace(s, findings=[replace(f, origin=corpus.origin) for f in s.findings])
        for s in sections
        if s.findings
    ]
    run.findings += [finding for section in sections for finding in section.findings]
    beside = beside_grid(run.findings, recipe_name)
    sections = [replace(s, grids=[beside]) if s.title == "Beside it" else s for s in sections]
    return Parts(
        f"Validation of {recipe_name} on {corpus.name}",
        sections,
        verdict(run.findings, plan, recipe_name),
        tables={
            "scores": _scores(outcomes[0], recipe_name),
            "folds": outcomes[0].rows.drop("cluster"),  # authors' names stay where they are
        },
    )


def reshaped(
    run: Run, corpus: Corpus, *, cap_at: int | None = None, added: Sequence[str] = ()
) -> Corpus:
    """The corpus with at most so many posts per author and class, and posts of others added."""
    run.data.append(used(corpus))
    if cap_at is not None:
        corpus = cap(corpus, cap_at, seed=run.seed)
    for name in added:
        other_name, colon, label = name.rpartition(":")
        if not colon or not label:
            raise BadInput(f"--add {name}; expected CORPUS:LABEL, e.g. davidson:hate_speech")
        other = find(other_name)
        run.data.append(used(other))
        corpus = add(corpus, other, label)
    return corpus


def classes_of(corpus: Corpus, wanted: str | None) -> tuple[str, ...]:
    """The classes a user asked to tell apart; empty for hateful or not."""
    if wanted is None or wanted == HATEFUL:
        return ()
    if corpus.gold is None:
        raise BadInput(f"{corpus.name}: no labels to tell apart")
    labels = published_labels(corpus.gold, corpus.question)
    if wanted == PUBLISHED:
        return labels
    named = tuple(part.strip() for part in wanted.split("|") if part.strip())
    unknown = [name for name in named if name not in labels]
    if unknown:
        raise BadInput(
            f"--classes {', '.join(unknown)}: {corpus.name} has the labels {', '.join(labels)}"
        )
    return named


def _case(run: Run, corpus: Corpus, recipe_name: str, asked: Asked) -> Case:
    recipe = for_corpus(find_recipe(recipe_name), corpus, classes=classes_of(corpus, asked.classes))
    asked_of = replace(corpus, question=recipe.question)
    task = make_task(asked_of, hateful=recipe.hateful, classes=recipe.classes)
    plan = make_plan(asked.protocol, task, keep=asked.keep, seed=run.seed)
    if plan.test is not task:
        run.data.append(used(plan.test.corpus))
    grid = choices(type(recipe), recipe.name, asked.select)
    fixed = [name for name in _TASK if name in grid]
    if fixed:
        raise BadInput(f"--select {fixed[0]}: what is learned is not to be chosen; leave it out")
    if "select-on-test" in asked.leaks and not grid:
        grid = getattr(recipe, "choices", {})
    for kind in asked.leaks:
        expect_leak(kind, recipe, plan, grid)
    other = None
    if asked.against is not None:
        other = for_corpus(find_recipe(asked.against), corpus, classes=recipe.classes)
        unlike = [name for name in _TASK if getattr(other, name) != getattr(recipe, name)]
        if unlike:
            raise BadInput(
                f"--against {asked.against}: its {', '.join(unlike)} differ from those of "
                f"{recipe_name}; two recipes are compared on one task"
            )
    return Case(run, recipe, plan, asked, grid, other)


def _beside(case: Case, outcomes: Sequence[Outcome]) -> list[Finding]:
    """Constants and look-ups; beside an author-disjoint figure also a random split."""
    seed = case.run.seed
    found = baseline_findings(case.plan, outcomes[0], seed=seed)
    if not case.plan.author_disjoint:
        return found
    others = [
        case.outcome(same_counts(plan, seed + number), number)
        for number, plan in enumerate(case.plans)
    ]
    group = {"baseline": "random-split"}
    shown = [
        f
        for f in main_findings(others, seed=seed, group=group)
        if f.measure in ("macro_f1", "weighted_f1", "micro_f1", "auc") or _hateful_f1(f)
    ]
    drop = compared(outcomes, others, seed=seed, group={"against": "random-split"})
    return [*found, *shown, drop]


def _hateful_f1(finding: Finding) -> bool:
    return finding.measure == "f1" and finding.group.get("label") == HATEFUL


def _leaks(case: Case, outcomes: Sequence[Outcome]) -> list[Finding]:
    """The leaky figures, and how far they are from the honest one."""
    found = []
    for kind in case.asked.leaks:
        plan, leaked = leaky(kind, case.recipe, case.plan, case.setting(), choices=case.grid)
        found += main_findings([leaked], seed=case.run.seed, group={"leak": kind})
        same = leaked
        if kind == "oversample":
            # Copies change the shares of the classes, and figures with them: one copy each.
            same = one_copy(leaked)
            once = {"leak": kind, "rows": "one copy of each post"}
            found += main_findings([same], seed=case.run.seed, group=once)
            found += copy_findings(case, plan, leaked)
        found.append(compared([same], outcomes[:1], seed=case.run.seed, group={"leak": kind}))
    return found


def copy_findings(case: Case, plan: Plan, leaked: Outcome) -> list[Finding]:
    """What looking up copies gets by formula (both versions) and measured."""
    group = {"leak": "oversample", "baseline": "copy-lookup"}
    predicted = copy_lookup(plan, leaked)
    measured = short_findings(leaked, predicted, seed=case.run.seed, group=group)
    codes = plan.task.codes["code"].to_numpy()
    test = float(np.mean([len(split.test) for split in plan.splits])) / len(codes)
    largest = np.bincount(case.plan.task.codes["code"]).argmax()
    rarer = float(np.mean(codes != largest))
    formula = oversampling_formula(case.recipe.oversample, test, rarer)
    how = {
        "both_sides": ("recall", "paper", "1 − p^t − (1−p)^t: copies on both sides"),
        "macro_f1_paper": ("macro_f1", "paper", "the paper's recall with perfect precision"),
        "recall": ("recall", "test rows", "1 − p^(t−1): another copy in training"),
        "macro_f1": ("macro_f1", "test rows", "that recall with perfect precision, two classes"),
    }
    return measured + [
        Finding(
            measure=measure,
            value=formula[key],
            n=len(codes),
            group={**group, "form": f"formula, {form}"},
            method=f"{text}; t = {case.recipe.oversample}, p = {test:.3f}",
            why="a formula: no interval",
        )
        for key, (measure, form, text) in how.items()
    ]


def _second(case: Case, outcomes: Sequence[Outcome]) -> list[Finding]:
    """The recipe compared with another on the same folds, authors drawn jointly."""
    if case.asked.against is None:
        return []
    theirs = [
        case.outcome(plan, number, recipe=case.other) for number, plan in enumerate(case.plans)
    ]
    group = {"recipe": case.asked.against}
    found = main_findings(theirs, seed=case.run.seed, group=group)
    return [*found, compared(outcomes, theirs, seed=case.run.seed, group=group)]


_BESIDE_COLUMNS = {
    "macro-F1": ("macro_f1", {}),
    "F1 of hateful": ("f1", {"label": HATEFUL}),
    "weighted F1": ("weighted_f1", {}),
    "accuracy": ("micro_f1", {}),
    "AUC": ("auc", {}),
}


def beside_grid(findings: Sequence[Finding], name: str) -> Grid:
    """The recipe and everything it stands beside, a line each."""
    lines: dict[str, dict[str, str | int]] = {name: {}}
    for finding in findings:
        keys = set(finding.group) - {"label"}
        if keys in ({"baseline"}, {"leak"}, {"recipe"}):
            [key] = keys
            words = f"leak: {finding.group[key]}" if key == "leak" else str(finding.group[key])
            lines.setdefault(words, {key: finding.group[key]})
    rows = []
    for words, group in lines.items():
        found = {
            heading: next(
                (f for f in findings if f.measure == measure and f.group == {**group, **more}), None
            )
            for heading, (measure, more) in _BESIDE_COLUMNS.items()
        }
        main = found["macro-F1"]
        cells = [number(f.value) if f is not None else "" for f in found.values()]
        interval = bracket(main.low, main.high) if main is not None else ""
        rows.append([words, cells[0], interval, *cells[1:]])
    headings = list(_BESIDE_COLUMNS)
    return Grid(
        name="beside",
        title="What it stands beside",
        headings=("", headings[0], "95 % interval", *headings[1:]),
        rows=rows,
        narrow=(0, 1, 2, 3),
    )


def _left_out(task: Task) -> list[Finding]:
    codes = task.codes["code"].to_numpy()
    found = [
        Finding(
            measure="posts",
            value=int((codes == number).sum()),
            n=len(codes),
            group={"label": name},
            unit="posts",
        )
        for number, name in enumerate(task.names)
    ]
    return found + [
        Finding(measure="unlabelled", value=count, n=len(codes) + count, group={"reason": reason})
        for reason, count in task.left_out.items()
    ]


def _chosen(outcomes: Sequence[Outcome]) -> list[Finding]:
    """How often each option was chosen."""
    words = pl.Series([chosen for outcome in outcomes for chosen in outcome.chosen])
    if not len(words):
        return []
    counts = words.value_counts(sort=True, name="times").rows()
    return [
        Finding(
            measure="chosen",
            value=times,
            n=len(words),
            group={"options": options},
            method="count of folds in which the dev split chose these options",
            unit="folds",
        )
        for options, times in sorted(counts, key=lambda row: (-row[1], row[0]))
    ]


_BESIDE = [
    "Classifiers that read no text, fitted under the same protocol. A detector has to be above "
    "them to have shown anything."
]
_LEAKS = [
    "What the figure becomes when test posts get into training: asked for by name, never a result."
]


def _promises(plan: Plan) -> list[str]:
    test = plan.test.corpus.name
    apart = plan.test is not plan.task
    where = f", tested on {test}" if apart else ""
    lines = [
        f"{plan.protocol}: {len(plan.splits)} split{'s' if len(plan.splits) > 1 else ''}{where}; "
        f"{plan.splits[0].rule}."
    ]
    if not plan.task.classes:
        lines.append(
            f"As hateful count {', '.join(plan.task.hateful)}"
            + (f"; in {test}: {', '.join(plan.test.hateful)}." if apart else ".")
        )
    return lines


def _figure(findings: Sequence[Finding]) -> Figure:
    shown = [f for f in findings if f.measure == "f1" and f.value is not None]
    return bars(
        "F1 by class",
        [str(f.group["label"]) for f in shown],
        [f.value or 0.0 for f in shown],
        low=[f.low for f in shown],
        high=[f.high for f in shown],
        axis="F1, predictions pooled over folds",
    )


def _scores(outcome: Outcome, name: str) -> pl.DataFrame:
    """Out-of-fold predictions as scores; a post tested in several folds is named with its fold."""
    rows, many = outcome.rows, len(outcome.attributes)
    repeated = rows["post"].is_duplicated().any()
    post = (
        rows.select(pl.format("{} (fold {})", "post", "fold")).to_series()
        if repeated
        else rows["post"]
    )
    return scores_table(
        pl.DataFrame(
            {
                "post": post.gather(np.repeat(np.arange(rows.height), many)),
                "detector": pl.repeat(name, outcome.p.size, eager=True),
                "attribute": pl.Series(list(outcome.attributes) * rows.height, dtype=pl.String),
                "p": outcome.p.ravel(),
            }
        ),
        where="out-of-fold predictions",
    )
