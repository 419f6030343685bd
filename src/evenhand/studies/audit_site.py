"""What a detector's scores mean on a site, as far as labelled posts can say.

Precision, recall and flagged share at .5, .7, .9 and at a flag rate the user can afford, and how
far scores are from being probabilities, on one labelled corpus, weighted to its population where it
was drawn from one, or to a base rate the user knows. Without labels from a site the answer to "what
does .7 mean here" is: not known.

Posts the detector was trained on are left out wherever it says which they are. A post it fails on
counts as answered wrongly: a hateful one as not flagged, a harmless one as flagged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.audits.index import COUNTED, Index, figure
from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.find import used
from evenhand.models.seen import trained_on
from evenhand.reports import Figure, Grid, Line, Section, lines
from evenhand.reports.numbers import count
from evenhand.stats.calibration import at_base_rate, calibration, reliability
from evenhand.stats.detection import detection
from evenhand.stats.operating import THRESHOLDS, operating
from evenhand.stats.thresholds import equal_error
from evenhand.stats.weights import weigh
from evenhand.studies.parts import Step
from evenhand.studies.suites import Judged

_DEV = ("dev", "validation")
_MOST_CASES = 20


@dataclass(frozen=True)
class Site:
    """Labelled posts, and what is known of the site they stand for."""

    corpus: Corpus
    base_rate: float | None = None
    """Share of hateful posts there."""
    flag_rate: float | None = None
    """Share of posts that can be flagged."""

    def __post_init__(self) -> None:
        for name, share in (("--base-rate", self.base_rate), ("--flag-rate", self.flag_rate)):
            if share is not None and not 0 < share < 1:
                raise BadInput(f"{name} {share}; expected a share above 0 and below 1")


@dataclass(frozen=True, eq=False, kw_only=True)
class Labelled:
    """Labelled posts with scores."""

    corpus: Corpus
    table: pl.DataFrame
    """Columns post, p (the wrong extreme where the detector failed), scored, truth (0 or 1), and
    of a corpus that was drawn weight and cell."""
    left_out: int
    """Posts the detector was trained on."""
    failed: Mapping[str, str]
    classes_only: bool
    found: Sequence[Finding]
    """Its figures as a detector, at the threshold in use."""
    errors_on: str
    """Which posts the threshold of equal errors was found on."""
    equal_error: float | None

    @property
    def auc(self) -> Finding:
        """The finding of its ranking."""
        return next(finding for finding in self.found if finding.measure == "auc")

    def column(self, name: str) -> NDArray[np.float64] | None:
        """A column as numbers; None where the corpus was not drawn."""
        return self.table[name].to_numpy() if name in self.table.columns else None

    def strata(self) -> list[str] | None:
        """The weighing cell of each post; None where the corpus was not drawn."""
        return self.table["cell"].to_list() if "cell" in self.table.columns else None


def labelled(run: Run, judged: Judged, site: Site, step: Step) -> Labelled:
    """The labelled posts of a site with the detector's scores."""
    run.data.append(used(site.corpus))
    group = {"corpus": site.corpus.name, "on": "site"}
    return score_labelled(run, judged, site.corpus, group, step)


