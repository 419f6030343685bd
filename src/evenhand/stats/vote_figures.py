"""The data of figures about votes: how many, which, and where posts lie on the simplex.

Tables only; drawing is the reports' business. First attempts count. Figures 1 and 2 of Delisle et
al. 2018.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.stats.ballots import Ballots, read_ballots

Ints = NDArray[np.int64]
_CORNERS = ("first", "second", "third")


def vote_distribution(judgements: pl.DataFrame, question: str) -> pl.DataFrame:
    """How many posts have how many votes on the question: columns votes, posts."""
    per_post = _first(judgements, question).group_by("post").agg(votes=pl.len())
    counts = per_post.group_by("votes").agg(posts=pl.len())
    return counts.select(pl.col("votes", "posts").cast(pl.Int64)).sort("votes")


def answer_distribution(judgements: pl.DataFrame, question: str) -> pl.DataFrame:
    """How often each label was given: columns answer, votes, share; sorted by answer.

    The share is of voters, so with several labels per answer shares may sum to more than one.
    """
    first = _first(judgements, question)
    labels = first.select(answer=pl.col("answer").list.unique()).explode("answer")
    counts = labels.drop_nulls().group_by("answer").agg(votes=pl.len().cast(pl.Int64))
    return counts.with_columns(share=pl.col("votes") / first.height).sort("answer")


def simplex(
    judgements: pl.DataFrame,
    question: str,
    *,
    order: Sequence[str],
    n: int = 3,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Votes of each post for three classes, beside simulated perfect and chance-only agreement.

    Columns part (``observed``, ``perfect``, ``chance``), post (null where simulated) and ``first``,
    ``second``, ``third``: votes for the classes of ``order``, ``n`` in all. Of a post with more
    votes ``n`` are taken at random, one with fewer is left out. Both simulations have as many rows
    and draw from the pooled shares of the posts shown: one class for all n, or n one by one.
    """
    if len(order) != len(_CORNERS):
        raise BadInput(f"order has {len(order)} labels; a simplex of three corners needs three")
    if n < 1:
        raise BadInput(f"n is {n}; expected at least one vote per post")
    ballots = read_ballots(judgements, question, order=order)
    posts, drawn, pooled = _observed(ballots, n, rng)
    share = pooled / max(pooled.sum(), 1)
    perfect = n * rng.multinomial(1, share, size=len(posts)) if len(posts) else drawn
    chance = rng.multinomial(n, share, size=len(posts)) if len(posts) else drawn
    nobody = pl.Series("post", [None] * len(posts), dtype=pl.String)
    return pl.concat(
        [
            _table("observed", posts, drawn),
            _table("perfect", nobody, perfect),
            _table("chance", nobody, chance),
        ]
    )


def _first(judgements: pl.DataFrame, question: str) -> pl.DataFrame:
    return judgements.filter((pl.col("question") == question) & (pl.col("attempt") == 1))


def _observed(
    ballots: Ballots, n: int, rng: np.random.Generator
) -> tuple[pl.Series, Ints, NDArray[np.int64]]:
    """Posts sorted by id, n of their votes by class, and all their votes by class."""
    by_id = ballots.posts.arg_sort().to_numpy()
    kind = ballots.kind[by_id]
    enough = ballots.size[kind] >= n
    by_id, kind = by_id[enough], kind[enough]
    counts = ballots.counts  # an array: three classes make few kinds
    drawn = np.empty((len(kind), counts.shape[1]), dtype=np.int64)
    for one in np.unique(kind):
        alike = kind == one
        size = int(alike.sum())
        drawn[alike] = rng.multivariate_hypergeometric(counts[one], n, size=size)
    return ballots.posts.gather(by_id), drawn, counts[kind].sum(axis=0)


def _table(part: str, posts: pl.Series, votes: Ints) -> pl.DataFrame:
    columns = {name: votes[:, at] for at, name in enumerate(_CORNERS)}
    return pl.DataFrame({"post": posts} | columns).select(
        pl.lit(part).alias("part"), pl.col("post").cast(pl.String), *_CORNERS
    )
