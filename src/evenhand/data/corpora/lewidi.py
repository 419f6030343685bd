"""Learning with disagreements (SemEval-2023): MD-Agreement and HS-Brexit, votes with ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.tables import judgements_table
from evenhand.data.corpora._published import (
    expect_entries,
    load_entries,
    locate,
    published_corpus,
)
from evenhand.data.corpus import Corpus, Download, Reader, Statement

_SPLITS = ("train", "dev", "test")
_URL = (
    "https://raw.githubusercontent.com/Le-Wi-Di/le-wi-di.github.io/"
    "45d7b06e4c36b59472d6bdf9281f7f1e395eb0e0/LeWiDi_2-2023/"
)

_SHA256 = {
    "MD-Agreement_dev.json": "b42b6b54015589504de259241e14c17ff605baab4eb146effcb17a95fbfd69f5",
    "HS-Brexit_train.json": "d204d83c7b1a73f037b3aff36aac61357c08a96f96292a37ac7655eb562d81fb",
    "HS-Brexit_dev.json": "77c17f95985cbb6db47ffcda637e717a9074f2660e15b5c0c1f9006f50da60a7",
    "HS-Brexit_test.json": "24e5e1615818ff6e3b96e50245cfe10636ef8ec0ea51f2c2a60acb68858fd195",
}


def _reader(name: str, folder: str, stem: str) -> Callable[[Path], Corpus]:
    def read(data: Path) -> Corpus:
        paths = [locate(data, folder, f"{stem}_{split}.json") for split in _SPLITS]
        posts: list[dict[str, Any]] = []
        judged: list[dict[str, Any]] = []
        for split, path in zip(_SPLITS, paths, strict=True):
            entries = load_entries(path)
            for key, entry in entries.items():
                _add(name, f"{split}:{key}", split, entry, path, posts, judged)
            expect_entries(path, _labels(entries), ("0", "1"))
        rows = pl.DataFrame(posts)
        judgements = judgements_table(pl.DataFrame(judged, infer_schema_length=None))
        tags = ("split", *(c for c in rows.columns if c == "domain"))
        return published_corpus(
            name, rows, files=paths, hateful=("1",), tags=tags, judgements=judgements
        )

    return read


def _labels(entries: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every answer to the main question, and the label made of them."""
    for key, entry in entries.items():
        yield key, entry["hard_label"]
        yield from ((key, mark.strip()) for mark in entry["annotations"].split(","))


def _add(
    name: str,
    post: str,
    split: str,
    entry: dict[str, Any],
    path: Path,
    posts: list[dict[str, Any]],
    judged: list[dict[str, Any]],
) -> None:
    try:
        info = entry["other_info"]
        people = [person.strip() for person in entry["annotators"].split(",")]
        cohorts = [info.get(g) for g in info.get("annotators group", "").split(",")]
        answers = {"label": entry["annotations"]} | info.get("other annotations", {})
        row = {"id": post, "text": entry["text"], "label": entry["hard_label"], "split": split}
        posts.append(row | ({"domain": info["domain"]} if "domain" in info else {}))
        for question, line in answers.items():
            marks = line.split(",")
            for index, (person, mark) in enumerate(zip(people, marks, strict=True)):
                cohort = cohorts[index] if len(cohorts) == len(people) else None
                judged.append(
                    {
                        "post": f"{name}:{post}",
                        "annotator": person,
                        "cohort": cohort,
                        "question": question,
                        "answer": [mark.strip()],
                        # A person can be listed twice on a post: the second is an attempt.
                        "attempt": people[: index + 1].count(person),
                    }
                )
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise BadInput(
            f"{path}: entry {post!r} is not in the published form ({error!r}); expected text, "
            "annotations, annotators (as many), hard_label, other_info"
        ) from error


def _files(folder: str, stem: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{stem}_{split}.json" for split in _SPLITS)


def _downloads(folder: str, stem: str) -> tuple[Download, ...]:
    return tuple(
        Download(f"{stem}_{split}.json", f"{_URL}{folder}/{stem}_{split}.json") for split in _SPLITS
    )


MD_AGREEMENT = Reader(
    name="md_agreement",
    title="MD-Agreement: offensive tweets of three domains, five votes each",
    citation="Leonardelli, Menini, Palmero Aprosio, Guerini, Tonelli 2021, EMNLP",
    licence="none stated",
    may_train="no",
    folder="lewidi2023_md-agreement",
    labels={"1": "offensive", "0": "not offensive"},
    hateful=("1",),
    read=_reader("md_agreement", "lewidi2023_md-agreement", "MD-Agreement"),
    files=_files("lewidi2023_md-agreement", "MD-Agreement"),
    homepage="https://le-wi-di.github.io",
    downloads=_downloads("MD-Agreement_dataset", "MD-Agreement"),
    statement=Statement(
        curation="Tweets on three topics of 2020, chosen to cover high and low agreement.",
        language="English",
        annotators="819 crowd workers, five a tweet; ids published.",
        situation="2020: Black Lives Matter, the US elections, Covid-19.",
    ),
)
HS_BREXIT = Reader(
    name="hs_brexit",
    title="HS-Brexit: six annotators of two groups on every post",
    citation="Akhtar, Basile, Patti 2021",
    licence="none stated",
    may_train="no",
    folder="lewidi2023_hs-brexit",
    labels={"1": "hate speech", "0": "no hate speech"},
    hateful=("1",),
    read=_reader("hs_brexit", "lewidi2023_hs-brexit", "HS-Brexit"),
    files=_files("lewidi2023_hs-brexit", "HS-Brexit"),
    homepage="https://le-wi-di.github.io",
    downloads=_downloads("HS-Brexit_dataset", "HS-Brexit"),
    statement=Statement(
        curation="Tweets about Brexit and immigration, by key words.",
        language="English",
        annotators="Six people: three of a target group (immigrants), three of a control group.",
    ),
)
