"""Small tables of judgements in one line."""

from __future__ import annotations

import numpy as np
import polars as pl

from evenhand.core.tables import judgements_table
from evenhand.stats.agreement import agreement

COLUMNS = {"post": pl.String, "annotator": pl.String, "answer": pl.List(pl.String)}


def judgements(rows, question="q", **columns):
    """Judgements from (post, annotator, answer); an answer is a label or a list of labels."""
    rows = [(p, a, [x] if isinstance(x, str) else list(x)) for p, a, x in rows]
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return judgements_table(frame.with_columns(question=pl.lit(question), **columns))


def by_post(*posts):
    """Judgements from the answers to each post: ``by_post("yy", "yn")``, or lists of answers."""
    return judgements(
        (f"p{number:04}", f"a{place}", answer)
        for number, answers in enumerate(posts)
        for place, answer in enumerate(answers)
        if answer is not None
    )


def from_counts(counts):
    """Judgements from a table of counts, posts × classes; the classes are 0, 1, 2 …"""
    return by_post(
        *([str(c) for c, many in enumerate(row) for _ in range(many)] for row in np.asarray(counts))
    )


def values(table, *, resamples=0, weighted=False, **options):
    """Measure (and label or option) → value."""
    findings = agreement(table, question="q", resamples=resamples, **options)
    return {
        " ".join([f.measure, *(str(part) for part in f.group.values())]): f.value
        for f in findings
        if f.weighted == weighted
    }


def random_ratings(seed, posts=40, people=6, classes=4, missing=0.3):
    """Ratings people × posts of raters who partly agree; NaN where one did not judge."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=posts)
    noise = rng.integers(classes, size=(people, posts))
    ratings = np.where(rng.random((people, posts)) < 0.5, truth, noise).astype(float)
    ratings[rng.random((people, posts)) < missing] = np.nan
    return ratings


def from_ratings(ratings):
    """Judgements from ratings, people × posts."""
    return by_post(*([None if np.isnan(x) else f"{x:g}" for x in post] for post in ratings.T))
