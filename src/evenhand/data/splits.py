"""Splits that keep authors, twins, templates and duplicates on one side.

Posts that must stay together form a tie: a connected component over shared authors, twins,
templates and duplicate groups. Ties are dealt out, large ones first, to the sides where they
bring size and class counts nearest to their targets; single posts fill what is left. Ties with
the same class counts are interchangeable, so they are dealt all at once and the cost grows with
the number of kinds, not of posts. A post without an author is its own author. Which side a post
gets depends on the seed and the ids, not on the order of the posts.

Tying authors and duplicates at once can chain most of a corpus into one tie. The other way is to
tie the authors only and to leave training posts out that are too like a test post:
:class:`Likeness` within one corpus, :func:`overlap` between two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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

ALIKE = ("twin", "template", "duplicate")
"""What makes a training post too like a test post by default."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Classes at their shares bring the size along, so size only settles what they leave open. Where
# one author outgrows a side the two pull apart: a larger weight evens sizes, a smaller one classes.
_SIZE_WEIGHT = 0.03


def ties(corpus: Corpus, keep: Sequence[str] = KEEP) -> Ints:
    """A number per post; posts with the same number must stay on one side."""
    shared = [_shared(corpus, name) for name in keep]
    if len(shared) == 1 and len(shared[0]) == 1:
        return shared[0][0]
    n = corpus.posts.height
    # What is shared stands behind the posts in the graph, a block of 2n for each name.
    there = [n + 2 * n * at + column for at, columns in enumerate(shared) for column in columns]
    ends = np.concatenate([np.empty(0, dtype=np.int64), *there])
    posts = np.tile(np.arange(n), len(there))
    size = n + 2 * n * len(shared)
    graph = coo_matrix((np.ones(len(ends), dtype=np.int8), (posts, ends)), shape=(size, size))
    numbers: Ints = connected_components(graph, directed=False)[1][:n].astype(np.int64)
    return numbers


def _shared(corpus: Corpus, name: str) -> list[Ints]:
    """Columns of numbers below twice the posts: posts with the same number share ``name``."""
    posts = corpus.posts
    if name == "duplicate":
        return [find_duplicates(posts["text"]).group]
    if name == "twin":
        twin = posts.select(pl.coalesce(tag("twin", posts), "edit_of", "id")).to_series()
        both = _first(pl.concat([posts["id"], twin.alias("id")]))
        return [both[: posts.height], both[posts.height :]]
    if name in KEEP:
        column = pl.col("author") if name == "author" else tag(name, posts)
        return [_first(posts.select("id", key=column)["key"])]
    raise BadInput(f"cannot keep {name} together; known: {', '.join(KEEP)}")


def _first(keys: pl.Series) -> Ints:
    """The first place with the same key; a null is like nothing else."""
    table = keys.alias("key").to_frame().with_row_index("place")
    first = pl.when(pl.col("key").is_null()).then("place").otherwise(pl.min("place").over("key"))
    return table.select(first.cast(pl.Int64)).to_series().to_numpy()


class Likeness:
    """What the posts of a corpus share, found once and asked for any split of it."""

    def __init__(self, corpus: Corpus, keep: Sequence[str] = ALIKE) -> None:
        self.posts = corpus.posts.height
        self._shared = [_shared(corpus, name) for name in keep]

    def tangled(self, train: Bools, test: Bools) -> Bools:
        """Training posts that share a twin, template or duplicate group with a test post.

        Only what two posts share themselves counts: there are no chains from one kind of likeness
        to another, and none through twins of twins.
        """
        _check_mask(train, self.posts, "train")
        _check_mask(test, self.posts, "test")
        found = np.zeros(self.posts, dtype=np.bool_)
        for columns in self._shared:
            met = np.zeros(2 * self.posts, dtype=np.bool_)
            for column in columns:
                met[column[test]] = True
            for column in columns:
                found |= met[column]
        return found & train


def tangled(corpus: Corpus, train: Bools, test: Bools, keep: Sequence[str] = ALIKE) -> Bools:
    """Training posts to leave out of one split; for several, make one :class:`Likeness`."""
    return Likeness(corpus, keep).tangled(train, test)


def overlap(train: Corpus, test: Corpus) -> Bools:
    """Posts of ``train`` that are exact or near duplicates of a post of ``test``."""
    group = find_duplicates(pl.concat([train.posts["text"], test.posts["text"]])).group
    found: Bools = np.isin(group[: train.posts.height], group[train.posts.height :])
    return found


def _check_mask(mask: Bools, posts: int, side: str) -> None:
    if mask.dtype != np.bool_ or mask.shape != (posts,):
        raise BadInput(
            f"the {side} mask has shape {mask.shape} and type {mask.dtype}; expected one truth "
            f"value for each of {posts} posts"
        )


