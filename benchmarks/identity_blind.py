"""How often an audit calls a detector uneven that cannot tell identities apart.

Every sentence frame (a sentence without its identity) has its own chance of being flagged; which of
its sentences are flagged is drawn independently of the identity. Whatever gaps such a detector
shows are chance. A full audit makes its claims together (both suites, six template sets), so what
counts is the share of audits with any claim at all.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import polars as pl

from evenhand.audits.answers import answered
from evenhand.audits.identities import identity_findings
from evenhand.audits.suite_figures import suite_figures
from evenhand.audits.suites import find_suite
from evenhand.audits.templates import read_set, sentences_of
from evenhand.audits.weaknesses import OPERATING, uneven
from evenhand.core.tables import tag
from evenhand.stats.intervals import wilson

SUITES = ("emoji-hate", "hate-functions")
SETS = ("gender", "religion", "nationality", "orientation", "disability", "age")
RATES = {"rare": (1, 9), "even": (2, 2), "often": (9, 1)}
"""Beta distributions of a frame's chance of being flagged."""


def scores(
    ids: pl.Series, frames: pl.Series, shape: tuple[float, float], seed: int
) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    codes = frames.rank("dense").to_numpy() - 1
    chance = rng.beta(*shape, size=int(codes.max()) + 1)[codes]
    return pl.DataFrame({"post": ids, "p": (rng.random(len(codes)) < chance).astype(float)})


def one_audit(shape: tuple[float, float], seed: int, resamples: int) -> int:
    """How many claims the audit makes."""
    found = []
    for number, name in enumerate(SUITES):
        cases = find_suite(name).cases()
        given = scores(cases["id"], cases["frame"], shape, 1000 * seed + number)
        found += suite_figures(
            answered(cases, given), seed=seed, group={"suite": name}, resamples=resamples
        )
    for number, name in enumerate(SETS, start=10):
        made = sentences_of(read_set(name))
        frames = made.posts.select(frame=tag("frame", made.posts))["frame"]
        given = scores(made.posts["id"], frames, shape, 1000 * seed + number)
        found += identity_findings(
            made,
            given,
            thresholds={OPERATING: 0.5},
            original_auc=None,
            seed=seed,
            resamples=resamples,
        )
    return len(uneven(found))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=130)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(f"{given.runs} audits a row, {given.resamples} permutations each\n")
    print("| frames are flagged | audits | with a claim of unevenness | 95 % interval |")
    print("|---|---|---|---|")
    with ProcessPoolExecutor(given.workers) as pool:
        for name, shape in RATES.items():
            runs = range(given.runs)
            jobs = [pool.submit(one_audit, shape, seed, given.resamples) for seed in runs]
            wrong = sum(job.result() > 0 for job in jobs)
            low, high = wilson(wrong, given.runs)
            share = f"{100 * wrong / given.runs:.1f} %"
            print(f"| {name} (Beta{shape}) | {given.runs} | {share} | {low:.3f} to {high:.3f} |")


if __name__ == "__main__":
    main()
