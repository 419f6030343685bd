"""The demo: a made-up population through the house, as far as the house is built.

Now: population → check → a split without leaks → a provider's sample → a filter → a draw →
simulated volunteers and experts → agreement → gold → a validated recipe → population estimates →
detectors against people → the report card of a detector → the detectors in the box on all posts
and on three sentences. Every figure but those last scores is simulated and says so; what is known
because it was made up stands beside what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding, Split
from evenhand.data.check import check, leaks
from evenhand.data.corpus import Corpus
from evenhand.data.find import ABOUT, about, tables
from evenhand.data.leaks import tie_findings
from evenhand.data.splits import KEEP, holdout, ties
from evenhand.reports import Figure, Section, bars
from evenhand.stats.votes import vote_shares
from evenhand.stats.weights import weight_findings
from evenhand.studies import people
from evenhand.studies.compare import compare
from evenhand.studies.data_reports import check_sections, check_sentences
from evenhand.studies.demo_audit import audited
from evenhand.studies.demo_campaign import FILTER, Campaign, run_campaign
from evenhand.studies.demo_score import scored, scored_file
from evenhand.studies.estimates import Claim, estimate_population
from evenhand.studies.parts import Parts, Step, silent
from evenhand.studies.population import ABUSE_RATE, Population, make_population
from evenhand.studies.powered import Power
from evenhand.studies.samples import weights_of
from evenhand.studies.validation import Asked, validate
from evenhand.studies.volunteers import ANSWERS, EXPERTS, VOLUNTEERS

_STEPS = 15
_AGREEMENT = ("posts_judged", "percent_agreement", "fleiss_kappa", "krippendorff_alpha", "icc_1_1")
_RECIPE = "naive-bayes"
_VALIDATION = ("macro_f1", "macro_f1_difference", "auc")
_DETECTION = ("f1_best", "f1", "average_precision", "auc")


def run_demo(run: Run, *, posts: int, step: Step = silent) -> Parts:
    """The whole chain; the parts hold the labelled sample as a folder of records."""
    step("Making up a population", 0, _STEPS)
    population = make_population(posts, run.seed)
    corpus = population.corpus
    run.data.append(DataUsed(f"{corpus.name} (simulated)", corpus.rows, None))
    sections, sentences = _first_half(run, population, step)
    step("Drawing a sample and asking people", 3, _STEPS)
    campaign = run_campaign(run, population)
    labelled = replace(campaign.labelled, gold=vote_shares(_crowd(campaign)))
    for number, (name, part) in enumerate(_second_half(run, population, campaign, labelled), 4):
        step(name, number, _STEPS)
        sections += part.sections
        sentences += part.summary
    return Parts(
        "Evenhand demo",
        sections,
        sentences,
        tables(labelled),
        {ABOUT: about(labelled)},
    )


def _first_half(run: Run, population: Population, step: Step) -> tuple[list[Section], list[str]]:
    """The population, its check, and a split that keeps what belongs together."""
    corpus = population.corpus
    truth = _truth(population)
    run.findings.append(truth)
    step("Checking it for leaks", 1, _STEPS)
    run.findings += check(corpus, run.seed)
    checked = check_sections(corpus, run.findings[1:])
    sentences = check_sentences(corpus, run.findings)
    step("Splitting it without leaks", 2, _STEPS)
    kept = _without_leaks(corpus, run.seed)
    run.findings += kept
    crossing = sum(int(finding.value or 0) for finding in leaks(kept))
    sentences.append(f"In a split made by Evenhand, {crossing} posts have their like across it.")
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
    return sections, sentences


def _second_half(
    run: Run, population: Population, campaign: Campaign, labelled: Corpus
) -> list[tuple[str, Parts]]:
    """Agreement, gold, a recipe, estimates and detectors, as the commands of these names do."""
    sample = campaign.labelled
    crowd = replace(sample, judgements=_crowd(campaign))
    weights = [replace(f, origin="simulated") for f in weight_findings(weights_of(crowd))]
    run.findings += weights
    drawn = Parts(
        "",
        [
            Section(
                "A sample that can be labelled",
                [
                    "Simulated: a provider gives a part of every day; posts are drawn in "
                    "proportion to the days' true volumes and enriched with what a Naive Bayes "
                    "filter, fitted on another made-up population, flags. Volunteers give three "
                    "votes a post, three experts label a second-phase sample. Weights lead back "
                    "to the population.",
                ],
                weights,
            )
        ],
    )
    question = people.Question(order=ANSWERS)
    agreed = _brief(_part(run, lambda part: people.agree(part, sample, question)), _AGREEMENT)
    gold = _part(run, lambda part: people.aggregate(part, crowd, question, method="shares"))
    asked = Asked(protocol="author-disjoint:5")
    validated = _part(run, lambda part: validate(part, labelled, _RECIPE, asked))
    validated = _brief(
        replace(
            validated,
            sections=[
                replace(section, title=f"A recipe trained on the gold: {section.title.lower()}")
                for section in validated.sections[:2]
            ],
        ),
        _VALIDATION,
    )
    estimates = [
        _estimated(run, campaign, Claim(cohort=VOLUNTEERS.name), powered=True),
        _estimated(run, campaign, Claim(cohort=VOLUNTEERS.name, over="annotators")),
    ]
    compared = _part(
        run,
        lambda part: compare(
            part,
            sample,
            {FILTER: campaign.detector},
            crowd=VOLUNTEERS.name,
            experts=EXPERTS.name,
        ),
    )
    compared = _brief(compared, _DETECTION)
    truth = _beside_truth(run, campaign)
    # The sheet of every volunteer would fill the page; `evenhand aggregate` shows it.
    gold = replace(gold, sections=gold.sections[:1])
    return [
        ("Weighing", drawn),
        ("Agreement", agreed),
        ("Gold", gold),
        ("Validating a recipe", validated),
        ("Estimates", estimates[0]),
        ("Estimates, annotators resampled", estimates[1]),
        ("The truth", truth),
        ("Detectors against people", compared),
        ("A report card", audited(run, labelled, _RECIPE)),
        ("A file", scored_file(run, population.corpus)),
        ("The detector in the box", scored(run)),
    ]


def _brief(parts: Parts, measures: Sequence[str]) -> Parts:
    """Only the unweighted figures of some measures (the findings keep all of them)."""
    sections = [
        replace(
            section,
            findings=[f for f in section.findings if f.measure in measures and not f.weighted]
            or [f for f in section.findings if f.measure in measures],
        )
        for section in parts.sections
    ]
    return replace(parts, sections=sections)


def _crowd(campaign: Campaign) -> pl.DataFrame:
    judgements = campaign.labelled.judgements
    if judgements is None:
        raise AssertionError("the demo's campaign has judgements")
    return judgements.filter(pl.col("cohort") == VOLUNTEERS.name)


def _part(run: Run, study: Callable[[Run], Parts]) -> Parts:
    """A study's parts; its findings join the demo's."""
    own = Run(run.command, run.seed)
    parts = study(own)
    run.findings += own.findings
    return parts


def _estimated(run: Run, campaign: Campaign, claim: Claim, *, powered: bool = False) -> Parts:
    power = Power(FILTER, campaign.frame, "day") if powered else None
    parts = _part(run, lambda part: estimate_population(part, campaign.labelled, claim, power))
    title = f"Estimates, {'annotators too' if claim.over == 'annotators' else 'posts'} resampled"
    sections = [replace(section, title=title) for section in parts.sections]
    return replace(parts, sections=sections)


def _beside_truth(run: Run, campaign: Campaign) -> Parts:
    """The truth, known because it was made up, beside the estimates of it."""
    truth = Finding(
        measure="true_share",
        value=campaign.truth,
        n=campaign.frame.posts.height,
        method="hateful votes if people like the volunteers had judged the whole population",
        unit="posts",
        origin="simulated",
        why="no interval: known because made up",
    )
    crowd = _crowd(campaign)
    hateful = pl.col("answer").list.first() != ANSWERS[0]
    plain = Finding(
        measure="unweighted_share",
        value=float(crowd.select(hateful.mean()).item()),
        n=crowd["post"].n_unique(),
        method="share of hateful votes, unweighted: the enriched sample is not the population",
        unit="posts",
        origin="simulated",
        why="no interval: shown as a warning",
    )
    run.findings += [truth, plain]
    section = Section(
        "The truth beside it",
        ["Simulated: what nobody knows in a real campaign."],
        [truth, plain],
        [_truth_figure(run.findings, truth, plain)],
    )
    return Parts(
        "",
        [section],
        [
            f"The true share is {100 * campaign.truth:.1f} %; unweighted votes would say "
            f"{100 * (plain.value or 0):.1f} %."
        ],
    )


def _truth_figure(findings: Sequence[Finding], truth: Finding, plain: Finding) -> Figure:
    shown = [f for f in findings if f.measure == "population_share" and not f.group]
    shown += [f for f in findings if f.measure == "population_share_powered"]
    names = [f"{f.measure.replace('_', ' ')}: {f.unit}" for f in shown]
    everything = [truth, *shown, plain]
    return bars(
        "Hateful share: truth and estimates",
        ["truth", *names, "unweighted votes"],
        [f.value or 0.0 for f in everything],
        low=[f.low for f in everything],
        high=[f.high for f in everything],
        axis="share",
        caption="95 % intervals; all simulated.",
        simulated=True,
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
