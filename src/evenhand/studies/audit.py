"""The report card of a detector: what it does, to whom, and whether another does better.

Suites, identity templates, thresholds on a labelled corpus, transfer to installed corpora, another
detector beside it, gates: one page. The detector is anything that scores texts; each text is scored
once. Whatever is said in a sentence is a finding in the files.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from evenhand.audits.against import Pair, compared
from evenhand.audits.answers import HALF
from evenhand.audits.card import (
    against_section,
    against_sentence,
    brief,
    gates_section,
    limits_section,
    repeat_section,
    worst_section,
)
from evenhand.audits.gates import Gate, broken
from evenhand.audits.identities import identity_findings
from evenhand.audits.identity_section import identity_section
from evenhand.audits.index import Index
from evenhand.audits.suite_section import sentence, suite_section
from evenhand.audits.suites import Suite, find_suite
from evenhand.audits.templates import TemplateSet, expand, read_set
from evenhand.audits.worst import OPERATING, uneven, worst
from evenhand.core.errors import BadInput
from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding
from evenhand.core.tables import scores_table
from evenhand.data.corpus import Corpus
from evenhand.models.protocol import Detector
from evenhand.models.remote import RemoteDetector
from evenhand.models.scoring import KnowsPosts, Scored, score_attribute
from evenhand.reports import Section
from evenhand.reports.numbers import count
from evenhand.stats.intervals import RESAMPLES
from evenhand.stats.thresholds import equal_error
from evenhand.studies.audit_corpora import Labelled, Site, labelled, threshold_part, transfer_part
from evenhand.studies.parts import Parts, Step, silent
from evenhand.studies.suites import Sat, answer_table, sit, used

SUITES = ("emoji-hate", "hate-functions")
TEMPLATES = ("gender", "religion", "nationality", "orientation", "disability", "age", "profanity")
_NO_LABELS = (
    "What a score of .7 means on your site is not known: no labelled posts were given. `--data "
    "CORPUS` adds precision, recall and flagged share at several thresholds, and whether the score "
    "is a probability; `--base-rate` counts them for a site with another share of hateful posts."
)
GENERATED, DEV = "equal error on generated", "equal error on dev"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What an audit is to cover."""

    suites: Sequence[str] = SUITES
    templates: Sequence[str] = TEMPLATES
    threshold: float = HALF
    attribute: str | None = None
    site: Site | None = None
    """A labelled corpus, and what is known of the site it stands for."""
    transfer: int = 0
    """How many posts of every installed corpus to try it on; 0 for none."""
    gates: Sequence[Gate] = ()
    with_text: bool = False
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise BadInput(f"--threshold {self.threshold}; expected a number between 0 and 1")
        if not (self.suites or self.templates):
            raise BadInput("neither a suite nor a template set is left; name at least one")


@dataclass(frozen=True)
class Card:
    """A report card, and what did not pass."""

    parts: Parts
    broken: Sequence[str]
    """The gates that do not hold."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A detector that is asked for its answers."""

    detector: Detector | KnowsPosts
    wanted: Wanted
    step: Step = silent

    @property
    def name(self) -> str:
        """What the card calls it."""
        return self.detector.name

    def scores(self, posts: pl.DataFrame, what: str) -> Scored:
        """What it says of some posts."""

        def step(_: str, done: float, total: float | None) -> None:
            self.step(f"{self.name}: {what}", done, total)

        return score_attribute(
            self.detector,
            posts,
            attribute=self.wanted.attribute,
            subset=isinstance(self.detector, KnowsPosts),
            step=step,
        )


def can_be_asked_much(detector: object) -> bool:
    """Whether thousands of further texts cost nobody anything: no server, no file."""
    return not isinstance(detector, RemoteDetector | KnowsPosts)


