"""Wikipedia comments with six labels (Jigsaw 2018), and published scores of the Perspective API."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.core.errors import BadInput, Faults
from evenhand.core.tables import draws_table, gold_table, scores_table
from evenhand.data.corpora._published import locate, published_corpus
from evenhand.data.corpus import Corpus, Reader, Statement
from evenhand.data.files import LINE, missing_column

_FOLDER = "jigsaw"
_SUBSET = "jigsaw_train_subset.parquet"
_WIKIPEDIA = "perspective_wikipedia_2k_part.parquet"
_PROMPTS = "rtp_perspective_val_part.parquet"
ATTRIBUTES = {
    "toxic": "TOXICITY",
    "severe_toxic": "SEVERE_TOXICITY",
    "obscene": "PROFANITY",
    "threat": "THREAT",
    "insult": "INSULT",
    "identity_hate": "IDENTITY_ATTACK",
}
"""Jigsaw's labels → Perspective's attributes."""
_NONE = "none"
_LABELS = {**{label: f"read as {name}" for label, name in ATTRIBUTES.items()}, _NONE: "no label"}
# Rows of the subset and of the full published training set, by whether they carry a label.
_LABELLED = (14_466, 16_225)
_UNLABELLED = (41_314, 143_346)
_LATEST = {"TOXICITY@6": "TOXICITY", "SEVERE_TOXICITY@2": "SEVERE_TOXICITY"}
_EARLIER = {"TOXICITY@5": "TOXICITY", "SEVERE_TOXICITY@1": "SEVERE_TOXICITY"}


def _parquet(path: Path, *need: str) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(path)
    except Exception as error:  # Polars raises many kinds; each means the file is unreadable
        raise BadInput(
            f"{path}: cannot be read as Parquet: {str(error).splitlines()[0]}"
        ) from error
    absent = [name for name in need if name not in frame.columns]
    if absent:
        raise BadInput(*(f"{path}: {missing_column(name, frame.columns)}" for name in absent))
    return frame.with_row_index(LINE, offset=1)


def _expect_bits(path: Path, rows: pl.DataFrame) -> None:
    """Refuse labels other than 0 and 1, naming each row."""
    faults = Faults(path.name, unit="row")
    for label in ATTRIBUTES:
        bad = rows.filter(~pl.col(label).is_in([0, 1]).fill_null(False))
        faults.add_lines(f"{label} is neither 0 nor 1", bad[LINE])
    faults.raise_if_any()


def _gold(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Several labels may apply; a row with none of the six is ``none``."""
    chosen = [
        pl.when(pl.col(label) == 1).then(pl.struct(label=pl.lit(label), share=pl.lit(1.0)))
        for label in ATTRIBUTES
    ]
    none = pl.concat_list(pl.struct(label=pl.lit(_NONE), share=pl.lit(1.0)))
    rows = rows.with_columns(shares=pl.concat_list(chosen).list.drop_nulls())
    rows = rows.with_columns(
        shares=pl.when(pl.col("shares").list.len() == 0).then(none).otherwise("shares")
    )
    first = pl.col("shares").list.first().struct.field("label")
    return gold_table(
        rows.select(
            post=pl.lit(f"{name}:") + pl.col("id"),
            question=pl.lit("label"),
            shares="shares",
            n=pl.lit(1),
            origin=pl.lit("published"),
            label=pl.when(pl.col("shares").list.len() == 1).then(first),
            multiple=pl.lit(True),
        )
    )


def _read_jigsaw(data: Path) -> Corpus:
    name = "jigsaw"
    path = locate(data, _FOLDER, _SUBSET)
    rows = _parquet(path, "id", "comment_text", *ATTRIBUTES).rename({"comment_text": "text"})
    _expect_bits(path, rows)
    labelled = pl.max_horizontal(pl.col(list(ATTRIBUTES))) == 1
    share = {True: _LABELLED[0] / _LABELLED[1], False: _UNLABELLED[0] / _UNLABELLED[1]}
    # Every row with the label threat was kept, so those were certain to be in.
    probability = (
        pl.when(pl.col("threat") == 1)
        .then(1.0)
        .when(labelled)
        .then(share[True])
        .otherwise(share[False])
    )
    draws = draws_table(
        rows.select(
            post=pl.lit(f"{name}:") + pl.col("id"),
            stratum=pl.when(labelled).then(pl.lit("labelled")).otherwise(pl.lit("none")),
            flag=labelled,
            probability=probability,
            weight=1 / probability,
        )
    )
    tags = [tag for tag in ("split",) if tag in rows.columns]
    return published_corpus(
        name,
        rows,
        files=(path,),
        hateful=tuple(ATTRIBUTES),
        tags=tags,
        gold=_gold(name, rows),
        draws=draws,
        notes=(
            "Not a random sample of the published set: draws carry the weights that restore its"
            " base rate; rows labelled threat, all of which are here, have weight 1.",
        ),
    )


