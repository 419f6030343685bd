"""Maps from a detector's probabilities to Perspective-like scores.

The Perspective API's scores have a scale of their own, which thresholds in many papers and sites
are written in. From texts whose scores were published (corpus ``perspective_scores``) a map is
learned: the mean published score of texts that a detector gives such a probability. The result is
*Perspective-like*: it speaks in that scale and keeps this detector's order; only the API's own
scores are Perspective's. Being means, mapped scores reach less far up and down than the API's.

>>> perspective_map([0.1, 0.2, 0.3, 0.9], [0.2, 0.4, 0.3, 0.8])
((0.1, 0.2), (0.2, 0.35), (0.3, 0.35), (0.9, 0.8))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.data.corpus import Corpus
from evenhand.models.calibration import Floats, Knots
from evenhand.models.protocol import Probabilities
from evenhand.models.seen import Seen
from evenhand.stats.intervals import LEVEL, RESAMPLES, cluster_bootstrap

_KNOTS, _FOLDS, _FEWEST = 32, 5, 50
_PUBLISHED = "perspective"
_HALF = ":(prompt|continuation)$"
"""How the ids of a sentence's two halves end."""


def perspective_map(p: ArrayLike, published: ArrayLike) -> Knots:
    """A line of at most 32 knots, never falling, from probabilities to published scores.

    Isotonic regression gives the scores that never fall and are nearest to the published ones; a
    knot is the mean of one in 32 of the texts, in order of probability.
    """
    from sklearn.isotonic import IsotonicRegression

    x, y = (np.asarray(values, dtype=np.float64) for values in (p, published))
    if x.shape != y.shape:
        raise BadInput(f"{len(x)} probabilities, {len(y)} published scores; expected one each")
    for name, values in (("p", x), ("published", y)):
        if not ((values >= 0) & (values <= 1)).all():
            raise BadInput(f"{name}: some values are outside [0, 1] or NaN; expected scores")
    if len(np.unique(x)) < 2:
        raise NotEnoughData(f"{len(x)} texts of one probability; a map needs several")
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    rising = IsotonicRegression(y_min=0, y_max=1).fit(x, y).predict(x)
    parts = np.array_split(np.arange(len(x)), min(_KNOTS, len(x)))
    # Texts of one probability in two parts have one score there, so either knot will do.
    knots = {_short(x[at].mean()): round(float(rising[at].mean()), 4) for at in parts}
    return tuple(knots.items())


def _short(p: float) -> float:
    """Six digits after the zeros: the probabilities of rare attributes are small."""
    return float(f"{p:.6g}")


def published_scores(corpus: Corpus) -> pl.DataFrame:
    """Those of Perspective; a corpus without any is refused."""
    if corpus.scores is None:
        raise BadInput(f"{corpus.name}: has no published scores; name a corpus that has some")
    return corpus.scores.filter(pl.col("detector") == _PUBLISHED)


