"""The demo's campaign: a provider's sample, a filter, a draw, simulated people, a second phase."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.provenance import Run
from evenhand.core.streams import stream
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.studies.filters import fitted, scores_of
from evenhand.studies.population import Population, make_population
from evenhand.studies.samples import draw_again, draw_sample
from evenhand.studies.volunteers import (
    EXPERTS,
    HATEFUL,
    QUESTION,
    VOLUNTEERS,
    severity,
    true_share,
    vote,
)

FILTER = "naive-bayes"
_VOTES = 3
_CUT = 0.5
_UNANSWERED = 0.05


@dataclass(frozen=True)
class Campaign:
    """What the demo's campaign brought, and what is known because it was made up."""

    frame: Corpus
    """What the provider gave: at most so many posts a day."""
    labelled: Corpus
    """The drawn posts with draws, strata and the judgements of volunteers and experts."""
    truth: float
    """The share of hateful votes if people like the volunteers had judged everything."""
    detector: Any
    """The filter that flagged posts, trained on another made-up population."""


def run_campaign(run: Run, population: Population) -> Campaign:
    """Draw, flag, enrich, have people vote, draw again for experts."""
    seed = run.seed
    world = population.corpus
    hidden = severity(_abusive(world), stream(seed, "severity"))
    frame = _provided(world, seed)
    posts = frame.posts.height
    scratch = Run(run.command, seed)
    found = _filter(seed, posts)
    drawn = draw_sample(
        scratch,
        frame,
        stratum="day",
        volumes=_volumes(world),
        target=max(60, posts // 9),
        enrich=max(20, posts // 36),
        flags=scores_of(found, frame.posts) >= _CUT,
    )
    sample = replace(
        frame,
        rows=drawn.tables["posts"].height,
        posts=drawn.tables["posts"],
        draws=drawn.tables["draws"],
        strata=drawn.tables["strata"],
        question=QUESTION,
        hateful=HATEFUL,
    )
    answered = stream(seed, "answered").random(sample.posts.height) > _UNANSWERED
    ids = sample.posts["id"].filter(pl.Series(answered))
    place = dict(zip(world.posts["id"], range(world.posts.height), strict=True))

    def seen(posts: pl.Series) -> np.ndarray:
        return hidden[[place[post] for post in posts]]

    crowd = vote(ids, seen(ids), VOLUNTEERS, votes=_VOTES, seed=seed)
    sample = replace(sample, judgements=crowd)
    size = max(10, ids.len() // 10)
    second = draw_again(scratch, sample, sizes={"flagged": size, "rest": size}, votes=_VOTES)
    draws = second.tables["draws"]
    chosen = draws.filter(pl.col("phase") == 2)["post"]
    experts = vote(chosen, seen(chosen), EXPERTS, votes=EXPERTS.people, seed=seed)
    labelled = replace(sample, draws=draws, judgements=pl.concat([crowd, experts]))
    return Campaign(frame, labelled, true_share(hidden, VOLUNTEERS, seed=seed), found)


def _abusive(world: Corpus) -> np.ndarray:
    gold = world.main_gold()
    if gold is None:
        raise AssertionError("the made-up population has labels")
    table = world.posts.select(post="id").join(gold, on="post", maintain_order="left")
    return (table["label"] == "abusive").to_numpy()


def _volumes(world: Corpus) -> dict[str, float]:
    days = world.posts.select(tag("day", world.posts)).to_series()
    return {day: float(n) for day, n in days.value_counts().iter_rows()}


def _provided(world: Corpus, seed: int) -> Corpus:
    """At most so many posts of each day, at random: what a provider with a cap gives."""
    cap = max(2, round(0.73 * world.posts.height / 365))
    key = pl.Series(stream(seed, "provider").random(world.posts.height))
    day = tag("day", world.posts)
    ranked = world.posts.select("id", day=day).with_columns(key=key)
    ranked = ranked.filter(pl.col("key").rank("ordinal").over("day") <= cap)
    kept = world.posts.filter(pl.col("id").is_in(ranked["id"].implode()))
    return replace(world, posts=kept, rows=kept.height, gold=None)


def _filter(seed: int, posts: int) -> Any:
    """A filter fitted on another made-up population."""
    elsewhere = make_population(max(1000, posts // 5), seed + 1).corpus
    return fitted(FILTER, replace(elsewhere, posts=_renamed(elsewhere.posts)), seed=seed)


def _renamed(posts: pl.DataFrame) -> pl.DataFrame:
    """Another source, so that its ids are not taken for those of the demo's posts."""
    return posts.with_columns(source=pl.lit("elsewhere"))
