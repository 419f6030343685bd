"""Basile et al. 2019: SemEval task 5, hate against women and immigrants (English)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.data.corpora._published import (
    expect,
    locate,
    locate_optional,
    published_corpus,
    published_gold,
)
from evenhand.data.corpus import Corpus, Reader, Statement
from evenhand.data.files import read_rows

_NAME = "hateval"
_FOLDER = "hateval2019"
_SPLITS = ("train", "dev", "test")
_RELABELLED = "relabeled_en_test.csv"


def _read(data: Path) -> Corpus:
    paths, frames = [], []
    for split in _SPLITS:
        path = locate(data, _FOLDER, f"hateval2019_en_{split}.csv")
        rows = read_rows(path, need=("id", "text", "HS", "TR", "AG"))
        expect(path, rows, "HS", ("0", "1"))
        paths.append(path)
        frames.append(rows.with_columns(split=pl.lit(split)))
    rows = pl.concat(frames).rename({"HS": "label"})
    gold, notes = [published_gold(_NAME, rows, "HS")], []
    second = locate_optional(data, _FOLDER, _RELABELLED)
    if second:
        again = read_rows(second, need=("id", "HS"))
        expect(second, again, "HS", ("0", "1"))
        gold.append(published_gold(_NAME, again.rename({"HS": "label"}), "HS relabelled"))
        paths.append(second)
        notes.append("Question 'HS relabelled' is a second gold for the test split.")
    return published_corpus(
        _NAME,
        rows,
        files=paths,
        hateful=("1",),
        tags=("split", "TR", "AG"),
        question="HS",
        gold=pl.concat(table for table in gold if table is not None),
        notes=tuple(notes),
    )


READER = Reader(
    name=_NAME,
    title="HatEval: hate against immigrants and women",
    citation="Basile et al. 2019, SemEval task 5",
    licence="given out by form; may not be passed on",
    may_train="no",
    folder=_FOLDER,
    labels={"1": "hateful", "0": "not hateful"},
    hateful=("1",),
    read=_read,
    files=tuple(f"{_FOLDER}/hateval2019_en_{split}.csv" for split in _SPLITS),
    question="HS",
    homepage="http://hatespeech.di.unito.it/hateval.html",
    by_hand="Ask the organisers through the form on the homepage, then save the English files as "
    "hateval2019_en_train.csv, hateval2019_en_dev.csv and hateval2019_en_test.csv.",
    statement=Statement(
        curation="Tweets to identified victims, from identified haters and by key words.",
        language="English (the task has Spanish too)",
        annotators="Crowd workers and two experts.",
    ),
)
