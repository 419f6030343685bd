"""From a labelled sample to a claim: the functions behind `estimate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.files import read_rows
from evenhand.data.find import used
from evenhand.reports import Figure, Section, bars
from evenhand.stats.population import (
    FEWEST_PEOPLE,
    FEWEST_POSTS,
    HATEFUL,
    OVERS,
    Over,
    Sample,
    estimate,
    vote_count_weights,
)
from evenhand.stats.weights import second_phase, weigh
from evenhand.studies.parts import Parts
from evenhand.studies.powered import Power, powered
from evenhand.studies.samples import first_answers, weights_of

_WIDER = 1.5
_CHECK_RESAMPLES = 1000


@dataclass(frozen=True)
class Claim:
    """What is asked of a sample."""

    by: Sequence[Sequence[str]] = ()
    over: Over = "posts"
    cohort: str | None = None
    count_votes: bool = False
    """Whether posts with more votes weigh more."""
    people: Path | None = None
    """A file that says who is in which group: columns target and any others."""


def estimate_population(
    run: Run, corpus: Corpus, claim: Claim, power: Power | None = None
) -> Parts:
    """Population shares with the sentences a journalist can quote."""
    run.data.append(used(corpus))
    sample, notes = sample_of(corpus, claim)
    found = estimate(sample, by=claim.by, over=claim.over, seed=run.seed)
    found += _widths(sample, _main(found), claim.over, run.seed)
    if power is not None:
        run.data.append(used(power.frame))
        found += powered(corpus, sample, power, seed=run.seed)
    run.findings += [replace(f, origin=corpus.origin) for f in found]
    quotes = sentences_of(_judges(corpus, claim), run.findings)
    warnings = [f.why for f in run.findings if f.why and f.why.startswith("warning")]
    sentences = [*quotes, *notes, *warnings]
    figures = estimate_figures(run.findings, simulated=corpus.origin == "simulated")
    sections = [Section("Estimates", sentences, run.findings, figures)]
    return Parts(f"Estimates: {corpus.name}", sections, sentences)


def estimate_figures(findings: Sequence[Finding], *, simulated: bool) -> list[Figure]:
    """Bars with intervals, one figure for the whole and one for each way of grouping."""
    shown = [f for f in findings if f.measure == "population_share" and f.value is not None]
    kinds: dict[tuple[str, ...], list[Finding]] = {}
    for finding in shown:
        if "label" not in finding.group:
            kinds.setdefault(tuple(finding.group), []).append(finding)
    return [
        bars(
            f"Hateful share of mentions{' by ' + ' and '.join(keys) if keys else ''}",
            [" · ".join(map(str, f.group.values())) or "all" for f in found],
            [f.value or 0.0 for f in found],
            low=[f.low for f in found],
            high=[f.high for f in found],
            axis="share of mentions",
            caption=f"{found[0].method}; {found[0].unit} resampled, 95 % intervals.",
            simulated=simulated,
        )
        for keys, found in kinds.items()
    ]


def sample_of(corpus: Corpus, claim: Claim) -> tuple[Sample, list[str]]:
    """The weighted sample a claim is made from, and notes on how it came about."""
    judgements = first_answers(corpus)
    notes: list[str] = []
    if claim.cohort is not None:
        judgements = judgements.filter(pl.col("cohort") == claim.cohort)
        if not judgements.height:
            raise NotEnoughData(f"{corpus.name}: nobody of cohort {claim.cohort!r} answered")
    cohorts = sorted(judgements["cohort"].drop_nulls().unique())
    if len(cohorts) > 1:
        notes.append(f"The votes of {' and '.join(cohorts)} are pooled; choose with --cohort.")
    places, frame = _places(corpus, judgements, notes)
    ids = places.select("post").with_row_index("row")
    labels, shares, votes = _shares(corpus, judgements, ids)
    if claim.count_votes:
        many = votes.group_by("row").len().sort("row")["len"].to_numpy()
        factor = vote_count_weights(many, shares[:, labels.index(HATEFUL)])
        places = places.with_columns(weight=pl.col("weight") * pl.Series(factor))
        notes.append("Posts with more votes weigh more (by their number of votes only).")
    sample = Sample(
        posts=places,
        shares=shares,
        labels=labels,
        mentions=_mentions(corpus, ids, claim),
        votes=None if judgements["anonymous"].any() else votes,
        frame=frame,
    )
    return sample, notes


def _places(
    corpus: Corpus, judgements: pl.DataFrame, notes: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Columns post, weight, cell, author, sorted by post; and the frame of the weights."""
    frame = None
    answered = judgements["post"].unique()
    authors = corpus.posts.select(post="id", author="author")
    phase_two = corpus.draws is not None and set(answered) <= set(
        corpus.draws.filter(pl.col("phase") == 2)["post"]
    )
    if corpus.draws is None or corpus.strata is None:
        notes.append("No draws: every post counts the same, as if drawn at random.")
        table = pl.DataFrame({"post": answered}).with_columns(
            weight=pl.lit(1.0), cell=pl.lit("all")
        )
    elif phase_two:
        first = weights_of(corpus).table
        second = corpus.draws.filter(pl.col("phase") == 2)
        table = second_phase(first, second, answered)
        notes.append("Second phase: both phases' probabilities are in the weights.")
    else:
        weighed = weigh(corpus.draws.filter(pl.col("phase") == 1), answered, corpus.strata)
        table, frame = weighed.table.select("post", "weight", "cell"), weighed.frame
    return table.join(authors, on="post", how="left").sort("post"), frame


