"""How many posts, votes and hours a wanted precision needs, from a pilot's votes and seconds.

The variance of a mean vote share over n posts with v votes each is (σ²_between + σ²_within / v) / n
times the design effect of the weights. More votes per post help only the second term, so for a
given precision fewer votes on more posts are cheaper; the table shows both. A group that makes up a
share s of the posts needs the whole sample to be 1 / s times as large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from scipy.special import ndtri

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats.components import variance_components
from evenhand.stats.intervals import LEVEL
from evenhand.stats.resampling import Floats

_RESAMPLES = 500
_MEASURES = {"planned_posts": "posts", "planned_votes": "votes", "planned_hours": "hours"}


def plan(
    pilot: pl.DataFrame,
    *,
    half_width: float,
    groups: Mapping[str, float] | None = None,
    votes: Sequence[int] = (1, 2, 3, 5),
    design_effect: float = 1.0,
    seed: int = 0,
) -> list[Finding]:
    """`planned_posts`, `planned_votes`, `planned_hours` for each number of votes per post.

    ``pilot`` has one row per vote: post, yes (0 or 1), seconds (may be null). ``groups`` gives each
    group's share of the posts; the largest need decides. Intervals resample the pilot's posts.
    """
    if not 0 < half_width < 0.5:
        raise BadInput(f"half-width {half_width}; expected a share such as 0.01 for ±1 point")
    for name, share in (groups or {}).items():
        if not 0 < share <= 1:
            raise BadInput(f"group {name!r} has share {share}; expected 0 < share ≤ 1")
    posts = (
        pilot.group_by("post")
        .agg(n=pl.len().cast(pl.Float64), yes=pl.col("yes").sum().cast(pl.Float64))
        .sort("post")
    )
    table = posts.select("n", "yes").to_numpy()
    if (table[:, 0] >= 2).sum() < 2:
        raise NotEnoughData("the pilot needs at least two posts with two votes each")
    smallest = min((groups or {"all": 1.0}).values())
    z = float(ndtri(0.5 + LEVEL / 2))
    scale = z**2 * design_effect / half_width**2 / smallest
    rng = stream(seed, "plan")
    picks = rng.integers(len(table), size=(_RESAMPLES, len(table)))
    resampled = np.array([_components(table[pick]) for pick in picks])
    seconds = pilot["seconds"].drop_nulls().median() if "seconds" in pilot.columns else None
    findings = []
    for many in votes:
        need = scale * _variance(_components(table), many)
        needs = scale * (resampled[:, 0] + resampled[:, 1] / many)
        low, high = np.nanquantile(needs, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        findings += _row(many, need, float(low), float(high), seconds, len(table))
    return findings


def _components(table: Floats) -> tuple[float, float]:
    found = variance_components(table[:, 0], table[:, 1] / table[:, 0])
    return (np.nan, np.nan) if found is None else found


def _variance(parts: tuple[float, float], votes: int) -> float:
    return parts[0] + parts[1] / votes


def _row(
    votes: int, need: float, low: float, high: float, seconds: object, pilot: int
) -> list[Finding]:
    found = []
    factors = {"planned_posts": 1.0, "planned_votes": float(votes)}
    if isinstance(seconds, int | float):
        factors["planned_hours"] = votes * float(seconds) / 3600
    for measure in _MEASURES:
        factor = factors.get(measure)
        found.append(
            Finding(
                measure=measure,
                value=None if factor is None else float(np.ceil(need * factor)),
                n=pilot,
                group={"votes_per_post": votes},
                low=None if factor is None else float(np.floor(low * factor)),
                high=None if factor is None else float(np.ceil(high * factor)),
                level=None if factor is None else LEVEL,
                method="variance components of the pilot; bootstrap over its posts",
                unit="posts of the pilot",
                why="the pilot has no seconds" if factor is None else None,
            )
        )
    return found
