"""Flips: how often another identity term in the same sentence changes the decision.

Two sentences are a pair when they differ in the term alone: the same frame, terms of the same row
and of different groups. The *identity flip rate* is the share of pairs with different decisions, at
one threshold. Intervals resample clusters (templates), because sentences of one template are alike.

A low rate is not a virtue by itself: a detector that decides the same of every sentence never
flips, so the rate stands beside AUC, and the finding of such a detector says so. Without any pair
there is no rate.

>>> sentences = pl.DataFrame(
...     {
...         "post": ["m", "w"],
...         "template": ["t", "t"],
...         "frame": ["t/kind", "t/kind"],
...         "pair": ["man/woman", "man/woman"],
...         "group": ["male", "female"],
...         "label": ["neutral", "neutral"],
...         "flagged": [False, True],
...         "score": [0.2, 0.9],
...     }
... )
>>> overall, neutral = identity_flip_rate(sentences, unit="templates", seed=0)
>>> overall.value, overall.n, overall.cases
(1.0, 1, ['w', 'm'])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from evenhand.core.records import Finding
from evenhand.stats.intervals import RESAMPLES
from evenhand.stats.ratios import Clusters, Ratio, ratio_finding

MOST_PAIRS = 20
"""How many flipped pairs a finding lists."""
_NOT_THE_TERM = ("template", "frame", "pair", "label")
_SAME = 1e-12
"""Differences of scores this close are equal: the last bits must not choose the cases."""


def identity_flip_rate(
    sentences: pl.DataFrame,
    *,
    unit: str,
    seed: int,
    group: Mapping[str, str | int] | None = None,
    resamples: int = RESAMPLES,
) -> list[Finding]:
    """The share of pairs that get different decisions, overall and by label.

    The cases are the ids of flipped pairs, two by two, the flagged sentence first; those whose
    scores are farthest apart come first, at most twenty pairs.

    Args:
        sentences: Columns post, template (what is resampled), frame, pair (the row of the term),
            group, label, flagged and score.
        unit: What a cluster is ("templates").
        seed: Of resamples.
        group: Added to every finding; those of a label have it as ``label``.
        resamples: How many.
    """
    own = dict(group or {})
    pairs = _pairs(sentences)
    parts = [(sentences, pairs, own)]
    for label in sentences["label"].unique().sort():
        inside = pl.col("label") == label
        parts.append((sentences.filter(inside), pairs.filter(inside), {**own, "label": label}))
    return [_rate(*part, unit=unit, seed=seed, resamples=resamples) for part in parts]


def _pairs(sentences: pl.DataFrame) -> pl.DataFrame:
    """Every pair once: columns template, label, first, second (ids), flipped, apart (scores)."""
    mine = sentences.select(*_NOT_THE_TERM, "post", "group", "flagged", "score")
    both = mine.join(mine, on=_NOT_THE_TERM, suffix="_other")
    both = both.filter(pl.col("group") < pl.col("group_other"))
    turned = pl.col("flagged_other") & ~pl.col("flagged")
    return both.select(
        "template",
        "label",
        first=pl.when(turned).then("post_other").otherwise("post"),
        second=pl.when(turned).then("post").otherwise("post_other"),
        flipped=pl.col("flagged") != pl.col("flagged_other"),
        apart=(pl.col("score") - pl.col("score_other")).abs(),
    )


def _rate(
    sentences: pl.DataFrame,
    pairs: pl.DataFrame,
    group: Mapping[str, str | int],
    *,
    unit: str,
    seed: int,
    resamples: int,
) -> Finding:
    if not pairs.height:
        return Finding(
            measure="identity_flip_rate",
            value=None,
            n=0,
            group=group,
            unit=unit,
            why="no two sentences differ in the identity term alone",
        )
    flipped = pairs["flipped"].to_numpy()
    found = ratio_finding(
        "identity_flip_rate",
        Ratio.share(flipped, [True] * pairs.height),
        Clusters.of(pairs["template"].to_list(), seed=seed, resamples=resamples, outcome=flipped),
        unit=unit,
        group=group,
        how="share of pairs that differ in the identity term alone and get different decisions",
        cases=_worst(pairs),
    )
    if sentences["flagged"].n_unique() > 1:
        return found
    return replace(found, why="every sentence gets the same decision, so that none can flip")


def _worst(pairs: pl.DataFrame) -> list[str]:
    apart = (pl.col("apart") / _SAME).round()
    flipped = pairs.filter("flipped").sort(
        apart, "first", "second", descending=[True, False, False]
    )
    ids = flipped.head(MOST_PAIRS).select(pl.concat_list("first", "second").explode())
    return ids.to_series().to_list()
