"""Prediction-powered estimates: scores on everything, labels on a sample.

A saved detector that has seen a labelled post is refused; a recipe is cross-fitted: each labelled
post is scored by a detector fitted on the other folds, everything else by the mean of all folds'
detectors. Files of predictions and Python functions do not say what they were trained on, and the
finding says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from evenhand.core.errors import LeakFound, NotEnoughData
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.data.corpus import Corpus
from evenhand.models.find import detector
from evenhand.models.seen import trained_on
from evenhand.stats.intervals import LEVEL
from evenhand.stats.population import HATEFUL, Sample
from evenhand.stats.prediction_powered import Flags, prediction_powered
from evenhand.stats.votes import vote_shares
from evenhand.studies.filters import fitted, is_recipe, scores_of
from evenhand.studies.samples import first_answers, strata_of

FOLDS = 5


@dataclass(frozen=True)
class Power:
    """A detector and the posts the sample was drawn from."""

    detector: str
    frame: Corpus
    stratum: str


def powered(corpus: Corpus, sample: Sample, power: Power, *, seed: int) -> list[Finding]:
    """`population_share_powered` with its λ, and how its width compares."""
    if corpus.strata is None:
        raise NotEnoughData(f"{corpus.name}: no strata; `evenhand sample` makes them")
    mine, everything, note = _scores(corpus, sample, power, seed)
    volumes = corpus.strata.unique("stratum").sort("stratum").select("stratum", "volume")
    place = pl.DataFrame({"stratum": strata_of(power.frame, power.stratum)}).join(
        volumes.with_row_index("place"), on="stratum", how="left", maintain_order="left"
    )["place"]
    if place.null_count():
        raise NotEnoughData(f"{place.null_count()} posts of the frame are in no known stratum")
    weights = sample.posts["weight"].to_numpy()
    truth = sample.shares[:, list(sample.labels).index(HATEFUL)]
    cells = sample.codes("cell")
    powered_by = partial(
        prediction_powered,
        truth,
        mine,
        weights,
        cells,
        all_scores=everything,
        all_strata=place.to_numpy().astype(np.int64),
        volumes=volumes["volume"].to_numpy(),
        flags=_flags(sample, volumes["stratum"]),
    )
    found, plain = powered_by(), powered_by(lam=0.0)
    group = {"detector": power.detector}
    return [
        Finding(
            measure="population_share_powered",
            value=found.value,
            low=found.low,
            high=found.high,
            level=LEVEL,
            method=f"prediction-powered, λ = {found.lam:.2f}, {len(everything):,} scored posts; "
            "linearised variance of both samples",
            n=len(truth),
            group=group,
            weighted=True,
            unit="posts",
            why=note,
        ),
        Finding(
            measure="powered_width_ratio",
            value=found.error / plain.error if plain.error > 0 else None,
            method="standard error with the scores, over without them (λ = 0)",
            n=len(truth),
            group=group,
            weighted=True,
            unit="posts",
            why=None if plain.error > 0 else "the interval has no width",
        ),
    ]


def _flags(sample: Sample, strata: pl.Series) -> Flags | None:
    """The flagged shares behind the weights, in the order of the strata."""
    if sample.frame is None:
        return None
    names = sample.posts["cell"].unique().sort()
    code = {name: number for number, name in enumerate(names)}
    table = pl.DataFrame({"stratum": strata}).join(
        sample.frame, on="stratum", how="left", maintain_order="left"
    )

    def cells(column: str) -> np.ndarray:
        return np.array([code.get(name, -1) for name in table[column]], dtype=np.int64)

    return Flags(table["flagged"].to_numpy(), cells("flag_cell"), cells("rest_cell"))


def _scores(
    corpus: Corpus, sample: Sample, power: Power, seed: int
) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Scores of the labelled posts, of everything, and what is not known about them."""
    posts = sample.posts.select(id="post").join(corpus.posts, on="id", maintain_order="left")
    if is_recipe(power.detector):
        return (*_cross_fitted(corpus, posts, power, seed), None)
    found = detector(power.detector)
    seen = trained_on(found, posts)
    if seen:
        raise LeakFound(
            f"{power.detector} was trained on {len(seen)} of the {posts.height} labelled posts: "
            f"{', '.join(sorted(seen)[:20])}. Name a recipe to cross-fit it, or train elsewhere."
        )
    note = None if seen is not None else "what the detector was trained on is not known"
    return (
        scores_of(found, posts).to_numpy(),
        scores_of(found, power.frame.posts).to_numpy(),
        note,
    )


def _cross_fitted(
    corpus: Corpus, posts: pl.DataFrame, power: Power, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    gold = vote_shares(first_answers(corpus))
    fold = stream(seed, "cross-fit").permutation(posts.height) % FOLDS
    mine = np.empty(posts.height)
    everything = np.zeros(power.frame.posts.height)
    for held in range(FOLDS):
        rest = posts.filter(pl.Series(fold != held))
        part = Corpus(
            name=corpus.name,
            rows=rest.height,
            posts=rest,
            gold=gold,
            hateful=corpus.hateful,
            question=corpus.question,
        )
        found = fitted(power.detector, part, seed=seed)
        mine[fold == held] = scores_of(found, posts.filter(pl.Series(fold == held))).to_numpy()
        everything += scores_of(found, power.frame.posts).to_numpy() / FOLDS
    return mine, everything
