"""What a campaign shows so far: agreement with intervals by question and cohort, and estimates.

Agreement is computed here. Estimates need the weights of a sample and are handed in by who calls
(``estimate``), because that work joins rooms above this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding
from evenhand.data.corpus import Corpus
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.questionnaire import CHOICES, Question
from evenhand.labelling.records import Records
from evenhand.reports import Section
from evenhand.stats.agreement import agreement
from evenhand.stats.answers import Scale
from evenhand.stats.intervals import RESAMPLES
from evenhand.stats.weights import weigh

Estimate = Callable[[Corpus, str], tuple[Sequence[Finding], Sequence[str]]]
"""From a corpus and a cohort to findings and sentences that can be quoted."""
_SCALES: dict[str, Scale] = {"one": "nominal", "ordinal": "ordinal", "several": "set"}
_NOTES = (
    "Intervals resample posts: they speak for other posts judged by people like these.",
    "κ depends on how common each answer is: compare cohorts on the same posts only.",
    "Nobody is ranked. People from targeted groups disagree with a majority for a reason.",
)


@dataclass(frozen=True)
class Report:
    """Findings by section, ready for a page."""

    title: str
    sections: tuple[Section, ...]
    summary: tuple[str, ...]
    findings: tuple[Finding, ...]


def report(
    campaign: Campaign,
    records: Records,
    *,
    estimate: Estimate | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Report:
    """The report of a campaign at any time; what does not exist yet is null with a reason."""
    corpus = records.corpus
    sections = []
    for question in campaign.questionnaire.questions:
        if question.kind in CHOICES:
            found = agreement_of(campaign, corpus, question, seed=seed, resamples=resamples)
            sections.append(Section(f"Agreement on {question.id!r}", _NOTES, found))
    summary: list[str] = []
    if estimate is not None:
        found, sentences = _estimates(campaign, corpus, estimate)
        sections.append(Section("Estimates", sentences, found))
        summary += sentences
    findings = tuple(finding for section in sections for finding in section.findings)
    main = [f for f in findings if f.measure == "fleiss_kappa" and _main(f, campaign)]
    summary[:0] = [_sentence(finding) for finding in main]
    return Report(f"Campaign: {campaign.name}", tuple(sections), tuple(summary), findings)


def agreement_of(
    campaign: Campaign,
    corpus: Corpus,
    question: Question,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Finding]:
    """Agreement of every cohort on one question, weighted too where posts were drawn."""
    found: list[Finding] = []
    judgements = corpus.judgements
    if judgements is None:
        return found
    weights = _weights(campaign, corpus)
    for cohort in campaign.cohorts:
        mine = (pl.col("cohort") == cohort.name) & (pl.col("question") == question.id)
        part = judgements.filter(mine)
        found += agreement(
            part,
            question=question.id,
            scale=_SCALES[question.kind],
            order=question.labels,
            weights=_covering(part, weights),
            group={"question": question.id, "cohort": cohort.name},
            seed=seed,
            resamples=resamples,
        )
    return [replace(finding, origin=corpus.origin) for finding in found]


def _weights(campaign: Campaign, corpus: Corpus) -> pl.DataFrame | None:
    if corpus.draws is None or corpus.strata is None or corpus.judgements is None:
        return None
    answered = corpus.judgements.filter(pl.col("question") == campaign.main.id)["post"].unique()
    try:
        first = corpus.draws.filter(pl.col("phase") == 1)
        return weigh(first, answered, corpus.strata).table.select("post", "weight")
    except (BadInput, NotEnoughData):
        return None  # early in a campaign there are too few posts in a cell to weigh


def _covering(judgements: pl.DataFrame, weights: pl.DataFrame | None) -> pl.DataFrame | None:
    if weights is None or not judgements.height:
        return None
    asked = judgements.select("post").unique()
    mine = weights.join(asked, on="post", how="semi")
    return mine if mine.height == asked.height else None


def _estimates(
    campaign: Campaign, corpus: Corpus, estimate: Estimate
) -> tuple[list[Finding], list[str]]:
    found: list[Finding] = []
    sentences: list[str] = []
    for cohort in campaign.cohorts:
        try:
            figures, quotes = estimate(corpus, cohort.name)
        except (BadInput, NotEnoughData) as error:
            found.append(
                Finding(
                    measure="population_share",
                    value=None,
                    n=0,
                    group={"cohort": cohort.name},
                    unit="posts",
                    why=str(error).splitlines()[0],
                )
            )
            continue
        found += [replace(f, group={**f.group, "cohort": cohort.name}) for f in figures]
        sentences += quotes
    return found, sentences


def _main(finding: Finding, campaign: Campaign) -> bool:
    return finding.group.get("question") == campaign.main.id and not finding.weighted


def _sentence(finding: Finding) -> str:
    who = finding.group["cohort"]
    if finding.value is None:
        return f"Fleiss κ of {who} does not exist yet: {finding.why}."
    interval = ""
    if finding.low is not None and finding.high is not None:
        interval = f" [{finding.low:.3f}, {finding.high:.3f}]"
    return f"Fleiss κ of {who} is {finding.value:.3f}{interval} over {finding.n:,} posts."
