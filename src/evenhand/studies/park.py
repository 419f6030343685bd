"""Table 4 of Park, Shin and Fung 2018: detectors of hateful posts, measured for gender bias.

A detector is trained on Waseem and Hovy's posts as far as their texts are to be had, and asked
about sentences that differ in one word, the name of a man or of a woman. The sentences are ours
(:mod:`evenhand.audits.templates`): the paper prints examples only. So is the split: the paper's
text does not say how it was made. Its thresholds are those of equal error rates, on which posts it
does not say: the main line takes the threshold from the dev posts, two others stand beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.audits.templates import read_set, sentences_of
from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding, Split
from evenhand.core.tables import posts_table, tag
from evenhand.data.corpus import Corpus
from evenhand.data.find import find, used
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.data.splits import holdout, ties, verify
from evenhand.models.find import recipe as find_recipe
from evenhand.models.protocol import Recipe
from evenhand.models.training import for_corpus
from evenhand.reports import Section
from evenhand.stats.decisions import Decisions, Predicted, auc
from evenhand.stats.detection import auc as auc_of
from evenhand.stats.equality import (
    Decided,
    equality,
    false_negative_equality_difference,
    false_positive_equality_difference,
)
from evenhand.stats.thresholds import equal_error
from evenhand.studies.park_rows import (
    BY_CHANCE,
    COLUMNS,
    DEV,
    GENERATED,
    HALF,
    HEADINGS,
    cell,
    directions,
    group_of,
    missing,
    our_figure,
    pairs_grid,
    published,
    same,
    spread_grid,
    table_grid,
)
from evenhand.studies.parts import How, Parts
from evenhand.validation.figures import unit_of
from evenhand.validation.plan import WITHOUT_AUTHOR, Plan, Task, make_task
from evenhand.validation.run import Setting, cross_validate

PAPER = "park"
TABLES = ("4",)
RUNS = 10
"""As many as the paper's."""

_CORPUS = "waseem_2016"
_SHARE = 0.1
"""Of the posts, on the dev and on the test side."""
_QUICK_EPOCHS = 1
_EPOCHS = (1, 2, 3, 5)
"""To choose from by AUC on the dev posts, as the paper chose its options."""
_MODELS = ("cnn", "gru", "alpha-gru")
_DIFFERENCES = {
    "fned": false_negative_equality_difference,
    "fped": false_positive_equality_difference,
}
_SHOWN = ("fpr", "fnr", *_DIFFERENCES, *(f"{m}_{by}" for m in _DIFFERENCES for by in BY_CHANCE))
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sides:
    """Who is trained on what and judged on what."""

    task: Task
    split: Split
    generated: Corpus
    plan: Plan
    """One split per run, alike in all but the seed; dev, test and generated posts are scored."""

    @property
    def runs(self) -> int:
        """How often each model is trained."""
        return len(self.plan.splits)

    def labelled(self) -> pl.DataFrame:
        """Which side each scored post is on (columns post, side), and a generated one's tags."""
        posts = self.generated.posts
        tags = [tag(name, posts) for name in ("template", "frame", "group", "pair")]
        generated = posts.select(pl.col("id").alias("post"), *tags, side=pl.lit("generated"))
        ids = {"dev": self.split.dev or (), "original": self.split.test}
        others = [pl.DataFrame({"post": ids[side], "side": side}) for side in ids]
        return pl.concat([*others, generated], how="diagonal")