def audit(
    run: Run,
    detector: Detector | KnowsPosts,
    wanted: Wanted,
    *,
    against: Detector | KnowsPosts | None = None,
    step: Step = silent,
) -> Card:
    """The report card of a detector, beside another one if given."""
    judged = Judged(detector, wanted, step)
    suites = [find_suite(name) for name in wanted.suites]
    sets = [read_set(name) for name in wanted.templates]
    if isinstance(detector, KnowsPosts):
        suites, sets = _known(detector, suites, sets, wanted.site)
    run.data += [used(suite) for suite in suites]
    sat = [_sit(run, judged, suite) for suite in suites]
    sections = [
        suite_section(
            one.suite,
            one.answers,
            one.findings,
            base={"suite": one.suite.name},
            with_text=wanted.with_text,
        )
        for one in sat
    ]
    run.findings += [finding for one in sat for finding in one.findings]
    known = labelled(run, judged.detector, judged.scores, wanted.site) if wanted.site else None
    sections += _identities(run, judged, sets, known)
    if known is not None and wanted.site is not None:
        sections += threshold_part(run, known, wanted.site, wanted.threshold)
    else:
        sections.append(Section("Thresholds", [_NO_LABELS]))
    if wanted.transfer:
        sections += transfer_part(
            run, judged.detector, judged.scores, wanted.transfer, wanted.threshold
        )
    said: list[str] = []
    if against is not None:
        beside = against.name if against.name != detector.name else f"the other {against.name}"
        other = [_sit(run, Judged(against, wanted, step), suite) for suite in suites]
        pairs = [
            Pair(mine.suite.name, mine.answers, theirs.answers)
            for mine, theirs in zip(sat, other, strict=True)
        ]
        found = compared(pairs, beside, seed=run.seed, resamples=wanted.resamples)
        run.findings += found
        sections.append(against_section(beside, found))
        said.append(against_sentence(beside, found))
    failed = broken(wanted.gates, run.findings) if wanted.gates else []
    return _card(run, judged, sat, sections, said, failed)


def _known(
    detector: KnowsPosts, suites: list[Suite], sets: list[TemplateSet], site: Site | None
) -> tuple[list[Suite], list[TemplateSet]]:
    """The suites and sets a file has scores for; refuses a file with scores of anything else."""
    known = detector.known.unique()
    inside = [suite for suite in suites if suite.corpus.posts["id"].is_in(known.implode()).any()]
    made = [one for one in sets if expand(one).posts["id"].is_in(known.implode()).any()]
    if not (inside or made):
        raise BadInput(
            f"{detector.name}: no score for any of the cases (the file has ids like "
            f"{known.sort().first()!r}); `evenhand suite texts` writes the texts with their ids"
        )
    posts = [suite.corpus.posts["id"] for suite in inside]
    posts += [expand(one).posts["id"] for one in made]
    posts += [site.corpus.posts["id"]] if site else []
    other = known.filter(~known.is_in(pl.concat(posts).implode())).sort()
    if len(other):
        listed = ", ".join(map(repr, other.head(5)))
        raise BadInput(
            f"{detector.name}: {len(other):,} scores are of no text of this audit: {listed}"
            f"{' …' if len(other) > 5 else ''}; take them out, or name their --suite or --data"
        )
    return inside, made


def _sit(run: Run, judged: Judged, suite: Suite) -> Sat:
    wanted = judged.wanted
    return sit(
        suite,
        judged.detector,
        threshold=wanted.threshold,
        attribute=wanted.attribute,
        seed=run.seed,
        resamples=wanted.resamples,
        subset=isinstance(judged.detector, KnowsPosts),
        step=lambda _, done, total: judged.step(f"{judged.name}: {suite.name}", done, total),
    )


