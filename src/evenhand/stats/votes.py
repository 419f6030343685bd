"""Vote shares: what people answered about a post, as gold.

Every first attempt counts one vote; repeats are left to the attempts they are. A post's label is
the answer with the most votes, and null on a tie. With several answers allowed a share is the
share of voters who chose the label, and the label is null unless exactly one reaches one half.
"""

from __future__ import annotations

import polars as pl

from evenhand.core.tables import gold_table


def vote_shares(
    judgements: pl.DataFrame, *, multiple: bool = False, origin: str = "votes"
) -> pl.DataFrame:
    """Gold by vote share, one row per post and question.

    >>> votes = pl.DataFrame({"post": ["a"] * 3, "annotator": ["x", "y", "z"], "question": "q",
    ...     "answer": [["yes"], ["no"], ["yes"]], "attempt": 1})
    >>> vote_shares(votes)["label"].to_list()
    ['yes']
    """
    key = ["post", "question"]
    first = judgements.filter(pl.col("attempt") == 1)
    voters = first.group_by(key).agg(pl.len().alias("n"))
    counts = (
        first.select(*key, pl.col("answer").alias("label"))
        .explode("label")
        .group_by(*key, "label")
        .agg(pl.len().alias("votes"))
        .join(voters, on=key)
        .with_columns(share=pl.col("votes") / pl.col("n"))
        .sort(*key, "label")
    )
    chosen = pl.col("share") >= 0.5 if multiple else pl.col("votes") == pl.col("votes").max()
    only = pl.col("label").filter(chosen)
    gold = counts.group_by(key, maintain_order=True).agg(
        shares=pl.struct("label", "share"),
        n=pl.col("n").first(),
        label=pl.when(only.len() == 1).then(only.first()),
    )
    return gold_table(gold.with_columns(origin=pl.lit(origin), multiple=pl.lit(multiple)))
