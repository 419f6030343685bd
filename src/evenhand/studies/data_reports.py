"""The reports of ``data``: which corpora there are, the data card, the leak check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

import polars as pl

from evenhand.core import registry
from evenhand.core.errors import EvenhandError
from evenhand.core.provenance import DataUsed, Run
from evenhand.core.records import Finding
from evenhand.data.check import check, leaks
from evenhand.data.corpus import Corpus, Reader, Statement
from evenhand.data.describe import describe
from evenhand.data.find import data_folder, reader, used
from evenhand.data.get import Fetched
from evenhand.reports import Case, Figure, Section, bars, histogram
from evenhand.studies.parts import Parts, Step, silent

_UNKNOWN = "not known"
_STATEMENT = {
    "curation": "Why these texts, and how they were found",
    "language": "Language",
    "speakers": "Who wrote the texts",
    "annotators": "Who labelled them",
    "situation": "When and where they were written",
    "text": "What the texts are like",
}
_WHAT = (
    "rows",
    "posts",
    "posts_empty",
    "unlabelled",
    "split_share",
    "templates",
    "characters",
    "emoji_share",
)
_PEOPLE = ("judgements", "annotators", "rationales", "scores")
_AUTHORS = (
    "authors",
    "author_known_share",
    "top_author_share",
    "author_lookup_f1",
    "authors_across_splits",
)
_MOST_CASES = 20


def list_corpora(run: Run) -> list[dict[str, str]]:
    """Every registered corpus and whether its files are there."""
    data = data_folder()
    lines = []
    for name in registry.names("readers"):
        line = {"name": name, "installed": "", "title": "", "licence": "", "may_train": ""}
        why = None
        try:
            known = reader(name)
            line["installed"] = "yes" if known.installed(data) else "no"
            line |= {"title": known.title, "licence": known.licence, "may_train": known.may_train}
        except EvenhandError as error:
            line["installed"], line["title"] = "broken", str(error)
            why = str(error)
        lines.append(line)
        run.findings.append(
            Finding(
                measure="installed",
                value=None if why else int(line["installed"] == "yes"),
                n=1,
                group={"corpus": name},
                unit="corpora",
                why=why,
            )
        )
    return lines


def describe_corpus(run: Run, corpus: Corpus) -> Parts:
    """The data card of a corpus."""
    run.data.append(used(corpus))
    run.findings += describe(corpus, run.seed)
    sections = [
        Section("What is there", corpus.notes, _only(run.findings, _WHAT), _length_figure(corpus)),
        Section(
            "Labels",
            _label_lines(corpus),
            _only(run.findings, ["label_share"]),
            _label_figure(corpus, run.findings),
        ),
    ]
    people = _only(run.findings, _PEOPLE)
    if people:
        sections.append(Section("Judgements and scores", (), people))
    sections.append(Section("Data statement", _statement(corpus)))
    return Parts(f"Data card: {corpus.name}", sections, _size_sentences(corpus, run.findings))


def check_corpus(
    run: Run, corpus: Corpus, *, with_text: bool = False, step: Step = silent
) -> Parts:
    """The leak check of a corpus."""
    step(f"Checking {corpus.name}", 0, None)
    run.data.append(used(corpus))
    run.findings += check(corpus, run.seed)
    return Parts(
        f"Data check: {corpus.name}",
        check_sections(corpus, run.findings, with_text=with_text),
        check_sentences(corpus, run.findings),
    )


def check_sections(
    corpus: Corpus, findings: Sequence[Finding], *, with_text: bool = False
) -> list[Section]:
    """What is there, who wrote it, what is copied, what is torn apart."""
    shown = {*_WHAT, *_PEOPLE, *_AUTHORS, "label_share"}
    ties = [finding for finding in findings if finding.measure not in shown]
    cases = list(dict.fromkeys(case for finding in ties for case in finding.cases))
    return [
        Section("What is there", corpus.notes, _only(findings, (*_WHAT, *_PEOPLE))),
        Section("Labels", (), _only(findings, ["label_share"]), _label_figure(corpus, findings)),
        Section(
            "Authors",
            [
                "Posts of one author share topics and habits: a detector that meets an author on "
                "both sides of a split can recognise the author instead of the abuse. "
                "Authors appear as ranks only."
            ],
            _only(findings, _AUTHORS),
            _author_figure(corpus, findings),
        ),
        Section(
            "Duplicates, twins and conflicting labels",
            [
                "What stands on both sides of a published split is learned by heart and then "
                "counted as skill."
            ],
            ties,
            (),
            _texts(corpus, cases[:_MOST_CASES]) if with_text else (),
        ),
    ]


def check_sentences(corpus: Corpus, findings: Sequence[Finding]) -> list[str]:
    """The check in plain words, claiming no more than the findings say."""
    sentences = _size_sentences(corpus, findings)
    top = _one(findings, "top_author_share", label="hateful", top=2)
    if top is not None and top.value is not None and top.low is not None and top.high is not None:
        sentences.append(
            f"The two most prolific authors wrote {_percent(top.value)} "
            f"[{_percent(top.low)}, {_percent(top.high)}] of the {top.n:,} hateful posts whose "
            "author is known."
        )
    exact, near = (
        _one(findings, measure) for measure in ("duplicate_pairs", "near_duplicate_pairs")
    )
    if exact and near:
        sentences.append(
            f"{_plural(exact.value, 'pair')} of posts equal under the strict key, "
            f"{near.value or 0:,.0f} more nearly equal."
        )
    torn = leaks(findings)
    splits = _one(findings, "duplicates_across_splits")
    if torn:
        parts = ", ".join(f"{f.measure.replace('_', ' ')}: {f.value:,.0f} posts" for f in torn)
        sentences.append(f"The published split leaks: {parts}.")
    elif splits and splits.value is None:
        sentences.append("There is no published split, so nothing can be torn apart by one.")
    else:
        sentences.append("Nothing we look for crosses the published split.")
    return sentences


def got_corpus(run: Run, known: Reader, files: Iterable[Fetched]) -> Parts:
    """What ``data get`` brought."""
    lines = []
    for fetched in files:
        run.data.append(DataUsed(fetched.path.name, 0, fetched.sha256))
        run.findings.append(
            Finding(
                measure="bytes",
                value=fetched.bytes,
                n=1,
                group={"file": fetched.path.name, "status": fetched.status},
                unit="files",
            )
        )
        lines.append(f"{fetched.path}: {fetched.status}, sha256 {fetched.sha256}")
    if known.by_hand:
        lines.append(f"Still needed: {known.by_hand}")
    return Parts(f"Got {known.name}", [Section("Files", (), run.findings)], lines)


def _only(findings: Sequence[Finding], measures: Iterable[str]) -> list[Finding]:
    wanted = set(measures)
    return [finding for finding in findings if finding.measure in wanted]


def _one(findings: Sequence[Finding], measure: str, **group: str | int) -> Finding | None:
    found = [f for f in findings if f.measure == measure and dict(f.group) == group]
    return found[0] if found else None


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _plural(count: float | None, word: str) -> str:
    return f"{count or 0:,.0f} {word}{'' if count == 1 else 's'}"


def _size_sentences(corpus: Corpus, findings: Sequence[Finding]) -> list[str]:
    text = f"{corpus.name}: {_plural(corpus.rows, 'row')}, "
    text += _plural(corpus.posts.height, "post")
    hateful = _one(findings, "label_share", label="hateful")
    if hateful and hateful.value is not None:
        text += f", {_percent(hateful.value)} of the {hateful.n:,} labelled ones hateful"
    return [text + "."]


def _label_lines(corpus: Corpus) -> list[str]:
    known = _reader_of(corpus)
    meanings = known.labels if known else {}
    lines = [f"`{label}`: {meaning}." for label, meaning in meanings.items()]
    hateful = ", ".join(corpus.hateful) or _UNKNOWN
    return [*lines, f"Counted as hateful: {hateful}."]


def _statement(corpus: Corpus) -> list[str]:
    """The data statement; what nobody wrote down says so."""
    known = _reader_of(corpus)
    facts = {
        "Title": known.title if known else corpus.name,
        "Source": known.citation if known else None,
        "Licence": known.licence if known else None,
        "May a shipped detector be trained on it": known.may_train if known else None,
        "Where it comes from": known.homepage if known else None,
    }
    parts = {
        _STATEMENT[entry.name]: getattr(known.statement, entry.name) if known else None
        for entry in fields(Statement)
    }
    return [f"{name}: {value or _UNKNOWN}" for name, value in (facts | parts).items()]


def _reader_of(corpus: Corpus) -> Reader | None:
    return reader(corpus.name) if corpus.name in registry.names("readers") else None


def _label_figure(corpus: Corpus, findings: Sequence[Finding]) -> list[Figure]:
    shares = [f for f in _only(findings, ["label_share"]) if f.value is not None]
    if not shares:
        return []
    return [
        bars(
            "Share of labelled posts, by label",
            [str(f.group["label"]) for f in shares],
            [f.value or 0.0 for f in shares],
            low=[f.low for f in shares],
            high=[f.high for f in shares],
            axis="share of posts",
            caption=f"n = {shares[0].n:,} labelled posts; {shares[0].method}, 95 %.",
            simulated=corpus.origin == "simulated",
        )
    ]


def _length_figure(corpus: Corpus) -> list[Figure]:
    lengths = corpus.posts["text"].str.len_chars()
    if not len(lengths):
        return []
    most = lengths.quantile(0.99) or 0
    shown = lengths.filter(lengths <= most)
    caption = f"n = {len(shown):,} posts; the longest hundredth is left out."
    return [
        histogram(
            "Length of the texts",
            [float(length) for length in shown],
            axis="characters",
            caption=caption,
            simulated=corpus.origin == "simulated",
        )
    ]


def _author_figure(corpus: Corpus, findings: Sequence[Finding]) -> list[Figure]:
    shares = [f for f in findings if f.measure == "top_author_share" and f.group.get("top") == 1]
    shares = [f for f in shares if f.value is not None]
    if not shares:
        return []
    return [
        bars(
            "Share of each label written by its most prolific author",
            [str(f.group["label"]) for f in shares],
            [f.value or 0.0 for f in shares],
            low=[f.low for f in shares],
            high=[f.high for f in shares],
            axis="share of posts with a known author",
            caption="Wilson intervals, 95 %, with the author fixed.",
            simulated=corpus.origin == "simulated",
        )
    ]


def _texts(corpus: Corpus, ids: Sequence[str]) -> list[Case]:
    found = corpus.posts.filter(pl.col("id").is_in(list(ids))).select("id", "text").sort("id")
    return [Case(post, text) for post, text in found.iter_rows()]
