"""Guest et al. 2021: misogyny on Reddit by an expert taxonomy, with authors and highlights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.tables import judgements_table
from evenhand.data.corpora._published import expect, locate, published_corpus
from evenhand.data.corpora.hatexplain import MARKED
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import read_rows

_NAME = "guest"
_FOLDER = "guest_misogyny"
_FILE = "final_labels.csv"
_LABELS = {"Misogynistic": "misogynistic", "Nonmisogynistic": "not misogynistic"}
_NEED = (
    "entry_id",
    "parent_id",
    "entry_utc",
    "subreddit",
    "author",
    "body",
    "image",
    "level_1",
    "level_2",
    "level_3",
    "strength",
    "highlight",
    "split",
)
_URL = (
    "https://raw.githubusercontent.com/ellamguest/online-misogyny-eacl2021/"
    "b3c04567452ed92b160c3692343a0f2d74a027b2/data/"
)


def _read(data: Path) -> Corpus:
    path = locate(data, _FOLDER, _FILE)
    rows = read_rows(path, need=_NEED)
    expect(path, rows, "level_1", _LABELS)
    rows = rows.rename({"entry_id": "id", "level_1": "label"}).with_columns(
        text=pl.col("body"),
        author=pl.col("author").replace("", None),
        date=pl.from_epoch(pl.col("entry_utc").cast(pl.Int64, strict=False)).dt.replace_time_zone(
            "UTC"
        ),
        reply_to=pl.col("parent_id").str.replace(r"^t\d_", "").replace("", None),
        media=pl.when(pl.col("image") == "Yes").then(pl.lit(["image"])).otherwise(pl.lit([])),
    )
    judgements, lost = _rationales(rows)
    notes = ["Level 1 is the label; an entry with several rows has shares over them."]
    if lost:
        notes.append(f"{lost} highlights are not found in their text and have no span.")
    return published_corpus(
        _NAME,
        rows,
        files=(path,),
        hateful=("Misogynistic",),
        tags=("split", "subreddit", "level_2", "level_3", "strength"),
        judgements=judgements,
        notes=tuple(notes),
    )


def _rationales(rows: pl.DataFrame) -> tuple[pl.DataFrame | None, int]:
    """Judgements that carry the published highlights, and how many could not be placed."""
    # Rows of one post may be spaced differently; spans are of the text that is kept, the first.
    kept = rows.with_columns(pl.col("text").first().over("id"))
    marked = kept.filter(pl.col("highlight") != "")
    judged: list[dict[str, Any]] = []
    lost = 0
    for post, text, highlight in marked.select("id", "text", "highlight").iter_rows():
        span = find_words(text, highlight)
        lost += span is None
        judged.append(
            {
                "post": f"{_NAME}:{post}",
                "question": "rationale",
                "answer": [MARKED],
                "spans": [{"start": span[0], "end": span[1]}] if span else [],
                "anonymous": True,
            }
        )
    if not judged:
        return None, 0
    number = pl.int_range(1, pl.len() + 1).over("post")
    table = pl.DataFrame(judged, infer_schema_length=None)
    return judgements_table(table.with_columns(annotator=pl.format("?{}", number))), lost


def find_words(text: str, words: str) -> tuple[int, int] | None:
    """Where ``words`` stands in ``text``, spacing, case and kinds of quotation marks aside.

    >>> find_words("it  said “No” twice", 'said "no"')
    (4, 13)
    """
    quotes = "['\"‘’“”]"
    parts = [re.escape(part) for part in words.split()]
    pattern = r"\s+".join(re.sub(r"\\?['\"‘’“”]", lambda _: quotes, part) for part in parts)
    found = re.search(pattern, text, flags=re.IGNORECASE) if pattern else None
    return found.span() if found else None


READER = Reader(
    name=_NAME,
    title="Online misogyny on Reddit, an expert annotated corpus",
    citation="Guest, Vidgen, Mittos, Sastry, Tyson, Margetts 2021, EACL",
    licence="MIT",
    may_train="yes",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=("Misogynistic",),
    read=_read,
    files=(f"{_FOLDER}/{_FILE}",),
    homepage="https://github.com/ellamguest/online-misogyny-eacl2021",
    downloads=(Download(_FILE, f"{_URL}{_FILE}"),),
    statement=Statement(
        curation="Posts and comments from subreddits, targeted and sampled, over weeks of 2020.",
        language="English",
        speakers="Reddit users; names are replaced by pseudonyms in the copy we count.",
        annotators="Trained annotators; disagreements were discussed with experts.",
        situation="Reddit, February to May 2020.",
    ),
)
