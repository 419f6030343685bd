"""Training rows from posts and gold: one row per post with a label.

A recipe without ``classes`` tells hateful posts from all others: a row's label is 1 for hateful, 0
for any other. With ``classes`` it tells those labels apart: a row's label is the number of its
class. A post whose gold is null (a tie; one id published with two labels) gives no row, nor does a
post without gold or with a label that is not asked for; all are counted. Where several labels may
apply at once a post is hateful if any hateful label has a share of at least one half. Gold of posts
that are not given is not looked at. Rows come sorted by id, so that no order of the input matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.data.corpus import Corpus
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
    gold = _one_question(gold, recipe.question)
    known = gold.select("post", "label", code=_codes(recipe, gold))
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


def _codes(recipe: Recipe, gold: pl.DataFrame) -> pl.Expr:
    """The number of each post's class, null where it has none."""
    if recipe.classes:
        if len(set(recipe.classes)) < 2:
            raise BadInput(
                f"classes is {', '.join(recipe.classes)}; telling labels apart needs two or more"
            )
        if gold["multiple"].any():
            raise BadInput(
                "several labels can apply to a post at once here, so they cannot be told apart; "
                "leave out classes to learn which posts are hateful"
            )
        numbers = {label: code for code, label in enumerate(recipe.classes)}
        return pl.col("label").replace_strict(numbers, default=None, return_dtype=pl.Int64)
    if not recipe.hateful:
        raise BadInput(
            "training needs to know which labels are hateful; name them with --hateful, or in the "
            "recipe, e.g. naive-bayes:hateful=sexism|racism"
        )
    multiple = pl.any_horizontal(_share_of(label) >= 0.5 for label in recipe.hateful)
    single = pl.col("label").is_in(list(recipe.hateful))
    return pl.when("multiple").then(multiple).otherwise(single).cast(pl.Int64)


def _share_of(label: str) -> pl.Expr:
    """The share of a label in each row of gold, 0 where it has none."""
    field = pl.element().struct.field
    shares = pl.when(field("label") == label).then(field("share"))
    return pl.col("shares").list.eval(shares).list.max().fill_null(0.0)


def _one_question(gold: pl.DataFrame, question: str) -> pl.DataFrame:
    """Gold of the question, one row per post."""
    asked = gold["question"].unique().sort().to_list()
    if not question and len(asked) > 1:
        raise BadInput(f"gold answers {', '.join(asked)}; name one question to learn")
    found = gold.filter(pl.col("question") == question) if question else gold
    if not found.height:
        raise NotEnoughData(
            f"no post has gold for the question {question!r}; the questions are "
            f"{', '.join(asked) or '(none: no post is labelled)'}"
        )
    if found["post"].is_duplicated().any():
        origins = ", ".join(found["origin"].unique().sort())
        raise BadInput(f"some posts have gold of several origins ({origins}); keep one of them")
    return found


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
    names = recipe.classes or ("other", "hateful")
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
