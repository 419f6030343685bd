"""Tables 1 to 6 of Arango, Pérez and Poblete 2019 on the real data, the paper's rows beside ours.

It runs on the paper's *rows*: an id published with two labels gives one training row per label,
always on one side; duplicates cross sides as they did in the paper. What is different from the
paper is said where it is: figures are pooled over folds, with intervals over authors, and the mean
over folds stands beside them; the averages the paper calls micro are support-weighted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.find import find, used
from evenhand.data.reshape import add, as_rows, cap
from evenhand.models.find import recipe as find_recipe
from evenhand.models.training import for_corpus
from evenhand.reports import Grid, Section
from evenhand.studies.arango_directions import directions, figure_of
from evenhand.studies.arango_rows import (
    HEADINGS,
    constant_rows,
    counts_grid,
    differences,
    method_rows,
    published,
)
from evenhand.studies.arango_tables import (
    AGRAWAL,
    BADJATIYA,
    CAPPED,
    EXTENDED,
    METHODS,
    PARTITION_COUNTS,
    TITLES,
)
from evenhand.studies.parts import How, Parts
from evenhand.validation.beside import same_counts
from evenhand.validation.figures import (
    baseline_findings,
    fold_findings,
    main_findings,
    short_findings,
)
from evenhand.validation.leaks import leaky, one_copy
from evenhand.validation.lookups import copy_lookup, oversampling_formula
from evenhand.validation.plan import Plan, Task, make_plan, make_task
from evenhand.validation.run import Outcome, Setting, cross_validate_all

PAPER = "arango"
TABLES = tuple(TITLES)
_LABELS = ("none", "racism", "sexism")
_TEST = "transfer:hateval@train"
_QUICK_EPOCHS = 3
_LEAKS = {BADJATIYA: "features", AGRAWAL: "oversample"}


@dataclass(eq=False)
class Study:
    """What the tables share: corpora read once, findings made so far."""

    run: Run
    how: How
    corpora: dict[str, Corpus] = field(default_factory=dict)

    def corpus(self, name: str) -> Corpus:
        """The rows of a corpus, read once."""
        if name not in self.corpora:
            read = find(name)
            self.use(read)
            self.corpora[name] = as_rows(read)
        return self.corpora[name]

    @property
    def folds(self) -> str:
        """Ten folds, or one."""
        return "holdout:0.1" if self.how.quick else "kfold:10"

    @property
    def disjoint(self) -> str:
        """Ten author-disjoint folds, or two."""
        return "author-disjoint:2" if self.how.quick else "author-disjoint:10"

    def setting(self) -> Setting:
        """How a run is carried out."""
        return Setting(
            seed=self.run.seed,
            workers=self.how.workers,
            finished=self.how.finished,
            step=self.how.step,
        )

    def task(self, corpus: Corpus, classes: Sequence[str] = ()) -> Task:
        """What is told apart in a corpus."""
        return make_task(corpus, classes=classes)

    def recipe(self, method: str, task: Task) -> Any:
        """The recipe of a method, with the paper's options."""
        name = f"{method}:epochs={_QUICK_EPOCHS}" if self.how.quick else method
        return for_corpus(find_recipe(name), task.corpus, classes=task.classes)

    def plan(self, protocol: str, task: Task, keep: tuple[str, ...]) -> Plan:
        """Splits as the paper made them: a conflicting id stays on one side."""
        plan = make_plan(protocol, task, keep=keep, seed=self.run.seed)
        if plan.test is not plan.task:
            self.use(plan.test.corpus)
        return plan

    def use(self, corpus: Corpus) -> None:
        """Name a corpus among the data used, once."""
        if (data := used(corpus)) not in self.run.data:
            self.run.data.append(data)


@dataclass(frozen=True, eq=False)
class Result:
    """One method in one table."""

    plan: Plan
    outcome: Outcome
    seconds: float
    extra: Sequence[Finding] = ()


def reproduce(run: Run, wanted: Sequence[str], how: How) -> Parts:
    """The paper's tables beside ours."""
    unknown = [table for table in wanted if table not in TABLES]
    if unknown:
        raise BadInput(f"{PAPER} has tables {', '.join(TABLES)} here; not {', '.join(unknown)}")
    study = Study(run, how)
    sections = []
    for table in dict.fromkeys(wanted):
        sections += _BY_TABLE[table](study)
        run.findings += [f for s in sections for f in s.findings if f not in run.findings]
    compared = directions(run.findings)
    if compared is not None:
        sections.append(compared)
    return Parts("Arango et al. 2019", sections, _summary(run.findings, how))