@dataclass(frozen=True, eq=False)
class Folds:
    """Cross-validation as one number per post, so that no post can stand on two sides."""

    ids: pl.Series
    side: NDArray[np.integer]
    """The fold, from 0, in which each post is tested."""
    count: int
    rule: str
    """What the folds promise."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[tuple[Ints, Ints]]:
        """For every fold the places of its training and of its test posts, in order."""
        for fold in range(self.count):
            yield np.flatnonzero(self.side != fold), np.flatnonzero(self.side == fold)

    def split(self, fold: int) -> Split:
        """One fold as a record of ids."""
        return _split(f"fold {fold + 1}", self.ids, self.side == fold, None, self.rule)


def make_folds(
    ids: pl.Series, labels: pl.Series, tied: Ints, count: int, *, seed: int, rule: str
) -> Folds:
    """Folds in which every post is tested once, ties stay together and classes stay even."""
    if count < 2:
        raise BadInput(f"{count} folds; expected at least 2")
    side = _deal(ids, labels, tied, np.full(count, 1 / count), seed)
    return Folds(ids, side.astype(np.min_scalar_type(count)), count, rule)


def kfold(
    ids: pl.Series, labels: pl.Series, tied: Ints, folds: int, *, seed: int, rule: str
) -> list[Split]:
    """The same folds as records of ids."""
    made = make_folds(ids, labels, tied, folds, seed=seed, rule=rule)
    return [made.split(fold) for fold in range(folds)]


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
    side = _deal(ids, labels, tied, np.array([1 - test - dev, test, dev]), seed)
    return _split("holdout", ids, side == 1, side == 2 if dev else None, rule)


def _deal(ids: pl.Series, labels: pl.Series, tied: Ints, shares: Floats, seed: int) -> Ints:
    """The side of every post."""
    if not len(ids) == len(labels) == len(tied):
        raise BadInput(
            f"{len(ids)} ids, {len(labels)} labels and {len(tied)} numbers of ties; expected one "
            "of each for every post"
        )
    tie, groups = _in_order(ids, tied)
    used = int((shares > 0).sum())
    if groups < used:
        raise NotEnoughData(
            f"{len(tied)} posts form {groups} groups that must stay together; "
            f"{used} sides need at least as many"
        )
    code, classes = _classes(labels)
    counts = np.bincount(tie * classes + code, minlength=groups * classes)
    return allocate(counts.reshape(groups, classes), shares, stream(seed, "splits"))[tie]


def _in_order(ids: pl.Series, tied: Ints) -> tuple[Ints, int]:
    """Ties numbered by the smallest id of each, whatever the order of the posts; how many."""
    table = pl.DataFrame({"id": ids, "tie": tied})
    if len(tied) and not 0 <= tied.min() <= tied.max() < 2 * len(tied):
        table = table.with_columns(pl.col("tie").rank("dense"))
    smallest = table.group_by("tie").agg(pl.min("id")).sort("id")["tie"].to_numpy()
    number = np.zeros(2 * len(tied) + 1, dtype=np.int64)
    number[smallest] = np.arange(len(smallest))
    return number[table["tie"].to_numpy()], len(smallest)


def _classes(labels: pl.Series) -> tuple[Ints, int]:
    """The number of every label in alphabetical order, 0 for a null; how many there are."""
    texts = labels.cast(pl.String)
    names = texts.drop_nulls().unique().sort()
    codes = texts.cast(pl.Enum(names)).to_physical().cast(pl.Int64) + 1
    return codes.fill_null(0).to_numpy(), len(names) + 1


def allocate(counts: Ints, shares: Floats, rng: np.random.Generator) -> Ints:
    """The side of every tie, given its class counts (one row a tie) and the sides' shares."""
    used = np.flatnonzero(shares)
    order = rng.permutation(len(counts))
    order = order[np.lexsort((*counts[order].T, counts[order].sum(axis=1)))[::-1]]
    sorted_counts = counts[order].astype(np.float64)
    starts = np.flatnonzero(np.diff(sorted_counts, axis=0, prepend=-1).any(axis=1))
    kinds = sorted_counts[starts]
    kinds = np.column_stack([kinds, kinds.sum(axis=1)])
    total = np.append(counts.sum(axis=0), counts.sum())
    # Squared deviation from target, scaled so that a rare class counts as much as a common one.
    deviation = -np.outer(shares[used], total)
    scale = 1 / np.maximum(total, 1) ** 2
    scale[-1] *= _SIZE_WEIGHT
    pulls = kinds * scale
    many = np.diff(starts, append=len(counts))
    held = np.zeros((len(kinds), len(used)), dtype=np.int64)
    for kind, pull, row, ties_of_kind in zip(kinds, pulls, held, many.tolist(), strict=True):
        if ties_of_kind == 1:
            best = int(np.argmin(deviation @ pull))
            row[best] = 1
            deviation[best] += kind
        else:
            row += _spread(deviation @ pull / float(kind @ pull), ties_of_kind)
            deviation += np.outer(row, kind)
    side = np.empty(len(counts), dtype=np.int64)
    side[order] = np.repeat(np.tile(used, len(kinds)), held.ravel())
    return side


def _spread(cost: Floats, many: int) -> Ints:
    """How many of ``many`` ties of one kind each side gets.

    The squared deviation is least when the marginal cost of one more tie is the same on every
    side that gets any: the ties fill the sides like water.
    """
    filled = _fill(cost, many)
    whole = np.floor(filled).astype(np.int64)
    rest = np.argsort(whole - filled, kind="stable")[: many - int(whole.sum())]
    whole[rest] += 1
    return whole


def _fill(height: Floats, amount: float) -> Floats:
    """How much of ``amount`` stands over each ground, at one common level.

    >>> _fill(np.array([0.0, 1.0, 5.0]), 3.0).tolist()
    [2.0, 1.0, 0.0]
    """
    ground = np.sort(height)
    levels = (amount + np.cumsum(ground)) / np.arange(1, len(ground) + 1)
    # The first level that does not reach the next ground.
    level = levels[np.argmax(np.append(ground[1:], np.inf) >= levels)]
    over: Floats = np.maximum(level - height, 0)
    return over


def _split(
    name: str,
    ids: pl.Series,
    test: Bools,
    dev: Bools | None,
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
