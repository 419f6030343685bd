"""Bootstrap of twelve groups on 157,000 posts: ours against `arch`, both sides in one run.

Prints the table of docs/benchmarks/bootstrap.md. `arch` resamples posts without strata (it has no
stratified bootstrap); its statistic is the fastest we know: two weighted `bincount`s.
"""

from __future__ import annotations

import os
import platform
import time

import numpy as np
from arch.bootstrap import IIDBootstrap

from evenhand.stats.resampling import stratified_totals

POSTS, GROUPS, DAYS, ROUNDS = 157_000, 12, 365, 5


def data():
    rng = np.random.default_rng(0)
    stratum = rng.integers(2 * DAYS, size=POSTS)
    group = rng.integers(GROUPS, size=POSTS)
    share = rng.choice([0, 1 / 3, 2 / 3, 1], p=[0.8, 0.1, 0.06, 0.04], size=POSTS)
    by_stratum = rng.gamma(2.0, size=2 * DAYS)[stratum]
    continuous = rng.gamma(2.0, size=POSTS)
    return stratum, group, share, by_stratum, continuous


def ours(share, weight, group, strata, resamples):
    rows = np.arange(POSTS)
    contributions = np.zeros((POSTS, 2 * GROUPS))
    contributions[rows, group] = weight * share
    contributions[rows, GROUPS + group] = weight
    totals = stratified_totals(contributions, strata, np.random.default_rng(1), resamples)
    return totals[:, :GROUPS] / totals[:, GROUPS:]


def theirs(share, weight, group, resamples):
    def statistic(share, weight, group):
        above = np.bincount(group, weight * share, minlength=GROUPS)
        return above / np.bincount(group, weight, minlength=GROUPS)

    return IIDBootstrap(share, weight, group, seed=1).apply(statistic, resamples)


def main() -> None:
    stratum, group, share, by_stratum, continuous = data()
    one = np.zeros(POSTS, dtype=np.int64)
    ways = {
        "evenhand, 730 strata, stratum weights, B = 10,000": lambda: ours(
            share, by_stratum, group, stratum, 10_000
        ),
        "evenhand, no strata, continuous weights, B = 1,000": lambda: ours(
            share, continuous, group, one, 1_000
        ),
        "arch, no strata, stratum weights, B = 1,000": lambda: theirs(
            share, by_stratum, group, 1_000
        ),
        "arch, no strata, continuous weights, B = 1,000": lambda: theirs(
            share, continuous, group, 1_000
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    errors = {}
    for _ in range(ROUNDS):
        for name, run in ways.items():
            start = time.perf_counter()
            found = run()
            seconds[name].append(time.perf_counter() - start)
            errors[name] = found.std(axis=0).mean()
    medians = {name: float(np.median(values)) for name, values in seconds.items()}
    names = list(ways)
    print(f"{POSTS:,} posts, {GROUPS} groups, median of {ROUNDS} interleaved rounds;")
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}\n")
    print("| way | seconds | mean standard error of a group |")
    print("|---|---|---|")
    for name in names:
        print(f"| {name} | {medians[name]:.3f} | {errors[name]:.5f} |")
    print(f"\nstratum weights: arch ÷ ours = {medians[names[2]] / medians[names[0]]:.1f} (goal 15)")
    print(f"continuous weights: arch ÷ ours = {medians[names[3]] / medians[names[1]]:.1f} (goal 1)")


if __name__ == "__main__":
    main()
