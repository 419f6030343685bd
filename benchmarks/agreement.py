"""All agreement measures at the size of the real campaign, beside the package krippendorff.

Prints the table of docs/benchmarks/agreement.md. The votes are made up in the shape of Delisle et
al. 2018: 288,000 posts, 631,000 labels, 6,524 annotators, three ordered classes, one vote or more
per post, a quarter of the posts with more than two. Both sides run in one process, in turn; times
are medians. "Counts" are votes per post and class, what krippendorff is fastest with; "table" is
the table of judgements, with ids as text, from which counts have to be made first.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from statistics import median

import krippendorff
import numpy as np
import polars as pl

from evenhand.core.records import Finding
from evenhand.core.tables import judgements_table
from evenhand.stats.agreement import agreement, agreement_of_counts

POSTS, VOTES, ANNOTATORS = 288_000, 631_000, 6_524
ORDER = ["No", "Problematic", "Abusive"]
ROUNDS = 15
SEED = 1


def campaign() -> pl.DataFrame:
    rng = np.random.default_rng(SEED)
    kind = rng.choice(3, size=POSTS, p=[0.44, 0.307, 0.253])
    votes = np.where(kind < 2, kind + 1, 2 + rng.geometric(0.4, size=POSTS))
    while (left := VOTES - int(votes.sum())) != 0:
        some = rng.choice(np.flatnonzero(votes > (left < 0)), size=abs(left), replace=False)
        votes[some] += np.sign(left)
    post = np.repeat(np.arange(POSTS), votes)
    place = np.arange(VOTES) - np.repeat(np.cumsum(votes) - votes, votes)
    person = (rng.integers(ANNOTATORS, size=POSTS)[post] + place * 17) % ANNOTATORS
    share = np.cumsum(rng.dirichlet([1.2, 0.25, 0.15], size=POSTS), axis=1)
    answer = (rng.random(VOTES)[:, None] > share[post]).sum(axis=1).clip(max=2)
    return judgements_table(
        pl.DataFrame(
            {
                "post": pl.Series(post + 10**17).cast(pl.String),
                "annotator": pl.Series(person).cast(pl.String),
                "question": pl.Series(["contains_abuse"]).new_from_index(0, VOTES),
                "answer": pl.Series(ORDER).gather(answer).reshape((-1, 1)).arr.to_list(),
            }
        )
    )


def counted(table: pl.DataFrame) -> pl.DataFrame:
    """Votes by post and class, by the fastest way from the table that we found."""
    labels = pl.col("answer").list.first()
    return table.group_by("post").agg(
        *((labels == label).sum().cast(pl.Int64).alias(label) for label in ORDER)
    )


def value_counts(counts: pl.DataFrame) -> np.ndarray:
    """As krippendorff is fastest with them: floats, class after class in memory."""
    return counts.drop("post").cast(pl.Float64).to_numpy(order="fortran")


def reliability(counts: np.ndarray) -> np.ndarray:
    """Votes in rows by place, not by annotator (6,524 × 288,000 would not fit): NaN is no vote."""
    table = np.full((int(counts.sum(axis=1).max()), len(counts)), np.nan)
    before = np.zeros(len(counts), dtype=np.int64)
    for code in range(3):
        for place in range(int(counts[:, code].max())):
            here = counts[:, code] > place
            table[(before + place)[here], np.flatnonzero(here)] = code
        before += counts[:, code]
    return table


def alphas(findings: list[Finding]) -> list[float | None]:
    found = [f for f in findings if f.measure == "krippendorff_alpha"]
    by_scale = {f.group.get("scale"): f.value for f in found}
    return [by_scale["nominal"], by_scale[None]]


def ours(table: pl.DataFrame, resamples: int) -> list[float | None]:
    options = {"scale": "ordinal", "order": ORDER, "resamples": resamples}
    if "question" in table.columns:
        return alphas(agreement(table, question="contains_abuse", **options))
    return alphas(agreement_of_counts(table, **options))


def theirs(**data: np.ndarray) -> list[float]:
    domain = {} if "value_counts" in data else {"value_domain": [0, 1, 2]}
    return [
        krippendorff.alpha(level_of_measurement=scale, **data, **domain)
        for scale in ("nominal", "ordinal")
    ]


def main() -> None:
    table = campaign()
    mixed = table.sample(fraction=1, shuffle=True, seed=SEED)
    few = counted(table)
    counts = value_counts(few)
    ratings = reliability(counts.astype(np.int64))
    few = few.drop("post")
    ways: dict[str, Callable[[], list[float | None]]] = {
        "evenhand, all measures, from counts": lambda: ours(few, 0),
        "evenhand, all measures, from the table by post": lambda: ours(table, 0),
        "evenhand, all measures, from the table in random order": lambda: ours(mixed, 0),
        "evenhand, all with intervals (1,000 resamples), from counts": lambda: ours(few, 1000),
        "evenhand, all with intervals, from the table by post": lambda: ours(table, 1000),
        "krippendorff, two alphas, from counts": lambda: theirs(value_counts=counts),
        "krippendorff, two alphas, from the table by post": lambda: theirs(
            value_counts=value_counts(counted(table))
        ),
        "krippendorff, two alphas, from the table in random order": lambda: theirs(
            value_counts=value_counts(counted(mixed))
        ),
        "krippendorff, two alphas, from reliability_data": lambda: theirs(reliability_data=ratings),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.perf_counter()
            results[name] = way()
            seconds[name].append(time.perf_counter() - start)
    report(table, counts, seconds, results)


def report(
    table: pl.DataFrame,
    counts: np.ndarray,
    seconds: dict[str, list[float]],
    results: dict[str, list[float | None]],
) -> None:
    many = int((counts.sum(axis=1) > 2).sum())
    print(
        f"{len(counts):,} posts, {table.height:,} votes, {table['annotator'].n_unique():,}", end=""
    )
    print(f" annotators; {many:,} posts with more than two votes; median of {ROUNDS} rounds;")
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}\n")
    print("| way | ms (median) | fastest | α nominal | α ordinal |")
    print("|---|---|---|---|---|")
    for name, times in seconds.items():
        middle, least = median(times), min(times)
        nominal, ordinal = results[name]
        print(f"| {name} | {1e3 * middle:.1f} | {1e3 * least:.1f} ", end="")
        print(f"| {nominal:.9f} | {ordinal:.9f} |")
    print("\nkrippendorff's two alphas ÷ all our measures (goal: 4):")
    for start in ("from counts", "from the table by post", "from the table in random order"):
        one = median(seconds[f"krippendorff, two alphas, {start}"])
        other = median(seconds[f"evenhand, all measures, {start}"])
        print(f"- both {start}: {one / other:.1f}")


if __name__ == "__main__":
    main()