def _identities(
    run: Run, judged: Judged, sets: Sequence[TemplateSet], known: Labelled | None
) -> list[Section]:
    if not sets:
        return []
    found: list[Finding] = []
    names: list[str] = []
    texts: dict[str, str] = {}
    for chosen in sets:
        sentences = expand(chosen)
        texts.update(sentences.posts.select("id", "text").iter_rows())
        run.data.append(DataUsed(sentences.name, sentences.rows, None))
        scored = judged.scores(sentences.posts, sentences.name)
        thresholds = _thresholds(sentences, scored.table, judged.wanted.threshold, known)
        names += [name for name in thresholds if name not in names]
        found += identity_findings(
            sentences,
            scored.table,
            thresholds=thresholds,
            original_auc=known.auc if known else None,
            seed=run.seed,
            resamples=judged.wanted.resamples,
            group={"templates": chosen.name},
        )
    run.findings += found
    groups = {chosen.name: chosen.groups for chosen in sets}
    return [identity_section(groups, names, found, texts if judged.wanted.with_text else None)]


def _thresholds(
    sentences: Corpus, scores: pl.DataFrame, operating: float, known: Labelled | None
) -> dict[str, float]:
    """The threshold in use, that of equal errors on the sentences, and that on labelled posts."""
    found = {OPERATING: operating}
    gold = sentences.gold
    assert gold is not None
    both = scores.drop_nulls("p").join(gold.select("post", "label"), on="post")
    truth = both["label"].is_in(list(sentences.hateful)).to_numpy()
    generated = equal_error(truth, both["p"].to_numpy()) if both.height else None
    if generated is not None:
        found[GENERATED] = generated.threshold
    if known is not None and known.equal_error is not None:
        found[DEV] = known.equal_error
    return found


def _card(
    run: Run,
    judged: Judged,
    sat: Sequence[Sat],
    sections: Sequence[Section],
    said: Sequence[str],
    failed: Sequence[str],
) -> Card:
    wanted = judged.wanted
    titles = {name: text.partition(":")[0] for one in sat for name, text in one.suite.about.items()}
    found = worst(run.findings, titles=titles)
    index = Index(run.findings)
    summary = [
        *_first_words(judged, sat, index),
        *brief(index, uneven(run.findings)),
        *said,
        *(f"Gate broken: {why}" for why in failed),
    ]
    gates = [gates_section(len(wanted.gates), failed)] if wanted.gates else []
    everything = [
        worst_section(found),
        *gates,
        *sections,
        limits_section([note for one in sat for note in one.suite.corpus.notes]),
        repeat_section(shlex.join(run.command), list(_materials(run, judged))),
    ]
    tables = {"answers": answer_table(sat)} if sat else {}
    if sat:
        tables["scores"] = _score_records(judged.name, sat)
    short = [everything[0], *(_in_short(section) for section in sections)]
    parts = Parts(f"Report card: {judged.name}", everything, summary, tables, terminal=short)
    return Card(parts, failed)


def _in_short(section: Section) -> Section:
    """The first grid of a section, which is the overview."""
    return replace(section, findings=[], grids=section.grids[:1])


def _first_words(judged: Judged, sat: Sequence[Sat], index: Index) -> Iterator[str]:
    wanted = judged.wanted
    attribute = sat[0].scored.attribute if sat else wanted.attribute
    failed = sum(len(one.answers.failed) for one in sat)
    words = f"{judged.name} flags a text when its {attribute} score is at least {wanted.threshold}."
    if failed:
        words += f" It failed on {count(failed)} cases, which count as answered wrongly."
    yield words
    for one in sat:
        yield sentence(one.suite.name, index, {"suite": one.suite.name})


def _materials(run: Run, judged: Judged) -> Iterator[tuple[str, str]]:
    yield "detector", judged.name
    provenance: Mapping[str, object] = getattr(judged.detector, "provenance", {})
    for key in ("sha256", "training_sha256", "url", "function"):
        if key in provenance:
            yield f"detector, {key}", str(provenance[key])
    for data in run.data:
        yield f"{data.name}, {count(data.rows)} rows", data.sha256 or "made from its templates"


def _score_records(name: str, sat: Sequence[Sat]) -> pl.DataFrame:
    """Scores that ``predictions:FILE`` reads again."""
    frames = [
        one.scored.table.drop_nulls("p").select(
            "post", "p", detector=pl.lit(name), attribute=pl.lit(one.scored.attribute)
        )
        for one in sat
    ]
    return scores_table(pl.concat(frames), where="scores")
