"""A detector on labelled posts: what its scores mean there, and whether it carries over.

Thresholds: precision, recall and flagged share at .5, .7, .9 and at a flag rate the user can
afford, and how far scores are from being probabilities, on one labelled corpus, weighted to its
population where it was drawn from one, or to a base rate the user knows. Without labels from a site
the answer to "what does .7 mean here" is: not known.

Transfer: a sample of every installed corpus that has labels. Posts the detector was trained on are
left out wherever it says which they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from evenhand.audits.index import Index, figure
from evenhand.audits.worst import TRANSFER
from evenhand.core import registry
from evenhand.core.errors import BadInput, EvenhandError, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.find import data_folder, reader, used
from evenhand.models.scoring import Scored
from evenhand.models.seen import trained_on
from evenhand.reports import Figure, Grid, Line, Section, lines
from evenhand.reports.numbers import count
from evenhand.stats.calibration import at_base_rate, calibration, reliability
from evenhand.stats.detection import detection
from evenhand.stats.operating import operating
from evenhand.stats.thresholds import equal_error
from evenhand.stats.weights import weigh

THRESHOLDS = (0.5, 0.7, 0.9)
_DEV = ("dev", "validation")
_NEVER = "never"

Score = Callable[[pl.DataFrame, str], Scored]


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


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labelled posts with scores."""

    corpus: Corpus
    table: pl.DataFrame
    """Columns post, p, truth (0 or 1), weight (null where there are none), dev."""
    left_out: int
    """Posts the detector was trained on."""
    classes_only: bool
    auc: Finding
    equal_error: float | None
    """The threshold of equal errors on the dev posts, or on all where no split is published."""

    @property
    def weights(self) -> pl.Series | None:
        """What each post counts."""
        found = self.table["weight"]
        return None if found.null_count() else found


def labelled(run: Run, detector: object, score: Score, site: Site) -> Labelled:
    """The labelled posts of a site with the detector's scores."""
    run.data.append(used(site.corpus))
    return _scored(run, detector, score, site.corpus, {"corpus": site.corpus.name, "on": "site"})


def _scored(
    run: Run,
    detector: object,
    score: Score,
    corpus: Corpus,
    group: dict[str, str],
    most: int | None = None,
) -> Labelled:
    gold = corpus.main_gold()
    if gold is None or not corpus.hateful:
        raise BadInput(
            f"{corpus.name}: no labels that say what is hateful; name them with --hateful"
        )
    posts = corpus.posts.filter(pl.col("id").is_in(gold.drop_nulls("label")["post"].implode()))
    seen = set(trained_on(detector, posts) or ())
    posts = posts.filter(~pl.col("id").is_in(list(seen)))
    if not posts.height:
        raise NotEnoughData(
            f"{corpus.name}: all {len(seen):,} labelled posts were used to train the detector; "
            "judge it on others"
        )
    if most is not None and posts.height > most:
        chosen = stream(run.seed, "transfer", corpus.name).choice(posts.height, most, replace=False)
        posts = posts.sort("id")[np.sort(chosen).tolist()]
    scored = score(posts, corpus.name)
    truth = pl.col("label").is_in(list(corpus.hateful)).cast(pl.Int64)
    split = tag("split", posts) if "split" in _tags(posts) else pl.lit(None, dtype=pl.String)
    table = (
        scored.table.drop_nulls("p")
        .join(gold.select("post", truth=truth), on="post", maintain_order="left")
        .join(posts.select(post="id", dev=split.is_in(_DEV)), on="post", maintain_order="left")
        .sort("post")
    )
    table = _weighed(corpus, table)
    ranked = detection(
        table["truth"].to_numpy(),
        table["p"].to_numpy(),
        weights=None if table["weight"].null_count() else table["weight"].to_numpy(),
        classes_only=scored.classes_only,
        seed=run.seed,
        group=group,
    )
    dev = table.filter(pl.col("dev").fill_null(False))
    errors = dev if dev["truth"].n_unique() == 2 else table
    found = equal_error(errors["truth"].to_numpy(), errors["p"].to_numpy())
    return Labelled(
        corpus,
        table,
        len(seen),
        scored.classes_only,
        next(finding for finding in ranked if finding.measure == "auc"),
        found.threshold if found else None,
    )


def _tags(posts: pl.DataFrame) -> list[str]:
    kind = posts.schema["tags"]
    return [field.name for field in kind.fields] if isinstance(kind, pl.Struct) else []


def _weighed(corpus: Corpus, table: pl.DataFrame) -> pl.DataFrame:
    """The posts with their weights; of a corpus that was drawn, only those that were."""
    if corpus.draws is None or corpus.strata is None:
        return table.with_columns(weight=pl.lit(None, dtype=pl.Float64))
    draws = corpus.draws.filter(pl.col("phase") == 1)
    inside = table.filter(pl.col("post").is_in(draws["post"].implode()))
    weights = weigh(draws, inside["post"], corpus.strata).table.select("post", "weight")
    return inside.join(weights, on="post", maintain_order="left")