def _table_1(study: Study) -> list[Section]:
    """The leaks, asked for by name."""
    task = study.task(study.corpus("waseem_hovy"), _LABELS)

    def leak(method: str) -> Result:
        recipe = study.recipe(method, task)
        plan = study.plan(study.folds, task, ("twin",))
        start = time.monotonic()
        plan, outcome = leaky(_LEAKS[method], recipe, plan, study.setting(), choices={})
        extra: list[Finding] = []
        if method == AGRAWAL:
            extra = _copies(study, recipe.oversample, plan, outcome)
            group = {"table": "1", "method": method, "rows": "one copy of each post"}
            extra += main_findings([one_copy(outcome)], seed=study.run.seed, group=group)
        return Result(plan, outcome, time.monotonic() - start, extra)

    prose = [
        "badjatiya: word vectors learned on all posts and their labels, then trees in "
        f"{study.folds}; agrawal: rarer classes three times over before the split. Both leaks "
        "were asked for by name; these figures measure the leak.",
    ]
    return [_section(study, "1", {method: leak(method) for method in METHODS}, prose)]


def _copies(study: Study, times: int, plan: Plan, outcome: Outcome) -> list[Finding]:
    """A look-up of copies: measured, and by the paper's formula and the right one (A.1)."""
    group = {"table": "1", "baseline": "copy-lookup"}
    found = short_findings(outcome, copy_lookup(plan, outcome), seed=study.run.seed, group=group)
    for share in (0.15, 0.1):
        formula = oversampling_formula(times, share)
        for name, measure, form in (
            ("both_sides", "recall", "as printed"),
            ("macro_f1_paper", "macro_f1", "as printed"),
            ("recall", "recall", "among test rows"),
            ("macro_f1", "macro_f1", "among test rows"),
        ):
            found.append(
                Finding(
                    measure=measure,
                    value=formula[name],
                    n=outcome.rows.height,
                    group={**group, "form": f"formula {form}", "test_share": f"p = {share:.2f}"},
                    method="appendix A.1, two balanced classes, copies "
                    f"{times} times over, perfect precision",
                    why="a formula: no interval",
                )
            )
    return found


def _table_2(study: Study) -> list[Section]:
    task = study.task(study.corpus("waseem_hovy"), _LABELS)
    plan = study.plan(study.folds, task, ("twin",))
    results = _fitted(study, plan)
    prose = ["The same folds; everything is learned from the training side only."]
    return [_section(study, "2", results, prose)]


def _fitted(study: Study, plan: Plan) -> dict[str, Result]:
    """Both methods under a plan, side by side."""
    start = time.monotonic()
    cases = [(study.recipe(method, plan.task), plan) for method in METHODS]
    outcomes = cross_validate_all(cases, study.setting())
    seconds = (time.monotonic() - start) / len(METHODS)
    pairs = zip(METHODS, outcomes, strict=True)
    return {method: Result(plan, outcome, seconds) for method, outcome in pairs}


def _table_3(study: Study) -> list[Section]:
    plan = study.plan(_TEST, study.task(study.corpus("waseem_hovy")), ())
    return [_transferred(study, "3", plan)]


def _transferred(study: Study, table: str, plan: Plan) -> Section:
    results = _fitted(study, plan)
    prose = [
        f"racism, sexism{' and hate' if table == '6' else ''} count as hateful, as HS = 1 does; "
        "tested on the 9,000 posts of HatEval's training split."
    ]
    return _section(study, table, results, prose)


def _table_4(study: Study) -> list[Section]:
    task = study.task(study.corpus("waseem_hovy"))
    plan = study.plan("arango-partitions", task, ("author", "twin"))
    random = same_counts(plan, study.run.seed)
    results, beside = _fitted(study, plan), []
    for method, found in _fitted(study, random).items():
        group = {"table": "4", "method": method, "baseline": "random-split"}
        beside += [
            f
            for f in main_findings([found.outcome], seed=study.run.seed, group=group)
            if f.measure in ("macro_f1", "auc") or f.group.get("label") == "hateful"
        ]
    counts = [f for split in plan.splits for f in _partition(split.name, split.train, task)]
    prose = [
        "Posts of one author stand on one side. Beside each method: a random split with the same "
        "class counts on the test side and no more in training. Authors, their topics and the "
        "period of collection change together and cannot be told apart.",
    ]
    return [_section(study, "4", results, prose, [*beside, *counts])]


def _partition(name: str, train: Sequence[str], task: Task) -> list[Finding]:
    """Training posts of a partition, hateful and not, ours and the paper's."""
    inside = task.codes.join(pl.DataFrame({"post": train}), on="post", how="semi")
    hateful = int(inside["code"].sum())
    ours = (hateful, inside.height - hateful)
    found = []
    for label, mine, printed in zip(
        ("hateful", "not hateful"), ours, PARTITION_COUNTS[name], strict=True
    ):
        group = {"table": "7", "partition": name, "label": label}
        found.append(Finding(measure="posts", value=mine, n=inside.height, group=group))
        found.append(
            Finding(
                measure="posts",
                value=printed,
                n=sum(PARTITION_COUNTS[name]),
                group=group,
                method="as printed",
                origin="published",
            )
        )
    return found


