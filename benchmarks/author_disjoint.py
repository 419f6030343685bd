"""Author-disjoint 10-fold cross-validation of 100,000 posts, beside scikit-learn.

Prints the tables of docs/benchmarks/author_disjoint.md. Both sides run in one process, in turn, on
made-up authors and labels, and on two published corpora where EVENHAND_DATA names the folder. Ours
starts from a corpus with ids, labels and authors as text and includes making the ties;
StratifiedGroupKFold starts from numbers made beforehand. Both end with the places of the training
and test posts of every fold. Time is wall time, and processor time over all threads, which other
work on the machine disturbs less. Deviations are the largest over folds (and classes), in points
of a hundred: of a fold's share of all posts from a tenth, of its share of a class from a tenth, and
of a class's share of the fold from its share of all posts.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
import sklearn
from sklearn.model_selection import StratifiedGroupKFold

from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.find import find
from evenhand.data.reshape import as_rows
from evenhand.data.splits import make_folds, ties

POSTS, FOLDS, SEEDS = 100_000, 10, 3
ROUNDS = 3
"""How often ours is timed for each seed; the median counts."""
Sides = list[tuple[np.ndarray, np.ndarray]]


def heavy_tail(rng: np.random.Generator) -> np.ndarray:
    """A few authors with thousands of posts, most with one or two."""
    giants = [4_000, 3_000, 2_500, 2_000, 1_500, 1_200]
    return np.concatenate([giants, np.minimum(rng.zipf(1.8, size=POSTS), 800)])


def one_giant(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([[15_000], np.minimum(rng.zipf(1.8, size=POSTS), 800)])


def mostly_single(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(POSTS) < 0.9, 1, rng.geometric(0.1, size=POSTS))


def about_ten(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(5, 16, size=POSTS)


SIZES = {
    "heavy tail": heavy_tail,
    "one author above a fold": one_giant,
    "mostly one post each": mostly_single,
    "about ten posts each": about_ten,
}
CLASSES = {  # shares of the classes; concentration of each author's shares, None for no difference
    "2 classes": ([0.9, 0.1], None),
    "2 classes by author": ([0.8, 0.2], 0.5),
    "3 classes": ([0.7, 0.25, 0.05], None),
    "3 classes by author": ([0.7, 0.25, 0.05], 0.6),
}


def made(sizes: Callable[..., np.ndarray], classes: str, seed: int) -> Corpus:
    rng = np.random.default_rng(seed)
    drawn = sizes(rng)
    author = np.repeat(np.arange(len(drawn)), drawn)[:POSTS]
    shares, concentration = CLASSES[classes]
    by_author = np.tile(shares, (len(drawn), 1))
    if concentration:
        by_author = rng.dirichlet(np.array(shares) * concentration, size=len(drawn))
    label = (rng.random(POSTS)[:, None] > by_author.cumsum(axis=1)[author][:, :-1]).sum(axis=1)
    order = rng.permutation(POSTS)
    posts = pl.DataFrame(
        {
            "id": pl.Series(np.arange(POSTS) + 10**17).cast(pl.String),
            "text": pl.Series(["a post"]).new_from_index(0, POSTS),
            "source": pl.Series(["made up"]).new_from_index(0, POSTS),
            "author": "author " + pl.Series(author[order]).cast(pl.String),
            "tags": pl.struct(label=pl.Series(label[order]).cast(pl.String), eager=True),
        }
    )
    return Corpus(name="made up", rows=POSTS, posts=posts_table(posts))


def settings() -> Iterator[tuple[str, list[Corpus]]]:
    for sizes, make in SIZES.items():
        for classes in CLASSES:
            if make is not mostly_single or classes == "3 classes by author":
                yield f"{sizes}, {classes}", [made(make, classes, seed) for seed in range(SEEDS)]
    if os.environ.get("EVENHAND_DATA"):
        yield "waseem_hovy (14,949 rows), 3 classes", [published("waseem_hovy")] * SEEDS
        yield "waseem_hovy, hateful or not", [published("waseem_hovy", two=True)] * SEEDS
        yield "stormfront (10,944 posts)", [published("stormfront")] * SEEDS


def published(name: str, *, two: bool = False) -> Corpus:
    corpus = as_rows(find(name))
    gold = corpus.main_gold().select(id="post", label="label")
    if two:
        gold = gold.with_columns(pl.col("label").is_in(list(corpus.hateful)).cast(pl.String))
    posts = corpus.posts.join(gold, on="id").with_columns(tags=pl.struct("label")).drop("label")
    return Corpus(name=name, rows=corpus.rows, posts=posts_table(posts))


def ours(corpus: Corpus, labels: pl.Series, seed: int) -> Sides:
    tied = ties(corpus, ("author",))
    ids = corpus.posts["id"]
    return list(make_folds(ids, labels, tied, FOLDS, seed=seed, rule="authors"))


def theirs(code: np.ndarray, author: np.ndarray, seed: int) -> Sides:
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(code, code, author))


def deviations(sides: Sides, code: np.ndarray, author: np.ndarray) -> list[float]:
    """Of size, of shares of classes, of shares within folds; after checking the promise."""
    counts = np.array([np.bincount(code[test], minlength=code.max() + 1) for _, test in sides])
    assert counts.sum() == len(code)
    assert all(not np.isin(author[test], author[train]).any() for train, test in sides)
    total, size = counts.sum(axis=0), counts.sum(axis=1)
    found = (
        size / len(code) - 1 / FOLDS,
        counts / total - 1 / FOLDS,
        counts / np.maximum(size, 1)[:, None] - total / len(code),
    )
    return [100 * float(np.abs(part).max()) for part in found]


def clocked(call: Callable[[], Sides], rounds: int) -> tuple[np.ndarray, Sides]:
    """Median wall and processor time in ms, and the last result."""
    times = []
    for _ in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        result = call()
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    return 1e3 * np.median(times, axis=0), result


def measured(corpus: Corpus, seed: int) -> tuple[list[float], list[float], list[float]]:
    """Authors, times and their ratios; our deviations; theirs."""
    labels = corpus.posts["tags"].struct.field("label")
    code = labels.rank("dense").to_numpy().astype(np.int64) - 1
    name = corpus.posts.select(pl.coalesce("author", pl.format("post {}", "id"))).to_series()
    author = name.rank("dense").to_numpy().astype(np.int64)
    one, sides = clocked(lambda: ours(corpus, labels, seed), ROUNDS)
    two, their_sides = clocked(lambda: theirs(code, author, seed), 1)
    head = [float(author.max()), one[0], two[0], *(two / one)]
    return head, deviations(sides, code, author), deviations(their_sides, code, author)


def span(values: np.ndarray, digits: int) -> str:
    low, high = f"{values.min():,.{digits}f}", f"{values.max():,.{digits}f}"
    return low if low == high else f"{low}–{high}"


def main() -> None:
    names = f"scikit-learn {sklearn.__version__}, Polars {pl.__version__}"
    print(f"{POSTS:,} posts, {FOLDS} folds, {SEEDS} seeds; {os.cpu_count()} processors,", end=" ")
    print(f"Python {platform.python_version()}, {names}\n")
    lines, worse = [], []
    print("| setting | authors | evenhand, ms | scikit-learn, ms | times faster ", end="")
    print("| by processor time |\n|---|---|---|---|---|---|")
    for name, corpora in settings():
        runs = [measured(corpus, seed) for seed, corpus in enumerate(corpora)]
        head, mine, other = (np.array(part) for part in zip(*runs, strict=True))
        cells = [span(column, 0) for column in head.T]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        cells = [span(part[:, kind], 3) for kind in range(3) for part in (mine, other)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        for kind, what in enumerate(("size", "share of class", "share in fold")):
            for a, b in zip(mine[:, kind], other[:, kind], strict=True):
                if a > b + 1e-9:
                    worse.append(f"- {name}, {what}: {a:.4f} against {b:.4f}")
    print("\n| largest deviation, points | size | sklearn | share of class | sklearn ", end="")
    print("| share in fold | sklearn |\n|---|---|---|---|---|---|---|")
    print("\n".join(lines))
    print(f"\nOurs is larger in {len(worse)} of {9 * len(lines)} comparisons, seed by seed:")
    print("\n".join(worse))


if __name__ == "__main__":
    main()
