"""Gold from judgements, and a detector's intervals: evenhand beside crowd-kit and scikit-learn.

    python benchmarks/aggregation.py

Judgements are made up: people of varying skill, a few of whom do most of the work, three labels.
Both sides run in this process, alternating, on the same judgements; the table gives medians. Each
starts from what it takes: evenhand a checked table of judgements, crowd-kit a pandas table of the
same texts, and, because its joins are slow on texts, the same as whole numbers. Evenhand's side
includes making the table of gold. Dawid–Skene runs a fixed number of iterations on both sides.
"""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from crowdkit.aggregation import DawidSkene, MajorityVote
from sklearn import metrics

from evenhand.core.streams import stream
from evenhand.core.tables import judgements_table
from evenhand.stats.dawid_skene import dawid_skene
from evenhand.stats.detection import detection
from evenhand.stats.votes import majority

SIZES = {"small": (10_000, 35_000, 800), "large": (288_000, 631_000, 6_524)}
LABELS = np.array(["abusive", "no", "problematic"])
ITERATIONS, ROUNDS, SEED = 10, 9, 42
ROWS, RESAMPLES, NAIVE = 100_000, 1_000, 10


def make(posts: int, judgements: int, people: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Judgements in order of post, as corpora have them, and the truth by post."""
    rng = stream(SEED, "benchmark", "aggregation", posts)
    truth = rng.choice(3, posts, p=[0.1, 0.7, 0.2])
    post = np.sort(np.append(np.arange(posts), rng.choice(posts, judgements - posts)))
    share = 1 / np.arange(1, people + 1) ** 0.7
    person = rng.choice(people, judgements, p=share / share.sum())
    skill = rng.uniform(0.4, 0.95, people)
    right = rng.random(judgements) < skill[person]
    answer = LABELS[np.where(right, truth[post], rng.integers(3, size=judgements))]
    frame = pl.DataFrame(
        {
            "post": [f"post{number:06}" for number in post],
            "annotator": [f"person {number}" for number in person],
            "answer": answer.tolist(),
        }
    ).unique(["post", "annotator"], keep="first", maintain_order=True)
    answers = pl.concat_list("answer")
    return judgements_table(frame.with_columns(answers, question=pl.lit("abuse"))), truth


def for_pandas(table: pl.DataFrame, whole_numbers: bool) -> pd.DataFrame:
    columns = {"task": table["post"], "worker": table["annotator"]}
    columns["label"] = table["answer"].explode()
    if whole_numbers:
        return pd.DataFrame({k: np.unique(v, return_inverse=True)[1] for k, v in columns.items()})
    return pd.DataFrame({name: column.to_list() for name, column in columns.items()})


def timed(
    ways: dict[str, Callable[[], Any]], rounds: int
) -> tuple[dict[str, float], dict[str, Any]]:
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results = {}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            results[name] = way()
            seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}, results


def row(what: str, seconds: dict[str, float], right: dict[str, str]) -> None:
    ours, texts, numbers = (seconds[name] for name in ("evenhand", "texts", "numbers"))
    print(
        f"| {what} | {ours:.3f} | {texts:.2f} | {numbers:.2f} | {texts / ours:.0f}× "
        f"| {numbers / ours:.1f}× | {right['evenhand']} | {right['texts']} |"
    )


def compare_majority(name: str, table: pl.DataFrame, truth: np.ndarray) -> None:
    texts, numbers = for_pandas(table, False), for_pandas(table, True)
    ways = {
        "evenhand": lambda: majority(table),
        "texts": lambda: MajorityVote().fit_predict(texts),
        "numbers": lambda: MajorityVote().fit_predict(numbers),
    }
    seconds, results = timed(ways, ROUNDS)
    gold = results["evenhand"]
    clear = gold["label"].is_not_null().to_numpy()
    names = LABELS[truth][clear]
    theirs = results["texts"].loc[gold["post"].to_list()].to_numpy()[clear]
    ours = gold["label"].to_numpy()[clear]
    assert (ours == theirs).all()
    right = f"{(ours == names).mean():.4f}"
    row(f"majority, {name}", seconds, {"evenhand": right, "texts": right})


def compare_dawid_skene(name: str, table: pl.DataFrame, truth: np.ndarray, rounds: int) -> None:
    texts, numbers = for_pandas(table, False), for_pandas(table, True)
    fixed = {"n_iter": ITERATIONS, "tol": -np.inf}
    ways = {
        "evenhand": lambda: dawid_skene(
            table, question="abuse", iterations=ITERATIONS, tolerance=-np.inf
        ),
        "texts": lambda: DawidSkene(**fixed).fit(texts),
        "numbers": lambda: DawidSkene(**fixed).fit(numbers),
    }
    seconds, results = timed(ways, rounds)
    gold, theirs = results["evenhand"].gold, results["texts"].probas_.loc[:, LABELS]
    theirs = theirs.loc[gold["post"].to_list()].to_numpy()
    ours = gold["shares"].explode().struct.field("share").to_numpy().reshape(-1, 3)
    assert np.abs(ours - theirs).max() < 1e-6
    right = {"evenhand": ours, "texts": theirs}
    accuracy = {k: f"{(v.argmax(axis=1) == truth).mean():.4f}" for k, v in right.items()}
    row(f"Dawid–Skene, {name}", seconds, accuracy)


def compare_detection() -> None:
    rng = stream(SEED, "benchmark", "detection")
    truth = rng.random(ROWS) < 0.1
    score = np.clip(rng.normal(0.3 + 0.3 * truth, 0.2), 0, 1)
    weights = rng.uniform(0.5, 5, ROWS)

    def naive() -> None:
        for _ in range(NAIVE):
            take = rng.integers(ROWS, size=ROWS)
            y, p, w = truth[take], score[take], weights[take]
            metrics.average_precision_score(y, p, sample_weight=w)
            metrics.roc_auc_score(y, p, sample_weight=w)
            metrics.precision_recall_curve(y, p, sample_weight=w)
            metrics.precision_recall_fscore_support(y, p >= 0.5, average="binary", sample_weight=w)

    ways = {
        "evenhand": lambda: detection(
            truth, score, weights=weights, threshold=0.5, resamples=RESAMPLES
        ),
        "naive": naive,
    }
    seconds, _ = timed(ways, 3)
    loop = seconds["naive"] * RESAMPLES / NAIVE
    ours = seconds["evenhand"]
    print(f"\n{ROWS:,} rows, all measures, B = {RESAMPLES:,}: evenhand {ours:.2f} s;")
    print(
        f"a loop over scikit-learn {loop:.0f} s (from {NAIVE} resamples): {loop / ours:.0f} times."
    )


def main() -> None:
    warnings.simplefilter("ignore")  # crowd-kit under pandas 3
    print(f"median of {ROUNDS} rounds (Dawid–Skene, large: 3), {ITERATIONS} iterations;")
    print(f"Python {platform.python_version()}, pandas {pd.__version__}, {platform.machine()}\n")
    print(
        "| | evenhand, s | crowd-kit on texts, s | on whole numbers, s | ratio, texts "
        "| ratio, numbers | accuracy, evenhand | crowd-kit |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, size in SIZES.items():
        table, truth = make(*size)
        compare_majority(f"{name}, in order of post", table, truth)
        shuffled = table.sample(fraction=1, shuffle=True, seed=SEED)
        compare_majority(f"{name}, rows shuffled", shuffled, truth)
        compare_dawid_skene(name, table, truth, 3 if name == "large" else ROUNDS)
    compare_detection()


if __name__ == "__main__":
    main()
