"""A random split with the same class counts, to stand beside an author-disjoint one.

Author-disjoint folds have other class shares on their two sides than random ones, so that a fall in
a figure could come from the counts alone. Here every test side has as many posts of each class as
its author-disjoint counterpart, and no more training posts of each class; who wrote them is left to
chance. Twins, templates and duplicates of test posts are left out of training as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.records import Split
from evenhand.core.streams import stream
from evenhand.data.splits import Likeness
from evenhand.validation.plan import Plan

Codes = NDArray[np.int64]


def same_counts(plan: Plan, seed: int) -> Plan:
    """The plan with posts dealt at random, class by class."""
    keep = tuple(name for name in plan.keep if name != "author")
    table = plan.task.codes.sort("post")
    ids, codes = table["post"], table["code"].to_numpy()
    like = Likeness(replace(plan.task.corpus, posts=plan.task.part(ids).sort("id")), keep)
    rng = stream(seed, "same counts")
    splits = []
    for split, test in zip(plan.splits, _tests(plan, ids, codes, rng), strict=True):
        train = ~test
        if keep:
            train &= ~like.tangled(train, test)
        wanted = _class_counts(split.train, plan)
        chosen = np.concatenate(
            [
                rng.permutation(np.flatnonzero(train & (codes == number)))[:many]
                for number, many in enumerate(wanted)
            ]
        )
        train = np.zeros(len(ids), dtype=bool)
        train[chosen] = True
        splits.append(
            Split(
                name=split.name,
                train=ids.filter(pl.Series(train)).to_list(),
                test=ids.filter(pl.Series(test)).to_list(),
                rule=f"random, with the class counts of {plan.protocol}",
            )
        )
    protocol = f"random split with the class counts of {plan.protocol}"
    return replace(
        plan, protocol=protocol, splits=splits, keep=keep, author_disjoint=False, facts=()
    )


def _tests(
    plan: Plan, ids: pl.Series, codes: Codes, rng: np.random.Generator
) -> Iterator[NDArray[np.bool_]]:
    """The test side of every split; apart where the plan tests every post once."""
    counts = np.array([_class_counts(split.test, plan) for split in plan.splits])
    once = counts.sum() == len(ids)
    places = [rng.permutation(np.flatnonzero(codes == number)) for number in range(counts.shape[1])]
    starts = np.zeros(counts.shape[1], dtype=np.int64)
    for wanted in counts:
        test = np.zeros(len(ids), dtype=bool)
        for number, many in enumerate(wanted):
            if not once:
                places[number] = rng.permutation(places[number])
            start = int(starts[number]) if once else 0
            test[places[number][start : start + many]] = True
        starts += wanted
        yield test


def _class_counts(side: object, plan: Plan) -> Codes:
    table = pl.DataFrame({"post": side}, schema={"post": pl.String}).join(
        plan.task.codes, on="post"
    )
    counts: Codes = np.bincount(table["code"], minlength=len(plan.task.names))
    return counts