@dataclass(frozen=True, eq=False)
class Judged:
    """What the runs of one model say of dev, original (test) and generated posts."""

    model: str
    rows: pl.DataFrame
    """Columns post, cluster, truth, side; for generated posts also template, frame, group, pair."""
    p: Floats
    """One row per run."""
    unit: str
    """What a cluster of original posts is."""
    seconds: float

    def side(self, name: str) -> tuple[pl.DataFrame, Floats]:
        """The rows of one side, and the scores of all runs."""
        mine = self.rows["side"] == name
        return self.rows.filter(mine), self.p[:, mine.to_numpy()]

    @cached_property
    def thresholds(self) -> dict[str, Floats]:
        """Every kind of threshold, one for each run."""
        half = np.full(len(self.p), 0.5)
        return {DEV: self._equal("dev"), GENERATED: self._equal("generated"), HALF: half}

    def _equal(self, name: str) -> Floats:
        rows, p = self.side(name)
        found = [equal_error(rows["truth"].to_numpy(), scores) for scores in p]
        if None in found:
            raise NotEnoughData(
                f"{PAPER}: the {rows.height} {name} posts are of one class; an equal-error-rate "
                "threshold needs both. Add posts"
            )
        return np.array([each.threshold for each in found if each])


def reproduce(
    run: Run,
    wanted: Sequence[str],
    how: How,
    *,
    runs: int | None = None,
    recipes: Mapping[str, str] | None = None,
    corpus: Corpus | None = None,
) -> Parts:
    """The paper's rows beside ours.

    Args:
        run: Collects data and findings.
        wanted: Tables.
        how: Quick, workers, progress.
        runs: How often each model is trained; as often as in the paper, or once if quick.
        recipes: Recipe by model; without them the paper's three networks.
        corpus: What to learn from; without it Waseem's posts.
    """
    unknown = [table for table in wanted if table not in TABLES]
    if unknown:
        raise BadInput(f"{PAPER} has table {', '.join(TABLES)} here; not {', '.join(unknown)}")
    corpus = corpus or find(_CORPUS)
    run.data.append(used(corpus))
    sides = _sides(corpus, runs or (1 if how.quick else RUNS), run.seed)
    epochs = f",epochs={_QUICK_EPOCHS}" if how.quick else ""
    given = recipes is not None
    recipes = recipes or {model: f"park:model={model}{epochs}" for model in _MODELS}
    models = list(recipes)
    chosen = not (how.quick or given)
    fits = [for_corpus(find_recipe(name), corpus) for name in recipes.values()]
    found = [*published(), *missing()]
    for place, (model, recipe) in enumerate(zip(models, fits, strict=True)):
        done, total = place * sides.runs, len(models) * sides.runs
        setting = _setting(run, how, model, done, total)
        if chosen:
            tried, recipe = _best_epochs(model, recipe, sides, setting)
            found += tried
        judged = _judged(model, recipe, sides, setting)
        found += findings_of(judged, seed=run.seed)
    found += _constant(sides, run.seed)
    run.findings += found
    section = Section(
        "Table 4: a random split of Waseem's posts, and sentences about men and women",
        _prose(sides),
        found,
        grids=[table_grid(found, models), spread_grid(found, models), pairs_grid(found, models)],
    )
    return Parts("Park et al. 2018", [section], list(_summary(found, models, sides, how)))


def _sides(corpus: Corpus, runs: int, seed: int) -> Sides:
    task = make_task(corpus)
    ids, tied = task.corpus.posts["id"], ties(task.corpus, WITHOUT_AUTHOR)
    rule = f"no {' or '.join(WITHOUT_AUTHOR)} on two sides"
    split = holdout(ids, task.labels, tied, test=_SHARE, dev=_SHARE, seed=seed, rule=rule)
    verify(split, ids, tied)
    generated = sentences_of(read_set("gender"))
    theirs = make_task(generated)
    scored = [*(split.dev or ()), *split.test, *theirs.codes["post"]]
    columns = ("id", "text", "source", "author")
    posts = [each.corpus.posts.select(columns) for each in (task, theirs)]
    both = replace(
        theirs,
        corpus=replace(generated, posts=posts_table(pl.concat(posts)), gold=None),
        codes=pl.concat([task.codes, theirs.codes]),
    )
    each_run = [
        Split(name=f"run {number}", train=split.train, test=scored, rule=rule)
        for number in range(1, runs + 1)
    ]
    plan = Plan(protocol=PAPER, task=task, test=both, splits=each_run, keep=WITHOUT_AUTHOR)
    return Sides(task, split, generated, plan)


