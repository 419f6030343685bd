"""One way to score posts, whatever the detector: it reads texts, or it knows posts by id.

:func:`score_posts` wants a score of every attribute for every post. :func:`score_attribute` wants
one attribute and lets a detector of other people's making fail on some texts: a batch on which it
raises is asked for again in halves until the failing texts are known, and these have no score but a
reason. A detector that fails on most texts is refused as a whole, and so is one that answers with
something that is no probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.tables import scores_table
from evenhand.models._halving import halved
from evenhand.models._refusals import Refused
from evenhand.models.protocol import Detector, Trained
from evenhand.models.watching import Step


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

    @property
    def known(self) -> pl.Series:
        """The ids of the posts it has scores for."""

    def scores_for(self, posts: pl.DataFrame, *, subset: bool = False) -> pl.DataFrame:
        """The scores of these posts; with ``subset`` other known posts are left out in silence."""


@runtime_checkable
class AnswersEach(Protocol):
    """A detector of one attribute that says of each text whether it can score it."""

    def answers(self, texts: Sequence[str], step: Step | None = None) -> list[float | Refused]:
        """A score or a refusal for each text."""


@dataclass(frozen=True, eq=False)
class Scored:
    """What a detector says of posts, for one attribute."""

    table: pl.DataFrame
    """Columns post, p, in the posts' order; p is null where the detector failed."""
    failed: Mapping[str, str]
    """Why there is no score, by post; never with the text."""
    attribute: str
    classes_only: bool
    """Whether p is only ever 0 or 1, so that there is no ranking to judge."""


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


def score_attribute(
    detector: Detector | KnowsPosts,
    posts: pl.DataFrame,
    *,
    attribute: str | None = None,
    subset: bool = False,
    step: Step | None = None,
) -> Scored:
    """Scores of posts for one attribute, by default the detector's first.

    A file of predictions must cover exactly these posts; with ``subset`` it may cover more.
    """
    wanted = attribute or detector.attributes[0]
    if wanted not in detector.attributes:
        raise BadInput(
            f"{detector.name} has no attribute {wanted!r}; found {', '.join(detector.attributes)}"
        )
    if isinstance(detector, KnowsPosts | Trained):
        table = score_posts(detector, posts, subset=subset)
        table = table.filter(pl.col("attribute") == wanted).select("post", "p")
        return Scored(table, {}, wanted, classes_only(detector))
    texts = posts["text"].to_list()
    if isinstance(detector, AnswersEach):
        answers = detector.answers(texts, step)
    else:
        answers = halved(detector, wanted, posts["id"].to_list(), texts, step)
    p = [None if isinstance(answer, Refused) else answer for answer in answers]
    pairs = zip(posts["id"], answers, strict=True)
    return Scored(
        pl.DataFrame({"post": posts["id"], "p": pl.Series(p, dtype=pl.Float64)}),
        {post: answer.reason for post, answer in pairs if isinstance(answer, Refused)},
        wanted,
        classes_only(detector),
    )


def classes_only(detector: object) -> bool:
    """Whether a detector gives classes without a score: average precision does not exist."""
    return bool(getattr(detector, "classes_only", False))
