"""Do the intervals hold? 2,000 simulated campaigns of the paper's shape at 1/100 scale.

A fixed made-up population of 145,000 posts over 365 days in twelve groups; each campaign gets a
new provider's sample (at most 60 a day), draws 2,150 posts by volume and 600 flagged ones, has 65
new volunteers of varying leniency give one to four votes, loses a twentieth of the posts, and is
weighed and estimated by the code a user runs. Everything is simulated. Fixed seed.

    python benchmarks/campaigns.py [campaigns [number of the first]]
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np
import polars as pl
from scipy.special import ndtr

from evenhand.core.streams import stream
from evenhand.sampling.draw import draw
from evenhand.stats.intervals import wilson
from evenhand.stats.population import HATEFUL, Sample, estimate
from evenhand.stats.prediction_powered import Flags, prediction_powered
from evenhand.stats.weights import weigh

POSTS, DAYS, CAP, TARGET, ENRICH, PEOPLE, GROUPS = 145_000, 365, 60, 2_150, 600, 65, 12
THRESHOLD, NOISE, LENIENCY, CARELESS = 1.0, 0.6, 0.35, 0.03
RESAMPLES = 1_000


@cache
def population():
    rng = stream(0, "population")
    volume = 1 + 0.5 * np.sin(2 * np.pi * np.arange(DAYS) / DAYS)
    volume[rng.integers(DAYS, size=12)] *= 4
    day = rng.choice(DAYS, size=POSTS, p=volume / volume.sum())
    size = np.linspace(1, 4, GROUPS)
    group = rng.choice(GROUPS, size=POSTS, p=size / size.sum())
    heated = volume[day] > volume.mean() * 2
    abusive = rng.random(POSTS) < 0.04 + 0.006 * group + 0.08 * heated
    severity = np.where(abusive, 2.0, -0.6) + 0.7 * rng.normal(size=POSTS)
    flag = rng.random(POSTS) < ndtr((severity - 1.4) / 0.8)
    good = np.clip(ndtr((severity - THRESHOLD) / 0.9), 0, 1)
    return day, group, severity, flag, good


def says_yes(severity, shift, careless):
    view = ndtr((severity - THRESHOLD - shift) / NOISE)
    return (1 - careless) * view + careless * 0.5


@cache
def truths():
    """As people like these would judge on average: overall and by group."""
    _, group, severity, _, _ = population()
    wide = np.hypot(NOISE, LENIENCY)
    yes = (1 - CARELESS) * ndtr((severity - THRESHOLD) / wide) + CARELESS * 0.5
    return yes.mean(), np.array([yes[group == g].mean() for g in range(GROUPS)])


def these_truths(shift, careless):
    """As exactly these volunteers would judge everything."""
    _, group, severity, _, _ = population()
    yes = np.mean([says_yes(severity, s, c) for s, c in zip(shift, careless, strict=True)], axis=0)
    return yes.mean(), np.array([yes[group == g].mean() for g in range(GROUPS)])


def campaign(number: int) -> dict[str, float]:
    day, group, severity, flag, good = population()
    rng = stream(1, "campaign", number)
    order = rng.permutation(POSTS)
    ranks = np.empty(POSTS, int)
    sorted_by_day = order[np.argsort(day[order], kind="stable")]
    starts = np.searchsorted(day[sorted_by_day], np.arange(DAYS))
    ranks[sorted_by_day] = np.arange(POSTS) - starts[day[sorted_by_day]]
    given = np.flatnonzero(ranks < CAP)
    names = np.char.mod("%03d", day)
    frame = pl.DataFrame(
        {"post": np.char.mod("%06d", given), "stratum": names[given], "flag": flag[given]}
    )
    counts = np.bincount(day, minlength=DAYS)
    volumes = {f"{d:03d}": float(counts[d]) for d in range(DAYS) if counts[d]}
    drawn = draw(frame, volumes, target=TARGET, enrich=ENRICH, seed=number)
    kept = drawn.draws.filter(pl.Series(rng.random(drawn.draws.height) > 0.05))
    posts = kept["post"].cast(pl.Int64).to_numpy()

    shift = rng.normal(0, LENIENCY, PEOPLE)
    careless = np.full(PEOPLE, CARELESS)
    many = rng.choice([1, 2, 3, 4], p=[0.2, 0.3, 0.4, 0.1], size=len(posts))
    people = np.argsort(rng.random((len(posts), PEOPLE)), axis=1)[:, :4]
    used = np.arange(4) < many[:, None]
    yes = rng.random((len(posts), 4)) < says_yes(
        severity[posts][:, None], shift[people], careless[people]
    )
    share = (yes * used).sum(axis=1) / many
    weights = weigh(drawn.draws, kept["post"], drawn.strata)
    weighed = weights.table.sort("post")
    rows, columns = np.nonzero(used)
    sample = Sample(
        posts=weighed.with_columns(author=pl.lit(None, dtype=pl.String)),
        shares=share[:, None],
        labels=[HATEFUL],
        mentions=pl.DataFrame(
            {
                "row": np.arange(len(posts)),
                "target": pl.Series([None] * len(posts), dtype=pl.String),
                "group": np.char.mod("%02d", group[posts]),
            }
        ),
        votes=pl.DataFrame(
            {
                "row": rows,
                "annotator": np.char.mod("v%02d", people[rows, columns]),
                "label": np.where(yes[rows, columns], 0, 1),
            }
        ),
        frame=weights.frame,
    )
    truth, by_group = truths()
    mine, mine_by_group = these_truths(shift, careless)
    found = estimate(sample, by=[["group"]], seed=number, resamples=RESAMPLES)
    both = estimate(sample, over="annotators", seed=number, resamples=200)[0]
    main = next(f for f in found if not f.group)
    result = {
        "value": main.value,
        "width": main.high - main.low,
        "truth": truth,
        "posts, these volunteers": main.low <= mine <= main.high,
        "posts, people like them": main.low <= truth <= main.high,
        "both, people like them": both.low <= truth <= both.high,
        "both width": both.high - both.low,
        "plain": share.mean(),
        "plain misses": abs(share.mean() - truth) > 1.96 * share.std() / np.sqrt(len(share)),
    }
    for f in found:
        if f.group and f.value is not None:
            g = int(f.group["group"])
            result[f"group {g:02d}"] = f.low <= mine_by_group[g] <= f.high
    result |= powered(sample, weighed, share, posts, given, good, mine, rng)
    return {key: float(value) for key, value in result.items()}


def powered(sample, weighed, share, posts, given, good, truth, rng):
    day = population()[0]
    useless = rng.random(POSTS)
    volumes = np.bincount(day, minlength=DAYS).astype(float)
    out = {}
    weights, cells = weighed["weight"].to_numpy(), sample.codes("cell")
    code = {name: number for number, name in enumerate(weighed["cell"].unique().sort())}
    frame = sample.frame.sort("stratum")
    flags = Flags(
        frame["flagged"].to_numpy(),
        np.array([code.get(name, -1) for name in frame["flag_cell"]]),
        np.array([code.get(name, -1) for name in frame["rest_cell"]]),
    )
    for name, scores, lam in (
        ("no detector", good, 0.0),
        ("good detector", good, None),
        ("useless detector", useless, None),
        ("useless, untuned", useless, 1.0),
    ):
        found = prediction_powered(
            share,
            scores[posts],
            weights,
            cells,
            all_scores=scores[given],
            all_strata=day[given],
            volumes=volumes,
            flags=flags,
            lam=lam,
        )
        out[f"{name} covers"] = found.low <= truth <= found.high
        out[f"{name} width"] = found.high - found.low
    return out


def covered(results: pl.DataFrame, column: str) -> str:
    hits = results[column].drop_nulls()
    low, high = wilson(int(hits.sum()), len(hits))
    return f"{100 * hits.mean():.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    start = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(campaign, range(first, first + campaigns), chunksize=20))
    results = pl.DataFrame(found)
    truth = results["truth"][0]
    print(
        f"{campaigns:,} simulated campaigns, {time.perf_counter() - start:.0f} s, two processes\n"
    )
    print("| estimate | mean | truth | bias | mean width of the 95 % interval |")
    print("|---|---|---|---|---|")
    for name, column, width in (
        ("weighted", "value", results["width"].mean()),
        ("unweighted", "plain", None),
    ):
        mean = results[column].mean()
        shown = "" if width is None else f"{width:.4f}"
        print(f"| {name} | {mean:.4f} | {truth:.4f} | {mean - truth:+.4f} | {shown} |")
    print(
        f"\nThe unweighted share is off by more than its interval in "
        f"{100 * results['plain misses'].mean():.1f} % of campaigns.\n"
    )
    print("| interval for the total | speaks of | coverage [95 % of the simulation] |")
    print("|---|---|---|")
    print(f"| posts resampled | these volunteers | {covered(results, 'posts, these volunteers')} |")
    print(f"| posts resampled | people like them | {covered(results, 'posts, people like them')} |")
    both = covered(results, "both, people like them")
    print(f"| posts and annotators | people like them | {both} |")
    print(f"\nMean width, both resampled: {results['both width'].mean():.4f}.\n")
    print("| group (posts resampled, these volunteers) | campaigns shown | coverage |")
    print("|---|---|---|")
    for g in range(GROUPS):
        column = f"group {g:02d}"
        if column in results.columns:
            shown = results[column].count()
            print(f"| {g + 1} | {shown} | {covered(results, column)} |")
    print("\n| prediction-powered, these volunteers | coverage | mean width | ÷ no detector |")
    print("|---|---|---|---|")
    base = results["no detector width"].mean()
    for name in ("no detector", "good detector", "useless detector", "useless, untuned"):
        width = results[f"{name} width"].mean()
        share = covered(results, f"{name} covers")
        print(f"| {name} | {share} | {width:.4f} | {width / base:.2f} |")


if __name__ == "__main__":
    main()
