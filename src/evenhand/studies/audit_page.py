"""The report card's page: a summary, the worst, the sections, limits and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from evenhand.audits.card import (
    against_sentence,
    brief,
    gates_section,
    limits_section,
    repeat_section,
    worst_section,
)
from evenhand.audits.index import Index
from evenhand.audits.suite_section import sentence
from evenhand.audits.weaknesses import uneven, weaknesses
from evenhand.audits.worst import worst
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.tables import scores_table
from evenhand.models.scoring import Scored
from evenhand.reports import Section
from evenhand.reports.numbers import count
from evenhand.studies.parts import Parts
from evenhand.studies.suites import Judged, Sat, answer_table


@dataclass(frozen=True)
class Card:
    """A report card, and what did not pass."""

    parts: Parts
    broken: Sequence[str]
    """The gates that do not hold."""


@dataclass(eq=False)
class Heard:
    """What was heard of a detector while it was audited."""

    judged: Judged
    sat: list[Sat] = field(default_factory=list)
    others: list[Scored] = field(default_factory=list)
    """Scores of template sentences."""
    other: Judged | None = None
    beside: str = ""
    """The detector it was compared with."""
    compared: Sequence[Finding] = ()
    failed_beside: int = 0
    gates: Sequence[tuple[str, str | None]] = ()
    """Every gate in words, and why it broke."""

    @property
    def broken(self) -> list[str]:
        """The gates that do not hold."""
        return [f"{words}: {why}" for words, why in self.gates if why is not None]

    @property
    def scored(self) -> list[Scored]:
        """Everything it scored, but for posts of corpora."""
        return [*(sat.scored for sat in self.sat), *self.others]


def make_card(run: Run, heard: Heard, sections: Sequence[Section], swearing: Sequence[str]) -> Card:
    """The card; ``swearing`` are the template sets that exchange swear words."""
    titles = {
        name: text.partition(":")[0] for sat in heard.sat for name, text in sat.suite.about.items()
    }
    index = Index(run.findings)
    listed = worst(weaknesses(run.findings, titles=titles, swearing=swearing))
    summary = [
        *_first_words(heard, index),
        *brief(index, uneven(run.findings, swearing=swearing), swearing),
        *_beside_words(heard),
        *(f"Gate broken: {why}" for why in heard.broken),
    ]
    everything = [
        worst_section(listed),
        *([gates_section(heard.gates)] if heard.gates else []),
        *sections,
        limits_section([note for sat in heard.sat for note in sat.suite.corpus.notes]),
        repeat_section(shlex.join(run.command), list(_materials(run, heard.judged, heard.other))),
    ]
    tables = {"scores": _score_records(heard)}
    if heard.sat:
        tables["answers"] = answer_table(heard.sat)
    parts = Parts(
        f"Report card: {heard.judged.name}",
        everything,
        summary,
        tables,
        terminal=[everything[0], *map(_in_short, sections)],
        also={
            "worst": list(everything[0].points),
            "gates": [{"gate": words, "broken": why} for words, why in heard.gates],
        },
    )
    return Card(parts, heard.broken)


def _in_short(section: Section) -> Section:
    """The first grid of a section, which is the overview."""
    return replace(section, findings=[], grids=section.grids[:1])


def _first_words(heard: Heard, index: Index) -> Iterator[str]:
    judged = heard.judged
    failed: dict[str, str] = {}
    for scored in heard.scored:
        failed.update(scored.failed)
    attribute = heard.scored[0].attribute
    words = f"{judged.name} flags a text when its {attribute} score is at least {judged.threshold}."
    if failed:
        reasons = "; ".join(sorted(set(failed.values()))[:3])
        words += (
            f" It failed on {count(len(failed))} texts, which count as answered wrongly: {reasons}."
        )
    yield words
    for sat in heard.sat:
        yield sentence(sat.suite.name, index, {"suite": sat.suite.name})


def _beside_words(heard: Heard) -> Iterator[str]:
    if heard.beside:
        yield against_sentence(heard.beside, heard.compared)
    if heard.failed_beside:
        yield (
            f"{heard.beside} failed on {count(heard.failed_beside)} cases, which count as answered "
            "wrongly."
        )


def _materials(run: Run, judged: Judged, other: Judged | None) -> Iterator[tuple[str, str]]:
    for what, one in (("detector", judged), ("the other", other)):
        if one is None:
            continue
        yield what, one.name
        provenance: Mapping[str, object] = getattr(one.detector, "provenance", {})
        for key, value in provenance.items():
            if value is not None and not isinstance(value, Mapping | list | tuple):
                yield f"{what}, {key.replace('_', ' ')}", str(value)
    for data in run.data:
        yield f"{data.name}, {count(data.rows)} rows", data.sha256 or "made from its templates"


def _score_records(heard: Heard) -> pl.DataFrame:
    """Scores of suites and templates, which ``predictions:FILE`` reads again."""
    frames = [
        scored.table.drop_nulls("p").select(
            "post", "p", detector=pl.lit(heard.judged.name), attribute=pl.lit(scored.attribute)
        )
        for scored in heard.scored
    ]
    return scores_table(pl.concat(frames), where="scores")
