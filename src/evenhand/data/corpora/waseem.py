"""Waseem and Hovy 2016 with authors, Waseem 2016, and the sets Arango et al. 2019 made of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.data.corpora._published import expect, locate, published_corpus
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import Format, read_rows

_FOLDER = "waseem_hovy2016"
_FOLDER_2016 = "waseem2016"
_TEXTS = "waseem_hovy_text_authors.csv"
_LIST = "arango_Waseem_IDS.tsv"
_EXTENDED = "arango_extended_7006.csv"
_MERGED = "w+ws_labeled_data.csv"
_LABELS = {"racism": "racist", "sexism": "sexist", "none": "neither"}
_HATEFUL = ("racism", "sexism")
_CLASSES = {"0": "racism", "1": "sexism", "2": "none", "3": "both"}
_BY_HAND = (
    "The publishers give ids and labels only. Rebuild the texts from the ids, replace author names"
    f" by pseudonyms, and save them as {_TEXTS} with the columns tweet_id, text, label, author"
)
_STATEMENT = Statement(
    curation="Tweets found by key words and by following prolific users over two months.",
    language="English as used on Twitter",
    speakers="1,614 known authors; two of them wrote about 65 % of the hateful posts.",
    annotators="The two authors, reviewed by a gender-studies student.",
    text="Tweets with handles and links as they were; authors are pseudonyms.",
)


def _texts(data: Path) -> tuple[Path, pl.DataFrame]:
    path = locate(data, _FOLDER, _TEXTS)
    rows = read_rows(path, need=("tweet_id", "text", "label", "author"))
    expect(path, rows, "label", _LABELS)
    rows = rows.rename({"tweet_id": "id"}).select("id", "text", "label", "author", "line")
    return path, rows.with_columns(pl.col("author").replace("", None))


def _read_waseem_hovy(data: Path) -> Corpus:
    listed = locate(data, _FOLDER, _LIST)
    path, texts = _texts(data)
    rows = read_rows(listed, Format("csv", "\t", quotes=False, header=("id", "label")))
    expect(listed, rows, "label", _LABELS)
    rows = rows.join(texts.drop("label", "line"), on="id", how="left", maintain_order="left")
    lost = rows["text"].null_count()
    if lost:
        raise BadInput(f"{listed}: {lost} of {rows.height} ids have no text in {path.name}")
    return published_corpus("waseem_hovy", rows, files=(listed, path), hateful=_HATEFUL)


def _read_full(data: Path) -> Corpus:
    path, rows = _texts(data)
    return published_corpus("waseem_hovy_full", rows, files=(path,), hateful=_HATEFUL)


def _read_extended(data: Path) -> Corpus:
    path = locate(data, _FOLDER, _EXTENDED)
    rows = read_rows(path, need=("source", "id", "text", "label", "author"))
    expect(path, rows, "label", (*_LABELS, "hate"))
    rows = rows.rename({"source": "part"}).with_columns(pl.col("author").replace("", None))
    return published_corpus(
        "arango_extended", rows, files=(path,), hateful=(*_HATEFUL, "hate"), tags=("part",)
    )


def _read_2016(data: Path) -> Corpus:
    listed = locate(data, _FOLDER_2016, _MERGED)
    path, texts = _texts(data)
    rows = read_rows(listed, need=("id", "class"))
    expect(listed, rows, "class", _CLASSES)
    labelled = rows.with_columns(label=pl.col("class").replace(_CLASSES)).join(
        texts.drop("label", "line"), on="id", how="inner", maintain_order="left"
    )
    return published_corpus(
        "waseem_2016",
        labelled,
        files=(listed, path),
        hateful=(*_HATEFUL, "both"),
        notes=(f"{rows.height - labelled.height} of {rows.height} ids have no text here.",),
    )


WASEEM_HOVY = Reader(
    name="waseem_hovy",
    title="Hateful symbols or hateful people? (the rows of Arango et al.)",
    citation="Waseem, Hovy 2016, NAACL SRW; Arango, Pérez, Poblete 2019, SIGIR",
    licence="none stated for the text: local research use",
    may_train="no",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=_HATEFUL,
    read=_read_waseem_hovy,
    files=(f"{_FOLDER}/{_LIST}", f"{_FOLDER}/{_TEXTS}"),
    homepage="https://github.com/zeeraktalat/hatespeech",
    downloads=(
        Download(
            _LIST,
            "https://raw.githubusercontent.com/aymeam/User_distribution_experiments/"
            "704c6026a164cda481f9582e89ff6aac0c274414/Data/Waseem_IDS.tsv",
            "388225e52a1a733db3f70eaff40b2f183e0e5dd3064d09db1f2f0b01371b0b0b",
        ),
    ),
    by_hand=f"{_BY_HAND}.",
    statement=_STATEMENT,
)
WASEEM_HOVY_FULL = Reader(
    name="waseem_hovy_full",
    title="Hateful symbols or hateful people? (every row with text)",
    citation="Waseem, Hovy 2016, NAACL SRW",
    licence="none stated for the text: local research use",
    may_train="no",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=_HATEFUL,
    read=_read_full,
    files=(f"{_FOLDER}/{_TEXTS}",),
    homepage="https://github.com/zeeraktalat/hatespeech",
    by_hand=f"{_BY_HAND}.",
    statement=_STATEMENT,
)
ARANGO_EXTENDED = Reader(
    name="arango_extended",
    title="The extended set of Arango et al. (at most 250 posts per author and class, + Davidson)",
    citation="Arango, Pérez, Poblete 2019, SIGIR",
    licence="as its parts: local research use",
    may_train="no",
    folder=_FOLDER,
    labels={**_LABELS, "hate": "hate speech (from Davidson et al.)"},
    hateful=(*_HATEFUL, "hate"),
    read=_read_extended,
    files=(f"{_FOLDER}/{_EXTENDED}",),
    by_hand=f"{_BY_HAND}; then take the ids of Arango's Data_new_IDS.tsv and add Davidson's hate"
    f" posts, as {_EXTENDED} with the columns source, id, text, label, author.",
    statement=Statement(
        curation="Waseem–Hovy capped at 250 posts per author and class, with the hate posts of"
        " Davidson et al. added: hateful posts of one source only.",
        language="English as used on Twitter",
        speakers="Known for the Waseem–Hovy part only.",
    ),
)
WASEEM_2016 = Reader(
    name="waseem_2016",
    title="Are you a racist or am I seeing things? merged with Waseem–Hovy (the part with text)",
    citation="Waseem 2016, NLP+CSS",
    licence="none stated for the text: local research use",
    may_train="no",
    folder=_FOLDER_2016,
    labels={**_LABELS, "both": "racist and sexist"},
    hateful=(*_HATEFUL, "both"),
    read=_read_2016,
    files=(f"{_FOLDER_2016}/{_MERGED}", f"{_FOLDER}/{_TEXTS}"),
    downloads=(
        Download(
            _MERGED,
            "https://raw.githubusercontent.com/ziqizhang/chase/"
            "09dccf84c633085947f6596049d3e259fde2a024/data/ml/public/w%2Bws/labeled_data.csv",
            "7b75985d84437907627a577c8beb6a85a9c742cb606b2bbdb2067d08c1d9ec91",
        ),
    ),
    by_hand=f"{_BY_HAND}.",
    statement=Statement(
        curation="A second sample of the same collection, joined to the first.",
        language="English as used on Twitter",
        annotators="Experts and crowd workers; the merged label is used.",
    ),
)
