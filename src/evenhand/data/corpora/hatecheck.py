"""Röttger et al. 2021: HateCheck, a functional suite, with the votes that validated it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.core.tables import judgements_table
from evenhand.data.corpora._published import (
    expect,
    locate,
    locate_optional,
    published_corpus,
    votes,
)
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import read_rows

_NAME = "hatecheck"
_FOLDER = "hatecheck"
_LABELS = {"hateful": "hateful", "non-hateful": "not hateful"}
_ANNOTATORS = 10
_PAIRS = (
    ("test_suite_cases.csv", "test_suite_annotations.csv"),
    ("sample.csv", "sample_annotations.csv"),
)
_URL = "https://raw.githubusercontent.com/paul-rottger/hatecheck-data/main/"


def _read(data: Path) -> Corpus:
    pair = next((p for p in _PAIRS if locate_optional(data, _FOLDER, p[0])), _PAIRS[0])
    cases = locate(data, _FOLDER, pair[0])
    need = ("functionality", "case_id", "test_case", "label_gold", "target_ident", "direction")
    rows = read_rows(cases, need=(*need, "ref_case_id", "templ_id"))
    expect(cases, rows, "label_gold", _LABELS)
    rows = rows.rename(
        {
            "case_id": "id",
            "test_case": "text",
            "label_gold": "label",
            "target_ident": "identity",
            "templ_id": "template",
        }
    ).with_columns(
        pl.col("direction").replace("-", None),
        twin=_whole("ref_case_id"),
        edit_of=_whole("ref_case_id"),
    )
    marks = locate_optional(data, _FOLDER, pair[1])
    judgements = judgements_table(_votes(marks)) if marks else None
    sampled = pair == _PAIRS[1]
    return published_corpus(
        _NAME,
        rows,
        files=[cases, *([marks] if marks else [])],
        hateful=("hateful",),
        tags=("functionality", "identity", "direction", "template", "twin"),
        judgements=judgements,
        notes=("A sample of the suite, not all of it.",) if sampled else (),
    )


def _whole(column: str) -> pl.Expr:
    """Ids that went through a float somewhere: ``954.0`` → ``954``; empty → null."""
    return pl.col(column).str.replace(r"\.0$", "").replace("", None)


def _votes(path: Path) -> pl.DataFrame:
    names = [f"label_{number}" for number in range(1, _ANNOTATORS + 1)]
    rows = read_rows(path, need=("case_id", *names))
    for name in names:
        expect(path, rows, name, (*_LABELS, ""))
    long = rows.rename({"case_id": "id"}).unpivot(
        names, index="id", variable_name="annotator", value_name="answer"
    )
    long = long.filter(pl.col("answer") != "").with_columns(
        annotator=pl.col("annotator").str.replace("label_", "annotator ")
    )
    return votes(_NAME, long, "label", pl.concat_list("answer"))


READER = Reader(
    name=_NAME,
    title="HateCheck, a functional suite for hate speech detection",
    citation="Röttger, Vidgen, Nguyen, Waseem, Margetts, Pierrehumbert 2021, ACL",
    licence="CC BY 4.0",
    may_train="never: a test suite",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=("hateful",),
    read=_read,
    files=("|".join(f"{_FOLDER}/{cases}" for cases, _ in _PAIRS),),
    homepage="https://github.com/paul-rottger/hatecheck-data",
    downloads=(
        Download("test_suite_cases.csv", f"{_URL}test_suite_cases.csv"),
        Download("test_suite_annotations.csv", f"{_URL}test_suite_annotations.csv"),
    ),
    statement=Statement(
        curation="Templates for 29 functionalities and seven identities, written by the authors.",
        language="English",
        annotators="Ten trained annotators, five on each case.",
        text="Made-up sentences from templates.",
    ),
)