def score_labelled(
    run: Run,
    judged: Judged,
    corpus: Corpus,
    group: Mapping[str, str],
    step: Step,
    *,
    most: int | None = None,
) -> Labelled:
    """Labelled posts of a corpus, at most ``most`` of them, with scores and figures."""
    gold = corpus.main_gold()
    if gold is None or not corpus.hateful:
        raise BadInput(
            f"{corpus.name}: no labels that say what is hateful; name them with --hateful"
        )
    posts = corpus.posts.filter(pl.col("id").is_in(gold.drop_nulls("label")["post"].implode()))
    seen = set(trained_on(judged.detector, posts) or ())
    posts = posts.filter(~pl.col("id").is_in(list(seen))).sort("id")
    if not posts.height:
        raise NotEnoughData(
            f"{corpus.name}: all {len(seen):,} labelled posts were used to train the detector; "
            "judge it on others"
        )
    if most is not None and posts.height > most:
        chosen = stream(run.seed, "transfer", corpus.name).choice(posts.height, most, replace=False)
        posts = posts[np.sort(chosen).tolist()]
    scored = judged.scores(posts, corpus.name, step)
    truth = pl.col("label").is_in(list(corpus.hateful)).cast(pl.Int64)
    table = (
        scored.table.join(gold.select("post", truth=truth), on="post", maintain_order="left")
        .with_columns(scored=pl.col("p").is_not_null())
        .with_columns(pl.col("p").fill_null(1.0 - pl.col("truth")))
    )
    table = _weighed(corpus, table)
    found = detection(
        table["truth"].to_numpy(),
        table["p"].to_numpy(),
        weights=table["weight"].to_numpy() if "weight" in table.columns else None,
        strata=table["cell"].to_list() if "cell" in table.columns else None,
        threshold=judged.threshold,
        classes_only=scored.classes_only,
        seed=run.seed,
        group=group,
        posts=table["post"].to_list(),
    )
    on, errors = _for_errors(posts, table)
    met = equal_error(errors["truth"].to_numpy(), errors["p"].to_numpy())
    return Labelled(
        corpus=corpus,
        table=table,
        left_out=len(seen),
        failed=scored.failed,
        classes_only=scored.classes_only,
        found=[*found, _unscored(scored.failed, table.height, group)],
        errors_on=on,
        equal_error=met.threshold if met else None,
    )


