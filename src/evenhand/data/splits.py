"""Splits that keep authors, twins, templates and duplicates on one side.

Posts that must stay together form a tie: a connected component over shared authors, twins,
templates and duplicate groups. Ties are dealt out, large ones first, to the sides where they
bring size and class counts nearest to their targets; single posts fill what is left. Ties with
the same class counts are interchangeable, so they are dealt all at once and the cost grows with
the number of kinds, not of posts. A post without an author is its own author.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from evenhand.core.errors import BadInput, LeakFound, NotEnoughData
from evenhand.core.records import Split
from evenhand.core.streams import stream
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.duplicates import find_duplicates

KEEP = ("author", "twin", "template", "duplicate")
"""What a split keeps on one side by default."""

Ints = NDArray[np.int64]


def ties(corpus: Corpus, keep: Sequence[str] = KEEP) -> Ints:
    """A number per post; posts with the same number must stay on one side."""
    unknown = [name for name in keep if name not in KEEP]
    if unknown:
        raise BadInput(f"cannot keep {', '.join(unknown)} together; known: {', '.join(KEEP)}")
    posts = corpus.posts
    links = [_linked(_keys(corpus, name)) for name in keep if name != "twin"]
    if "twin" in keep:
        links.append(_twins(posts))
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *links])
    graph = coo_matrix(
        (np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])),
        shape=(posts.height, posts.height),
    )
    numbers: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return numbers


def _keys(corpus: Corpus, name: str) -> pl.Series:
    """What posts share: a value per post, null where there is none."""
    posts = corpus.posts
    if name == "duplicate":
        return pl.Series(find_duplicates(posts["text"]).group)
    return posts["author"] if name == "author" else posts.select(tag(name, posts)).to_series()


def _linked(keys: pl.Series) -> Ints:
    """Pairs (first post with the key, post) for every key that occurs more than once."""
    table = pl.DataFrame({"key": keys}).with_row_index("post").drop_nulls("key")
    table = table.with_columns(first=pl.col("post").min().over("key"))
    again = table.filter(pl.col("post") != pl.col("first"))
    return again.select("first", "post").to_numpy().astype(np.int64)


def _twins(posts: pl.DataFrame) -> Ints:
    table = posts.with_row_index("post")
    named = table.select("post", twin=pl.coalesce(tag("twin", posts), "edit_of"))
    found = named.drop_nulls("twin").join(table.select(other="post", twin="id"), on="twin")
    return found.select("post", "other").to_numpy().astype(np.int64)


def kfold(
    ids: pl.Series, labels: pl.Series, tied: Ints, folds: int, *, seed: int, rule: str
) -> list[Split]:
    """Cross-validation: every post is tested once, ties stay together, classes stay even."""
    if folds < 2:
        raise BadInput(f"{folds} folds; expected at least 2")
    shares = np.full(folds, 1 / folds)
    side = _deal(labels, tied, shares, seed)
    return [_split(f"fold {fold + 1}", ids, side == fold, None, rule) for fold in range(folds)]


def holdout(
    ids: pl.Series,
    labels: pl.Series,
    tied: Ints,
    *,
    test: float,
    dev: float = 0.0,
    seed: int,
    rule: str,
) -> Split:
    """One split with a share ``test`` (and ``dev``) of the posts, ties together, classes even."""
    if not (0 < test < 1 and 0 <= dev < 1 and test + dev < 1):
        raise BadInput(f"test share {test} and dev share {dev}: expected 0 < test, test + dev < 1")
    side = _deal(labels, tied, np.array([1 - test - dev, test, dev]), seed)
    return _split("holdout", ids, side == 1, side == 2 if dev else None, rule)


def _deal(labels: pl.Series, tied: Ints, shares: NDArray[np.float64], seed: int) -> Ints:
    """The side of every post."""
    tied = np.unique(tied, return_inverse=True)[1]
    classes = labels.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    counts = np.zeros((int(tied.max()) + 1, int(classes.max()) + 1), dtype=np.int64)
    np.add.at(counts, (tied, classes), 1)
    used = int((shares > 0).sum())
    if len(counts) < used:
        raise NotEnoughData(
            f"{len(tied)} posts form {len(counts)} groups that must stay together; "
            f"{used} sides need at least as many"
        )
    return allocate(counts, shares, stream(seed, "splits"))[tied]


def allocate(counts: Ints, shares: NDArray[np.float64], rng: np.random.Generator) -> Ints:
    """The side of every tie, given its class counts (one row a tie) and the sides' shares."""
    order = rng.permutation(len(counts))
    kinds, kind_of, many = np.unique(counts[order], axis=0, return_inverse=True, return_counts=True)
    members = np.split(order[np.argsort(kind_of, kind="stable")], np.cumsum(many)[:-1])
    with_size = np.column_stack([kinds, kinds.sum(axis=1)]).astype(np.float64)
    total = with_size.T @ many
    # Deviation from target per side; squared error is scaled so that rare classes count as much.
    deviation = -np.outer(shares, total)
    scale = 1 / np.maximum(total, 1) ** 2
    side = np.empty(len(counts), dtype=np.int64)
    for kind in np.argsort(-with_size[:, -1], kind="stable"):
        side[members[kind]] = _spread(with_size[kind], int(many[kind]), deviation, scale, shares)
    return side


