"""Detectors on functional suites and identity templates: figures only, never which cases fail.

Gaps are those over comparable cases (:mod:`evenhand.stats.group_rates`), beside what chance gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evenhand.audits.answers import Answers, answered
from evenhand.audits.index import Index, figure
from evenhand.audits.suite_figures import UNIT, suite_figures
from evenhand.audits.suites import find_suite
from evenhand.audits.templates import read_set, sentences_of
from evenhand.core.errors import EvenhandError
from evenhand.core.records import Finding
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.models.protocol import HATE
from evenhand.reports.numbers import NOTHING, count, number
from evenhand.stats.detection import auc
from evenhand.stats.flips import identity_flip_rate
from evenhand.stats.group_rates import COMPARABLE, group_rates
from evenhand.studies.audit import SUITES
from evenhand.studies.kirk_tables import CHECK, HATECHECK, NAMES, SETS, TABLE_8

from .compared import Row
from .on_posts import PUBLISHED

TEMPLATES = ("gender", "religion", "nationality", "orientation", "disability", "age")


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases with one right answer each, some of which differ in the identity alone."""

    name: str
    table: pl.DataFrame
    """id, text, template, frame, pair, identity, hateful."""
    of_a_suite: bool

    @classmethod
    def of_suite(cls, name: str) -> Cases:
        """A suite's."""
        return cls(name, find_suite(name).cases().with_columns(pair=pl.lit("")), True)

    @classmethod
    def of_set(cls, name: str) -> Cases:
        """The sentences of a template set."""
        corpus: Corpus = sentences_of(read_set(name))
        posts, gold = corpus.posts, corpus.main_gold()
        assert gold is not None
        hateful = pl.col("label").is_in(list(corpus.hateful))
        tags = {"template": "template", "frame": "frame", "pair": "pair", "identity": "group"}
        table = posts.select("id", "text", **{own: tag(its, posts) for own, its in tags.items()})
        right = gold.select(id="post", hateful=hateful)
        return cls(name, table.join(right, on="id").sort("id"), False)

    def said(self, row: Row) -> pl.DataFrame:
        """The cases with p, flagged and right."""
        p = pl.DataFrame({"post": self.table["id"], "p": row.of(HATE, self.table["text"])})
        return answered(self.table, p, threshold=row.threshold).table


@dataclass(frozen=True, eq=False)
class Sat:
    """What a detector did with some cases."""

    cases: Cases
    row: Row

    @cached_property
    def said(self) -> pl.DataFrame:
        """The cases with its answers."""
        return self.cases.said(self.row)

    @cached_property
    def flips(self) -> Finding:
        """How often another identity in the same sentence changes the decision."""
        some = self.said.filter(pl.col("identity").is_not_null())
        label = pl.when("hateful").then(pl.lit("hateful")).otherwise(pl.lit("other"))
        sentences = some.select(
            "template", "frame", "pair", "flagged",
            post="id", group="identity", label=label, score="p",
        )  # fmt: skip
        return identity_flip_rate(sentences, unit=UNIT, seed=0)[0]

    @cached_property
    def found(self) -> Index:
        """Accuracy of a suite, and of anything the rates of identities and what is between them."""
        said = self.said
        if self.cases.of_a_suite:
            answers = Answers(table=said, threshold=self.row.threshold)
            return Index(suite_figures(answers, seed=0))
        return Index(
            group_rates(
                said["hateful"].to_numpy(),
                said["flagged"].to_numpy(),
                said["identity"].to_list(),
                clusters=said["template"].to_list(),
                frames=said["frame"].to_list(),
                unit=UNIT,
                seed=0,
            )
        )

    def gap(self, measure: str) -> Finding | None:
        """The gap between identities over comparable cases."""
        return self.found.get(measure, **COMPARABLE)

    def gap_words(self, measure: str) -> str:
        """The gap, its interval, and what chance gives."""
        chance = self.found.value(f"{measure}_shuffled", **COMPARABLE)
        return f"{figure(self.gap(measure))}; {number(chance)}"


def our_cases() -> list[Cases]:
    """Our frozen suites and template sets."""
    return [*map(Cases.of_suite, SUITES), *map(Cases.of_set, TEMPLATES)]


def published_cases() -> list[Cases]:
    """As much of the published suites as is installed."""
    found = []
    for name in (CHECK, HATECHECK):
        try:
            found.append(Cases.of_suite(name))
        except EvenhandError:
            continue
    return found


def on_ours(sat: Sequence[Sat]) -> list[str]:
    """The table of our suites and template sets."""
    lines = [
        "| cases | detector | n | accuracy (suites) or AUC (templates) | flip rate "
        "| TPR gap; by chance | FPR gap; by chance |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in sat:
        said = one.said
        if one.cases.of_a_suite:
            main = figure(one.found.get("accuracy"))
        else:
            main = number(auc(said["hateful"].to_numpy(), said["p"].to_numpy()))
        lines.append(
            f"| {one.cases.name} | {one.row.name} | {count(said.height)} | {main} "
            f"| {figure(one.flips)} | {one.gap_words('recall_gap')} | {one.gap_words('fpr_gap')} |"
        )
    return lines


def aims(sat: Sequence[Sat], name: str, reference: str) -> Iterator[str]:
    """Whether the aims for even treatment are reached, cases by cases."""
    by = {(one.cases.name, one.row.name): one for one in sat}
    yield "| cases | flip rate ≤ .020 | TPR gap ÷ `linear`'s (≤ .5) | FPR gap ÷ `linear`'s (≤ .5) |"
    yield "|---|---|---|---|"
    for cases in dict.fromkeys(one.cases.name for one in sat):
        own, other = by[cases, name], by[cases, reference]
        cells = [_reached(own.flips.value, 0.02)]
        for measure in ("recall_gap", "fpr_gap"):
            mine, theirs = (sat.found.value(measure, **COMPARABLE) for sat in (own, other))
            ratio = mine / theirs if mine is not None and theirs else None
            cells.append(_reached(ratio, 0.5))
        yield f"| {cases} | {' | '.join(cells)} |"


def _reached(value: float | None, most: float) -> str:
    if value is None:
        return NOTHING
    return f"{number(value)}, {'reached' if value <= most else 'not reached'}"


def on_published(cases: Sequence[Cases], rows: Sequence[Row]) -> list[str]:
    """The table of the published suites, as far as installed."""
    lines = ["| detector | suite | cases | accuracy |", "|---|---|---|---|"]
    for some in cases:
        for row in rows:
            found = Sat(some, row).found.get("accuracy")
            lines.append(
                f"| {row.name} | {NAMES[some.name]}, sample | {count(some.table.height)} "
                f"| {figure(found)} |"
            )
        column = list(SETS).index(some.name)
        for name, told in PUBLISHED.items():
            lines.append(
                f"| {told}: published | {NAMES[some.name]}, all | {count(SETS[some.name])} "
                f"| {number(TABLE_8[name][column][0])} |"
            )
    return lines