def learn_maps(
    score: Callable[[Sequence[str]], Probabilities],
    attributes: Sequence[str],
    corpus: Corpus,
    seen: Seen | None,
    seed: int,
    *,
    resamples: int = RESAMPLES,
) -> tuple[dict[str, Knots], list[Finding]]:
    """The map of every attribute with published scores, and how near it comes.

    Texts that were trained on are left out. The findings are of texts kept apart from the map that
    is used on them: a fifth at a time, both halves of a sentence together. The maps that are
    returned are then learned from all.

    Args:
        score: Gives probabilities, a column for each attribute.
        attributes: What the columns mean.
        corpus: Its ``scores`` are those that Perspective published.
        seen: What the detector was trained on.
        seed: Of the fifths and the resamples.
        resamples: How many; 0 for no intervals.
    """
    scores = published_scores(corpus)
    trained = [] if seen is None else seen.among(corpus.posts)
    posts = corpus.posts.filter(~pl.col("id").is_in(trained)).sort("id")
    p = score(posts["text"].to_list())
    rows = posts.select("id", unit=pl.col("id").str.replace(_HALF, ""))
    maps: dict[str, Knots] = {}
    findings: list[Finding] = []
    for column, attribute in enumerate(attributes):
        published = scores.filter(pl.col("attribute") == attribute)
        if not published.height:
            continue
        table = rows.with_columns(p=p[:, column]).join(
            published.select("post", published="p"),
            left_on="id",
            right_on="post",
            maintain_order="left",
        )
        if table.height < _FEWEST:
            raise NotEnoughData(
                f"{corpus.name}: {table.height} texts with a published {attribute} that were not "
                f"trained on; a map needs {_FEWEST}"
            )
        maps[attribute] = perspective_map(table["p"], table["published"])
        like = _held_out(table, stream(seed, "perspective-like", "folds"))
        rng = partial(stream, seed, "perspective-like", attribute)
        findings += _agreement(table, like, attribute, rng, resamples)
    return maps, findings


def _held_out(table: pl.DataFrame, rng: np.random.Generator) -> Floats:
    """The score of each text by a map that was learned without its fifth."""
    units, unit = np.unique(table["unit"].to_numpy(), return_inverse=True)
    fold = (rng.permutation(len(units)) % _FOLDS)[unit]
    p, published = table["p"].to_numpy(), table["published"].to_numpy()
    like = np.empty(len(p))
    for each in range(_FOLDS):
        out = fold == each
        known, scores = zip(*perspective_map(p[~out], published[~out]), strict=True)
        like[out] = np.interp(p[out], known, scores)
    return like


def _agreement(
    table: pl.DataFrame,
    like: Floats,
    attribute: str,
    rng: Callable[[str], np.random.Generator],
    resamples: int,
) -> Iterator[Finding]:
    """Spearman's correlation, mean absolute difference and mean difference, with intervals.

    All are functions of sums over units; the ranks are those of all texts, in resamples too.
    """
    published = table["published"].to_numpy()
    unit = np.unique(table["unit"].to_numpy(), return_inverse=True)[1]
    a, b = ((rankdata(x) - (len(x) + 1) / 2) / len(x) for x in (table["p"].to_numpy(), published))
    one, apart = np.ones(len(a)), like - published
    figures: tuple[tuple[str, list[Floats], Callable[[Floats], Floats]], ...] = (
        ("spearman", [one, a, b, a * a, b * b, a * b], _correlation),
        ("mean_absolute_difference", [one, np.abs(apart)], _mean),
        ("mean_difference", [one, apart], _mean),
    )
    for measure, columns, figure in figures:
        sums: Floats = np.stack([np.bincount(unit, x) for x in columns], axis=1, dtype=np.float64)
        [value] = figure(sums.sum(axis=0, keepdims=True))
        exists = bool(np.isfinite(value))
        ends = None
        if exists and resamples:
            ends = cluster_bootstrap(sums, figure, rng(measure), resamples=resamples)
        low, high = ends or (None, None)
        yield Finding(
            measure=measure,
            value=float(value) if exists else None,
            n=len(like),
            group={"attribute": attribute},
            low=low,
            high=high,
            level=LEVEL if ends else None,
            method=f"{_FOLDS} folds; percentile bootstrap over texts, {resamples:,} resamples",
            unit="texts",
            why=_why(exists, ends is not None),
        )


def _why(exists: bool, interval: bool) -> str | None:
    if not exists:
        return "all scores are equal"
    return None if interval else "no interval: no resamples, or too few texts"


def _correlation(sums: Floats) -> Floats:
    n, a, b, aa, bb, ab = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (ab - a * b / n) / np.sqrt((aa - a * a / n) * (bb - b * b / n))
    return found


def _mean(sums: Floats) -> Floats:
    mean: Floats = sums[:, 1] / sums[:, 0]
    return mean
