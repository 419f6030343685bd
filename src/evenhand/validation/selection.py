"""Choosing options: on a dev split of the training posts, or, as a leak, on the test posts.

The candidates are the recipe with every combination of the values to choose from. Each is fitted on
the training posts without the dev posts and judged by macro-F1 on the dev posts; the best is fitted
again on all training posts. The dev split keeps authors together where the plan does, and otherwise
what the plan keeps together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.data.splits import holdout, ties
from evenhand.validation.plan import Plan
from evenhand.validation.run import Job

DEV_SHARE = 0.1


def candidates(recipe: Any, choices: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    """The recipe with every combination of the values."""
    if not choices:
        raise BadInput(
            f"{getattr(recipe, 'name', 'the recipe')} has nothing to choose; say what with "
            "--select OPTION=A|B"
        )
    return tuple(
        replace(recipe, **dict(zip(choices, values, strict=True)))
        for values in product(*choices.values())
    )


class OnDev:
    """Adds a choice on a dev split to a job."""

    def __init__(self, recipes: Sequence[Any]) -> None:
        self.recipes = tuple(recipes)

    def __call__(self, job: Job, plan: Plan) -> Job:
        """The job with candidates, judged on a part of its training posts."""
        corpus = replace(plan.task.corpus, posts=job.posts)
        together = ("author",) if "author" in plan.keep else plan.keep
        codes = job.posts.select(post="id").join(plan.task.codes, on="post", maintain_order="left")
        split = holdout(
            job.posts["id"],
            codes["code"].cast(pl.String),
            ties(corpus, together),
            test=DEV_SHARE,
            seed=job.seed,
            rule="dev split",
        )
        ids = pl.DataFrame({"post": split.test}, schema={"post": pl.String})
        dev, rest = (codes.join(ids, on="post", how=how) for how in ("semi", "anti"))
        if min(dev["code"].n_unique(), rest["code"].n_unique()) < 2:
            raise NotEnoughData(
                f"--select: the dev split of {job.label} leaves one side without two classes "
                f"({dev.height} and {rest.height} posts); use fewer folds, or more posts or authors"
            )
        return replace(job, candidates=self.recipes, judged=dev.rename({"post": "id"}))


class OnTest:
    """Adds a choice on the test posts themselves to a job: a leak."""

    def __init__(self, recipes: Sequence[Any]) -> None:
        self.recipes = tuple(recipes)

    def __call__(self, job: Job, plan: Plan) -> Job:
        """The job with candidates, judged on its test posts."""
        tests = job.tests.select(post="id").join(plan.test.codes, on="post", maintain_order="left")
        return replace(job, candidates=self.recipes, judged=tests.rename({"post": "id"}))
