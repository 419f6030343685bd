"""Draw posts by stratum in proportion to true volume, and enrich with what a filter flags.

B: of everything available in a stratum, a simple random sample, sizes in proportion to the strata's
true volumes (largest remainders). F: of the flagged posts that are not in B, a simple random
sample. A post of stratum d with flag k is in the union with probability

    π = n_d / C_d + k (1 − n_d / C_d) |F| / |flagged rest|.

Source: Delisle et al. 2018, section 2 and appendix C. A stratum that has fewer posts than its share
gives all it has, and the notes say what is missing. Who is drawn depends on ids and seed, not on
the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput, Fault, NotEnoughData
from evenhand.core.streams import stream
from evenhand.core.tables import draws_table


@dataclass(frozen=True)
class Drawn:
    """A sample: the draws, the strata it came from, and what could not be met."""

    draws: pl.DataFrame
    """The records, sorted by post."""
    strata: pl.DataFrame
    """Columns stratum, flag, volume, available: what `weigh` needs later."""
    notes: tuple[str, ...]


def draw(
    frame: pl.DataFrame, volumes: Mapping[str, float], *, target: int, enrich: int = 0, seed: int
) -> Drawn:
    """Draw from posts with columns post, stratum, flag.

    ``volumes`` gives the true number of posts per stratum; ``target`` is the size of B, ``enrich``
    that of F.
    """
    posts = frame.select("post", "stratum", pl.col("flag").fill_null(False)).sort("post")
    _check(posts, volumes, target, enrich)
    notes: list[str] = []
    available = posts.group_by("stratum").agg(pl.len().alias("available")).sort("stratum")
    wanted = _allocate({s: volumes[s] for s in available["stratum"]}, target)
    posts = posts.join(available, on="stratum").join(wanted, on="stratum").sort("post")
    short = available.join(wanted, on="stratum").filter(pl.col("wanted") > pl.col("available"))
    if short.height:
        missing = int((short["wanted"] - short["available"]).sum())
        notes.append(
            f"{short.height} strata have fewer posts than their share of the target: "
            f"{missing} of {target} posts cannot be drawn; their weights make up for it."
        )
    order = stream(seed, "draw").random(posts.height)
    rank = pl.Series(order).rank("ordinal")
    first = posts.with_columns(key=rank).with_columns(
        base=pl.col("key").rank("ordinal").over("stratum") <= pl.col("wanted")
    )
    drawn, share = _enriched(first, enrich, seed, notes)
    return _drawn(posts, drawn, share, volumes, tuple(notes))


def _check(posts: pl.DataFrame, volumes: Mapping[str, float], target: int, enrich: int) -> None:
    faults = [
        Fault("volumes", f"volume of {stratum!r} is {volume}; expected more than 0")
        for stratum, volume in sorted(volumes.items())
        if not np.isfinite(volume) or volume <= 0
    ]
    unknown = sorted(set(posts["stratum"].drop_nulls()) - set(volumes))
    faults += [Fault("volumes", f"no volume for stratum {stratum!r}") for stratum in unknown]
    if posts["stratum"].null_count():
        faults.append(Fault("posts", f"{posts['stratum'].null_count()} posts have no stratum"))
    if faults:
        raise BadInput(*faults[:20], total=len(faults))
    if target < 1 or enrich < 0:
        raise BadInput(f"target {target} and enrichment {enrich}: expected at least 1 and 0")
    if not posts.height:
        raise NotEnoughData("no posts to draw from")


def _allocate(volumes: Mapping[str, float], target: int) -> pl.DataFrame:
    """How many of each stratum, in proportion to volume, by largest remainders.

    >>> _allocate({"a": 5, "b": 3, "c": 2}, 4)["wanted"].to_list()
    [2, 1, 1]
    """
    names = sorted(volumes)
    exact = np.array([volumes[name] for name in names], dtype=float)
    exact *= target / exact.sum()
    whole = np.floor(exact).astype(int)
    rest = np.argsort(whole - exact, kind="stable")[: target - int(whole.sum())]
    whole[rest] += 1
    return pl.DataFrame({"stratum": names, "wanted": whole})


def _enriched(
    first: pl.DataFrame, enrich: int, seed: int, notes: list[str]
) -> tuple[pl.DataFrame, float]:
    """The posts of B and F, and the share of the flagged rest that F takes."""
    base = first.filter(pl.col("base"))
    rest = first.filter(~pl.col("base") & pl.col("flag"))
    if not enrich:
        return base, 0.0
    if rest.height < enrich:
        notes.append(
            f"only {rest.height} flagged posts are left to enrich with; {enrich} were asked for."
        )
    take = min(enrich, rest.height)
    if not take:
        return base, 0.0
    chosen = stream(seed, "enrich").permutation(rest.height)[:take]
    return pl.concat([base, rest[np.sort(chosen)]]), take / rest.height


def _drawn(
    posts: pl.DataFrame,
    drawn: pl.DataFrame,
    share: float,
    volumes: Mapping[str, float],
    notes: tuple[str, ...],
) -> Drawn:
    base = pl.min_horizontal(pl.col("wanted") / pl.col("available"), pl.lit(1.0))
    extra = pl.when(pl.col("flag")).then((1 - base) * share).otherwise(0.0)
    table = drawn.with_columns(probability=base + extra).with_columns(
        weight=1 / pl.col("probability")
    )
    draws = draws_table(
        table.select(
            "post",
            "stratum",
            "flag",
            "probability",
            weight=pl.col("weight") / pl.col("weight").mean(),
            phase=pl.lit(1),
        ).sort("post")
    )
    cells = posts.group_by("stratum", "flag").agg(pl.len().alias("available"))
    strata = (
        cells.with_columns(
            volume=pl.col("stratum").replace_strict(dict(volumes), return_dtype=pl.Float64)
        )
        .select("stratum", "flag", "volume", "available")
        .sort("stratum", "flag")
    )
    return Drawn(draws, strata, notes)


def again(frame: pl.DataFrame, sizes: Mapping[str, int], *, seed: int) -> Drawn:
    """A second phase: so many posts of each stratum, at random, from posts already labelled.

    ``frame`` has columns post, stratum; probabilities are those of the second phase alone.
    """
    posts = frame.select("post", "stratum").sort("post")
    available = dict(posts["stratum"].value_counts().iter_rows())
    unknown = sorted(set(sizes) - set(available))
    if unknown:
        raise BadInput(
            f"no labelled post is in stratum {', '.join(unknown)}; found "
            f"{', '.join(sorted(available)) or 'none'}"
        )
    notes, parts = [], []
    for stratum, size in sorted(sizes.items()):
        here = posts.filter(pl.col("stratum") == stratum)
        take = min(size, here.height)
        if take < size:
            notes.append(f"stratum {stratum}: only {here.height} labelled posts, {size} asked for.")
        chosen = stream(seed, "again", stratum).permutation(here.height)[:take]
        part = here[np.sort(chosen)].with_columns(probability=pl.lit(take / here.height))
        parts.append(part)
    table = pl.concat(parts).with_columns(
        flag=pl.lit(False), weight=1 / pl.col("probability"), phase=pl.lit(2)
    )
    draws = draws_table(table.sort("post"))
    strata = pl.DataFrame(
        [(name, False, float(n), n) for name, n in sorted(available.items())],
        schema=["stratum", "flag", "volume", "available"],
        orient="row",
    )
    return Drawn(draws, strata, tuple(notes))