def threshold_part(run: Run, known: Labelled, site: Site, threshold: float) -> Iterator[Section]:
    """What a score means on the site."""
    group = {"corpus": known.corpus.name, "on": "site"}
    truth, p = known.table["truth"].to_numpy(), known.table["p"].to_numpy()
    weights = known.weights
    at = sorted({*THRESHOLDS, threshold})
    found = [known.auc]
    found += operating(
        truth,
        p,
        thresholds=at,
        shares=() if site.flag_rate is None else (site.flag_rate,),
        weights=None if weights is None else weights.to_numpy(),
        base_rate=site.base_rate,
        classes_only=known.classes_only,
        group=group,
        seed=run.seed,
    )
    found += calibration(
        truth,
        p,
        weights=None if weights is None else weights.to_numpy(),
        classes_only=known.classes_only,
        group=group,
        seed=run.seed,
    )
    found += _mapped(known, site, at, group)
    run.findings += found
    yield Section(
        f"Thresholds on {known.corpus.name}",
        [*_threshold_words(known, site), *_calibration_words(Index(found), group)],
        found,
        [] if known.classes_only else [_diagram(known)],
        grids=[_threshold_grid(found)],
    )


def _mapped(
    known: Labelled, site: Site, thresholds: Sequence[float], group: Mapping[str, str]
) -> Iterator[Finding]:
    """What a score that is a probability on the corpus would be at the site's base rate."""
    here = known.table["truth"].mean()
    if site.base_rate is None or known.classes_only or not isinstance(here, float):
        return
    if not 0 < here < 1:
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
    elif known.weights is not None:
        yield f"{n} labelled posts, weighted to the population they were drawn from."
    else:
        yield (
            f"{n} labelled posts as they are. What a score means on your site is not known: "
            "another share of hateful posts changes precision (`--base-rate`)."
        )
    if known.left_out:
        yield f"{count(known.left_out)} posts the detector was trained on are left out."


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
    weights = known.weights
    bins = reliability(
        known.table["truth"].to_numpy(),
        known.table["p"].to_numpy(),
        weights=None if weights is None else weights.to_numpy(),
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
    groups = []
    for finding in found:
        if finding.measure == "recall":
            groups.append(dict(finding.group))
    measures = ["threshold", "precision", "recall", "flagged_share"]
    headings = ["at", "threshold", "precision", "recall", "flagged share"]
    if any(finding.measure == "score_at_base_rate" for finding in found):
        measures.append("score_at_base_rate")
        headings.append("such a score at your base rate")
    rows = [
        [str(group["at"]), *(figure(index.get(m, **group)) for m in measures)] for group in groups
    ]
    return Grid("thresholds", "What a threshold gives", headings, rows, narrow=(0, 2, 3, 4))


def transfer_part(
    run: Run, detector: object, score: Score, most: int, threshold: float
) -> list[Section]:
    """The detector on a sample of every installed corpus with labels."""
    found: list[Finding] = []
    rows, words = [], []
    for name in registry.names("readers"):
        known_reader = reader(name)
        if not known_reader.installed(data_folder()) or known_reader.may_train.startswith(_NEVER):
            continue
        corpus = known_reader.read(data_folder())
        try:
            known = _scored(run, detector, score, corpus, {"corpus": name, "on": TRANSFER}, most)
        except EvenhandError as error:
            words.append(f"Left out: {error}")
            continue
        run.data.append(used(corpus))
        mine = detection(
            known.table["truth"].to_numpy(),
            known.table["p"].to_numpy(),
            threshold=threshold,
            classes_only=known.classes_only,
            group={"corpus": name, "on": TRANSFER},
            seed=run.seed,
        )
        found += mine
        index = Index(mine)
        cells = [
            index.get(m, corpus=name, on=TRANSFER)
            for m in ("base_rate", "precision", "recall", "f1", "average_precision", "auc")
        ]
        rows.append([name, count(known.table.height), *map(figure, cells)])
    if not (rows or words):
        return []
    run.findings += found
    grid = Grid(
        "transfer",
        f"At most {count(most)} posts of every installed corpus, threshold {threshold}",
        ("corpus", "posts", "base rate", "precision", "recall", "F1", "average precision", "AUC"),
        rows,
        narrow=(0, 1, 4, 7),
    )
    intro = (
        "What counts as hateful differs between corpora; a figure says how far this detector "
        "agrees with that corpus's labels. Posts it was trained on are left out where it says "
        "which they are."
    )
    return [Section("Transfer to installed corpora", [intro, *words], found, grids=[grid])]
