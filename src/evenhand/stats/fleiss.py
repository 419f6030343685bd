"""Fleiss's kappa and its relatives, for any number of votes per post.

With a votes for a class among the n ≥ 2 on a post, r = a(a − 1)/(n(n − 1)) is the share of pairs
of votes that agree on the class. ``percent_agreement`` P̄ is the mean over posts of Σ r; every post
counts the same however many votes it has. p is the class's share among all votes on those posts.

- ``fleiss_kappa`` = (P̄ − Σp²)/(1 − Σp²), Fleiss 1971; the mean of the kappas of single posts.
- ``kappa_class_paper`` = (r̄ − p²)/(1 − Σp²): what a class contributes (Delisle et al. 2018,
  appendix B.1); the contributions add up to ``fleiss_kappa``.
- ``kappa_class`` = (r̄/p − p)/(1 − p): Fleiss's category kappa; the mean of these weighted by
  p(1 − p) is ``fleiss_kappa``.
- ``randolph_kappa`` = (P̄ − 1/q)/(1 − 1/q) for q classes, used or not (Randolph 2005).

With a fixed number of votes all this is the textbook's. Where n varies, taking p as a mean over
posts, or weighing posts by votes or pairs, changes the third digit. The paper uses posts with more
than two votes; here two are enough. Where all votes are the same answer, agreement by chance is
certain and kappa does not exist.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.stats.ballots import Ballots, Tally, ratio, read_ballots

Floats = NDArray[np.float64]


def percent_agreement(tally: Tally) -> Floats:
    """Mean over posts of the share of pairs of votes that agree."""
    return 1 - _disagreement(tally)


def fleiss_kappa(tally: Tally) -> Floats:
    """Fleiss's kappa, as 1 − observed / chance disagreement."""
    return 1 - ratio(_disagreement(tally), _chance_disagreement(tally))


def kappa_class_paper(tally: Tally) -> Floats:
    """What each class contributes to Fleiss's kappa: resamples × classes."""
    chance = _chance_disagreement(tally)[:, None]
    return ratio(_above_chance(tally), np.where(tally.by_class > 0, chance, 0))


def kappa_class(tally: Tally) -> Floats:
    """Fleiss's category kappa: resamples × classes."""
    others = np.where(tally.several[:, None], 1 - tally.share, 0)
    return ratio(_above_chance(tally), tally.share * others)


def randolph_kappa(tally: Tally) -> Floats:
    """Free-marginal kappa: chance agreement is one over the number of classes."""
    classes = len(tally.ballots.classes.labels)
    return 1 - ratio(_disagreement(tally), np.array(1 - 1 / max(classes, 1)))


def kappa_by_post(
    judgements: pl.DataFrame, question: str, *, exactly: int | None = None
) -> pl.DataFrame:
    """Agreement of each post with two votes or more: post, votes, agreement, kappa; sorted by post.

    Their mean is ``fleiss_kappa``. Kappa is null where all votes on the question are alike.
    """
    ballots = read_ballots(judgements, question, exactly=exactly)
    tally = Tally(ballots, ballots.alike.totals(ballots.alike.count[None])[0])
    disagreement = disagreement_by_kind(ballots)
    kappa = 1 - ratio(disagreement, _chance_disagreement(tally))
    columns = {
        "post": ballots.posts,
        "votes": ballots.size[ballots.kind],
        "agreement": 1 - disagreement[ballots.kind],
        "kappa": kappa[ballots.kind],
    }
    table = pl.DataFrame(columns).with_columns(pl.col("kappa").fill_nan(None))
    return table.filter(pl.col("votes") >= 2).sort("post")


def disagreement_by_kind(ballots: Ballots) -> Floats:
    """Share of pairs of votes that disagree, by kind of post; 0 where there is no pair."""
    counts, size = ballots.counts, ballots.size
    apart: Floats = (size**2 - (counts * counts).sum(axis=1)) / np.maximum(size * (size - 1), 1)
    return apart


def _disagreement(tally: Tally) -> Floats:
    return tally.mean(disagreement_by_kind(tally.ballots))


def _chance_disagreement(tally: Tally) -> Floats:
    """1 − Σp², as a sum of products: never a difference of near-equals."""
    before = np.cumsum(tally.share, axis=1) - tally.share
    chance: Floats = 2 * (tally.share * before).sum(axis=1)
    return chance


def _above_chance(tally: Tally) -> Floats:
    """r̄ − p², by class."""
    counts, size = tally.ballots.counts, tally.ballots.size
    pairs = np.maximum(size * (size - 1), 1)
    return tally.mean((counts * counts - counts) * (1 / pairs[:, None])) - tally.share**2
