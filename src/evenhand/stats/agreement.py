"""How far people agree: every measure of a question, with intervals over posts.

Votes come down to kinds of posts (:mod:`evenhand.stats.ballots`), the measures are functions of
how often each kind counts (:mod:`~evenhand.stats.fleiss`, :mod:`~evenhand.stats.gwet`,
:mod:`~evenhand.stats.krippendorff`, :mod:`~evenhand.stats.icc`,
:mod:`~evenhand.stats.icc_crossed`), and one set of resamples gives the intervals of all of them.

Intervals resample posts: they speak for other posts judged by people like these, not for other
people. Kappa and ICC depend on how common each class is; with ``weights`` every figure has a
weighted twin, as of the population the weights stand for. A figure that does not exist (no post
with two votes, one class only, annotators not crossed) is null and says why.

>>> from evenhand.core.tables import judgements_table
>>> rows = [("a", "x", "yes"), ("a", "y", "yes"), ("b", "x", "no"), ("b", "y", "yes")]
>>> votes = judgements_table(pl.DataFrame(
...     [{"post": p, "annotator": a, "question": "q", "answer": [l]} for p, a, l in rows]))
>>> {f.measure: f.value for f in agreement(votes, question="q")}["percent_agreement"]
0.5
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.stats.alike import percentiles, resampled
from evenhand.stats.answers import Scale
from evenhand.stats.ballots import Ballots, read_ballots
from evenhand.stats.intervals import LEVEL, RESAMPLES
from evenhand.stats.panels import Figure, Panel, panels
from evenhand.stats.vote_counts import read_counts

_Interval = tuple[float, float] | None


@dataclass(frozen=True)
class _Bootstrap:
    seed: int
    resamples: int
    level: float

    def __post_init__(self) -> None:
        if not 0 < self.level < 1 or self.resamples < 0:
            raise BadInput(
                f"level is {self.level} and resamples {self.resamples};"
                " expected 0 < level < 1 and no fewer than 0 resamples"
            )


def agreement(
    judgements: pl.DataFrame,
    *,
    question: str,
    scale: Scale = "nominal",
    order: Sequence[str] | None = None,
    weights: pl.DataFrame | None = None,
    exactly: int | None = None,
    group: Mapping[str, str | int] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Finding]:
    """Every measure of agreement on ``question``, from a checked table of judgements.

    ``order`` lists the labels of the questionnaire, from least to most on an ordinal scale;
    ``weights`` has columns post, weight; ``exactly`` keeps posts with that many votes; ``group`` is
    added to the group of every finding; ``resamples=0`` leaves the intervals out.
    """
    ballots = read_ballots(
        judgements, question, scale=scale, order=order, exactly=exactly, weights=weights
    )
    bootstrap = _Bootstrap(seed, resamples, level)
    nothing = _nothing(ballots, f"nobody answered {question!r}", exactly)
    return _all(ballots, scale, bootstrap, nothing, group or {})


def agreement_of_counts(
    counts: pl.DataFrame,
    *,
    scale: Scale = "nominal",
    order: Sequence[str] | None = None,
    weights: pl.DataFrame | None = None,
    exactly: int | None = None,
    group: Mapping[str, str | int] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Finding]:
    """The same where only counts are known: a column of votes per label and, if known, post.

    Results are those of the judgements to the last bit; nobody is known, so two-way correlations
    are null.
    """
    ballots = read_counts(counts, scale=scale, order=order, exactly=exactly, weights=weights)
    bootstrap = _Bootstrap(seed, resamples, level)
    nothing = _nothing(ballots, "there is not one vote", exactly)
    return _all(ballots, scale, bootstrap, nothing, group or {})


def _all(
    ballots: Ballots,
    scale: Scale,
    bootstrap: _Bootstrap,
    nothing: str | None,
    group: Mapping[str, str | int],
) -> list[Finding]:
    findings = _counts(ballots)
    for panel in panels(ballots, scale, nothing):
        findings += _findings(panel, bootstrap)
    if not group:
        return findings
    return [replace(found, group={**group, **found.group}) for found in findings]


def _nothing(ballots: Ballots, nobody: str, exactly: int | None) -> str | None:
    """Why no measure exists at all, or None."""
    if not len(ballots.kind):
        return f"no post has exactly {exactly} votes" if ballots.left_out else nobody
    return None if ballots.paired else "no post has two votes"


def _counts(ballots: Ballots) -> list[Finding]:
    votes, posts, paired = ballots.total, len(ballots.kind), ballots.paired
    left_out = posts - paired + ballots.left_out
    return [
        Finding(measure="votes", value=votes, n=votes, unit="votes"),
        Finding(measure="repeated_votes", value=ballots.repeated, n=votes + ballots.repeated),
        Finding(measure="posts_judged", value=paired, n=paired, unit="posts"),
        Finding(measure="posts_left_out", value=left_out, n=paired + left_out, unit="posts"),
    ]


def _findings(panel: Panel, bootstrap: _Bootstrap) -> list[Finding]:
    """The panel's figures, unweighted and, where posts have weights, weighted too."""
    twins = (False,) if panel.n_effective is None else (False, True)
    if panel.nothing:
        return [_finding(panel, figure, twin) for twin in twins for figure in panel.figures]
    totals = panel.posts.totals(panel.posts.count[None])
    blocks = [
        [panel.values(many) for many in both[: len(twins)]]
        for both in resampled(panel.posts, stream(bootstrap.seed, "agreement"), bootstrap.resamples)
    ]
    found = []
    for twin in twins:
        values = panel.values(totals[twin])[0].tolist()
        samples = np.concatenate([block[twin] for block in blocks]) if blocks else None
        intervals = _intervals(samples, len(values), bootstrap.level)
        for figure, value, interval in zip(panel.figures, values, intervals, strict=True):
            sized = figure.sized(totals[twin])
            found.append(_finding(panel, sized, twin, value, interval, bootstrap))
    return sorted(found, key=lambda finding: _place(panel, finding))


def _intervals(samples: Any, figures: int, level: float) -> list[_Interval]:
    return [None] * figures if samples is None else percentiles(samples, level)


def _finding(
    panel: Panel,
    figure: Figure,
    weighted: bool,
    value: float = float("nan"),
    interval: _Interval = None,
    bootstrap: _Bootstrap | None = None,
) -> Finding:
    exists = math.isfinite(value)
    method, why = figure.method, None
    if not exists:
        why = panel.nothing or figure.why
    elif interval and bootstrap:
        method += f"; percentile bootstrap over posts, {bootstrap.resamples:,} resamples"
    elif bootstrap and bootstrap.resamples:
        why = "no interval: the figure does not exist in more than one resample of twenty"
    else:
        why = "no interval: no resamples were asked for"
    low, high = interval if exists and interval else (None, None)
    return Finding(
        measure=figure.measure,
        value=value if exists else None,
        n=panel.n,
        group=figure.group,
        low=low,
        high=high,
        level=bootstrap.level if bootstrap and low is not None else None,
        method=method,
        unit="posts",
        weighted=weighted,
        n_effective=panel.n_effective if weighted else None,
        why=why,
        cases=figure.cases,
    )


def _place(panel: Panel, finding: Finding) -> tuple[bool, int, str]:
    """Unweighted first, measures in their order, labels by name."""
    names = list(dict.fromkeys(figure.measure for figure in panel.figures))
    label = "".join(str(part) for part in finding.group.values())
    return finding.weighted, names.index(finding.measure), label
