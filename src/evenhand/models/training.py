"""Training rows from posts and gold: one row per post with a label.

A recipe without ``classes`` tells hateful posts from all others, one with ``classes`` tells those
labels apart (:mod:`evenhand.data.labels`). A post that is in no class, or has no gold, gives no
row; both are counted. Gold of posts that are not given is not looked at. Rows come sorted by id, so
that no order of the input matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import NotEnoughData
from evenhand.data.corpus import Corpus
from evenhand.data.labels import class_names, coded
from evenhand.models.protocol import HATE, Probabilities, Recipe, Record
from evenhand.models.seen import Seen

R = TypeVar("R", bound=Recipe)
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Posts to learn from."""

    posts: pl.DataFrame
    """The posts that have a label, sorted by id."""
    labels: Codes
    """1 for hateful and 0 for others, or the number of the post's class."""
    classes: int
    """How many classes are told apart; some may have no row."""
    tied: int
    """Posts left out because their gold is null."""
    unlabelled: int
    """Posts left out because they have no gold for the question, or another label."""

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return self.posts["text"].to_list()


def for_corpus(recipe: R, corpus: Corpus, *, classes: Sequence[str] = ()) -> R:
    """The recipe with the corpus's question and hateful labels, where it does not name its own."""
    return cast(
        R,
        replace(
            cast(Any, recipe),
            question=recipe.question or corpus.question,
            hateful=recipe.hateful or tuple(corpus.hateful),
            classes=recipe.classes or tuple(classes),
        ),
    )


def attributes(recipe: Recipe) -> tuple[str, ...]:
    """What a detector of the recipe scores: its classes, or whether a post is hateful."""
    return recipe.classes or (HATE,)


def shown(p: Probabilities, attributes: Sequence[str]) -> Probabilities:
    """The columns that a detector shows, from a column per class that is told apart.

    A detector of hateful posts learns two classes and shows the second.
    """
    return p[:, 1:] if tuple(attributes) == (HATE,) else p


def oversampled(labels: Codes, times: int) -> Codes:
    """Numbers of rows, those of every class but the largest ``times`` over (Agrawal and Awekar).

    >>> oversampled(np.array([0, 1, 0]), 3).tolist()
    [0, 1, 1, 1, 2]
    """
    largest = int(np.argmax(np.bincount(labels)))
    return np.repeat(np.arange(len(labels)), np.where(labels == largest, 1, times))


def training_rows(posts: pl.DataFrame, gold: pl.DataFrame, recipe: Recipe) -> TrainingRows:
    """The rows of the posts that have a label; refuses to go on with one class only."""
    gold = gold.join(posts.select(post="id"), on="post", how="semi")
    known = coded(gold, recipe.question, hateful=recipe.hateful, classes=recipe.classes)
    table = posts.join(known, left_on="id", right_on="post", how="inner").sort("id")
    kept = table.filter(pl.col("code").is_not_null())
    tied = table["label"].null_count() - kept["label"].null_count()
    _expect_several(kept, recipe)
    return TrainingRows(
        posts=kept.select(posts.columns),
        labels=kept["code"].to_numpy(),
        classes=len(recipe.classes) or 2,
        tied=tied,
        unlabelled=posts.height - kept.height - tied,
    )


def _expect_several(rows: pl.DataFrame, recipe: Recipe) -> None:
    found = rows["code"].n_unique()
    if found > 1:
        return
    labels = ", ".join(rows["label"].drop_nulls().unique().sort()) or "(none)"
    if recipe.classes:
        raise NotEnoughData(
            f"{rows.height} training posts of {found} class; training needs two or more of "
            f"{', '.join(recipe.classes)}. The labels found are {labels}. Add posts of other "
            "classes, or name other classes."
        )
    which = "all are" if rows["code"].sum() else "none is"
    raise NotEnoughData(
        f"{rows.height} training posts and {which} hateful; training needs both classes. The "
        f"labels found are {labels}; as hateful count {', '.join(recipe.hateful)}. Add posts of "
        "the other class, or name other labels with --hateful."
    )


def record(recipe: Recipe, rows: TrainingRows, *, seed: int) -> Record:
    """What a detector trained on these rows remembers of them."""
    seen = Seen.of(rows.posts)
    names = class_names(recipe.classes)
    counts = np.bincount(rows.labels, minlength=rows.classes).tolist()
    return Record(
        recipe=recipe,
        name=recipe.name,
        attributes=attributes(recipe),
        provenance={
            "seed": seed,
            "posts": rows.posts.height,
            "classes": dict(zip(names, counts, strict=True)),
            "left_out": {"tied": rows.tied, "unlabelled": rows.unlabelled},
            "sources": rows.posts["source"].unique().sort().to_list(),
            "training_sha256": seen.sha256(),
        },
        seen=seen,
    )
