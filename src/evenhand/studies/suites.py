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
from evenhand.audits.templates import read_set, sentences_of
from evenhand.audits.validated import validated, validation_words
from evenhand.core import registry
from evenhand.core.errors import BadInput, EvenhandError
from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding
from evenhand.data.corpus import Corpus
from evenhand.data.find import ABOUT, about, tables
from evenhand.models.protocol import Detector
from evenhand.models.scoring import KnowsPosts, Scored, score_attribute
from evenhand.models.seen import trained_on
from evenhand.reports import Grid, Section
from evenhand.reports.numbers import NOTHING, count
from evenhand.stats.intervals import RESAMPLES
from evenhand.studies.parts import Parts, Step, silent

_MOST_CASES = 20


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
    people = validated(suite, judgements.judgements if judgements else None, seed=run.seed)
    if judgements is not None and not any(f.measure == "randolph_kappa" for f in people):
        raise BadInput(
            f"{judgements.name}: no judgement of {suite.corpus.question!r} about a case of "
            f"{suite.name}; expected the ids that `evenhand suite build {name} --out DIR` writes"
        )
    found = [*_counted(suite), *people]
    run.findings += found
    words = validation_words(suite, Index(people), {})
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
        "functionalities",
        f"{suite.name}: cases by functionality and set",
        ("functionality", "set", "right answer", "cases", "templates", "identities"),
        rows,
        words=3,
    )
    return Parts(
        f"Suite {suite.name}",
        [
            Section("Data statement", [*statement, words], people),
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
    corpora += [sentences_of(read_set(name)) for name in templates]
    return pl.concat([corpus.posts.select("id", "text") for corpus in corpora])


def used(suite: Suite) -> DataUsed:
    """The suite as an input of a run."""
    return DataUsed(suite.name, suite.corpus.rows, suite.sha256())


@dataclass(frozen=True, eq=False)
class Judged:
    """A detector that is asked for its answers."""

    detector: Detector | KnowsPosts
    threshold: float = HALF
    attribute: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise BadInput(f"threshold {self.threshold}; expected a number between 0 and 1")

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.detector.name

    def scores(
        self, posts: pl.DataFrame, what: str, step: Step = silent, *, exactly: bool = False
    ) -> Scored:
        """What it says of some posts; a file of scores may know others, unless ``exactly``."""
        return score_attribute(
            self.detector,
            posts,
            attribute=self.attribute,
            subset=isinstance(self.detector, KnowsPosts) and not exactly,
            step=lambda _, done, total: step(f"{self.name}: {what}", done, total),
        )

    def answers(
        self, suite: Suite, step: Step = silent, *, exactly: bool = False
    ) -> tuple[Answers, Scored]:
        """What it says of the cases of a suite."""
        scored = self.scores(suite.corpus.posts, suite.name, step, exactly=exactly)
        return (
            answered(suite.cases(), scored.table, threshold=self.threshold, failed=scored.failed),
            scored,
        )


def sit(
    suite: Suite,
    judged: Judged,
    *,
    seed: int,
    group: Mapping[str, str],
    resamples: int = RESAMPLES,
    votes: Corpus | None = None,
    exactly: bool = False,
    step: Step = silent,
) -> Sat:
    """Have a detector answer every case of a suite; ``votes`` are people's about the cases."""
    answers, scored = judged.answers(suite, step, exactly=exactly)
    found = suite_figures(answers, seed=seed, group=group, resamples=resamples)
    found += validated(suite, votes.judgements if votes else None, seed=seed, group=group)
    found += _seen(judged.detector, suite, group)
    return Sat(suite, answers, found, scored)


def _seen(detector: object, suite: Suite, group: Mapping[str, str]) -> list[Finding]:
    """Cases that are copies of posts the detector was trained on, where it says which."""
    seen = trained_on(detector, suite.corpus.posts)
    if seen is None:
        return []
    return [
        Finding(
            measure="seen_cases",
            value=len(seen),
            n=suite.corpus.posts.height,
            group=group,
            method="count",
            unit="cases",
            cases=seen[:_MOST_CASES],
        )
    ]


def run_suite(
    run: Run,
    name: str,
    judged: Judged,
    *,
    votes: Corpus | None = None,
    with_text: bool = False,
    step: Step = silent,
) -> Parts:
    """One detector on one suite; the main figure is its accuracy."""
    suite = find_suite(name)
    run.data.append(used(suite))
    sat = sit(suite, judged, seed=run.seed, group={}, votes=votes, exactly=True, step=step)
    run.findings += sat.findings
    section = suite_section(suite, sat.answers, sat.findings, base={}, with_text=with_text)
    summary = [
        sentence(suite.name, Index(sat.findings), {}),
        f"Threshold {judged.threshold}, attribute {sat.scored.attribute}.",
    ]
    return Parts(f"Suite {suite.name}", [section], summary, {"answers": answer_table([sat])})


def answer_table(sat: Sequence[Sat]) -> pl.DataFrame:
    """Every case and what was said of it; texts are left out."""
    frames = [
        one.answers.table.drop("text", "frame", "shown", strict=False).with_columns(
            suite=pl.lit(one.suite.name),
            failed=pl.col("id").replace_strict(
                dict(one.answers.failed), default=None, return_dtype=pl.String
            ),
        )
        for one in sat
    ]
    return pl.concat(frames)
