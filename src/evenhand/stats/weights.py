"""Importance weights: from the posts that were analysed back to the whole population.

Posts are drawn by stratum (a day, say) and by what a filter flags; the weight of a post is the
ratio of its cell's share in the population and its share among the posts actually analysed:

    w(k, d) = p_W(k | d) p_W(d) / p_A(k, d)

with p_W(d) from the true volumes, p_W(k | d) counted on everything the provider gave for that
stratum, and p_A counted on the posts that got labels (not on those drawn).

Source: Delisle et al. 2018, appendix C. Different from it: p_W(k | d) is conditioned on the stratum
(the printed equation 17 counts {k' = k}, which does not condition on the day); equation 12 needs
p_W on its right-hand side. Cells with fewer than five analysed posts are merged with their
neighbours: within one flag, strata in the order of their names, each taking in the next until five
posts are together; what is left at the end joins the last cell. A flag that is in the population
but has fewer than five analysed posts cannot be merged and is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput, Fault, NotEnoughData
from evenhand.core.records import Finding

SMALLEST = 5
"""Analysed posts a cell needs before it is weighed."""
_FEW = 0.01
_DOMINATE = 0.1


@dataclass(frozen=True)
class Weighed:
    """Weights of the analysed posts and how they came about."""

    table: pl.DataFrame
    """Columns post, stratum, flag, cell, weight; the mean weight is one."""
    cells: pl.DataFrame
    """Columns cell, flag, strata (how many were merged), posts, target, weight."""
    response: pl.DataFrame
    """Columns stratum, drawn, analysed, share."""
    frame: pl.DataFrame
    """What the provider gave, for the variance of p_W(k | d): columns stratum, volume_share,
    flagged (share of the given posts), available, rest_cell and flag_cell (null where none)."""


def effective(weights: np.ndarray) -> float:
    """Kish's effective sample size, (Σw)² / Σw².

    >>> effective(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    return float(weights.sum() ** 2 / (weights**2).sum())


def check_strata(strata: pl.DataFrame, where: str = "strata") -> pl.DataFrame:
    """Strata with columns stratum, flag, volume, available; refuses what cannot be a population.

    ``volume`` is the true number of posts of the stratum (the same for both flags), ``available``
    how many the provider gave with that flag.
    """
    absent = [c for c in ("stratum", "flag", "volume", "available") if c not in strata.columns]
    if absent:
        raise BadInput(f"{where}: no column {', '.join(absent)}")
    table = strata.select(
        pl.col("stratum").cast(pl.String),
        pl.col("flag").cast(pl.Boolean),
        pl.col("volume").cast(pl.Float64),
        pl.col("available").cast(pl.Int64),
    ).sort("stratum", "flag")
    faults = []
    for stratum, volume in table.select("stratum", "volume").unique().sort("stratum").iter_rows():
        if volume is None or not np.isfinite(volume) or volume <= 0:
            faults.append(Fault(where, f"volume of {stratum!r} is {volume}; expected more than 0"))
    twice = table.filter(pl.struct("stratum", "flag").is_duplicated())["stratum"].unique().sort()
    faults += [Fault(where, f"stratum {name!r} stands there twice") for name in twice]
    if faults:
        raise BadInput(*faults[:20], total=len(faults))
    return table


def weigh(draws: pl.DataFrame, analysed: pl.Series, strata: pl.DataFrame) -> Weighed:
    """Weights for the analysed posts of a first-phase sample.

    ``draws`` has columns post, stratum, flag; ``analysed`` the ids of posts that got labels.
    """
    population = check_strata(strata)
    unknown = sorted(set(draws["stratum"]) - set(population["stratum"]))
    if unknown:
        raise BadInput(
            f"{len(unknown)} strata of the sample have no volume: {', '.join(unknown[:20])}; "
            "add them to the volumes file"
        )
    used = draws.filter(pl.col("post").is_in(analysed.implode())).sort("post")
    if not used.height:
        raise NotEnoughData("no post of the sample has a label; weigh after labelling")
    counted = used.group_by("stratum", "flag").agg(pl.len().alias("posts"))
    cells = population.join(counted, on=["stratum", "flag"], how="left").with_columns(
        pl.col("posts").fill_null(0), target=_targets()
    )
    _refuse_unknown_flags(counted, population)
    merged = pl.concat(list(_merged(cells)))
    return _weighed(draws, used, merged, _frame(population, merged))


def _targets() -> pl.Expr:
    """The share of a cell in the population: p_W(k | d) p_W(d)."""
    given = pl.col("available").sum().over("stratum")
    per_day = pl.col("volume").first().over("stratum")
    days = per_day / pl.len().over("stratum")
    return pl.col("available") / given * per_day / days.sum()


def _refuse_unknown_flags(counted: pl.DataFrame, population: pl.DataFrame) -> None:
    lost = counted.join(population, on=["stratum", "flag"], how="anti")
    empty = counted.join(
        population.filter(pl.col("available") == 0), on=["stratum", "flag"], how="semi"
    )
    wrong = pl.concat([lost, empty]).sort("stratum")
    if wrong.height:
        cells = ", ".join(f"{s} (flag {f})" for s, f, _ in wrong.head(20).iter_rows())
        raise BadInput(f"analysed posts in cells that the population does not have: {cells}")


def _merged(cells: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The cells with a column ``cell``, small ones together with their neighbours."""
    for flag in (False, True):
        part = cells.filter((pl.col("flag") == flag) & (pl.col("target") > 0)).sort("stratum")
        if not part.height:
            continue
        total = int(part["posts"].sum())
        if total < SMALLEST:
            what = "flagged" if flag else "not flagged"
            raise NotEnoughData(
                f"{total} analysed posts are {what}, but "
                f"{100 * float(part['target'].sum()):.1f} % of the population is; at least "
                f"{SMALLEST} are needed. Label more of them, or weigh without the flag."
            )
        yield part.with_columns(cell=pl.Series(_runs(part["posts"].to_list(), flag)))


def _runs(posts: list[int], flag: bool) -> list[str]:
    """The cell of each stratum, in order: a new one whenever the last has enough posts."""
    numbers, current, held = [], 0, 0
    for index, count in enumerate(posts):
        numbers.append(current)
        held += count
        if held >= SMALLEST and sum(posts[index + 1 :]) >= SMALLEST:
            current, held = current + 1, 0
    prefix = "flagged" if flag else "rest"
    return [f"{prefix} {number:04d}" for number in numbers]


def _frame(population: pl.DataFrame, merged: pl.DataFrame) -> pl.DataFrame:
    flagged = pl.col("available").filter(pl.col("flag")).sum()
    strata = population.group_by("stratum").agg(
        volume=pl.col("volume").first(),
        flagged=flagged / pl.col("available").sum(),
        available=pl.col("available").sum(),
    )
    for name, flag in (("rest_cell", False), ("flag_cell", True)):
        cells = merged.filter(pl.col("flag") == flag).select("stratum", pl.col("cell").alias(name))
        strata = strata.join(cells, on="stratum", how="left")
    return (
        strata.sort("stratum")
        .select(
            "stratum",
            pl.col("volume") / pl.col("volume").sum(),
            "flagged",
            "available",
            "rest_cell",
            "flag_cell",
        )
        .rename({"volume": "volume_share"})
    )


def _weighed(
    draws: pl.DataFrame, used: pl.DataFrame, merged: pl.DataFrame, frame: pl.DataFrame
) -> Weighed:
    cells = (
        merged.group_by("cell")
        .agg(
            pl.col("flag").first(),
            strata=pl.len(),
            posts=pl.col("posts").sum(),
            target=pl.col("target").sum(),
        )
        .sort("cell")
        .with_columns(weight=pl.col("target") * used.height / pl.col("posts"))
    )
    places = merged.select("stratum", "flag", "cell").join(
        cells.select("cell", "weight"), on="cell"
    )
    table = used.select("post", "stratum", "flag").join(places, on=["stratum", "flag"]).sort("post")
    response = (
        draws.group_by("stratum")
        .agg(drawn=pl.len(), analysed=pl.col("post").is_in(used["post"].implode()).sum())
        .with_columns(share=pl.col("analysed") / pl.col("drawn"))
        .sort("stratum")
    )
    return Weighed(table, cells, response, frame)


def second_phase(first: pl.DataFrame, draws: pl.DataFrame, analysed: pl.Series) -> pl.DataFrame:
    """Weights of a sample drawn from already weighed posts (experts): post, cell, weight.

    ``first`` has columns post, weight; ``draws`` the second phase's post, stratum, probability.
    A post's weight is its first-phase weight over its second-phase probability, the latter
    corrected within each second-phase stratum for drawn posts that got no label.
    """
    joined = draws.join(first.select("post", first_weight="weight"), on="post", how="left")
    lost = joined.filter(pl.col("first_weight").is_null())["post"].sort().to_list()
    if lost:
        raise BadInput(
            f"{len(lost)} posts of the second phase have no first-phase weight: "
            f"{', '.join(lost[:20])}"
        )
    labelled = pl.col("post").is_in(analysed.implode())
    response = labelled.sum().over("stratum") / pl.len().over("stratum")
    used = joined.with_columns(response=response).filter(labelled)
    if not used.height:
        raise NotEnoughData("no post of the second phase has a label")
    weight = pl.col("first_weight") / (pl.col("probability") * pl.col("response"))
    return used.select("post", cell="stratum", weight=weight / weight.mean()).sort("post")


def weight_findings(weighed: Weighed) -> list[Finding]:
    """Effective size, dominance, response and merging, as findings."""
    weights = weighed.table["weight"].to_numpy()
    n = len(weights)
    heavy = np.sort(weights)[::-1][: max(1, int(np.ceil(_FEW * n)))]
    share = float(heavy.sum() / weights.sum())
    top = weighed.table.sort("weight", "post", descending=[True, False])["post"].head(20)
    drawn = int(weighed.response["drawn"].sum())
    merged = int((weighed.cells["strata"] > 1).sum())
    findings = [
        Finding(
            measure="n_effective",
            value=effective(weights),
            n=n,
            method="(Σw)² / Σw²",
            unit="posts",
            weighted=True,
        ),
        Finding(
            measure="heaviest_weight_share",
            value=share,
            n=n,
            method=f"weight carried by the heaviest {100 * _FEW:.0f} % of posts",
            unit="posts",
            weighted=True,
            why="warning: a few posts dominate the weights" if share > _DOMINATE else None,
            cases=tuple(top) if share > _DOMINATE else (),
        ),
        Finding(measure="merged_cells", value=merged, n=weighed.cells.height, unit="cells"),
    ]
    overall = Finding(
        measure="response_share", value=n / drawn, n=drawn, method="analysed / drawn", unit="posts"
    )
    lowest = weighed.response.sort("share", "stratum").row(0, named=True)
    return [
        *findings,
        overall,
        Finding(
            measure="response_share",
            value=lowest["share"],
            n=lowest["drawn"],
            group={"stratum": lowest["stratum"], "which": "lowest"},
            method="analysed / drawn",
            unit="posts",
        ),
    ]
