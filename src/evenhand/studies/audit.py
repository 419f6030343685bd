"""The report card of a detector: what it does, to whom, and whether another does better.

Suites, identity templates, thresholds on a labelled corpus, transfer to installed corpora, another
detector beside it, gates: one page. The detector is anything that scores texts; each text is scored
once. Whatever is said in a sentence is a finding in the files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from evenhand.audits.against import Pair, compared
from evenhand.audits.card import against_section
from evenhand.audits.digests import corpus_sha256
from evenhand.audits.gates import Gate, judge
from evenhand.audits.identities import identity_findings
from evenhand.audits.identity_section import identity_section
from evenhand.audits.suite_section import suite_section
from evenhand.audits.suites import Suite, find_suite
from evenhand.audits.templates import TemplateSet, read_set, sentences_of
from evenhand.audits.weaknesses import OPERATING
from evenhand.core.errors import BadInput
from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding
from evenhand.data.corpus import Corpus
from evenhand.models.remote import RemoteDetector
from evenhand.models.scoring import KnowsPosts, Scored
from evenhand.reports import Section
from evenhand.stats.intervals import RESAMPLES
from evenhand.stats.thresholds import equal_error
from evenhand.studies.audit_page import Card, Heard, make_card
from evenhand.studies.audit_site import Labelled, Site, labelled, threshold_part
from evenhand.studies.audit_transfer import transfer_part
from evenhand.studies.parts import Step, silent
from evenhand.studies.suites import Judged, sit, used

SUITES = ("emoji-hate", "hate-functions")
TEMPLATES = ("gender", "religion", "nationality", "orientation", "disability", "age", "profanity")
GENERATED = "equal error on generated"
_NO_LABELS = (
    "What a score of .7 means on your site is not known: no labelled posts were given. `--data "
    "CORPUS` adds precision, recall and flagged share at several thresholds, and whether the score "
    "is a probability; `--base-rate` counts them for a site with another share of hateful posts."
)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What an audit is to cover."""

    suites: Sequence[str] = SUITES
    templates: Sequence[str] = TEMPLATES
    site: Site | None = None
    """A labelled corpus, and what is known of the site it stands for."""
    transfer: int = 0
    """How many posts of every installed corpus to try it on; 0 for none."""
    votes: Corpus | None = None
    """Judgements of people about the cases of the suites."""
    gates: Sequence[Gate] = ()
    with_text: bool = False
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if not (self.suites or self.templates):
            raise BadInput("neither a suite nor a template set is left; name at least one")
        if self.resamples < 1:
            raise BadInput(f"{self.resamples} resamples; expected at least one")


def can_be_asked_much(detector: object) -> bool:
    """Whether thousands of further texts cost nobody anything: no server, no file."""
    return not isinstance(detector, RemoteDetector | KnowsPosts)


def audit(
    run: Run,
    judged: Judged,
    wanted: Wanted,
    *,
    against: Judged | None = None,
    step: Step = silent,
) -> Card:
    """The report card of a detector, beside another one if given."""
    suites = [find_suite(name) for name in wanted.suites]
    sets = [read_set(name) for name in wanted.templates]
    _refuse_twice([suite.name for suite in suites], "suite")
    _refuse_twice([one.name for one in sets], "template set")
    made = {one.name: sentences_of(one) for one in sets}
    if isinstance(judged.detector, KnowsPosts):
        suites, sets = _known(judged.detector, suites, sets, made, wanted.site)
    run.data += [used(suite) for suite in suites]
    heard = Heard(judged)
    sections = _suites(run, heard, suites, wanted, step)
    known = labelled(run, judged, wanted.site, step) if wanted.site else None
    sections += _identities(run, heard, sets, made, known, wanted, step)
    if known is not None and wanted.site is not None:
        sections += threshold_part(run, known, wanted.site, judged.threshold)
    else:
        sections.append(Section("Thresholds", [_NO_LABELS]))
    if wanted.transfer:
        sections += transfer_part(run, judged, wanted.transfer, step)
    if against is not None:
        sections.append(_against(run, heard, against, wanted, step))
    heard.gates = judge(wanted.gates, run.findings)
    swearing = [one.name for one in sets if one.kind == "profanity"]
    return make_card(run, heard, sections, swearing)


def _refuse_twice(names: Sequence[str], what: str) -> None:
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise BadInput(f"{what} {', '.join(twice)} is named twice; expected each once")