def _read_perspective(data: Path) -> Corpus:
    name = "perspective_scores"
    wikipedia = locate(data, _FOLDER, _WIKIPEDIA)
    prompts = locate(data, _FOLDER, _PROMPTS)
    comments = _parquet(wikipedia, "id", "comment_text", "TOXICITY@6", *ATTRIBUTES).rename(
        {"comment_text": "text"}
    )
    comments = comments.with_columns(
        id=pl.format("wikipedia:{}", "id"), part=pl.lit("comment"), set=pl.lit("wikipedia")
    )
    texts = _parquet(prompts, "filename", "begin", "end", "part", "text", "toxicity").with_columns(
        id=pl.format("rtp:{}:{}-{}:{}", "filename", "begin", "end", "part"), set=pl.lit("rtp")
    )
    known = comments.filter(pl.col("toxic").is_not_null())
    _expect_bits(wikipedia, known)
    scores = [_scores(name, comments), _scores(name, texts)]
    rows = pl.concat([frame.select("id", "text", "part", "set") for frame in (comments, texts)])
    missing = texts["toxicity"].null_count()
    return published_corpus(
        name,
        rows,
        files=(wikipedia, prompts),
        hateful=tuple(ATTRIBUTES),
        tags=("set", "part"),
        gold=_gold(name, known) if known.height else None,
        scores=scores_table(pl.concat(scores)),
        notes=(
            f"{missing} texts have no scores.",
            "Labels are those of the comments that are also rows of jigsaw.",
        ),
    )


def _scores(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Long scores, one for every column of floats; an earlier version is a detector of its own."""
    floats = [c for c in frame.columns if frame.schema[c] == pl.Float64]
    long = frame.unpivot(floats, index="id", variable_name="column", value_name="p").drop_nulls("p")
    earlier = pl.col("column").is_in(list(_EARLIER))
    return long.select(
        post=pl.lit(f"{name}:") + pl.col("id"),
        detector=pl.when(earlier)
        .then(pl.lit("perspective (earlier version)"))
        .otherwise(pl.lit("perspective")),
        attribute=pl.col("column").replace(_LATEST | _EARLIER).str.to_uppercase(),
        p="p",
    )


JIGSAW = Reader(
    name="jigsaw",
    title="Wikipedia talk comments with six kinds of toxicity (a part)",
    citation="Wulczyn, Thain, Dixon 2017; Jigsaw 2018",
    licence="labels CC0, text CC BY-SA 3.0",
    may_train="yes",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=tuple(ATTRIBUTES),
    read=_read_jigsaw,
    files=(f"{_FOLDER}/{_SUBSET}",),
    by_hand=f"Save the columns id, comment_text and the six labels as {_SUBSET}.",
    statement=Statement(
        curation="Comments on Wikipedia's talk pages; this part keeps most labelled rows.",
        language="English",
        speakers="Editors of Wikipedia.",
        annotators="Crowd workers.",
    ),
)
PERSPECTIVE_SCORES = Reader(
    name="perspective_scores",
    title="Published scores of the Perspective API",
    citation="Wikipedia comments, and Gehman et al. 2020 (RealToxicityPrompts)",
    licence="Apache-2.0",
    may_train="scores as targets for calibration only",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=tuple(ATTRIBUTES),
    read=_read_perspective,
    files=(f"{_FOLDER}/{_WIKIPEDIA}", f"{_FOLDER}/{_PROMPTS}"),
    by_hand=f"Save the scored texts as {_WIKIPEDIA} and {_PROMPTS}.",
    statement=Statement(
        curation="Texts somebody had scored by the Perspective API and published.",
        language="English",
        annotators="None: the scores are a model's.",
        text="Wikipedia comments; prompts and continuations cut from web pages.",
    ),
)
