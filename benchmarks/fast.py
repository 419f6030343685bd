"""Scoring with ``fast``, beside ``linear``, on one core.

Prints the table of docs/benchmarks/fast.md. Texts are those of dynahate if EVENHAND_DATA names a
folder that has them, else made up with about the same lengths. Both are trained on 5,000 texts and
score 5,000 others in one process, in turn, five times. Times are those of the processor, since
other work may run beside; size is that of the saved folder without the digests of training posts,
which only depend on how many there are.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.errors import EvenhandError
from evenhand.core.streams import stream
from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.find import find
from evenhand.data.user_file import single_labels
from evenhand.models.fast import Fast
from evenhand.models.front_end import FrontEnd
from evenhand.models.linear import Linear
from evenhand.models.saving import TRAINING, load, save
from evenhand.models.training import for_corpus

ROUNDS, TEXTS, SEED = 5, 5_000, 1


def corpus() -> Corpus:
    try:
        if os.environ.get("EVENHAND_DATA"):
            return find("dynahate")
    except EvenhandError as error:
        print(f"({error})")
    rng = stream(SEED, "texts")
    ranks = np.minimum(rng.zipf(1.35, (2 * TEXTS, 25)), 15_000)
    texts = [" ".join(f"w{rank:x}" for rank in row) for row in ranks.tolist()]
    ids = [str(number) for number in range(len(texts))]
    posts = posts_table(pl.DataFrame({"id": ids, "text": texts, "source": "made up"}))
    labels = pl.DataFrame({"id": ids, "label": np.where(ranks[:, 0] > 3, "1", "0")})
    return Corpus("made-up texts", len(ids), posts, single_labels(labels), hateful=("1",))


def taken(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def saved(detector: Any, folder: Path) -> tuple[int, float]:
    """Bytes on disk without digests, and seconds to load."""
    save(detector, folder)
    size = sum(path.stat().st_size for path in folder.iterdir() if path.name != TRAINING)
    return size, median(taken(lambda: load(folder)) for _ in range(ROUNDS))


def main() -> None:
    given = corpus()
    posts = given.posts.sample(2 * TEXTS, seed=SEED, shuffle=True)
    texts = posts["text"].to_list()[TEXTS:]
    fast, linear = (
        for_corpus(recipe, given).fit(posts.head(TEXTS), given.gold, seed=SEED)
        for recipe in (Fast(), Linear())
    )
    front_end = FrontEnd()
    clean = front_end.texts(texts)
    sides: dict[str, Callable[[], object]] = {
        "fast, all": lambda: fast.score(texts),
        "fast, front end alone": lambda: front_end.texts(texts),
        "fast, features alone": lambda: fast.hashed.rows(clean),
        "linear, all (no front end)": lambda: linear.score(texts),
        "linear, features alone": lambda: linear.features.rows(texts),
    }
    speeds: dict[str, list[float]] = {side: [] for side in sides}
    for round_number in range(ROUNDS + 1):
        for side, work in sides.items():
            seconds = taken(work)
            if round_number:
                speeds[side].append(TEXTS / seconds)
    mean = sum(map(len, texts)) / TEXTS
    print(f"{given.name}: {TEXTS:,} texts of {mean:.0f} characters on average;")
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}, ", end="")
    print(f"NumPy {np.__version__}, median of {ROUNDS} rounds\n")
    print("| way | texts/s (median) | slowest–fastest |")
    print("|---|---|---|")
    for side, found in speeds.items():
        print(f"| {side} | {median(found):,.0f} | {min(found):,.0f}–{max(found):,.0f} |")
    print("\n| detector | one text, ms | size, MB | load, ms |")
    print("|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for name, detector in (("fast", fast), ("linear", linear)):
            one = median(taken(partial(detector.score, [text])) for text in texts[:200])
            size, seconds = saved(detector, Path(folder) / name)
            print(f"| {name} | {1000 * one:.2f} | {size / 1e6:.2f} | {1000 * seconds:.0f} |")


if __name__ == "__main__":
    main()
