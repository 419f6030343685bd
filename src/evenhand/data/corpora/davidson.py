"""Davidson et al. 2017: tweets found by a hate lexicon, with vote counts."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.core.errors import Faults
from evenhand.core.tables import gold_table, judgements_table
from evenhand.data.corpora._published import expect, locate, published_corpus, published_gold
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import LINE, read_rows

_NAME = "davidson"
_FOLDER = "davidson2017"
_FILE = "labeled_data.csv"
_LABELS = {"0": "hate_speech", "1": "offensive_language", "2": "neither"}
_URL = (
    "https://raw.githubusercontent.com/t-davidson/hate-speech-and-offensive-language/"
    "cb50f7e9eb855a99abc51423bf40df0e26d6fe30/"
)


def _read(data: Path) -> Corpus:
    path = locate(data, _FOLDER, _FILE)
    rows = read_rows(path, need=("", "count", "class", "tweet", *_LABELS.values()))
    expect(path, rows, "class", _LABELS)
    _expect_counts(path, rows)
    rows = rows.rename({"": "id", "tweet": "text"})
    rows = rows.with_columns(label=pl.col("class").replace(_LABELS))
    judgements = judgements_table(_votes(rows))
    return published_corpus(
        _NAME,
        rows,
        files=(path,),
        hateful=("hate_speech",),
        gold=_gold(rows),
        judgements=judgements,
        notes=("Votes are published as counts: people cannot be told apart.",),
    )


def _expect_counts(path: Path, rows: pl.DataFrame) -> None:
    """Refuse vote counts that are no whole numbers, or do not add up to ``count``."""
    votes = [pl.col(label).cast(pl.Int32, strict=False) for label in _LABELS.values()]
    total = pl.col("count").cast(pl.Int32, strict=False)
    bad = rows.filter(~(pl.sum_horizontal(votes, ignore_nulls=False) == total).fill_null(False))
    faults = Faults(path.name)
    faults.add_lines(f"the votes for {', '.join(_LABELS.values())} do not sum to count", bad[LINE])
    faults.raise_if_any()


def _votes(rows: pl.DataFrame) -> pl.DataFrame:
    """One anonymous judgement per counted vote; ?1, ?2 … number the votes on a post."""
    counts = [
        rows.select(
            "id",
            LINE,
            label=pl.lit(label),
            answer=pl.lit([label]).repeat_by(pl.col(label).cast(pl.Int32)),
        )
        for label in _LABELS.values()
    ]
    long = pl.concat(counts).explode("answer").drop_nulls("answer").sort(LINE, "label")
    number = pl.int_range(1, pl.len() + 1).over("id")
    return long.select(
        post=pl.format(f"{_NAME}:{{}}", "id"),
        annotator=pl.format("?{}", number),
        question=pl.lit("label"),
        answer="answer",
        anonymous=pl.lit(True),
    )


def _gold(rows: pl.DataFrame) -> pl.DataFrame | None:
    """The published class, with the shares of the votes behind it."""
    gold = published_gold(_NAME, rows)
    shares = rows.select(
        post=pl.format(f"{_NAME}:{{}}", "id"),
        n=pl.col("count").cast(pl.Int32),
        shares=pl.concat_list(
            pl.struct(
                label=pl.lit(label),
                share=pl.col(label).cast(pl.Float64) / pl.col("count").cast(pl.Float64),
            )
            for label in _LABELS.values()
        ),
    )
    return (
        gold_table(gold.drop("shares", "n").join(shares, on="post")) if gold is not None else None
    )


READER = Reader(
    name=_NAME,
    title="Hate speech and offensive language",
    citation="Davidson, Warmsley, Macy, Weber 2017, ICWSM",
    licence="MIT",
    may_train="yes",
    folder=_FOLDER,
    labels={
        "hate_speech": "hatred towards a group, or meant to degrade its members",
        "offensive_language": "offensive, but not hate speech",
        "neither": "neither",
    },
    hateful=("hate_speech",),
    read=_read,
    files=(f"{_FOLDER}/{_FILE}",),
    homepage="https://github.com/t-davidson/hate-speech-and-offensive-language",
    downloads=(Download(_FILE, f"{_URL}data/{_FILE}"),),
    statement=Statement(
        curation="Tweets that contain a term of a crowd-made hate lexicon, from users' timelines.",
        language="English as used on Twitter",
        annotators="Crowd workers, three or more a tweet; nothing else was published.",
        text="Single tweets with handles and links as they were.",
    ),
)
