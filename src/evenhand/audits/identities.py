"""What a detector does when one identity term stands for another: every figure of a template set.

Sentences come from :func:`evenhand.audits.templates.sentences_of`. Figures are AUC, the rates of
groups and of single terms, equality differences beside what chance gives, and the flip rate, at
every threshold; intervals resample templates. A constant detector has no differences and never
flips, so that all of them stand beside AUC.

A sentence the detector failed on counts as wrong: a neutral one as flagged, an abusive one as not
flagged, and in AUC as the highest and the lowest score.

Findings carry ``templates`` (the name of the set) and where they apply ``threshold``, ``group``,
``term`` and ``label``; AUC on other posts, given by the caller, has ``on`` = "original".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.audits.answers import answered
from evenhand.audits.index import COUNTED
from evenhand.audits.templates import LABELS
from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.labels import HATEFUL, OTHER
from evenhand.stats.decisions import Decisions, Predicted, auc
from evenhand.stats.equality import Decided, equality
from evenhand.stats.flips import identity_flip_rate
from evenhand.stats.intervals import RESAMPLES
from evenhand.stats.ratios import Clusters, Ratio, ratio_finding

UNIT = "templates"
_TAGS = ("template", "frame", "group", "term", "pair")
_RATES = ("fpr", "fnr")
_MOST_CASES = 20

Group = Mapping[str, str | int]


def identity_findings(
    sentences: Corpus,
    p: pl.DataFrame,
    *,
    thresholds: Mapping[str, float],
    original_auc: Finding | None,
    classes_only: bool = False,
    seed: int,
    resamples: int = RESAMPLES,
    group: Group | None = None,
) -> list[Finding]:
    """Every figure of one detector on one template set.

    Args:
        sentences: An expanded template set.
        p: Columns post and p: a score for every sentence, null where the detector failed.
        thresholds: A sentence is flagged from here on; by name.
        original_auc: AUC on posts that people wrote, to stand beside that of the sentences.
        classes_only: The detector gives classes and no scores: there is no AUC.
        seed: Of resamples and permutations.
        resamples: How many, of templates and of permutations.
        group: Added to every finding.
    """
    if not thresholds:
        raise BadInput("no threshold; expected at least one, by name")
    rows = _rows(sentences, p)
    own = {**(group or {}), "templates": sentences.posts["source"][0]}
    how = _How(seed, resamples, own)
    flagged = {
        name: answered(rows, p, threshold=value).table["flagged"]
        for name, value in thresholds.items()
    }
    ranked = _no_auc(rows, own) if classes_only else _auc(rows, how)
    found = [ranked, _original(original_auc, own), _unscored(rows, own)]
    found += _differences(rows, flagged, how)
    for name, value in thresholds.items():
        at = {**own, "threshold": name}
        said = rows.with_columns(flagged=flagged[name])
        found.append(_threshold(value, rows.height, at))
        found += _rates(said, replace(how, group=at))
        found += identity_flip_rate(said, unit=UNIT, seed=seed, group=at, resamples=resamples)
    return found


@dataclass(frozen=True)
class _How:
    """How figures are resampled, and what their findings carry."""

    seed: int
    resamples: int
    group: Group


def _rows(sentences: Corpus, p: pl.DataFrame) -> pl.DataFrame:
    """Sentences sorted by id, with tags, label, whether they are hateful, p and a score."""
    _refuse_other_posts(sentences, p)
    posts, gold = sentences.posts, sentences.main_gold()
    if gold is None:
        raise BadInput(f"{sentences.name}: no gold; expected {' or '.join(LABELS)} sentences")
    labels = gold.select(id="post", label="label")
    hateful = pl.col("label").is_in(list(sentences.hateful))
    failed = pl.when(hateful).then(0.0).otherwise(1.0)
    return (
        posts.select("id", *(tag(name, posts) for name in _TAGS))
        .join(labels, on="id", validate="1:1")
        .join(p.select(id="post", score=pl.col("p").cast(pl.Float64)), on="id", validate="1:1")
        .sort("id")
        .with_columns(post="id", hateful=hateful, unscored=pl.col("score").is_null())
        .with_columns(pl.col("score").fill_null(failed))
    )


def _refuse_other_posts(sentences: Corpus, p: pl.DataFrame) -> None:
    """Every sentence needs one row, and its score must be one."""
    absent = [name for name in ("post", "p") if name not in p.columns]
    if absent:
        raise BadInput(f"scores: no column {' and '.join(absent)}; expected post and p")
    ids, given = sentences.posts["id"], p["post"]
    wrong = []
    for what, some in (
        ("have no row", ids.filter(~ids.is_in(given.implode()))),
        ("are not in the set", given.filter(~given.is_in(ids.implode()))),
        ("stand there more than once", given.filter(given.is_duplicated()).unique()),
        ("have a score outside [0, 1]", given.filter(~p["p"].is_between(0, 1).fill_null(True))),
    ):
        if len(some):
            listed = ", ".join(some.sort().head(3))
            wrong.append(
                f"scores of {sentences.name}: {len(some):,} posts {what} ({listed}"
                f"{' …' if len(some) > 3 else ''}); expected one score for every sentence, null "
                "where the detector failed"
            )
    if wrong:
        raise BadInput(*wrong)


def _auc(rows: pl.DataFrame, how: _How) -> Finding:
    truth = rows["hateful"].to_numpy()
    codes, score = truth.astype(np.int64), rows["score"].to_numpy()
    run = Predicted(codes, codes, rows["template"], score, truth)
    decisions = Decisions((OTHER, HATEFUL), (run,))
    return auc(decisions, unit=UNIT, seed=how.seed, group=how.group, resamples=how.resamples)


def _no_auc(rows: pl.DataFrame, group: Group) -> Finding:
    why = "the detector gives classes only: there is no ranking"
    return Finding(measure="auc", value=None, n=rows.height, group=group, why=why)


def _original(given: Finding | None, group: Group) -> Finding:
    on = {**group, "on": "original"}
    if given is not None:
        return replace(given, group={**given.group, **on})
    why = "no labelled posts were given to find it on"
    return Finding(measure="auc", value=None, n=0, group=on, why=why)


def _unscored(rows: pl.DataFrame, group: Group) -> Finding:
    failed = rows.filter("unscored")["id"].to_list()
    return Finding(
        measure="unscored",
        value=float(len(failed)),
        n=rows.height,
        group=group,
        method="sentences the detector failed on; each counts as answered wrongly",
        unit="sentences",
        why=COUNTED,
        cases=failed[:_MOST_CASES],
    )


def _threshold(value: float, n: int, group: Group) -> Finding:
    return Finding(
        measure="threshold",
        value=value,
        n=n,
        group=group,
        method="as given",
        unit="sentences",
        why="a choice, no interval",
    )


def _differences(
    rows: pl.DataFrame, flagged: Mapping[str, pl.Series], how: _How
) -> Iterator[Finding]:
    """Equality differences; the rates of groups stand with those of terms."""
    truth, groups = rows["hateful"].to_numpy(), rows["group"].to_list()
    found = equality(
        {name: Decided.of(truth, said.to_numpy(), groups) for name, said in flagged.items()},
        clusters=rows["template"].to_list(),
        frames=rows["frame"].to_list(),
        pairs=rows["pair"].to_list() if rows["pair"].n_unique() > 1 else None,
        unit=UNIT,
        seed=how.seed,
        group=how.group,
        resamples=how.resamples,
    )
    return (finding for finding in found if finding.measure not in _RATES)


def _rates(rows: pl.DataFrame, how: _How) -> Iterator[Finding]:
    """False-positive and false-negative rate overall, of every group and of every term."""
    clusters = Clusters.of(
        rows["template"].to_list(),
        seed=how.seed,
        resamples=how.resamples,
        outcome=(rows["hateful"] == rows["flagged"]).to_numpy(),
        within=rows.select(pl.format("{}/{}", "label", "group")).to_series().to_list(),
    )
    hateful, flagged = rows["hateful"].to_numpy(), rows["flagged"].to_numpy()
    sides = (("fpr", ~hateful, flagged, "neutral"), ("fnr", hateful, ~flagged, "abusive"))
    every = np.ones(rows.height, dtype=np.bool_)
    parts: list[tuple[dict[str, str], NDArray[np.bool_]]] = [({}, every)]
    for keys in (["group"], ["group", "term"]):
        for values in rows.select(keys).unique().sort(keys).rows():
            named = dict(zip(keys, values, strict=True))
            inside = (rows[keys[-1]] == values[-1]).to_numpy()
            parts.append((named, inside))
    for named, inside in parts:
        for measure, side, wrong, label in sides:
            yield ratio_finding(
                measure,
                Ratio.share(wrong, side & inside),
                clusters,
                unit=UNIT,
                group={**how.group, **named},
                how=f"share of {label} sentences decided wrongly",
                why=f"no {label} sentence",
            )