def _shares(
    corpus: Corpus, judgements: pl.DataFrame, ids: pl.DataFrame
) -> tuple[list[str], np.ndarray, pl.DataFrame]:
    """Labels (hateful first), vote shares per post, and the votes themselves."""
    found = sorted(set(judgements["answer"].explode()))
    labels = [HATEFUL, *found]
    hateful = [label for label in corpus.hateful if label in found]
    if not hateful:
        raise BadInput(
            f"{corpus.name}: no answer is declared hateful; the answers are {', '.join(found)}"
        )
    rows = judgements.join(ids, on="post").sort("row", "annotator")
    columns = [pl.col("answer").list.eval(pl.element().is_in(hateful)).list.any()]
    columns += [pl.col("answer").list.contains(label) for label in found]
    marks = rows.select("row", *(c.alias(f"{i}") for i, c in enumerate(columns)))
    shares = marks.group_by("row").agg(pl.all().mean()).sort("row").drop("row").to_numpy()
    code = pl.when(columns[0]).then(0).otherwise(1)
    return labels, shares.astype(np.float64), rows.select("row", "annotator", label=code)


def _mentions(corpus: Corpus, ids: pl.DataFrame, claim: Claim) -> pl.DataFrame:
    """One row per mention; a post that mentions nobody known counts once."""
    wanted = sorted({name for columns in claim.by for name in columns})
    posts = ids.join(corpus.posts, left_on="post", right_on="id", how="left").sort("row")
    known = [c for c in wanted if posts.select(tag(c, posts)).to_series().count()]
    table = posts.select("row", *(tag(c, posts) for c in known), target=pl.col("targets")).explode(
        "target", empty_as_null=True
    )
    if claim.people is not None:
        people = read_rows(claim.people, need=("target",)).drop("line").unique("target")
        extra = [c for c in people.columns if c != "target" and c in wanted and c not in known]
        table = table.join(people.select("target", *extra), on="target", how="left")
    return table


def _main(findings: Sequence[Finding]) -> Finding | None:
    return next((f for f in findings if not f.group and f.measure == "population_share"), None)


def _widths(sample: Sample, main: Finding | None, over: Over, seed: int) -> list[Finding]:
    """How much wider the main figure's interval is when something else is resampled."""
    if main is None or main.low is None or main.high is None:
        return []
    found = []
    for other in OVERS:
        if other == over:
            continue
        try:
            figure = _main(estimate(sample, over=other, seed=seed, resamples=_CHECK_RESAMPLES))
        except NotEnoughData as error:
            found.append(_ratio(other, None, main.n, str(error)))
            continue
        if figure is None:
            continue
        width = (figure.high or 0) - (figure.low or 0)
        own = main.high - main.low
        ratio = width / own if own > 0 else None
        changed = ratio is not None and not 1 / _WIDER <= ratio <= _WIDER
        why = None
        if ratio is None:
            why = "the interval has no width"
        elif changed:
            why = f"warning: resampling {figure.unit} changes the width by more than half"
        found.append(_ratio(other, ratio, main.n, why))
    return found


def _ratio(over: str, value: float | None, n: int, why: str | None) -> Finding:
    return Finding(
        measure="interval_width_ratio",
        value=value,
        n=n,
        group={"over": over},
        method=f"width over the main interval's, {_CHECK_RESAMPLES:,} resamples of {over}",
        unit="posts",
        weighted=True,
        why=why,
    )


def sentences_of(judged_by: str, findings: Sequence[Finding]) -> list[str]:
    """Sentences to quote: share, interval, of what, as judged by whom, what was resampled."""
    sentences = []
    withheld = 0
    for finding in findings:
        if finding.measure != "population_share" or "label" in finding.group:
            continue
        where = ", ".join(f"{key} {value}" for key, value in finding.group.items())
        place = f" ({where})" if where else ""
        if finding.value is None:
            withheld += 1
            continue
        low, high = 100 * (finding.low or 0), 100 * (finding.high or 0)
        sentences.append(
            f"{100 * finding.value:.1f} % [{low:.1f}, {high:.1f}] of the mentions{place} are "
            f"hateful, as judged by {judged_by} ({finding.n:,} posts; {finding.unit} resampled, "
            "95 %)."
        )
    if withheld:
        sentences.append(
            f"{withheld} groups are withheld: fewer than {FEWEST_POSTS} posts or {FEWEST_PEOPLE} "
            "people mentioned, or they would reveal one that is."
        )
    return sentences


def _judges(corpus: Corpus, claim: Claim) -> str:
    cohorts = sorted(set(first_answers(corpus)["cohort"].drop_nulls()))
    if claim.cohort is not None:
        name = claim.cohort
    else:
        name = " and ".join(cohorts) if cohorts else "annotators"
    return f"people like these {name}" if claim.over == "annotators" else f"these {name}"
