"""Detectors, files of scores and the crowd itself against people: table 2 and figure 4 of Delisle.

The crowd's label is the majority of exactly three votes, hateful against the rest, so that there
are no ties; the experts' the majority of theirs. Each detector is measured against both, weighted
to the population where the corpus has draws; the crowd is also a classifier, its score the share of
hateful votes, measured against the experts. F1* is the best F1 over thresholds on the rows it is
reported on (optimistic, and re-optimised in every resample); beside it stands F1 at a threshold
chosen on a dev half of the posts and applied to the other half. A detector that has seen a judged
post is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput, LeakFound, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.data.corpus import Corpus
from evenhand.data.find import used
from evenhand.models.scoring import classes_only, score_posts
from evenhand.models.seen import trained_on
from evenhand.reports import Figure, Line, Section, lines
from evenhand.stats.detection import detection, f1_best, pr_curve, roc_curve
from evenhand.stats.weights import second_phase
from evenhand.studies.parts import Parts
from evenhand.studies.samples import first_answers, weights_of

CROWD = "the crowd"
_VOTES = 3


@dataclass(frozen=True)
class Labels:
    """What one cohort says: a truth per post, with weights where the corpus was drawn."""

    cohort: str
    table: pl.DataFrame
    """Columns post, truth (0 or 1), share (of hateful votes), weight (null where unknown)."""


@dataclass(frozen=True)
class Rater:
    """A detector's scores of some posts."""

    name: str
    table: pl.DataFrame
    """Columns post, p."""
    classes: bool = False


def compare(
    run: Run,
    corpus: Corpus,
    detectors: Mapping[str, Any],
    *,
    crowd: str | None = None,
    experts: str | None = None,
    attribute: str | None = None,
) -> Parts:
    """Every detector against every cohort, and the crowd against the experts."""
    run.data.append(used(corpus))
    labels = _labels(corpus, crowd, experts)
    judged = pl.concat([found.table.select("post") for found in labels]).unique().sort("post")
    posts = judged.join(corpus.posts, left_on="post", right_on="id", maintain_order="left")
    posts = posts.rename({"post": "id"}).select(corpus.posts.columns)
    raters = [_rater(name, found, posts, attribute) for name, found in detectors.items()]
    found: list[Finding] = []
    curves: list[tuple[Labels, Rater]] = []
    for cohort in labels:
        inside = list(raters)
        if cohort.cohort == experts and crowd is not None:
            inside.append(Rater(CROWD, labels[0].table.select("post", p="share")))
        for rater in inside:
            found += _measured(cohort, rater, run.seed)
            curves.append((cohort, rater))
    run.findings += [replace(finding, origin=corpus.origin) for finding in found]
    sections = [Section("Against people", _prose(labels), run.findings, _figures(corpus, curves))]
    return Parts(f"Comparison: {corpus.name}", sections, _sentences(run.findings))


def _labels(corpus: Corpus, crowd: str | None, experts: str | None) -> list[Labels]:
    answers = first_answers(corpus)
    cohorts = sorted(answers["cohort"].drop_nulls().unique())
    if crowd is None and experts is None:
        return [_cohort(corpus, answers, None, exactly=None)]
    for name in (crowd, experts):
        if name is not None and name not in cohorts:
            raise BadInput(f"no cohort {name!r}; found {', '.join(cohorts) or 'none'}")
    found = []
    if crowd is not None:
        found.append(_cohort(corpus, answers, crowd, exactly=_VOTES))
    if experts is not None:
        found.append(_cohort(corpus, answers, experts, exactly=None))
    return found


def _cohort(
    corpus: Corpus, answers: pl.DataFrame, cohort: str | None, *, exactly: int | None
) -> Labels:
    mine = answers if cohort is None else answers.filter(pl.col("cohort") == cohort)
    yes = pl.col("answer").list.eval(pl.element().is_in(list(corpus.hateful))).list.any()
    table = mine.group_by("post").agg(n=pl.len(), share=yes.mean())
    if exactly is not None:
        table = table.filter(pl.col("n") == exactly)
    table = table.filter(pl.col("share") != 0.5)
    if not table.height:
        wanted = f"exactly {exactly} votes" if exactly else "a majority"
        raise NotEnoughData(f"no post of {cohort or 'the corpus'} has {wanted}")
    truth = (pl.col("share") > 0.5).cast(pl.Int64)
    table = table.with_columns(truth=truth).join(
        _weights(corpus, table["post"]), on="post", how="left"
    )
    return Labels(cohort or "people", table.select("post", "truth", "share", "weight").sort("post"))


