"""Kirk et al. 2023: explainable detection of online sexism, three levels of labels."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.data.corpora._published import expect, locate, published_corpus
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import read_rows

_NAME = "edos"
_FOLDER = "edos"
_FILE = "edos_labelled_aggregated.csv"
_URL = (
    "https://raw.githubusercontent.com/rewire-online/edos/"
    "b1f1fbcca9d42de0395432ada8fcfb5c35f68c77/data/"
)


def _read(data: Path) -> Corpus:
    path = locate(data, _FOLDER, _FILE)
    need = ("rewire_id", "text", "label_sexist", "label_category", "label_vector", "split")
    rows = read_rows(path, need=need)
    expect(path, rows, "label_sexist", ("sexist", "not sexist"))
    renamed = {
        "rewire_id": "id",
        "label_sexist": "label",
        "label_category": "category",
        "label_vector": "vector",
    }
    rows = rows.rename(renamed).with_columns(pl.col("category", "vector").replace("none", None))
    return published_corpus(
        _NAME, rows, files=(path,), hateful=("sexist",), tags=("split", "category", "vector")
    )


READER = Reader(
    name=_NAME,
    title="Explainable detection of online sexism",
    citation="Kirk, Yin, Vidgen, Röttger 2023, SemEval",
    licence="CC0 1.0",
    may_train="yes",
    folder=_FOLDER,
    labels={"sexist": "abuse or negative sentiment towards women", "not sexist": "not sexist"},
    hateful=("sexist",),
    read=_read,
    files=(f"{_FOLDER}/{_FILE}",),
    homepage="https://github.com/rewire-online/edos",
    downloads=(Download(_FILE, f"{_URL}{_FILE}"),),
    statement=Statement(
        curation="Comments from Gab and Reddit, drawn with several filters to enrich for sexism.",
        language="English",
        annotators="Trained annotators who identify as women, three a post; experts settled.",
        text="Short comments; names and links replaced by placeholders.",
    ),
)
