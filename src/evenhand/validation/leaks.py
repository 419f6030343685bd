"""Leaks on request: what a figure becomes when the test posts get into training.

``features``: the representation is learned on training and test posts together, labels included,
as in Badjatiya et al. ``oversample``: posts of the rarer classes are repeated before the split, so
that copies stand on both sides, as in Agrawal and Awekar. ``select-on-test``: options are chosen on
the test posts. A recipe without such a step refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput
from evenhand.validation.plan import COPY, Plan, Task, make_plan, original
from evenhand.validation.run import Outcome, Setting, cross_validate
from evenhand.validation.selection import OnDev, OnTest, candidates

LEAKS = ("features", "oversample", "select-on-test")


def expect_leak(kind: str, recipe: Any, plan: Plan, choices: Mapping[str, Sequence[Any]]) -> None:
    """Refuse a leak that the recipe or the protocol has no step for."""
    if kind not in LEAKS:
        raise BadInput(f"--leak {kind}; expected {', '.join(LEAKS)}")
    if kind == "select-on-test":
        candidates(recipe, choices)
        return
    if kind == "features" and not hasattr(recipe, "represent"):
        raise BadInput(
            f"--leak features: {recipe.name} learns no representation in a step of its own, so "
            "there is none to leak; badjatiya does"
        )
    if kind == "oversample" and getattr(recipe, "oversample", 1) < 2:
        raise BadInput(
            f"--leak oversample: {recipe.name} does not oversample; use a recipe that does, e.g. "
            "agrawal, with oversample of 2 or more"
        )
    if plan.test is not plan.task or (kind == "oversample" and plan.author_disjoint):
        raise BadInput(
            f"--leak {kind}: with {plan.protocol} and what is kept on one side "
            f"({', '.join(plan.keep) or 'nothing'}) nothing can stand on two; use kfold or "
            "holdout without authors"
        )


def leaky(
    kind: str, recipe: Any, plan: Plan, setting: Setting, *, choices: Mapping[str, Sequence[Any]]
) -> tuple[Plan, Outcome]:
    """The run with the leak, and the plan it used."""
    expect_leak(kind, recipe, plan, choices)
    if kind == "features":
        return plan, _features(recipe, plan, setting, choices)
    if kind == "oversample":
        return _oversample(recipe, plan, setting, choices)
    chosen = OnTest(candidates(recipe, choices))
    return plan, cross_validate(recipe, plan, setting, choose=chosen)


def _chooser(recipe: Any, choices: Mapping[str, Sequence[Any]]) -> OnDev | None:
    """Options are chosen as in the honest run, where there is a choice."""
    return OnDev(candidates(recipe, choices)) if choices else None


def _features(
    recipe: Any, plan: Plan, setting: Setting, choices: Mapping[str, Sequence[Any]]
) -> Outcome:
    learned: dict[frozenset[str], Any] = {}

    def representation(posts: pl.DataFrame, seed: int) -> Any:
        # Where every fold has the same posts in all, learning once gives what each would give.
        key = frozenset(posts["id"])
        if key not in learned:
            setting.step(f"{recipe.name}: features of all posts", 0, None)
            learned[key] = recipe.represent(posts, plan.task.gold_of(posts), seed=seed)
        return learned[key]

    chosen = _chooser(recipe, choices)
    return cross_validate(recipe, plan, setting, representation=representation, choose=chosen)


def _oversample(
    recipe: Any, plan: Plan, setting: Setting, choices: Mapping[str, Sequence[Any]]
) -> tuple[Plan, Outcome]:
    task = repeated(plan.task, recipe.oversample)
    again = make_plan(plan.protocol, task, keep=(), seed=setting.seed)
    plain = replace(recipe, oversample=1)
    return again, cross_validate(plain, again, setting, choose=_chooser(plain, choices))


def one_copy(outcome: Outcome) -> Outcome:
    """The predictions of one copy of every post: the same posts and classes as without copies."""
    first = (outcome.rows["post"] == original(outcome.rows["post"])).to_numpy()
    return replace(outcome, rows=outcome.rows.filter(first), p=outcome.p[first])


def repeated(task: Task, times: int) -> Task:
    """The task with every post of every class but the largest ``times`` over, as further posts."""
    counts = np.bincount(task.codes["code"], minlength=len(task.names))
    rarer = task.codes.filter(pl.col("code") != int(counts.argmax()))["post"]
    gold = task.gold_of(task.corpus.posts)
    posts_parts, gold_parts, code_parts = [task.corpus.posts], [gold], [task.codes]
    for copy in range(2, times + 1):
        suffix = pl.lit(f"{COPY}{copy}")
        chosen = pl.col("id").is_in(rarer.implode())
        posts_parts.append(task.corpus.posts.filter(chosen).with_columns(id=pl.col("id") + suffix))
        mine = pl.col("post").is_in(rarer.implode())
        gold_parts.append(gold.filter(mine).with_columns(post=pl.col("post") + suffix))
        code_parts.append(task.codes.filter(mine).with_columns(post=pl.col("post") + suffix))
    corpus = replace(task.corpus, posts=pl.concat(posts_parts), gold=pl.concat(gold_parts))
    return replace(task, corpus=corpus, codes=pl.concat(code_parts))
