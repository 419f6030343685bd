"""Kern et al. 2023: the same tweets under five questionnaire designs, votes with ids."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.core.tables import judgements_table
from evenhand.data.corpora._published import expect, locate, published_corpus, votes
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import read_rows
from evenhand.stats.votes import vote_shares

_NAME = "annotation_sensitivity"
_FOLDER = "tweet_annotation_sensitivity"
_QUESTIONS = {"hate_speech": "hate.speech", "offensive_language": "offensive.language"}
_URL = (
    "https://raw.githubusercontent.com/chkern/tweet-annotation-sensitivity/"
    "557bfa6bcb700bceb8b550208bbf78be4bfe57e6/data/"
)


def _read(data: Path) -> Corpus:
    paths, frames = [], []
    for split in ("train", "test"):
        path = locate(data, _FOLDER, f"full_{split}_s.csv")
        need = ("id", "version", "batch.tweet", "tweet.id", "tweet_hashed", *_QUESTIONS.values())
        rows = read_rows(path, need=need).with_columns(split=pl.lit(split))
        for column in _QUESTIONS.values():
            expect(path, rows, column, ("0", "1", "NA"))
        paths.append(path)
        frames.append(rows)
    rows = pl.concat(frames, how="diagonal").rename(
        {"id": "annotator", "tweet.id": "id", "tweet_hashed": "text", "batch.tweet": "batch"}
    )
    tables = [
        votes(_NAME, rows, question, _answer(column), cohort=pl.col("version"))
        for question, column in _QUESTIONS.items()
    ]
    judgements = judgements_table(pl.concat(tables), dict.fromkeys(_QUESTIONS, ("0", "1")))
    return published_corpus(
        _NAME,
        rows,
        files=paths,
        hateful=("1",),
        tags=("split", "batch"),
        question="hate_speech",
        gold=vote_shares(judgements),
        judgements=judgements,
        notes=("A cohort is one of the five questionnaire designs; NA is no judgement.",),
    )


def _answer(column: str) -> pl.Expr:
    """The answer as a list of one; null where the person did not answer."""
    return pl.when(pl.col(column) != "NA").then(pl.concat_list(pl.col(column)))


READER = Reader(
    name=_NAME,
    title="Tweet annotation sensitivity: five questionnaire designs",
    citation="Kern, Eckman, Beck, Chew, Ma, Kreuter 2023, Findings of EMNLP",
    licence="none stated",
    may_train="no",
    folder=_FOLDER,
    labels={"1": "hate speech", "0": "no hate speech"},
    hateful=("1",),
    read=_read,
    files=tuple(f"{_FOLDER}/full_{split}_s.csv" for split in ("train", "test")),
    question="hate_speech",
    homepage="https://github.com/chkern/tweet-annotation-sensitivity",
    downloads=tuple(
        Download(f"full_{split}_s.csv", f"{_URL}full_{split}_s.csv") for split in ("train", "test")
    ),
    statement=Statement(
        curation="3,000 tweets drawn from Davidson's corpus, stratified by its labels.",
        language="English as used on Twitter",
        annotators="917 crowd workers, each in one of five designs (A to E).",
        text="Tweets with handles replaced by hashes.",
    ),
)
