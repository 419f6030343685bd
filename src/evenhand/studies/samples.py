"""Drawing and weighing: the functions behind `sample` and `weigh`.

A folder that `sample` made holds posts, draws and strata; once judgements are added, weights are
computed anew on the posts that got them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.files import read_rows
from evenhand.data.find import ABOUT, about, tables, used
from evenhand.reports import Section
from evenhand.sampling.draw import Drawn, again, draw
from evenhand.sampling.plan import plan
from evenhand.stats.weights import Weighed, effective, weigh, weight_findings
from evenhand.studies.parts import Parts


def read_volumes(path: Path) -> dict[str, float]:
    """Stratum → true volume, from a file with the columns stratum and volume."""
    rows = read_rows(path, need=("stratum", "volume"))
    faults, volumes = [], {}
    for line, stratum, text in rows.select("line", "stratum", "volume").iter_rows():
        try:
            volume = float(text)
        except (TypeError, ValueError):
            volume = float("nan")
        if not np.isfinite(volume) or volume <= 0:
            faults.append(f"{path} line {line}: volume {text!r}; expected a number above 0")
        elif stratum in volumes:
            faults.append(f"{path} line {line}: stratum {stratum!r} stands there twice")
        volumes[stratum] = volume
    if faults:
        raise BadInput(*faults[:20], total=len(faults))
    return volumes


def strata_of(corpus: Corpus, column: str) -> pl.Series:
    """The stratum of every post: a tag, or the day of its date."""
    posts = corpus.posts
    if column == "day" and not posts.select(tag("day", posts)).to_series().count():
        return posts.select(pl.col("date").dt.strftime("%Y-%m-%d")).to_series()
    found = posts.select(tag(column, posts)).to_series()
    if not found.count():
        raise BadInput(f"{corpus.name}: no post has {column!r}; name a column with --stratum")
    return found


def draw_sample(
    run: Run,
    corpus: Corpus,
    *,
    stratum: str,
    volumes: Mapping[str, float] | None,
    target: int,
    enrich: int,
    flags: pl.Series | None,
) -> Parts:
    """Draw B by stratum and F from the flagged rest; the parts hold the new folder of records."""
    run.data.append(used(corpus))
    strata = strata_of(corpus, stratum)
    if volumes is None:
        volumes = {name: float(n) for name, n in strata.drop_nulls().value_counts().iter_rows()}
    frame = pl.DataFrame(
        {
            "post": corpus.posts["id"],
            "stratum": strata,
            "flag": flags
            if flags is not None
            else pl.repeat(False, corpus.posts.height, eager=True),
        }
    )
    drawn = draw(frame, volumes, target=target, enrich=enrich, seed=run.seed)
    run.findings += [replace(f, origin=corpus.origin) for f in _draw_findings(drawn, frame)]
    kept = _only(corpus, drawn)
    sections = [Section("The sample", drawn.notes, run.findings)]
    sentences = [
        f"{drawn.draws.height:,} of {corpus.posts.height:,} posts drawn from "
        f"{drawn.strata['stratum'].n_unique():,} strata, {drawn.draws['flag'].sum():,} flagged.",
        *drawn.notes,
    ]
    return Parts("Sample", sections, sentences, tables(kept), {ABOUT: about(kept)})


def draw_again(run: Run, corpus: Corpus, *, sizes: Mapping[str, int], votes: int | None) -> Parts:
    """A second phase from the labelled posts of a folder, by flag."""
    run.data.append(used(corpus))
    judgements = first_answers(corpus)
    counted = judgements.group_by("post").agg(pl.len().alias("votes"))
    if votes is not None:
        counted = counted.filter(pl.col("votes") == votes)
    if corpus.draws is None:
        raise BadInput(f"{corpus.name}: no draws; a second phase needs the first")
    named = pl.when(pl.col("flag")).then(pl.lit("flagged")).otherwise(pl.lit("rest"))
    frame = counted.join(corpus.draws.select("post", "flag"), on="post").select(
        "post", stratum=named
    )
    drawn = again(frame, sizes, seed=run.seed)
    run.findings += [replace(f, origin=corpus.origin) for f in _draw_findings(drawn, frame)]
    kept = replace(corpus, draws=pl.concat([corpus.draws, drawn.draws]))
    parts = [Section("The second phase", drawn.notes, run.findings)]
    return Parts("Second phase", parts, drawn.notes, tables(kept), {ABOUT: about(kept)})


def plan_sample(
    run: Run, corpus: Corpus, *, half_width: float, by: str | None, design_effect: float
) -> Parts:
    """What a precision costs, from the judgements of a pilot."""
    run.data.append(used(corpus))
    judgements = first_answers(corpus)
    yes = pl.col("answer").list.eval(pl.element().is_in(list(corpus.hateful))).list.any()
    pilot = judgements.select("post", "seconds", yes=yes.cast(pl.Int8))
    groups = None
    if by is not None:
        column = corpus.posts.select(tag(by, corpus.posts)).to_series().drop_nulls()
        if not len(column):
            raise BadInput(f"{corpus.name}: no post has {by!r}")
        groups = {str(name): n / len(column) for name, n in column.value_counts().iter_rows()}
    found = plan(
        pilot, half_width=half_width, groups=groups, design_effect=design_effect, seed=run.seed
    )
    run.findings += [replace(f, origin=corpus.origin) for f in found]
    sentences = [
        f"±{100 * half_width:g} percentage points{' in each group' if groups else ''} need about "
        f"{posts.value or 0:,.0f} posts with {posts.group['votes_per_post']} "
        f"{'vote' if posts.group['votes_per_post'] == 1 else 'votes'} each"
        + (f", {hours.value:,.0f} hours." if hours.value is not None else ".")
        for posts, _, hours in zip(found[::3], found[1::3], found[2::3], strict=True)
    ]
    return Parts("Plan", [Section("What the precision costs", (), run.findings)], sentences)


def _draw_findings(drawn: Drawn, frame: pl.DataFrame) -> list[Finding]:
    n = drawn.draws.height
    flagged = int(drawn.draws["flag"].sum())
    phase = int(drawn.draws["phase"][0])
    return [
        Finding(measure="drawn", value=n, n=frame.height, group={"phase": phase}, unit="posts"),
        Finding(
            measure="drawn",
            value=flagged,
            n=frame.height,
            group={"phase": phase, "flag": "flagged"},
            unit="posts",
        ),
        Finding(
            measure="n_effective",
            value=effective(drawn.draws["weight"].to_numpy()),
            n=n,
            group={"phase": phase},
            method="(Σw)² / Σw² of the design weights",
            unit="posts",
            weighted=True,
        ),
    ]


def _only(corpus: Corpus, drawn: Drawn) -> Corpus:
    """The corpus of the drawn posts."""
    ids = drawn.draws["post"].implode()

    def kept(table: pl.DataFrame | None) -> pl.DataFrame | None:
        return None if table is None else table.filter(pl.col("post").is_in(ids))

    posts = corpus.posts.filter(pl.col("id").is_in(ids)).sort("id")
    return replace(
        corpus,
        rows=posts.height,
        posts=posts,
        draws=drawn.draws,
        strata=drawn.strata,
        gold=kept(corpus.gold),
        judgements=kept(corpus.judgements),
        scores=kept(corpus.scores),
    )


def first_answers(corpus: Corpus) -> pl.DataFrame:
    """First answers to the main question."""
    if corpus.judgements is None:
        raise NotEnoughData(f"{corpus.name}: no judgements yet")
    first = (pl.col("question") == corpus.question) & (pl.col("attempt") == 1)
    found = corpus.judgements.filter(first)
    if not found.height:
        raise NotEnoughData(f"{corpus.name}: no judgement answers {corpus.question!r}")
    return found


def weigh_sample(run: Run, corpus: Corpus, volumes: Mapping[str, float] | None) -> Parts:
    """Weights on the posts actually analysed, written back into the draws."""
    run.data.append(used(corpus))
    weighed = weights_of(corpus, volumes)
    run.findings += [replace(f, origin=corpus.origin) for f in weight_findings(weighed)]
    weights = weighed.table.select("post", "weight")
    draws = corpus.draws
    if draws is None:
        raise BadInput(f"{corpus.name}: no draws to weigh")
    kept = replace(
        corpus,
        draws=draws.drop("weight").join(weights, on="post").select(draws.columns).sort("post"),
    )
    notes = [f.why for f in run.findings if f.why]
    size = run.findings[0]
    sentences = [
        f"{size.n:,} analysed posts weigh as much as {size.value or 0:,.0f} drawn at random.",
        *notes,
    ]
    sections = [Section("Weights", sentences, run.findings)]
    return Parts("Weights", sections, sentences, tables(kept), {ABOUT: about(kept)})


def weights_of(corpus: Corpus, volumes: Mapping[str, float] | None = None) -> Weighed:
    """The weights of the first phase, on posts that have an answer to the main question."""
    if corpus.draws is None or corpus.strata is None:
        raise BadInput(f"{corpus.name}: no draws and strata; `evenhand sample` makes them")
    strata = corpus.strata
    if volumes is not None:
        lost = sorted(set(strata["stratum"]) - set(volumes))
        if lost:
            raise BadInput(
                f"{len(lost)} strata of the sample have no volume: {', '.join(lost[:20])}"
            )
        column = pl.col("stratum").replace_strict(dict(volumes), return_dtype=pl.Float64)
        strata = strata.with_columns(volume=column)
    analysed = first_answers(corpus)["post"].unique()
    return weigh(corpus.draws.filter(pl.col("phase") == 1), analysed, strata)
