"""What Kirk et al. test on, as far as it is installed, and what a detector gets there.

Two suites, HatemojiCheck and HateCheck, and the test splits of two sets of rounds: HatemojiBuild
(R5 to R7) and Vidgen et al. (R1 to R4). A text is flagged from one half on, as the paper cut
Perspective. Nothing here trains: posts of a test split that a detector was trained on are left out,
and so is every template of a suite of which it has seen a case. A set that is not installed, or of
which nothing is left, gives figures that are null with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from evenhand.audits.answers import HALF, Answers, answered
from evenhand.audits.suite_figures import CONSTANTS, suite_figures
from evenhand.audits.suites import Suite, find_suite
from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.tables import tag
from evenhand.data import splits
from evenhand.data.corpus import Corpus
from evenhand.data.find import data_folder, find, reader, used
from evenhand.data.labels import HATEFUL
from evenhand.models.protocol import Detector
from evenhand.models.scoring import KnowsPosts, score_attribute
from evenhand.models.seen import trained_on
from evenhand.stats.ratios import Clusters, Ratio, ratio_finding
from evenhand.studies import suites
from evenhand.studies.kirk_tables import (
    ALL_ROUNDS,
    CHECK,
    EMOJI_ROUNDS,
    HATECHECK,
    NAMES,
    RATIOS,
    TEXT_ROUNDS,
)
from evenhand.studies.parts import Step, silent

ROUNDS = {
    EMOJI_ROUNDS: ("hatemojibuild",),
    TEXT_ROUNDS: ("dynahate",),
    ALL_ROUNDS: ("hatemojibuild", "dynahate"),
}
SUITES = (CHECK, HATECHECK)
_UNIT = "posts, twins together"
_MOST_CASES = 20
_ONE_IDENTITY = "fewer than two identities among the cases"

AnyDetector = Detector | KnowsPosts


class _Missing(Exception):
    """There are no figures, for this reason."""


@dataclass(eq=False)
class Bench:
    """The installed sets, each read once and scored once by each detector."""

    run: Run
    attribute: str | None = None
    step: Step = silent
    left_out: dict[tuple[str, str], int] = field(default_factory=dict)
    """Cases or posts left out because of training, by detector and set."""
    _suites: dict[str, Suite] = field(default_factory=dict)
    _splits: dict[str, Corpus | None] = field(default_factory=dict)
    _found: dict[tuple[str, str], list[Finding]] = field(default_factory=dict)
    _answers: dict[tuple[str, str], pl.DataFrame] = field(default_factory=dict)

    def suite(self, name: str) -> Suite | None:
        """A suite, where it is installed."""
        if name not in self._suites:
            if not reader(name).installed(data_folder()):
                return None
            self._suites[name] = find_suite(name)
            self.run.data.append(suites.used(self._suites[name]))
        return self._suites[name]

    def judged_by(self, detector: AnyDetector) -> str:
        """The attribute that was asked for, where the detector has it; else its first."""
        wanted = self.attribute
        return wanted if wanted in detector.attributes and wanted else detector.attributes[0]

    def figures(self, on: str, detector: AnyDetector) -> list[Finding]:
        """Every figure of a detector on a set; null ones where there are none."""
        if on not in SUITES:
            return self._on_rounds(on, lambda corpus: self._answered(corpus, detector))
        key = detector.name, on
        if key not in self._found:
            try:
                self._found[key] = _with_ratios(self._sit(on, detector), _ONE_IDENTITY)
            except _Missing as missing:
                self._found[key] = _with_ratios(_nothing(str(missing)), str(missing))
        return self._found[key]

    def constant(self, on: str, baseline: str) -> list[Finding]:
        """Every figure of a constant answer on a set; none where a suite is not installed."""
        if on not in SUITES:
            return self._on_rounds(
                on, lambda corpus: _constant(_cases(self._split(corpus)), baseline).table
            )
        suite = self.suite(on)
        if suite is None:
            return []
        key = baseline, on
        if key not in self._found:
            answers = _constant(suite.cases(), baseline)
            found = suite_figures(answers, seed=self.run.seed)
            self._found[key] = _with_ratios(found, _ONE_IDENTITY)
        return self._found[key]

    def _on_rounds(self, on: str, answers: Callable[[str], pl.DataFrame]) -> list[Finding]:
        """Accuracy and F1 on the test posts of some rounds."""
        columns = ("id", "cluster", "hateful", "p", "flagged")
        try:
            tables = [answers(corpus).select(columns) for corpus in ROUNDS[on]]
        except _Missing as missing:
            return _nothing(str(missing))
        return _accuracy_and_f1(pl.concat(tables), self.run.seed)

    def _sit(self, name: str, detector: AnyDetector) -> list[Finding]:
        suite = self.suite(name)
        if suite is None:
            raise _Missing(_not_installed(name, NAMES[name]))
        cases = suite.cases()
        seen = trained_on(detector, suite.corpus.posts) or []
        known = cases.filter(pl.col("id").is_in(seen))["template"].unique()
        kept = cases.filter(~pl.col("template").is_in(known.implode()))["id"]
        self.left_out[detector.name, name] = cases.height - len(kept)
        if not len(kept):
            raise _Missing(f"trained on cases of every template of {name}")
        posts = suite.corpus.posts.filter(pl.col("id").is_in(kept.implode()))
        try:
            sat = suites.sit(
                replace(suite, corpus=replace(suite.corpus, posts=posts)),
                suites.Judged(detector, attribute=self.judged_by(detector)),
                seed=self.run.seed,
                group={},
                step=self._watched(detector, name),
            )
        except BadInput as error:
            if name == CHECK or not isinstance(detector, KnowsPosts):
                raise
            raise _Missing(str(error)) from error
        return list(sat.findings)

    def size(self, name: str) -> int | str:
        """How many posts or cases of a set are installed, or why there are none."""
        if name in SUITES:
            suite = self.suite(name)
            return _not_installed(name, NAMES[name]) if suite is None else suite.corpus.posts.height
        try:
            return sum(self._split(corpus).posts.height for corpus in ROUNDS[name])
        except _Missing as missing:
            return str(missing)

    def _split(self, name: str) -> Corpus:
        """The posts of a published test split."""
        if name not in self._splits:
            self._splits[name] = _test_posts(name)
            if found := self._splits[name]:
                self.run.data.append(used(found))
        corpus = self._splits[name]
        if corpus is None:
            raise _Missing(_not_installed(name, f"the test split of {name}"))
        return corpus

    def _answered(self, name: str, detector: AnyDetector) -> pl.DataFrame:
        """What a detector said of the test posts it was not trained on."""
        key = detector.name, name
        if key in self._answers:
            return self._answers[key]
        corpus = self._split(name)
        seen = trained_on(detector, corpus.posts) or []
        posts = corpus.posts.filter(~pl.col("id").is_in(seen))
        self.left_out[key] = corpus.posts.height - posts.height
        if not posts.height:
            raise _Missing(f"trained on all {len(seen):,} posts of the test split of {name}")
        try:
            scored = score_attribute(
                detector,
                posts,
                attribute=self.judged_by(detector),
                subset=isinstance(detector, KnowsPosts),
                step=self._watched(detector, name),
            )
        except BadInput as error:
            if not isinstance(detector, KnowsPosts):
                raise
            raise _Missing(str(error)) from error
        cases = _cases(replace(corpus, posts=posts))
        found = answered(cases, scored.table, threshold=HALF, failed=scored.failed)
        self._answers[key] = found.table
        return found.table

    def _watched(self, detector: AnyDetector, name: str) -> Step:
        return lambda _, done, total: self.step(f"{detector.name}: {name}", done, total)


def _not_installed(name: str, what: str) -> str:
    how = "downloads it" if reader(name).downloads else "says how to make it"
    return f"{what} is not installed: `evenhand data get {name}` {how}"


def _constant(cases: pl.DataFrame, baseline: str) -> Answers:
    says = pl.DataFrame({"post": cases["id"], "p": float(CONSTANTS[baseline])})
    return answered(cases, says)


def _with_ratios(found: Sequence[Finding], why: str) -> list[Finding]:
    """Null ratios where none were made."""
    missing = {*RATIOS} - {finding.measure for finding in found}
    null = [Finding(measure=name, value=None, n=0, why=why) for name in RATIOS if name in missing]
    return [*found, *null]


def _test_posts(name: str) -> Corpus | None:
    if not reader(name).installed(data_folder()):
        return None
    corpus = find(name)
    posts = corpus.posts.filter(tag("split", corpus.posts) == "test")
    return replace(corpus, posts=posts) if posts.height else None


def _cases(corpus: Corpus) -> pl.DataFrame:
    """Posts with their gold: id, hateful, cluster (the first id of those that are twins)."""
    gold = corpus.main_gold()
    assert gold is not None
    right = pl.col("label").is_in(list(corpus.hateful))
    hateful = gold.drop_nulls("label").select(id="post", hateful=right)
    together = pl.Series("together", splits.ties(corpus, ("twin",)))
    posts = corpus.posts.select("id").with_columns(together)
    return posts.select("id", cluster=pl.col("id").min().over("together")).join(
        hateful, on="id", maintain_order="left"
    )


def _accuracy_and_f1(table: pl.DataFrame, seed: int) -> list[Finding]:
    clusters = Clusters.of(table["cluster"].to_list(), seed=seed)
    hateful, flagged = (table[name].to_numpy() for name in ("hateful", "flagged"))
    hit = 2.0 * (hateful & flagged)
    right = Ratio.share(hateful == flagged, np.ones(table.height))
    both = Ratio(hit, hit + (hateful ^ flagged))
    failed = table.filter(pl.col("p").is_null())["id"].sort()
    return [
        ratio_finding("accuracy", right, clusters, unit=_UNIT, group={}),
        ratio_finding("f1", both, clusters, unit=_UNIT, group={"label": HATEFUL}),
        Finding(
            measure="unscored",
            value=len(failed),
            n=table.height,
            method="posts the detector failed on; each counts as answered wrongly",
            unit="posts",
            why="a count, no interval",
            cases=failed.head(_MOST_CASES).to_list(),
        ),
    ]


def _nothing(why: str) -> list[Finding]:
    groups: Sequence[tuple[str, dict[str, str]]] = (("accuracy", {}), ("f1", {"label": HATEFUL}))
    return [Finding(measure=m, value=None, n=0, group=g, why=why) for m, g in groups]
