"""Mathew et al. 2021: HateXplain, three judgements and marked words per post."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.tables import gold_table, judgements_table
from evenhand.data.corpora._published import (
    expect_entries,
    load_entries,
    locate,
    published_posts,
)
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.stats.votes import vote_shares

_NAME = "hatexplain"
_FOLDER = "hatexplain"
_LABELS = {
    "hatespeech": "hate speech",
    "offensive": "offensive, but not hate speech",
    "normal": "neither",
}
_SPLITS = {"train": "train", "val": "dev", "test": "test"}
_URL = (
    "https://raw.githubusercontent.com/hate-alert/HateXplain/"
    "01d742279dac941981f53806154481c0e15ee686/Data/"
)
MARKED = "marked"
"""The answer of a judgement that only carries a rationale."""


def _read(data: Path) -> Corpus:
    path = locate(data, _FOLDER, "dataset.json")
    divisions = locate(data, _FOLDER, "post_id_divisions.json")
    splits = _splits(divisions)
    entries = load_entries(path)
    posts: list[dict[str, Any]] = []
    judged: list[dict[str, Any]] = []
    wrong = 0
    for key, entry in entries.items():
        try:
            tokens = entry["post_tokens"]
            row = {"id": key, "text": " ".join(tokens), "split": splits.get(key)}
            posts.append(row | {"target": _targets(entry["annotators"])})
            judged += _votes(key, entry["annotators"])
            for number, marks in enumerate(entry["rationales"], 1):
                if len(marks) != len(tokens):
                    wrong += 1
                elif any(marks):
                    judged.append(_rationale(key, number, tokens, marks))
        except (KeyError, TypeError) as error:
            raise BadInput(
                f"{path}: post {key!r} lacks {error}; expected annotators, rationales, post_tokens"
            ) from error
    labels = ((key, v["label"]) for key, entry in entries.items() for v in entry["annotators"])
    expect_entries(path, labels, _LABELS)
    rows = pl.DataFrame(posts, schema_overrides={"split": pl.String, "target": pl.String})
    table = pl.DataFrame(judged, infer_schema_length=None)
    judgements = judgements_table(table, where=str(path))
    gold = vote_shares(judgements.filter(pl.col("question") == "label"))
    notes = [
        "Rationales are question 'rationale': the file does not say whose they are.",
        "Annotator ids are missing for some posts: their judgements are anonymous.",
    ]
    if wrong:
        notes.append(f"{wrong} rationale of the wrong length was left out.")
    return Corpus(
        name=_NAME,
        rows=rows.height,
        posts=published_posts(_NAME, rows, ("split", "target")),
        gold=gold_table(gold),
        judgements=judgements,
        hateful=("hatespeech",),
        files=(path, divisions),
        notes=tuple(notes),
    )


def _splits(path: Path) -> dict[str, str]:
    """Post → split."""
    divisions = load_entries(path)
    unknown = [name for name in divisions if name not in _SPLITS]
    if unknown:
        raise BadInput(f"{path}: unknown division {unknown[0]!r}; expected {', '.join(_SPLITS)}")
    return {post: _SPLITS[name] for name, posts in divisions.items() for post in posts}


def _votes(key: str, annotators: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, vote in enumerate(annotators, 1):
        person = vote["annotator_id"]
        yield {
            "post": f"{_NAME}:{key}",
            "annotator": f"?{number}" if person is None else str(person),
            "question": "label",
            "answer": [vote["label"]],
            "anonymous": person is None,
            "spans": [],
        }


def _rationale(
    key: str, number: int, tokens: Sequence[str], marks: Sequence[int]
) -> dict[str, Any]:
    return {
        "post": f"{_NAME}:{key}",
        "annotator": f"?{number}",
        "question": "rationale",
        "answer": [MARKED],
        "anonymous": True,
        "spans": token_spans(tokens, marks),
    }


def token_spans(tokens: Sequence[str], marks: Sequence[int]) -> list[dict[str, int]]:
    """Spans of runs of marked tokens in the text ``" ".join(tokens)``.

    >>> token_spans(["a", "bc", "d", "e"], [0, 1, 1, 0])
    [{'start': 2, 'end': 6}]
    """
    spans: list[dict[str, int]] = []
    at = 0
    open_run = False
    for token, mark in zip(tokens, marks, strict=True):
        end = at + len(token)
        if mark and open_run:
            spans[-1]["end"] = end
        elif mark and token:
            spans.append({"start": at, "end": end})
        open_run = bool(mark) and (open_run or bool(token))
        at = end + 1
    return spans


def _targets(annotators: Sequence[dict[str, Any]]) -> str | None:
    """The communities at least two annotators named, joined by ``|``."""
    named = Counter(t for vote in annotators for t in set(vote.get("target") or ()))
    chosen = sorted(t for t, count in named.items() if count >= 2 and t not in ("None", "Other"))
    return "|".join(chosen) or None


READER = Reader(
    name=_NAME,
    title="HateXplain: hate speech with rationales",
    citation="Mathew, Saha, Yimam, Biemann, Goyal, Mukherjee 2021, AAAI",
    licence="MIT",
    may_train="yes",
    folder=_FOLDER,
    labels=_LABELS,
    hateful=("hatespeech",),
    read=_read,
    files=(f"{_FOLDER}/dataset.json", f"{_FOLDER}/post_id_divisions.json"),
    homepage="https://github.com/hate-alert/HateXplain",
    downloads=(
        Download("dataset.json", f"{_URL}dataset.json"),
        Download(
            "post_id_divisions.json",
            f"{_URL}post_id_divisions.json",
            "c2fb0d89862e7897b11ea3e9380753f15a793482b4b70ad0532dfb1212212835",
        ),
    ),
    statement=Statement(
        curation="Posts from Twitter and Gab that contain a term of a lexicon.",
        language="English",
        annotators="Crowd workers, three a post; they marked the words behind a label.",
        text="Tokenised and lower-cased by the publishers; handles replaced.",
    ),
)