def _weights(corpus: Corpus, posts: pl.Series) -> pl.DataFrame:
    if corpus.draws is None or corpus.strata is None:
        return pl.DataFrame(schema={"post": pl.String, "weight": pl.Float64})
    first = weights_of(corpus).table
    second = corpus.draws.filter(pl.col("phase") == 2)
    if second.height and set(posts) <= set(second["post"]):
        return second_phase(first, second, posts).select("post", "weight")
    return first.select("post", "weight")


def _rater(name: str, found: Any, posts: pl.DataFrame, attribute: str | None) -> Rater:
    seen = trained_on(found, posts)
    if seen:
        raise LeakFound(
            f"{name} was trained on {len(seen)} of the {posts.height} judged posts: "
            f"{', '.join(sorted(seen)[:20])}. Compare detectors on posts they have not seen."
        )
    scores = score_posts(found, posts, subset=True)
    attributes = scores["attribute"].unique(maintain_order=True).to_list()
    wanted = attribute or attributes[0]
    if wanted not in attributes:
        raise BadInput(f"{name} has no attribute {wanted!r}; found {', '.join(attributes)}")
    table = scores.filter(pl.col("attribute") == wanted).select("post", "p")
    return Rater(name, table, classes_only(found))


def _measured(labels: Labels, rater: Rater, seed: int) -> list[Finding]:
    rows = labels.table.join(rater.table, on="post", how="inner").sort("post")
    group = {"detector": rater.name, "against": labels.cohort}
    if not rows.height:
        why = "no post has both a label and a score"
        return [Finding(measure="average_precision", value=None, n=0, group=group, why=why)]
    truth, p = rows["truth"].to_numpy(), rows["p"].to_numpy()
    weights = None if rows["weight"].null_count() else rows["weight"].to_numpy()
    threshold, test = _dev_threshold(truth, p, weights, rater, seed)
    found = detection(
        truth,
        p,
        weights=weights,
        threshold=None,
        classes_only=rater.classes,
        group=group,
        seed=seed,
        posts=rows["post"].to_list(),
    )
    if threshold is not None:
        held = detection(
            truth[test],
            p[test],
            weights=None if weights is None else weights[test],
            threshold=threshold,
            classes_only=rater.classes,
            group=group,
            seed=seed,
        )
        at = {"precision", "recall", "f1"}
        found = [f for f in found if f.measure not in at] + [
            replace(f, method=f"{f.method}; threshold {threshold:.3f} chosen on the other half")
            for f in held
            if f.measure in at
        ]
    return found


def _dev_threshold(
    truth: np.ndarray, p: np.ndarray, weights: np.ndarray | None, rater: Rater, seed: int
) -> tuple[float | None, np.ndarray]:
    """The threshold with the best F1 on a random half, and which rows are the other half."""
    test = stream(seed, "dev", rater.name).random(len(truth)) < 0.5
    if rater.classes:
        return 0.5, np.ones(len(truth), dtype=bool)
    dev = ~test
    best = f1_best(truth[dev], p[dev], None if weights is None else weights[dev])
    return (None if best is None else float(best.threshold)), test


def _figures(corpus: Corpus, curves: Sequence[tuple[Labels, Rater]]) -> list[Figure]:
    simulated = corpus.origin == "simulated"
    figures = []
    for title, function, axes in (
        ("Precision and recall", pr_curve, ("recall", "precision")),
        ("ROC", roc_curve, ("false positive rate", "true positive rate")),
    ):
        series = []
        for labels, rater in curves:
            rows = labels.table.join(rater.table, on="post").sort("post")
            if rater.classes or rows["truth"].n_unique() < 2:
                continue
            weights = None if rows["weight"].null_count() else rows["weight"].to_numpy()
            curve = function(rows["truth"].to_numpy(), rows["p"].to_numpy(), weights)
            name = f"{rater.name} v {labels.cohort}"
            series.append(Line(name=name, x=list(curve.x), y=list(curve.y)))
        if series:
            figures.append(
                lines(title, series, x_axis=axes[0], y_axis=axes[1], simulated=simulated)
            )
    return figures


def _prose(labels: Sequence[Labels]) -> list[str]:
    return [
        f"{found.cohort}: {found.table.height:,} posts, {found.table['truth'].sum():,} hateful."
        for found in labels
    ]


def _sentences(findings: Sequence[Finding]) -> list[str]:
    shown = [f for f in findings if f.measure == "average_precision" and f.value is not None]
    return [
        f"{f.group['detector']} against {f.group['against']}: average precision {f.value:.3f}"
        + (f" [{f.low:.3f}, {f.high:.3f}]" if f.low is not None and f.high is not None else "")
        + f" over {f.n:,} posts."
        for f in shown
    ]