def _spread(
    kind: NDArray[np.float64],
    many: int,
    deviation: NDArray[np.float64],
    scale: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> Ints:
    """Sides for ``many`` ties of one kind; ``deviation`` is updated.

    The squared deviation is least when the marginal cost of one more tie is the same on every
    side that gets any: the ties fill the sides like water.
    """
    pull = kind * scale
    cost = deviation @ pull / float(kind @ pull)
    cost[shares == 0] = np.inf
    filled = _fill(cost, many)
    whole = np.floor(filled).astype(np.int64)
    rest = np.argsort(whole - filled, kind="stable")[: many - int(whole.sum())]
    whole[rest] += 1
    deviation += np.outer(whole, kind)
    return np.repeat(np.arange(len(shares)), whole)


def _fill(height: NDArray[np.float64], amount: float) -> NDArray[np.float64]:
    """How much of ``amount`` stands over each ground, at one common level.

    >>> _fill(np.array([0.0, 1.0, 5.0]), 3.0).tolist()
    [2.0, 1.0, 0.0]
    """
    ground = np.sort(height[np.isfinite(height)])
    levels = (amount + np.cumsum(ground)) / np.arange(1, len(ground) + 1)
    # The first level that does not reach the next ground.
    level = levels[np.argmax(np.append(ground[1:], np.inf) >= levels)]
    over: NDArray[np.float64] = np.maximum(level - height, 0)
    return over


def _split(
    name: str,
    ids: pl.Series,
    test: NDArray[np.bool_],
    dev: NDArray[np.bool_] | None,
    rule: str,
) -> Split:
    train = ~test if dev is None else ~(test | dev)
    return Split(
        name=name,
        train=ids.filter(pl.Series(train)).to_list(),
        dev=None if dev is None else ids.filter(pl.Series(dev)).to_list(),
        test=ids.filter(pl.Series(test)).to_list(),
        rule=rule,
    )


def verify(split: Split, ids: pl.Series, tied: Ints) -> None:
    """Raise :class:`LeakFound` where a tie stands on two sides of a split."""
    sides = {"train": split.train, "dev": split.dev or (), "test": split.test}
    placed = pl.DataFrame(
        [(post, name) for name, posts in sides.items() for post in posts],
        schema={"id": pl.String, "side": pl.String},
        orient="row",
    )
    table = placed.join(pl.DataFrame({"id": ids, "tie": tied}), on="id")
    torn = table.filter(pl.col("side").n_unique().over("tie") > 1)
    if torn.height:
        cases = ", ".join(torn["id"].sort().head(20))
        raise LeakFound(
            f"split {split.name!r} promises {split.rule}, but {torn.height} posts have their like "
            f"on another side: {cases}"
        )