def _known(
    detector: KnowsPosts,
    suites: list[Suite],
    sets: list[TemplateSet],
    made: dict[str, Corpus],
    site: Site | None,
) -> tuple[list[Suite], list[TemplateSet]]:
    """The suites and sets a file has scores for; refuses a file with scores of anything else."""
    known = detector.known.unique()
    asked = {
        **{suite.name: suite.corpus.posts["id"] for suite in suites},
        **{name: sentences.posts["id"] for name, sentences in made.items()},
    }
    covered = {name for name, ids in asked.items() if ids.is_in(known.implode()).any()}
    if not covered:
        raise BadInput(
            f"{detector.name}: no score for any of the cases (the file has ids like "
            f"{known.sort().first()!r}); `evenhand suite texts` writes the texts with their ids"
        )
    posts = [ids for name, ids in asked.items() if name in covered]
    posts += [site.corpus.posts["id"]] if site else []
    other = known.filter(~known.is_in(pl.concat(posts).implode())).sort()
    if len(other):
        listed = ", ".join(map(repr, other.head(5)))
        raise BadInput(
            f"{detector.name}: {len(other):,} scores are of no text of this audit: {listed}"
            f"{' …' if len(other) > 5 else ''}; take them out, or name their --suite or --data"
        )
    return (
        [suite for suite in suites if suite.name in covered],
        [one for one in sets if one.name in covered],
    )


def _suites(
    run: Run, heard: Heard, suites: Sequence[Suite], wanted: Wanted, step: Step
) -> list[Section]:
    sections = []
    for suite in suites:
        base = {"suite": suite.name}
        sat = sit(
            suite,
            heard.judged,
            seed=run.seed,
            group=base,
            resamples=wanted.resamples,
            votes=wanted.votes,
            step=step,
        )
        heard.sat.append(sat)
        run.findings += sat.findings
        sections.append(
            suite_section(suite, sat.answers, sat.findings, base=base, with_text=wanted.with_text)
        )
    return sections


def _identities(
    run: Run,
    heard: Heard,
    sets: Sequence[TemplateSet],
    made: dict[str, Corpus],
    known: Labelled | None,
    wanted: Wanted,
    step: Step,
) -> list[Section]:
    if not sets:
        return []
    found: list[Finding] = []
    names: list[str] = []
    texts: dict[str, str] = {}
    for chosen in sets:
        sentences = made[chosen.name]
        texts.update(sentences.posts.select("id", "text").iter_rows())
        run.data.append(DataUsed(sentences.name, sentences.rows, corpus_sha256(sentences)))
        scored = heard.judged.scores(sentences.posts, sentences.name, step)
        heard.others.append(scored)
        thresholds = _thresholds(sentences, scored, heard.judged.threshold, known)
        names += [name for name in thresholds if name not in names]
        found += identity_findings(
            sentences,
            scored.table,
            thresholds=thresholds,
            original_auc=known.auc if known else None,
            classes_only=scored.classes_only,
            seed=run.seed,
            resamples=wanted.resamples,
            group={"templates": chosen.name},
        )
    run.findings += found
    return [identity_section(sets, names, found, texts if wanted.with_text else None)]


def _thresholds(
    sentences: Corpus, scored: Scored, operating: float, known: Labelled | None
) -> dict[str, float]:
    """The threshold in use, that of equal errors on the sentences, and that on labelled posts."""
    found = {OPERATING: operating}
    gold = sentences.gold
    assert gold is not None
    if scored.classes_only:
        return found
    both = scored.table.drop_nulls("p").join(gold.select("post", "label"), on="post")
    if both["p"].n_unique() < 2:
        return found  # always the same score: no threshold tells anything apart
    truth = both["label"].is_in(list(sentences.hateful)).to_numpy()
    generated = equal_error(truth, both["p"].to_numpy())
    if generated is not None:
        found[GENERATED] = generated.threshold
    if known is not None and known.equal_error is not None:
        found[f"equal error on {known.errors_on}"] = known.equal_error
    return found


def _against(run: Run, heard: Heard, other: Judged, wanted: Wanted, step: Step) -> Section:
    """The same cases answered by the other detector."""
    if not heard.sat:
        raise BadInput("--against compares the cases of suites, and no suite is in this audit")
    heard.other = other
    same = other.name == heard.judged.name
    heard.beside = f"the other {other.name}" if same else other.name
    pairs = []
    for sat in heard.sat:
        answers, _ = other.answers(sat.suite, step)
        heard.failed_beside += len(answers.failed)
        pairs.append(Pair(sat.suite.name, sat.answers, answers))
    heard.compared = compared(pairs, heard.beside, seed=run.seed, resamples=wanted.resamples)
    run.findings += heard.compared
    return against_section(heard.beside, heard.compared)
