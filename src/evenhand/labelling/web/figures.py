"""The figures of the owner's page, computed again only when there are new votes."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.questionnaire import Question
from evenhand.labelling.records import Records, read_records
from evenhand.labelling.report import report
from evenhand.labelling.web.site import Site
from evenhand.reports import Section
from evenhand.reports.numbers import count, interval_text, number, value_text
from evenhand.reports.wording import origin_mark, remarks

_RESAMPLES = 500
"""Fewer than in a report: the page is looked at while it changes."""
_LEVEL = 0.95
_JUDGED = "posts_judged"
_FIRST = (_JUDGED, "percent_agreement", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")


@dataclass(frozen=True)
class Row:
    """A finding as a row of a table."""

    measure: str
    group: str
    value: str
    interval: str
    n: str
    why: str
    mark: str
    """Whether it is simulated."""
    first: bool
    """Shown at once; the others on request."""


@dataclass(frozen=True)
class Annotator:
    """One annotator's sheet: what they answered, as a view among others."""

    name: str
    cohort: str
    posts: int
    shares: Sequence[str]
    """Share of each answer to the main question."""
    checks: str
    """Known answers matched, of how many."""


@dataclass(frozen=True)
class Part:
    """A section of the page."""

    question: Question | None
    """The question whose answers are compared; None for estimates."""
    notes: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Figures:
    """Everything the page shows."""

    notes: Sequence[str]
    """What holds for every question."""
    parts: Sequence[Part]
    annotators: Sequence[Annotator]
    background: Mapping[str, Mapping[str, int]]


_LOCK = threading.Lock()
_KEPT: WeakKeyDictionary[Site, tuple[object, Figures]] = WeakKeyDictionary()


def figures_of(site: Site) -> Figures:
    """The figures of now; one computation at a time."""
    with _LOCK:
        totals = site.store.progress()
        now = (tuple(sorted(totals.states.items())), totals.cases_settled, totals.cohorts)
        kept = _KEPT.get(site)
        if kept is None or kept[0] != now:
            kept = (now, _figures(site))
            _KEPT[site] = kept
        return kept[1]


def _figures(site: Site) -> Figures:
    records = read_records(site.store, site.posts)
    try:
        made = report(site.campaign, records, estimate=site.estimate, seed=0, resamples=_RESAMPLES)
        parts = [_part(site.campaign, section) for section in made.sections]
    except (BadInput, NotEnoughData):
        parts = []  # nobody has voted yet
    notes = next((part.notes for part in parts if part.question), ())
    parts = [replace(part, notes=[n for n in part.notes if n not in notes]) for part in parts]
    return Figures(notes, parts, _annotators(site.campaign, records), records.background)


def _part(campaign: Campaign, section: Section) -> Part:
    """A section; of a cohort that has not answered a question only that is said."""
    name = next((f.group["question"] for f in section.findings if "question" in f.group), "")
    voted = {f.group.get("cohort") for f in section.findings if f.measure == _JUDGED and f.value}
    told = [
        finding
        for finding in section.findings
        if "question" not in finding.group
        or finding.measure == _JUDGED
        or finding.group.get("cohort") in voted
    ]
    question = campaign.questionnaire.question(str(name))
    return Part(question, tuple(section.paragraphs), [_row(finding) for finding in told])


def _row(finding: Finding) -> Row:
    """A row; of the many measures of agreement the usual ones come first."""
    agreement = "question" in finding.group
    shown = {k: v for k, v in finding.group.items() if k != "question"}
    group = " · ".join(str(value) for value in shown.values())
    return Row(
        finding.measure.replace("_", " "),
        group,
        value_text(finding),
        interval_text(finding),
        count(finding.n),
        "; ".join(remarks(finding, level=_LEVEL)),
        origin_mark(finding),
        not agreement or finding.measure in _FIRST and len(shown) == 1,
    )


def _annotators(campaign: Campaign, records: Records) -> list[Annotator]:
    """Sorted by pseudonym, which says nothing: this is no ranking."""
    judgements = records.corpus.judgements
    if judgements is None or not judgements.height:
        return []
    main = judgements.filter(pl.col("question") == campaign.main.id)
    checks = records.checks.filter(pl.col("question") == campaign.main.id)
    right = {
        name: f"{int(part['right'].sum())}/{part.height}"
        for (name,), part in checks.group_by("annotator")
    }
    found = []
    for (cohort, name), part in main.group_by("cohort", "annotator"):
        given = part["answer"].explode().value_counts()
        many = dict(given.iter_rows())
        shares = [number(many.get(label, 0) / part.height) for label in campaign.main.labels]
        found.append(Annotator(str(name), str(cohort), part.height, shares, right.get(name, "–")))
    return sorted(found, key=lambda one: (one.cohort, one.name))
