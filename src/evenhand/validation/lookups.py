"""Classifiers that read no text: constants, and look-ups of the author, the source, the copy.

Each is fitted on the training side of every fold, as the recipe is, so that it stands beside the
recipe's figure under the same protocol; ``author-lookup stated`` and ``ideal`` know the whole
corpus, as the paper's sentence about two authors does. A detector that does not do better than
these has shown nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.tables import tag
from evenhand.data.authors import stated_classes
from evenhand.stats.classification import macro_f1
from evenhand.validation.plan import Plan, Task, original
from evenhand.validation.run import Outcome

Codes = NDArray[np.int64]

FITTED = ("majority", "always-positive", "author-lookup", "source-lookup")
"""Those that know no more than the training side does."""

NOT_HERE = {
    "always-positive": "several classes are told apart; there is no one positive class",
    "author-lookup": "training and test posts do not say who wrote them",
    "author-lookup stated": "needs authors, and hateful labels beside others",
    "author-lookup ideal": "needs authors, and hateful labels beside others",
    "source-lookup": "all posts come from one source",
}
"""Why a look-up may be missing."""


def baselines(plan: Plan, outcome: Outcome) -> Iterator[tuple[str, Codes | None]]:
    """The predicted class of every row of the outcome by each look-up; None where impossible."""
    rows = outcome.rows
    fold_majority = [
        _majority(plan.task.codes.join(pl.DataFrame({"post": split.train}), on="post"))
        for split in plan.splits
    ]
    rest = np.array(fold_majority)[rows["fold"].to_numpy() - 1]
    yield "majority", rest
    yield "always-positive", np.ones(rows.height, dtype=np.int64) if _binary(plan) else None
    authors, test_authors = _authors(plan.task), _authors(plan.test)
    known = bool(set(authors["key"]) & set(test_authors["key"])) or plan.test is plan.task
    by_author = authors["key"].n_unique() > 1 and known and authors["known"].any()
    yield (
        "author-lookup",
        _looked_up(plan, rows, authors, test_authors, rest) if by_author else None,
    )
    stated = _stated(plan, rows) if by_author and plan.test is plan.task else None
    yield "author-lookup stated", stated
    truth = rows["truth"].to_numpy()
    yield (
        "author-lookup ideal",
        None if stated is None else np.where(stated == truth, truth, rest),
    )
    sources, test_sources = _sources(plan.task), _sources(plan.test)
    several = sources["key"].n_unique() > 1
    yield "source-lookup", _looked_up(plan, rows, sources, test_sources, rest) if several else None


def _binary(plan: Plan) -> bool:
    return not plan.task.classes


def _majority(codes: pl.DataFrame) -> int:
    return int(np.bincount(codes["code"]).argmax())


def _authors(task: Task) -> pl.DataFrame:
    own = pl.coalesce("author", pl.format("post {}", "id"))
    return task.corpus.posts.select(post="id", key=own, known=pl.col("author").is_not_null())


def _sources(task: Task) -> pl.DataFrame:
    posts = task.corpus.posts
    return posts.select(post="id", key=pl.coalesce(tag("part", posts), "source"))


def _looked_up(
    plan: Plan, rows: pl.DataFrame, keys: pl.DataFrame, test_keys: pl.DataFrame, rest: Codes
) -> Codes:
    """The commonest class among training posts with the same key; ``rest`` for unknown keys."""
    predicted = rest.copy()
    labelled = keys.join(plan.task.codes, on="post")
    for number, split in enumerate(plan.splits, start=1):
        train = labelled.join(pl.DataFrame({"post": split.train}), on="post", how="semi")
        counts = train.group_by("key", "code").len()
        overall = train["code"].value_counts().rename({"count": "overall"})
        best = (
            counts.join(overall, on="code")
            .sort(["len", "overall", "code"], descending=[True, True, False])
            .unique("key", keep="first", maintain_order=True)
        )
        mine = rows["fold"] == number
        found = (
            rows.filter(mine)
            .join(test_keys, on="post", maintain_order="left")
            .join(best.select("key", "code"), on="key", how="left", maintain_order="left")
        )
        at = np.flatnonzero(mine.to_numpy())
        hit = found["code"].is_not_null().to_numpy()
        predicted[at[hit]] = found["code"].drop_nulls().to_numpy()
    return predicted


def _stated(plan: Plan, rows: pl.DataFrame) -> Codes | None:
    """Every post of a hateful class's most prolific author gets that class."""
    task = plan.task
    hateful = [n for n, name in enumerate(task.classes) if name in task.hateful]
    if not task.classes:
        hateful = [1]
    others = [n for n in range(len(task.names)) if n not in hateful]
    if not hateful or not others:
        return None
    table = _authors(task).join(task.codes, on="post")
    author = table["key"].rank("dense").to_numpy().astype(np.int64) - 1
    by_post = stated_classes(table["code"].to_numpy(), author, len(task.names), hateful, others)
    found = pl.DataFrame({"post": table["post"], "code": by_post})
    return rows.join(found, on="post", maintain_order="left")["code"].to_numpy()


def copy_lookup(plan: Plan, outcome: Outcome) -> Codes:
    """With copies on both sides: a post whose copy is in training gets its class, others the rest.

    The paper's look-up: no mistake about a post that was found; for all others the class that was
    commonest before posts were copied.
    """
    rows = outcome.rows
    rest = _majority(plan.task.codes.filter(original(pl.col("post")) == pl.col("post")))
    predicted = np.empty(rows.height, dtype=np.int64)
    ids = original(rows["post"])
    for number, split in enumerate(plan.splits, start=1):
        known = set(original(pl.Series(split.train, dtype=pl.String)))
        mine = (rows["fold"] == number).to_numpy()
        found = np.array([post in known for post in ids.filter(pl.Series(mine))], dtype=bool)
        predicted[mine] = np.where(found, rows["truth"].to_numpy()[mine], rest)
    return predicted


def oversampling_formula(times: int, test_share: float, hateful: float = 0.5) -> dict[str, float]:
    """What a copy look-up gets by formula, with the paper's recall and with the right one.

    ``both_sides`` is the chance that a hateful post has copies on both sides, 1 − p^t − (1−p)^t,
    which the paper takes for the recall. Among hateful *test rows* the recall is the chance that
    one of the other t − 1 copies is in training, 1 − p^(t−1). Precision is perfect; ``hateful`` is
    the share of hateful rows after oversampling.

    >>> {k: round(v, 3) for k, v in oversampling_formula(3, 0.15).items()}
    {'both_sides': 0.382, 'macro_f1_paper': 0.658, 'recall': 0.978, 'macro_f1': 0.989}
    """
    p, t = test_share, times
    both = 1 - p**t - (1 - p) ** t
    recall = 1 - p ** (t - 1)
    return {
        "both_sides": both,
        "macro_f1_paper": _macro(both, hateful),
        "recall": recall,
        "macro_f1": _macro(recall, hateful),
    }


def _macro(recall: float, hateful: float) -> float:
    """Macro-F1 with this recall and perfect precision of the hateful class."""
    missed = hateful * (1 - recall)
    counts = np.array([[1 - hateful, 0.0], [missed, hateful * recall]])
    return float(macro_f1(counts))