def _setting(run: Run, how: How, model: str, before: int, total: int) -> Setting:
    """How the runs of one model are carried out; progress counts those of all models."""

    def step(what: str, done: float, of: float | None) -> None:
        how.step(f"{model}, {what}", before + done, total)

    return Setting(seed=run.seed, workers=how.workers, finished=how.finished, step=step)


def _judged(model: str, recipe: Recipe, sides: Sides, setting: Setting) -> Judged:
    start = time.monotonic()
    outcome = cross_validate(recipe, sides.plan, setting)
    rows = outcome.rows.filter(pl.col("fold") == 1).select("post", "cluster", "truth")
    rows = rows.join(sides.labelled(), on="post", maintain_order="left")
    p = outcome.p.reshape(sides.runs, rows.height)  # every run scores the same posts in order
    return Judged(model, rows, p, unit_of(sides.task), time.monotonic() - start)


def _best_epochs(
    model: str, recipe: Any, sides: Sides, setting: Setting
) -> tuple[list[Finding], Any]:
    """AUC on the dev posts after some numbers of epochs, and the recipe with the best of them."""
    dev = [Split(name="dev", train=sides.split.train, test=sides.split.dev or (), rule="dev")]
    plan = replace(sides.plan, test=sides.task, splits=dev)
    found = []
    for epochs in _EPOCHS:
        outcome = cross_validate(replace(recipe, epochs=epochs), plan, setting)
        group: dict[str, str | int] = {**group_of(model), "on": "dev", "epochs": epochs}
        unit = unit_of(sides.task)
        found.append(auc(outcome.decisions(), unit=unit, seed=setting.seed, group=group))
    best = max(found, key=lambda finding: finding.value or 0.0)
    return found, replace(recipe, epochs=best.group["epochs"])


def findings_of(judged: Judged, *, seed: int) -> list[Finding]:
    """AUC on both sets, equality differences at every threshold, ranges over runs."""
    found = [*_auc(judged, "original", seed), *_auc(judged, "generated", seed)]
    rows, p = judged.side("generated")
    truth, groups = rows["truth"].to_numpy(), rows["group"].to_list()
    for name, thresholds in judged.thresholds.items():
        group = group_of(judged.model, threshold=name)
        flagged = p >= thresholds[:, None]
        found += _equality(rows, flagged, seed, group)
        for measure, difference in _DIFFERENCES.items():
            each = (difference(truth, one, groups) for one in flagged)
            found += _range(measure, [one.total for one in each if one], group)
        found.append(_over_runs("threshold", thresholds.tolist(), group))
    found += _by_pair(judged, seed)
    seconds = Finding(
        measure="seconds",
        value=judged.seconds,
        n=len(p),
        group=group_of(judged.model),
        method="wall clock, fitting and scoring",
        unit="fits",
        why="a point: no interval",
    )
    return [*found, seconds]


def _auc(judged: Judged, side: str, seed: int) -> list[Finding]:
    """AUC on one side: the mean over runs with its interval, and the range over runs."""
    rows, p = judged.side(side)
    generated = side == "generated"
    truth = rows["truth"].to_numpy()
    clusters = rows["template" if generated else "cluster"]
    runs = tuple(
        Predicted(truth, (scores >= 0.5).astype(np.int64), clusters, scores, truth == 1)
        for scores in p
    )
    group = group_of(judged.model, on=side)
    unit = "templates" if generated else judged.unit
    found = auc(Decisions((OTHER, HATEFUL), runs), unit=unit, seed=seed, group=group)
    each = (auc_of(truth, scores) for scores in p)
    return [found, *_range("auc", [value for value in each if value is not None], group)]


def _equality(
    rows: pl.DataFrame, flagged: Bools, seed: int, group: Mapping[str, str]
) -> list[Finding]:
    found = equality(
        Decided.of(rows["truth"].to_numpy(), flagged, rows["group"].to_list()),
        clusters=rows["template"].to_list(),
        frames=rows["frame"].to_list(),
        pairs=rows["pair"].to_list(),
        unit="templates",
        seed=seed,
        group=group,
    )
    return [f for f in found if f.measure in _SHOWN]


