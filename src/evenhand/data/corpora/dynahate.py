"""Vidgen et al. 2021: hateful and harmless texts written to fool a model, four rounds."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.data.corpora._published import expect, locate, locate_optional, published_corpus
from evenhand.data.corpus import Corpus, Reader, Statement
from evenhand.data.files import read_rows

_NAME = "dynahate"
_FOLDER = "dynahate"
_FILES = ("dynahate_train_dev.csv", "dynahate_test.csv")


def _read(data: Path) -> Corpus:
    first = locate(data, _FOLDER, _FILES[0])
    test = locate_optional(data, _FOLDER, _FILES[1])
    paths = [first, *([test] if test else [])]
    frames = []
    for path in paths:
        rows = read_rows(path, need=("text", "label", "split"))
        expect(path, rows, "label", ("0", "1"))
        stem = path.name.removesuffix(".gz").removesuffix(".csv")
        number = pl.int_range(1, pl.len() + 1)
        frames.append(rows.with_columns(id=pl.format(f"{stem}:{{}}", number)))
    rows = pl.concat(frames, how="diagonal")
    return published_corpus(
        _NAME,
        rows,
        files=paths,
        hateful=("1",),
        tags=("split",),
        notes=("The files have no ids: a post's id is its file and row number.",),
    )


READER = Reader(
    name=_NAME,
    title="Dynamically generated hate speech, rounds 1 to 4",
    citation="Vidgen, Thrush, Waseem, Kiela 2021, ACL",
    licence="none stated; published for use with citation",
    may_train="yes, named in the model card; report the same recipe without it",
    folder=_FOLDER,
    labels={"1": "hateful", "0": "not hateful"},
    hateful=("1",),
    read=_read,
    files=(f"{_FOLDER}/{_FILES[0]}",),
    by_hand="Make dynahate_train_dev.csv with the columns text, label (1 hate, 0 not), split "
    "(train or dev) from the published release, and dynahate_test.csv in the same form for its "
    "test split.",
    statement=Statement(
        curation="Written by trained annotators to be misclassified by the model of the round.",
        language="English",
        annotators="Trained annotators, each entry checked by others.",
        text="Short made-up posts, not found in the wild.",
    ),
)
