"""One way to score posts, whatever the detector: it reads texts, or it knows posts by id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl

from evenhand.core.tables import scores_table
from evenhand.models.protocol import Detector


@runtime_checkable
class KnowsPosts(Protocol):
    """A detector that has scores for posts it knows by id, and cannot score a new text."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """What it has scores of."""

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Where it comes from, as JSON."""

    @property
    def classes_only(self) -> bool:
        """Whether p is only ever 0 or 1, so that there is no ranking to judge."""

    def scores_for(self, posts: pl.DataFrame, *, subset: bool = False) -> pl.DataFrame:
        """The scores of these posts; with ``subset`` other known posts are left out in silence."""


def score_posts(
    detector: Detector | KnowsPosts, posts: pl.DataFrame, *, subset: bool = False
) -> pl.DataFrame:
    """Scores of posts as a checked table: a row per post and attribute, in the posts' order.

    A file of predictions must cover exactly these posts; with ``subset`` it may cover more.
    """
    if isinstance(detector, KnowsPosts):
        return detector.scores_for(posts, subset=subset)
    p = detector.score(posts["text"].to_list())
    many = len(detector.attributes)
    return scores_table(
        pl.DataFrame(
            {
                "post": posts["id"].gather(np.repeat(np.arange(posts.height), many)),
                "detector": pl.repeat(detector.name, p.size, eager=True),
                "attribute": pl.Series(list(detector.attributes) * posts.height, dtype=pl.String),
                "p": p.ravel(),
            }
        ),
        where=f"scores of {detector.name}",
    )


def classes_only(detector: object) -> bool:
    """Whether a detector gives classes without a score: average precision does not exist."""
    return bool(getattr(detector, "classes_only", False))