def _by_pair(judged: Judged, seed: int) -> list[Finding]:
    """Both groups' rates and their difference for every pair of terms, at the dev threshold.

    Pairs can pull in different directions, which cancel in the sum over all terms.
    """
    rows, p = judged.side("generated")
    flagged = p >= judged.thresholds[DEV][:, None]
    found = []
    for pair in rows["pair"].unique().sort():
        mine = rows["pair"] == pair
        group = group_of(judged.model, threshold=DEV, pair=pair)
        here = _equality(rows.filter(mine), flagged[:, mine.to_numpy()], seed, group)
        found += [f for f in here if f.measure in _DIFFERENCES or "group" in f.group]
    return found


def _range(measure: str, values: Sequence[float], group: Mapping[str, str]) -> list[Finding]:
    """The range over runs; nothing where there is one run."""
    return [_over_runs(measure, values, {**group, "run": "range"})] if len(values) > 1 else []


def _over_runs(measure: str, values: Sequence[float], group: Mapping[str, str]) -> Finding:
    return Finding(
        measure=measure,
        value=float(np.mean(values)),
        n=len(values),
        group=group,
        low=min(values),
        high=max(values),
        method="mean over runs; low and high are the least and the largest, no confidence interval",
        unit="runs",
    )


def _constant(sides: Sides, seed: int) -> list[Finding]:
    """A detector that says the same of every post, beside the others."""
    rows = sides.labelled().join(sides.plan.test.codes.rename({"code": "truth"}), on="post")
    generated = rows.filter(pl.col("side") == "generated")
    never = np.zeros((1, generated.height), dtype=np.bool_)
    found = _equality(generated, never, seed, {"table": "4", "baseline": "constant"})
    return [f for f in found if f.measure in _DIFFERENCES]


def _prose(sides: Sides) -> list[str]:
    split, posts = sides.split, sides.generated.posts
    templates, terms = (
        posts.select(tag(name, posts)).to_series().n_unique() for name in ("template", "term")
    )
    return [
        f"Trained on {len(split.train):,} posts of {sides.task.corpus.name}, the threshold found "
        f"on {len(split.dev or ()):,}, original AUC on {len(split.test):,}: a random split, "
        "classes even, duplicates on one side, the same in every run. Hateful posts against all "
        "others. The paper's text does not say how it split.",
        f"{posts.height:,} sentences, half of them abusive, from {templates} templates and {terms} "
        f"terms of men and women, the same for each; ours, not the paper's.",
        "FPED and FNED are sums over the two groups. Their intervals resample templates, so they "
        "speak of sentences like these; `shuffled` is what chance alone gives, `swapped` what "
        "unlike treatment of single terms gives without regard to gender. A detector that says "
        "the same of every post has both at 0: read them beside AUC.",
        "Pairs of terms can pull in different directions, which cancel in FPED and FNED: rates by "
        "pair stand beside them. Other terms would give other sums.",
    ]


def _summary(
    found: Sequence[Finding], models: Sequence[str], sides: Sides, how: How
) -> Iterator[str]:
    if how.quick:
        yield (
            f"Quick: {sides.runs} of {RUNS} runs, {_QUICK_EPOCHS} epoch each in place of the "
            "recipe's. Leave out --quick for the table."
        )
    for model in models:
        words = []
        for (measure, on), heading in zip(COLUMNS, HEADINGS, strict=True):
            where = {"on": on} if on else {}
            printed = same(found, measure, "published", **group_of(model, **where))
            paper = f" (paper {cell(printed)})" if printed else ""
            words.append(f"{heading} {cell(our_figure(found, measure, on, model))}{paper}")
        yield f"{model}, random vectors, mean of {sides.runs}: {', '.join(words)}."
        yield directions(found, model)
    yield "A detector that says the same of every post has FNED and FPED 0, and AUC one half."
    yield "fastText and word2vec vectors, and table 5 (abt), are not to be had here."
