"""Vote shares and majorities: what people answered about a post, as gold.

Every first attempt counts one vote; repeats are left to the attempts they are. A post's label is
the answer with the most votes, and null on a tie. With several answers allowed a share is the
share of voters who chose the label, and the label is null unless exactly one reaches one half.

Posts on which people voted alike have the same gold, and there are few ways to vote: the gold of
each *kind* of post is made once and handed out.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from evenhand.core.tables import GOLD, SHARES
from evenhand.stats._coding import Codes, Groups, code_few, group, tally

_TABLE = 1 << 20


def vote_shares(
    judgements: pl.DataFrame, *, multiple: bool = False, origin: str = "votes"
) -> pl.DataFrame:
    """Gold by vote share, one row per post and question, in order of post.

    >>> votes = pl.DataFrame({"post": ["a"] * 3, "annotator": ["x", "y", "z"], "question": "q",
    ...     "answer": [["yes"], ["no"], ["yes"]], "attempt": 1})
    >>> vote_shares(votes)["label"].to_list()
    ['yes']
    """
    first = judgements
    if not (judgements["attempt"] == 1).all():
        first = judgements.filter(pl.col("attempt") == 1)
    if not first.height:
        return pl.DataFrame(schema=dict(GOLD))
    question = first["question"]
    if (question == question[0]).all():
        return _question(first, question[0], multiple, origin)
    parts = [
        _question(first.filter(question == name), name, multiple, origin)
        for name in question.unique().sort()
    ]
    return pl.concat(parts).sort("post", "question")


def majority(
    judgements: pl.DataFrame, *, multiple: bool = False, origin: str = "majority"
) -> pl.DataFrame:
    """Gold by most votes: shares as :func:`vote_shares` gives them, a tie is null.

    >>> votes = pl.DataFrame({"post": ["a"] * 2, "annotator": ["x", "y"], "question": "q",
    ...     "answer": [["yes"], ["no"]], "attempt": 1})
    >>> majority(votes).select("label", "n", "origin").row(0)
    (None, 2, 'majority')
    """
    return vote_shares(judgements, multiple=multiple, origin=origin)


def _question(first: pl.DataFrame, question: str, multiple: bool, origin: str) -> pl.DataFrame:
    posts = group(first["post"])
    answers = first["answer"].explode()
    labels, answer = code_few(answers)
    several = None
    if len(answers) > first.height:
        several = first["answer"].list.len().to_numpy().astype(np.int64)
    kinds, kind = _kinds(posts, answer, several, len(labels))
    gold = _gold_of_kinds(kinds[:, :-1], kinds[:, -1], labels, multiple).with_columns(
        question=pl.lit(question), origin=pl.lit(origin), multiple=pl.lit(multiple)
    )
    return gold[kind].insert_column(0, posts.ids.alias("post")).select(*GOLD)


def _kinds(posts: Groups, answer: Codes, several: Codes | None, labels: int) -> tuple[Codes, Codes]:
    """The ways people voted (votes per label, then voters), and which of them each post is.

    A way to vote is written as one number with a digit per label and one for the voters.
    """
    base = int(posts.sizes().max()) + 1
    if base ** (labels + 1) > 1 << 62:
        return _kinds_of_rows(posts, answer, several, labels)
    powers = base ** np.arange(labels + 1)
    if several is None:
        votes = (powers + powers[-1])[answer]
    else:
        votes = np.add.reduceat(powers[answer], np.cumsum(several) - several) + powers[-1]
    keys, kind = _distinct(posts.sums(votes), base ** (labels + 1))
    return keys[:, None] // powers % base, kind


def _distinct(keys: Codes, limit: int) -> tuple[Codes, Codes]:
    if limit > _TABLE:
        return np.unique(keys, return_inverse=True)
    seen = np.zeros(limit, dtype=bool)
    seen[keys] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]


def _kinds_of_rows(
    posts: Groups, answer: Codes, several: Codes | None, labels: int
) -> tuple[Codes, Codes]:
    """The same where the number would be too large."""
    post = posts.codes() if several is None else np.repeat(posts.codes(), several)
    counts = tally(post, answer, len(posts.ids), labels)
    rows = np.column_stack([counts, posts.sizes()])
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    return kinds, kind.reshape(-1)


def _gold_of_kinds(counts: Codes, voters: Codes, labels: pl.Series, multiple: bool) -> pl.DataFrame:
    """Shares, n and label for each kind of post (rows of ``counts``)."""
    kind, label = np.nonzero(counts)
    long = pl.DataFrame(
        {
            "kind": kind,
            "label": labels.gather(label),
            "share": counts[kind, label] / voters[kind],
        }
    )
    shares = long.group_by("kind", maintain_order=True).agg(shares=pl.struct("label", "share"))
    bar = voters[:, None] / 2 if multiple else counts.max(axis=1, keepdims=True)
    chosen = counts >= bar
    only = np.where(chosen.sum(axis=1) == 1, chosen.argmax(axis=1), -1)
    return shares.select(
        pl.col("shares").cast(SHARES),
        n=pl.Series(voters).cast(pl.Int32),
        label=pl.Series(only).replace_strict(
            dict(enumerate(labels)), default=None, return_dtype=pl.String
        ),
    )