def _table_5(study: Study) -> list[Section]:
    corpus = study.corpus("arango_extended")
    own = tag("part", corpus.posts)
    source = corpus.posts.select(own).to_series()
    part = replace(
        corpus,
        name="arango_extended, Waseem–Hovy part",
        posts=corpus.posts.filter(source != "davidson"),
    )
    sections = []
    sets = [("5", corpus), ("5, Waseem–Hovy part", part)]
    for table, which in sets[:1] if study.how.quick else sets:
        plan = study.plan(study.disjoint, study.task(which), ("author", "twin"))
        results = _fitted(study, plan)
        prose = [
            "Every post of the hateful class from Davidson comes from a corpus that gives no other "
            "posts: recognising the source alone is worth the look-up beside."
            if table == "5"
            else "The same without Davidson's posts: no source to recognise. The paper has no such "
            "row."
        ]
        extra = _sizes(study) if table == "5" else []
        sections.append(_section(study, table, results, prose, extra))
    return sections


def _sizes(study: Study) -> list[Finding]:
    """The set built again by ``--cap 250 --add davidson:hate_speech``, beside the paper's sizes."""
    capped = cap(study.corpus("waseem_hovy"), 250, seed=study.run.seed)
    davidson = find("davidson")
    study.use(davidson)
    both = add(capped, davidson, "hate_speech")
    found = []
    for step, corpus, printed in (("cap", capped, CAPPED), ("cap and add", both, EXTENDED)):
        codes = make_task(corpus).codes["code"]
        pairs = ((None, len(codes), printed[0]), ("hateful", int(codes.sum()), printed[1]))
        for label, mine, theirs in pairs:
            group = {"table": "5", "set": step} | ({"label": label} if label else {})
            found.append(Finding(measure="posts", value=mine, n=len(codes), group=group))
            found.append(
                Finding(
                    measure="posts",
                    value=theirs,
                    n=printed[0],
                    group=group,
                    method="as printed",
                    origin="published",
                )
            )
    return found


def _table_6(study: Study) -> list[Section]:
    plan = study.plan(_TEST, study.task(study.corpus("arango_extended")), ())
    return [_transferred(study, "6", plan)]


_BY_TABLE: Mapping[str, Callable[[Study], list[Section]]] = {
    "1": _table_1,
    "2": _table_2,
    "3": _table_3,
    "4": _table_4,
    "5": _table_5,
    "6": _table_6,
}


def _section(
    study: Study,
    table: str,
    results: Mapping[str, Result],
    prose: Sequence[str],
    extra: Sequence[Finding] = (),
) -> Section:
    """A table of the paper: its rows, ours, the difference, constants, time."""
    seed = study.run.seed
    found: list[Finding] = []
    rows: list[list[str]] = []
    for method, result in results.items():
        group = {"table": table, "method": method}
        ours = main_findings([result.outcome], seed=seed, group=group)
        means = fold_findings(result.outcome, group=group)
        printed = published(table, method)
        gaps = differences(ours, printed)
        found += [*printed, *ours, *means, *gaps, *result.extra]
        found.append(
            Finding(
                measure="seconds",
                value=result.seconds,
                n=len(result.plan.splits),
                group=group,
                method="wall clock of both methods side by side, shared evenly",
                unit="fits",
                why="a point: no interval",
            )
        )
        rows += method_rows(method, printed, ours, means)
    first = next(iter(results.values()))
    constants = [
        replace(f, group={"table": table, **f.group})
        for f in baseline_findings(first.plan, first.outcome, seed=seed)
    ]
    looked_up = [f for result in results.values() for f in result.extra]
    rows += constant_rows([*extra, *looked_up, *constants])
    grids = [counts_grid(table, extra)] if any(f.measure == "posts" for f in extra) else []
    grid = Grid(
        name=f"table_{table.replace(', ', '_').replace(' ', '_').replace('–', '_')}".lower(),
        title="The paper and ours",
        headings=HEADINGS,
        rows=rows,
        narrow=range(5),
    )
    title = TITLES.get(table, f"Table {table}")
    return Section(title, prose, [*found, *constants, *extra], grids=[grid, *grids])


def _summary(found: Sequence[Finding], how: How) -> list[str]:
    lines = []
    if how.quick:
        lines.append(
            f"Quick: {_QUICK_EPOCHS} epochs in place of ten, one holdout of a tenth in place of "
            "ten folds, two author-disjoint folds in place of ten, table 5 on the whole set only. "
            "Leave out --quick for the tables."
        )
    for table in TABLES:
        for method in METHODS:
            ours = figure_of(found, (table, method, "macro_f1"), "data")
            theirs = figure_of(found, (table, method, "macro_f1"), "published")
            if ours and theirs and ours.value is not None and theirs.value is not None:
                gap = f"{ours.value - theirs.value:+.3f}".replace("-", "−")
                lines.append(
                    f"Table {table}, {method}: macro-F1 {ours.value:.3f}, paper "
                    f"{theirs.value:.3f} ({gap})."
                )
    lines.append(
        "Rows the paper calls micro are support-weighted averages and stand beside ours of that "
        "kind; always calling a post hateful stands in every table with two classes."
    )
    return lines
