"""Which class a post is in: hateful or not, or one of the published labels.

Without named classes there are two: 1 for a post whose label is hateful, 0 for any other. With
named classes the number of a post's class is its place in the list. A post whose gold is null (a
tie; one id published with two labels) is in no class, nor is a post whose label is not named. Where
several labels may apply at once a post is hateful if any hateful label has a share of at least one
half.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData

HATEFUL, OTHER = "hateful", "not hateful"
"""The names of the two classes where none are named."""


def class_names(classes: Sequence[str]) -> tuple[str, ...]:
    """The names of the classes, by number."""
    return tuple(classes) or (OTHER, HATEFUL)


def published_labels(gold: pl.DataFrame, question: str) -> tuple[str, ...]:
    """The labels that gold has for a question, sorted."""
    mine = gold.filter(pl.col("question") == question) if question else gold
    return tuple(mine["label"].drop_nulls().unique().sort())


def coded(
    gold: pl.DataFrame, question: str, *, hateful: Sequence[str], classes: Sequence[str] = ()
) -> pl.DataFrame:
    """Columns post, label, code for the posts with gold for the question; null for no class."""
    gold = _one_question(gold, question)
    return gold.select("post", "label", code=_code(gold, hateful, classes))


def _code(gold: pl.DataFrame, hateful: Sequence[str], classes: Sequence[str]) -> pl.Expr:
    if classes:
        if len(classes) < 2 or len(set(classes)) < len(classes):
            raise BadInput(
                f"classes is {', '.join(classes)}; telling labels apart needs two or more, each "
                "named once"
            )
        if gold["multiple"].any():
            raise BadInput(
                "several labels can apply to a post at once here, so they cannot be told apart; "
                "leave out classes to learn which posts are hateful"
            )
        numbers = {label: code for code, label in enumerate(classes)}
        return pl.col("label").replace_strict(numbers, default=None, return_dtype=pl.Int64)
    if not hateful:
        raise BadInput(
            "training needs to know which labels are hateful; name them with --hateful, or in the "
            "recipe, e.g. naive-bayes:hateful=sexism|racism"
        )
    multiple = pl.any_horizontal(_share_of(label) >= 0.5 for label in hateful)
    single = pl.col("label").is_in(list(hateful))
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
