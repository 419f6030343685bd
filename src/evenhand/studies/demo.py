"""The demo: a made-up population through the house, as far as the house is built.

Now: population → check → a split that keeps copies and authors on one side. Every figure is
simulated and says so; what is known because it was made up stands beside what was found.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding, Split
from evenhand.data.check import check, leaks
from evenhand.data.corpus import Corpus
from evenhand.data.find import ABOUT, about, tables
from evenhand.data.leaks import tie_findings
from evenhand.data.splits import KEEP, holdout, ties
from evenhand.reports import Section
from evenhand.studies.data_reports import check_sections, check_sentences
from evenhand.studies.parts import Parts, Step, silent
from evenhand.studies.population import ABUSE_RATE, Population, make_population

_STEPS = 3


def run_demo(run: Run, *, posts: int, step: Step = silent) -> Parts:
    """Make up a population, check it, and split it without leaks."""
    step("Making up a population", 0, _STEPS)
    population = make_population(posts, run.seed)
    corpus = population.corpus
    run.data.append(DataUsed(f"{corpus.name} (simulated)", corpus.rows, None))
    truth = _truth(population)
    run.findings.append(truth)
    step("Checking it for leaks", 1, _STEPS)
    run.findings += check(corpus, run.seed)
    checked = check_sections(corpus, run.findings[1:])
    sentences = check_sentences(corpus, run.findings)
    step("Splitting it without leaks", 2, _STEPS)
    kept = _without_leaks(corpus, run.seed)
    run.findings += kept
    sections = [
        Section(
            "A made-up population",
            [
                "Simulated: mild sentences of our own, authors who write much or little, days of "
                "one year, copies, and a known share of abusive posts. The 'published' split of "
                "this population was drawn at random, post by post, as many published ones are.",
            ],
            [truth],
        ),
        *checked,
        Section(
            "A split that keeps them apart",
            [
                "The same posts, divided so that authors, twins, templates and duplicates stay on "
                "one side, with the class shares kept as even as that allows.",
            ],
            kept,
        ),
    ]
    crossing = sum(int(finding.value or 0) for finding in leaks(kept))
    sentences.append(f"In a split made by Evenhand, {crossing} posts have their like across it.")
    return Parts(
        "Evenhand demo",
        sections,
        [f"Simulated: {sentence}" for sentence in sentences],
        tables(corpus),
        {ABOUT: about(corpus)},
    )


def _truth(population: Population) -> Finding:
    return Finding(
        measure="abuse_rate",
        value=population.abuse_rate,
        n=population.corpus.posts.height,
        method=f"counted over the whole population, made with rate {ABUSE_RATE}",
        unit="posts",
        origin="simulated",
        why="no interval: every post is counted",
    )


def _without_leaks(corpus: Corpus, seed: int) -> list[Finding]:
    """The leak measures under a split of ours."""
    gold = corpus.main_gold()
    posts = corpus.posts
    if gold is None:
        return []
    labels = posts.select(post="id").join(gold, on="post", how="left", maintain_order="left")
    tied = ties(corpus)
    split = holdout(
        posts["id"],
        labels["label"],
        tied,
        test=0.2,
        seed=seed,
        rule=f"{', '.join(KEEP)} on one side",
    )
    resplit = replace(corpus, posts=_tagged(posts, split))
    group = {"split": "made by evenhand"}
    found = [
        replace(finding, origin=corpus.origin, group=group)
        for finding in tie_findings(resplit)
        if finding.measure == "authors_across_splits"
    ]
    groups = pl.DataFrame({"tie": tied, "split": resplit.posts["tags"].struct.field("split")})
    torn = groups.filter(pl.col("split").n_unique().over("tie") > 1).height
    shares = (
        labels.with_columns(split=groups["split"])
        .group_by("split")
        .agg(rate=(pl.col("label") == "abusive").mean(), n=pl.len())
    )
    found.append(
        Finding(
            measure="duplicates_across_splits",
            value=torn,
            n=posts.height,
            group=group,
            unit="posts",
            origin=corpus.origin,
        )
    )
    found += [
        Finding(
            measure="abuse_rate",
            value=rate,
            n=n,
            group=group | {"side": side},
            method="counted over the side",
            unit="posts",
            origin=corpus.origin,
            why="no interval: every post is counted",
        )
        for side, rate, n in shares.sort("split").iter_rows()
    ]
    return found


def _tagged(posts: pl.DataFrame, split: Split) -> pl.DataFrame:
    """The posts with ``split`` as their published split."""
    test = pl.when(pl.col("id").is_in(list(split.test))).then(pl.lit("test"))
    return posts.with_columns(
        pl.col("tags").struct.with_fields(split=test.otherwise(pl.lit("train")))
    )
