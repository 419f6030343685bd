"""What a detector said of the cases of a suite.

A case is flagged when its score is at least the threshold. A case the detector failed on (it
raised, or refused the text) counts as answered wrongly, whatever its gold, and is listed; it has no
score and is left out of rankings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from evenhand.core.errors import BadInput

HALF = 0.5
"""The threshold where nobody names another."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Cases with what the detector said."""

    table: pl.DataFrame
    """The cases' columns, ``p`` (null where it failed), ``flagged`` and ``right``."""
    threshold: float
    failed: Mapping[str, str] = field(default_factory=dict)
    """Case → why it has no score."""


def answered(
    cases: pl.DataFrame,
    scores: pl.DataFrame,
    *,
    threshold: float = HALF,
    failed: Mapping[str, str] | None = None,
) -> Answers:
    """Join scores (columns post, p; p null where the detector failed) to the cases."""
    if not 0 <= threshold <= 1:
        raise BadInput(f"threshold {threshold}; expected a number between 0 and 1")
    p = scores.select(id="post", p=pl.col("p").cast(pl.Float64))
    table = cases.join(p, on="id", how="left", maintain_order="left")
    said = pl.col("p") >= threshold
    flagged = pl.when(pl.col("p").is_null()).then(~pl.col("hateful")).otherwise(said)
    table = table.with_columns(flagged=flagged)
    right = pl.col("flagged") == pl.col("hateful")
    return Answers(
        table=table.with_columns(right=right), threshold=threshold, failed=dict(failed or {})
    )
