"""de Gibert et al. 2018: sentences from a white-supremacist forum, with authors."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.data.corpora._published import expect, locate, published_corpus
from evenhand.data.corpus import Corpus, Reader, Statement
from evenhand.data.files import Format, read_rows

_NAME = "stormfront"
_FOLDER = "stormfront"
_LABELS = {
    "hate": "hate: a deliberate attack on a group, motivated by its identity",
    "noHate": "no hate",
    "relation": "hate only together with its neighbouring sentences",
    "idk/skip": "not in English, or without information",
}


def _read(data: Path) -> Corpus:
    labels = locate(data, _FOLDER, "annotations_metadata.csv")
    texts = locate(data, _FOLDER, "all_files.tsv")
    rows = read_rows(labels, need=("file_id", "user_id", "subforum_id", "num_contexts", "label"))
    expect(labels, rows, "label", _LABELS)
    sentences = read_rows(
        texts, Format("csv", "\t", quotes=False), need=("file_id", "text", "sample")
    )
    rows = rows.join(sentences.drop("line"), on="file_id", how="left", maintain_order="left")
    rows = rows.rename(
        {"file_id": "id", "user_id": "author", "subforum_id": "subforum", "sample": "split"}
    ).with_columns(pl.col("author").replace("", None))
    return published_corpus(
        _NAME,
        rows,
        files=(labels, texts),
        hateful=("hate",),
        tags=("split", "subforum", "num_contexts"),
        notes=("The published split covers only the authors' balanced sample.",),
    )


READER = Reader(
    name=_NAME,
    title="Hate speech from a white-supremacist forum",
    citation="de Gibert, Perez, García-Pablos, Cuadros 2018, ALW",
    licence="CC BY-SA 3.0 ES",
    may_train="no (share-alike)",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=("hate",),
    read=_read,
    files=(f"{_FOLDER}/annotations_metadata.csv", f"{_FOLDER}/all_files.tsv"),
    homepage="https://github.com/Vicomtech/hate-speech-dataset",
    by_hand="Clone the repository of the homepage; copy annotations_metadata.csv, and write "
    "all_files/*.txt into one tab-separated all_files.tsv with the columns file_id, text, sample "
    "(train, test or empty: membership of the authors' sampled sets).",
    statement=Statement(
        curation="Posts drawn from several sub-forums, cut into sentences.",
        language="English",
        speakers="Forum members; a number stands for each.",
        annotators="Three people, after a pilot.",
        situation="2002 to 2017, an extremist forum.",
    ),
)
