"""Suites by themselves: what there is, the cases of one as files, a detector on one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evenhand.audits.answers import HALF, Answers, answered
from evenhand.audits.index import Index
from evenhand.audits.suite_figures import suite_figures
from evenhand.audits.suite_section import sentence, suite_section
from evenhand.audits.suites import Suite, find_suite
from evenhand.audits.templates import expand, read_set
from evenhand.audits.validated import validated, validation_words
from evenhand.core import registry
from evenhand.core.errors import BadInput, EvenhandError
from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding
from evenhand.data.corpus import Corpus
from evenhand.data.find import ABOUT, about, tables
from evenhand.models.protocol import Detector
from evenhand.models.scoring import KnowsPosts, Scored, score_attribute
from evenhand.reports import Grid, Section
from evenhand.reports.numbers import NOTHING, count
from evenhand.stats.intervals import RESAMPLES
from evenhand.studies.parts import Parts, Step, silent


@dataclass(frozen=True, eq=False)
class Sat:
    """A suite that a detector has sat."""

    suite: Suite
    answers: Answers
    findings: Sequence[Finding]
    scored: Scored


def list_suites(run: Run) -> Parts:
    """Every registered suite, with its size where it is installed."""
    rows, found = [], []
    for name in registry.names("suites"):
        try:
            suite = find_suite(name)
        except EvenhandError as error:
            rows.append([name, str(error), NOTHING, NOTHING, NOTHING])
            continue
        cases = suite.cases()
        found.append(
            Finding(measure="rows", value=cases.height, n=cases.height, group={"suite": name})
        )
        rows.append(
            [
                name,
                suite.title,
                count(cases.height),
                count(cases["functionality"].n_unique()),
                count(cases["template"].n_unique()),
            ]
        )
    run.findings += found
    headings = ("suite", "what it is", "cases", "functionalities", "templates")
    grid = Grid("suites", "Functional suites", headings, rows, words=2)
    return Parts("Suites", [Section("Suites", [], found, grids=[grid])])


def build_suite(run: Run, name: str, judgements: Corpus | None = None) -> Parts:
    """The cases of a suite, its data statement, and who has validated it."""
    suite = find_suite(name)
    run.data.append(used(suite))
    judged = validated(suite, judgements.judgements if judgements else None, seed=run.seed)
    found = [*_counted(suite), *judged]
    run.findings += found
    words = validation_words(suite, Index(judged), {})
    statement = [
        f"{part.capitalize()}: {text}"
        for part, text in vars(suite.statement).items()
        if text is not None
    ]
    corpus = suite.corpus
    cases = suite.cases()
    shown = cases.group_by("functionality", "set").agg(
        n=pl.len(),
        templates=pl.col("template").n_unique(),
        identities=pl.col("identity").drop_nulls().n_unique(),
        hateful=pl.col("hateful").first(),
    )
    rows = [
        [f, s, "hateful" if h else "not hateful", count(n), count(t), count(i)]
        for f, s, n, t, i, h in shown.sort("functionality", "set").rows()
    ]
    grid = Grid(
        "cases",
        f"{suite.name}: cases by functionality and set",
        ("functionality", "set", "right answer", "cases", "templates", "identities"),
        rows,
        words=3,
    )
    return Parts(
        f"Suite {suite.name}",
        [
            Section("Data statement", [*statement, words], judged),
            Section("Cases", list(suite.about.values()), found, grids=[grid]),
        ],
        [f"{count(cases.height)} cases; SHA-256 of the cases {suite.sha256()}.", words],
        {**tables(corpus), "cases": cases},
        {ABOUT: about(corpus)},
    )


def _counted(suite: Suite) -> list[Finding]:
    cases = suite.cases()
    hateful = int(cases["hateful"].sum())
    return [
        Finding(measure="rows", value=cases.height, n=cases.height),
        Finding(
            measure="templates", value=cases["template"].n_unique(), n=cases.height, method="count"
        ),
        Finding(
            measure="label_share",
            value=hateful / cases.height,
            n=cases.height,
            group={"label": "hateful"},
            why="no interval: every case is counted",
        ),
    ]


def texts(suites: Sequence[str], templates: Sequence[str]) -> pl.DataFrame:
    """Every text that suites and template sets ask about, with its id."""
    corpora = [find_suite(name).corpus for name in suites]
    corpora += [expand(read_set(name)) for name in templates]
    return pl.concat([corpus.posts.select("id", "text") for corpus in corpora])


def used(suite: Suite) -> DataUsed:
    """The suite as an input of a run."""
    return DataUsed(suite.name, suite.corpus.rows, suite.sha256())


def sit(
    suite: Suite,
    detector: Detector | KnowsPosts,
    *,
    threshold: float = HALF,
    attribute: str | None = None,
    seed: int,
    group: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    subset: bool = False,
    step: Step = silent,
) -> Sat:
    """Have a detector answer every case of a suite."""
    scored = score_attribute(
        detector, suite.corpus.posts, attribute=attribute, subset=subset, step=step
    )
    answers = answered(suite.cases(), scored.table, threshold=threshold, failed=scored.failed)
    own = {"suite": suite.name} if group is None else group
    found = suite_figures(answers, seed=seed, group=own, resamples=resamples)
    found += validated(suite, seed=seed, group=own)
    return Sat(suite, answers, found, scored)


def run_suite(
    run: Run,
    name: str,
    detector: Detector | KnowsPosts,
    *,
    threshold: float = HALF,
    attribute: str | None = None,
    with_text: bool = False,
    step: Step = silent,
) -> Parts:
    """One detector on one suite; the main figure is its accuracy."""
    if not 0 <= threshold <= 1:
        raise BadInput(f"--threshold {threshold}; expected a number between 0 and 1")
    suite = find_suite(name)
    run.data.append(used(suite))
    sat = sit(
        suite,
        detector,
        threshold=threshold,
        attribute=attribute,
        seed=run.seed,
        group={},
        step=step,
    )
    run.findings += sat.findings
    section = suite_section(suite, sat.answers, sat.findings, base={}, with_text=with_text)
    summary = [
        sentence(suite.name, Index(sat.findings), {}),
        f"Threshold {threshold}, attribute {sat.scored.attribute}.",
    ]
    return Parts(f"Suite {suite.name}", [section], summary, {"answers": answer_table([sat])})


def answer_table(sat: Sequence[Sat]) -> pl.DataFrame:
    """Every case and what was said of it; texts are left out."""
    frames = [
        one.answers.table.drop("text", "frame").with_columns(
            suite=pl.lit(one.suite.name),
            failed=pl.col("id").replace_strict(
                dict(one.answers.failed), default=None, return_dtype=pl.String
            ),
        )
        for one in sat
    ]
    return pl.concat(frames)
