"""Cercas Curry et al. 2021: ConvAbuse, abuse towards conversational systems, votes with ids."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl

from evenhand.core.errors import Faults
from evenhand.core.tables import judgements_table
from evenhand.data.corpora._published import locate, published_corpus, votes
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import LINE, read_rows
from evenhand.stats.votes import vote_shares

_NAME = "convabuse"
_FOLDER = "convabuse"
_FILE = "ConvAbuseEMNLPfull.csv"
_QUESTION = "abuse"
_LEVELS = {
    "1": "not abusive",
    "0": "ambivalent",
    "-1": "mildly abusive",
    "-2": "strongly abusive",
    "-3": "very strongly abusive",
}
_HATEFUL = ("-1", "-2", "-3")
_SEVERAL = {
    "type": (
        "ableism",
        "homophobic",
        "intellectual",
        "racist",
        "sexist",
        "sex_harassment",
        "transphobic",
    ),
    "target": ("generalised", "individual", "system"),
    "direction": ("explicit", "implicit"),
}
_TURNS = ("prev_agent", "prev_user", "agent", "user")
_URL = (
    "https://raw.githubusercontent.com/amandacurry/convabuse/"
    "c0a9469f48956e868276c605d499010ea3c7c0d0/1_full/"
)


def _read(data: Path) -> Corpus:
    path = locate(data, _FOLDER, _FILE)
    one_hot = [f"is_abuse.{level}" for level in _LEVELS]
    several = [f"{question}.{option}" for question, o in _SEVERAL.items() for option in o]
    rows = read_rows(path, need=("annotator_id", "conv_id", "bot", *_TURNS, *one_hot, *several))
    chosen = pl.sum_horizontal(pl.col(one_hot).cast(pl.Float64, strict=False) == 1)
    faults = Faults(path.name)
    faults.add_lines("expected 1 in exactly one is_abuse.* column", rows.filter(chosen != 1)[LINE])
    faults.raise_if_any()
    rows = rows.with_columns(
        id=_ids(rows), text=pl.col("user"), annotator=pl.col("annotator_id")
    ).with_columns(attempt=pl.int_range(1, pl.len() + 1).over("id", "annotator"))
    questions = [_QUESTION, *_SEVERAL]
    tables = [votes(_NAME, rows, q, _answer(q), attempt=pl.col("attempt")) for q in questions]
    judgements = judgements_table(pl.concat(tables), {_QUESTION: _LEVELS, **_SEVERAL})
    main = judgements.filter(pl.col("question") == _QUESTION)
    return published_corpus(
        _NAME,
        rows,
        files=(path,),
        hateful=_HATEFUL,
        tags=("bot", "prev_agent", "prev_user", "agent"),
        question=_QUESTION,
        gold=vote_shares(main),
        judgements=judgements,
        notes=(
            "The text is the user's turn; the turns before it are tags.",
            "A person who judged a turn again has a second attempt.",
        ),
    )


def _ids(rows: pl.DataFrame) -> pl.Series:
    """The conversation and a digest of the turns: the file numbers rows, not posts."""
    turns = rows.select("conv_id", *_TURNS)
    ids = [
        f"{conversation.removesuffix('.0')}-"
        + hashlib.blake2b("\x1f".join(texts).encode(), digest_size=8).hexdigest()
        for conversation, *texts in turns.iter_rows()
    ]
    return pl.Series("id", ids)


def _answer(question: str) -> pl.Expr:
    prefix = "is_abuse" if question == _QUESTION else question
    options = _LEVELS if question == _QUESTION else _SEVERAL[question]
    chosen = [
        pl.when(pl.col(f"{prefix}.{option}").cast(pl.Float64, strict=False) == 1).then(
            pl.lit(option)
        )
        for option in options
    ]
    return pl.concat_list(chosen).list.drop_nulls()


READER = Reader(
    name=_NAME,
    title="ConvAbuse: abuse towards conversational systems",
    citation="Cercas Curry, Abercrombie, Rieser 2021, EMNLP",
    licence="CC BY 4.0",
    may_train="yes",
    folder=_FOLDER,
    labels=_LEVELS,
    hateful=_HATEFUL,
    read=_read,
    files=(f"{_FOLDER}/{_FILE}",),
    question=_QUESTION,
    homepage="https://github.com/amandacurry/convabuse",
    downloads=(Download(_FILE, f"{_URL}{_FILE}"),),
    statement=Statement(
        curation="Conversations with two systems, enriched for abuse by key words.",
        language="English",
        annotators="People with a background in gender studies; ids published.",
        situation="Conversations with a rule-based and a commercial research bot.",
        text="A user's turn with the three turns before it.",
    ),
)
