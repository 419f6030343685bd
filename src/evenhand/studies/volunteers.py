"""Simulated volunteers and experts: people who differ in leniency and diligence.

Every post has a hidden severity; an annotator compares it with two thresholds of their own and
answers No, Problematic or Abusive. Lenient people have higher thresholds; careless ones answer at
random now and then. Votes and seconds are made up, and everything made from them says simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from evenhand.core.streams import stream
from evenhand.core.tables import judgements_table

QUESTION = "abuse"
ANSWERS = ("No", "Problematic", "Abusive")
HATEFUL = ("Problematic", "Abusive")
_THRESHOLDS = (1.0, 2.2)


@dataclass(frozen=True, kw_only=True)
class Cohort:
    """How many people, and how far they differ."""

    name: str
    people: int
    leniency: float
    """Standard deviation of a person's shift of the thresholds."""
    noise: float
    """Standard deviation of a single answer around a person's view."""
    carelessness: float
    """Mean share of answers given at random."""
    seconds: float
    """Median time for an answer."""


VOLUNTEERS = Cohort(
    name="volunteers", people=120, leniency=0.35, noise=0.6, carelessness=0.05, seconds=9.0
)
EXPERTS = Cohort(name="experts", people=3, leniency=0.1, noise=0.3, carelessness=0.0, seconds=20.0)


def severity(abusive: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A hidden severity: mostly below the first threshold for mild posts, above it for abusive."""
    drawn: np.ndarray = np.where(abusive, 2.0, -0.6) + 0.7 * rng.normal(size=len(abusive))
    return drawn


def vote(
    posts: pl.Series, hidden: np.ndarray, cohort: Cohort, *, votes: int, seed: int
) -> pl.DataFrame:
    """Judgements of the cohort: ``votes`` different people on every post."""
    rng = stream(seed, "votes", cohort.name)
    shift = rng.normal(0, cohort.leniency, size=cohort.people)
    careless = rng.beta(1, 1 / max(cohort.carelessness, 1e-9) - 1, size=cohort.people)
    if cohort.carelessness == 0:
        careless[:] = 0
    # The first columns of a random order of people per post: nobody votes twice.
    order = np.argsort(rng.random((len(posts), cohort.people)), axis=1)[:, :votes]
    seen = hidden[:, None] + cohort.noise * rng.normal(size=order.shape) - shift[order]
    answer = np.searchsorted(np.array(_THRESHOLDS), seen.ravel()).reshape(order.shape)
    random = rng.integers(len(ANSWERS), size=order.shape)
    answer = np.where(rng.random(order.shape) < careless[order], random, answer)
    seconds = cohort.seconds * np.exp(0.5 * rng.normal(size=order.shape))
    return judgements_table(
        pl.DataFrame(
            {
                "post": np.repeat(posts.to_numpy(), order.shape[1]),
                "annotator": [f"{cohort.name} {person:03d}" for person in order.ravel()],
                "cohort": cohort.name,
                "question": QUESTION,
                "answer": [[ANSWERS[code]] for code in answer.ravel()],
                "seconds": seconds.ravel().round(1),
            }
        ),
        {QUESTION: ANSWERS},
    )


def true_share(
    hidden: np.ndarray, cohort: Cohort, *, seed: int, label: tuple[str, ...] = HATEFUL
) -> float:
    """The share of such votes if people like the cohort had judged everything."""
    rng = stream(seed, "truth", cohort.name)
    many = rng.normal(0, np.hypot(cohort.leniency, cohort.noise), size=(400, 1))
    answer = np.searchsorted(np.array(_THRESHOLDS), (hidden[None] - many).ravel())
    wanted = np.isin(np.array(ANSWERS)[answer], label).mean()
    return float((1 - cohort.carelessness) * wanted + cohort.carelessness * len(label) / 3)
