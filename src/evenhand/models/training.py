"""Training rows from posts and gold: one row per post with a label, hateful or not.

A post whose gold is null (a tie; one id published with two labels) gives no row, nor does a post
without gold; both are counted. Where several labels may apply at once a post is hateful if any
hateful label has a share of at least one half. Gold of posts that are not given is not looked at.
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
from evenhand.models.protocol import HATE, Recipe, Record
from evenhand.models.seen import Seen

R = TypeVar("R", bound=Recipe)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Posts to learn from."""

    posts: pl.DataFrame
    """The posts that have a label, in the order they were given."""
    labels: NDArray[np.bool_]
    """Whether each is hateful."""
    tied: int
    """Posts left out because their gold is null."""
    unlabelled: int
    """Posts left out because they have no gold for the question."""

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return self.posts["text"].to_list()


def for_corpus(recipe: R, corpus: Corpus) -> R:
    """The recipe with the corpus's question and hateful labels, where it does not name its own."""
    return cast(
        R,
        replace(
            cast(Any, recipe),
            question=recipe.question or corpus.question,
            hateful=recipe.hateful or tuple(corpus.hateful),
        ),
    )


def training_rows(
    posts: pl.DataFrame, gold: pl.DataFrame, question: str, hateful: Sequence[str]
) -> TrainingRows:
    """The rows of the posts that have a label; refuses to go on with one class only."""
    if not hateful:
        raise BadInput(
            "training needs to know which labels are hateful; name them with --hateful, or in the "
            "recipe, e.g. naive-bayes:hateful=sexism|racism"
        )
    gold = gold.join(posts.select(post="id"), on="post", how="semi")
    gold = _one_question(gold, question)
    multiple = pl.any_horizontal(_share_of(label) >= 0.5 for label in hateful)
    single = pl.col("label").is_in(list(hateful))
    known = gold.select(
        "post", "label", hateful=pl.when("multiple").then(multiple).otherwise(single)
    )
    table = posts.join(known, left_on="id", right_on="post", how="inner", maintain_order="left")
    kept = table.filter(pl.col("hateful").is_not_null())
    _expect_both(kept, hateful)
    return TrainingRows(
        posts=kept.select(posts.columns),
        labels=kept["hateful"].to_numpy(),
        tied=table.height - kept.height,
        unlabelled=posts.height - table.height,
    )


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


def _expect_both(rows: pl.DataFrame, hateful: Sequence[str]) -> None:
    count = int(rows["hateful"].sum())
    if 0 < count < rows.height:
        return
    labels = ", ".join(rows["label"].drop_nulls().unique().sort()) or "(none)"
    which = "all are" if rows.height and count else "none is"
    raise NotEnoughData(
        f"{rows.height} training posts and {which} hateful; training needs both classes. The "
        f"labels found are {labels}; as hateful count {', '.join(hateful)}. Add posts of the other "
        "class, or name other labels with --hateful."
    )


def record(recipe: Recipe, rows: TrainingRows, *, seed: int) -> Record:
    """What a detector for :data:`HATE` trained on these rows remembers of them."""
    seen = Seen.of(rows.posts)
    return Record(
        recipe=recipe,
        name=recipe.name,
        attributes=(HATE,),
        provenance={
            "seed": seed,
            "posts": rows.posts.height,
            "hateful": int(rows.labels.sum()),
            "left_out": {"tied": rows.tied, "unlabelled": rows.unlabelled},
            "sources": rows.posts["source"].unique().sort().to_list(),
            "training_sha256": seen.sha256(),
        },
        seen=seen,
    )