def _for_errors(posts: pl.DataFrame, table: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """The posts to find the threshold of equal errors on: the published dev split, or all."""
    kind = posts.schema["tags"]
    if isinstance(kind, pl.Struct) and "split" in [field.name for field in kind.fields]:
        dev = posts.filter(tag("split", posts).is_in(_DEV))["id"]
        inside = table.filter(pl.col("post").is_in(dev.implode()))
        if inside["truth"].n_unique() == 2:
            return "dev", inside
    return "labelled posts", table


def _weighed(corpus: Corpus, table: pl.DataFrame) -> pl.DataFrame:
    """The posts with weight and cell; of a corpus that was drawn, only those that were."""
    if corpus.draws is None or corpus.strata is None:
        return table
    draws = corpus.draws.filter(pl.col("phase") == 1)
    inside = table.filter(pl.col("post").is_in(draws["post"].implode()))
    weights = weigh(draws, inside["post"], corpus.strata).table.select("post", "weight", "cell")
    return inside.join(weights, on="post", maintain_order="left")


def _unscored(failed: Mapping[str, str], n: int, group: Mapping[str, str]) -> Finding:
    return Finding(
        measure="unscored",
        value=float(len(failed)),
        n=n,
        group=group,
        method="posts the detector failed on; each counts as answered wrongly",
        unit="posts",
        why=COUNTED,
        cases=sorted(failed)[:_MOST_CASES],
    )


def threshold_part(run: Run, known: Labelled, site: Site, threshold: float) -> Iterator[Section]:
    """What a score means on the site."""
    group = {"corpus": known.corpus.name, "on": "site"}
    at = sorted({*THRESHOLDS, threshold})
    found = [f for f in known.found if f.measure in ("auc", "average_precision", "unscored")]
    found += operating(
        known.table["truth"].to_numpy(),
        known.table["p"].to_numpy(),
        thresholds=at,
        shares=() if site.flag_rate is None else (site.flag_rate,),
        weights=known.column("weight"),
        strata=known.strata(),
        base_rate=site.base_rate,
        classes_only=known.classes_only,
        group=group,
        seed=run.seed,
    )
    found += _calibrated(known, group, run.seed)
    found += _mapped(Index(found), known, site, at, group)
    run.findings += found
    yield Section(
        f"Thresholds on {known.corpus.name}",
        [*_threshold_words(known, site), *_calibration_words(Index(found), group)],
        found,
        [] if known.classes_only else [_diagram(known)],
        grids=[_threshold_grid(found)],
    )


def _scored_only(known: Labelled) -> Labelled:
    """Without the posts the detector failed on, which have no score to be calibrated."""
    return Labelled(**{**vars(known), "table": known.table.filter("scored")})


def _calibrated(known: Labelled, group: Mapping[str, str], seed: int) -> list[Finding]:
    scored = _scored_only(known)
    return calibration(
        scored.table["truth"].to_numpy(),
        scored.table["p"].to_numpy(),
        weights=scored.column("weight"),
        strata=scored.strata(),
        classes_only=known.classes_only,
        group=group,
        seed=seed,
    )


def _mapped(
    index: Index,
    known: Labelled,
    site: Site,
    thresholds: Sequence[float],
    group: Mapping[str, str],
) -> Iterator[Finding]:
    """What a score that is a probability on the corpus would be at the site's base rate."""
    here = index.value("base_rate", **group)
    if site.base_rate is None or known.classes_only or here is None or not 0 < here < 1:
        return
    mapped = at_base_rate(thresholds, here, site.base_rate)
    for threshold, value in zip(thresholds, mapped, strict=True):
        yield Finding(
            measure="score_at_base_rate",
            value=float(value),
            n=known.table.height,
            group={**group, "at": f"{threshold:g}"},
            method=f"odds ratio, from base rate {here:.3f} to {site.base_rate:g}",
            unit="posts",
            why="no interval: right as far as the score is a probability on the labelled posts",
        )


def _threshold_words(known: Labelled, site: Site) -> Iterator[str]:
    n = count(known.table.height)
    if site.base_rate is not None:
        yield (
            f"{n} labelled posts, counted so that {100 * site.base_rate:g} % of them are hateful: "
            "precision and flagged share are those of such a site, if its hateful and harmless "
            "posts are like these."
        )
    elif known.column("weight") is not None:
        yield f"{n} labelled posts, weighted to the population they were drawn from."
    else:
        yield (
            f"{n} labelled posts as they are. What a score means on your site is not known: "
            "another share of hateful posts changes precision (`--base-rate`)."
        )
    if known.left_out:
        yield f"{count(known.left_out)} posts the detector was trained on are left out."
    if known.failed:
        reasons = "; ".join(sorted(set(known.failed.values()))[:3])
        yield (
            f"The detector failed on {count(len(known.failed))} posts, which count as answered "
            f"wrongly: {reasons}."
        )


def _calibration_words(index: Index, group: Mapping[str, str]) -> Iterator[str]:
    error = index.get("calibration_error", **group)
    if error is not None and error.value is not None:
        chance = index.get("calibration_error_chance", **group)
        rate = index.get("base_rate", **group)
        yield (
            f"Scores are {figure(error)} off the share of hateful posts on average (calibration "
            f"error; a perfectly calibrated detector would show {figure(chance, interval=False)}), "
            f"at a base rate of {figure(rate)}."
        )


def _diagram(known: Labelled) -> Figure:
    scored = _scored_only(known)
    bins = reliability(
        scored.table["truth"].to_numpy(),
        scored.table["p"].to_numpy(),
        weights=scored.column("weight"),
    )
    line = Line(
        name="posts, in ten groups of equal size",
        x=[one.mean for one in bins],
        y=[one.share for one in bins],
        low=[one.low for one in bins],
        high=[one.high for one in bins],
    )
    return lines(
        "Is the score a probability?",
        [line],
        x_axis="mean score",
        y_axis="share hateful",
        diagonal=True,
        caption="A score that means what it says lies on the diagonal.",
    )


def _threshold_grid(found: Sequence[Finding]) -> Grid:
    index = Index(found)
    groups = [dict(finding.group) for finding in found if finding.measure == "flagged_share"]
    measures = ["threshold", "precision", "recall", "flagged_share"]
    headings = ["at", "threshold", "precision", "recall", "flagged share"]
    if any(finding.measure == "score_at_base_rate" for finding in found):
        measures.append("score_at_base_rate")
        headings.append("such a score at your base rate")
    rows = [
        [str(group["at"]), *(figure(index.get(m, **group)) for m in measures)] for group in groups
    ]
    return Grid("thresholds", "What a threshold gives", headings, rows, narrow=(0, 2, 3, 4))
