"""What was recorded, as tables: a folder of ``migrate record``, a corpus, or a user's file.

A text that was recorded several times counts once, with its latest answer. What people said of a
text is its label, where there is one: a column of a file, a label of a corpus, or what moderators
suggested to the recorded service (``suggested``: approved or rejected).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput, Faults
from evenhand.core.provenance import DataUsed, sha256_of_all
from evenhand.core.tables import carried, tag
from evenhand.data.corpus import Corpus
from evenhand.data.find import find, used
from evenhand.data.user_file import Columns, FileOptions
from evenhand.models.perspective import ATTRIBUTES
from evenhand.serving.recording import About, Recording, mentioned, read_recording

SUGGESTED = "suggested"
_ABOUT = "recording.json"
_SERVICE = "perspective"
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no")
_OLD = {"id": pl.String, "attribute": pl.String, "old": pl.Float64}
_NEW = {"id": pl.String, "attribute": pl.String, "new": pl.Float64}
_TRUTH = {"id": pl.String, "attribute": pl.String, "truth": pl.Int64}


@dataclass(frozen=True, kw_only=True, eq=False)
class Recorded:
    """Recorded scores and what belongs to them."""

    used: DataUsed
    posts: pl.DataFrame
    """Columns id, text (null where it was not kept), source, mentions; sorted by id."""
    old: pl.DataFrame
    """Columns id, attribute, old."""
    new: pl.DataFrame | None = None
    """Columns id, attribute, new, where a detector scored while it was recorded."""
    truth: pl.DataFrame | None = None
    """Columns id, attribute (null: any), truth (0 or 1)."""
    about: About | None = None
    first: str | None = None
    last: str | None = None
    """When the first and the last answer was recorded."""
    notes: Sequence[str] = ()

    @property
    def attributes(self) -> list[str]:
        """Those with recorded scores."""
        return self.old["attribute"].unique().sort().to_list()


def read_recorded(
    name: str, *, labels: str | None, text: str | None = None, id_: str | None = None
) -> Recorded:
    """What a user named: a recording's folder, a corpus, or a file with a column per attribute."""
    path = Path(name)
    if (path / _ABOUT).is_file():
        return _of_recording(name, read_recording(path), labels)
    if path.is_dir() and not (path / "posts.parquet").is_file():
        read_recording(path)  # says that it is none
    options = FileOptions(columns=Columns(text=text, id=id_, label=labels))
    corpus = find(name, options if path.is_file() else None)
    return _of_file(corpus, labels) if path.is_file() else _of_corpus(corpus, labels)


def _of_recording(name: str, found: Recording, labels: str | None) -> Recorded:
    latest: dict[str, Mapping[str, Any]] = {}
    said: dict[tuple[str, str | None], int] = {}
    refused: set[str] = set()
    faults = Faults(name, unit="answer")
    for number, row in enumerate(found.rows, start=1):
        if row.get("scores"):
            latest[row["id"]] = row
        elif "refused" in row:
            refused.add(row["id"])
        if labels == SUGGESTED:
            for attribute, value in row.get("suggested", {}).items():
                said[row["id"], attribute] = int(value >= 0.5)
        elif labels is not None and row.get("label") is not None:
            said[row["id"], None] = _truth(row["label"], faults, number)
    faults.raise_if_any()
    if not latest:
        raise BadInput(
            f"{name}: has no answer with a score; record some with `evenhand migrate record`"
        )
    if labels is not None and not said:
        raise BadInput(
            f"{name}: no labels; --labels {SUGGESTED} takes what moderators sent to the recorded "
            "service, any other name the labels that `migrate record --texts --labels` kept"
        )
    texts = [latest[id_].get("text") for id_ in sorted(latest)]
    kept = [latest[id_].get("mentions", ()) for id_ in sorted(latest)]
    times = sorted(str(row["at"]) for row in latest.values() if "at" in row)
    notes = []
    if gone := len(refused - latest.keys()):
        notes.append(f"{gone:,} texts were refused by the recorded service and have no score.")
    if found.torn:
        notes.append(f"{found.torn:,} answers were being written when a run was killed: left out.")
    new = [(i, a, p) for i in sorted(latest) for a, p in latest[i].get("new", {}).items()]
    return Recorded(
        used=DataUsed(name, len(found.rows), sha256_of_all(found.files)),
        posts=_posts(sorted(latest), texts, None if found.about.texts else kept, name),
        old=_long(
            [(i, a, p) for i in sorted(latest) for a, p in latest[i]["scores"].items()], _OLD
        ),
        new=_long(new, _NEW) if new else None,
        truth=_long([(i, a, t) for (i, a), t in sorted(said.items(), key=str)], _TRUTH)
        if said
        else None,
        about=found.about,
        first=times[0] if times else None,
        last=times[-1] if times else None,
        notes=notes,
    )


def _truth(value: Any, faults: Faults, number: int) -> int:
    word = str(value).strip().casefold()
    if word not in (*_YES, *_NO):
        faults.add("the label is neither yes nor no; expected 1 or 0, true or false", number)
    return int(word in _YES)


def _of_corpus(corpus: Corpus, labels: str | None) -> Recorded:
    if corpus.scores is None:
        raise BadInput(f"{corpus.name}: has no scores to compare with; name a recording")
    detectors = corpus.scores["detector"].unique().sort().to_list()
    service = _SERVICE if _SERVICE in detectors else detectors[0]
    if len(detectors) > 1 and service != _SERVICE:
        raise BadInput(
            f"{corpus.name}: has scores of {', '.join(detectors)}; expected those of one service, "
            f"or of {_SERVICE}"
        )
    scores = corpus.scores.filter(pl.col("detector") == service)
    truth = None
    if labels is not None:
        gold = corpus.main_gold()
        known = [] if gold is None else sorted(carried(gold)["label"].unique())
        if gold is None or labels not in known:
            raise BadInput(
                f"{corpus.name}: no label {labels!r}; --labels expects one of {', '.join(known)}"
            )
        yes = carried(gold).filter(pl.col("label") == labels)["post"]
        truth = gold.select(
            id="post",
            attribute=pl.lit(None, dtype=pl.String),
            truth=pl.col("post").is_in(yes.implode()).cast(pl.Int64),
        ).sort("id")
    old = scores.select(id="post", attribute="attribute", old="p")
    return _plain(corpus, old, truth, [*corpus.notes])


def _of_file(corpus: Corpus, labels: str | None) -> Recorded:
    """A user's file: every column named like an attribute holds recorded scores."""
    names = [field.name for field in corpus.posts.schema["tags"].fields]  # type: ignore[attr-defined]
    columns = [name for name in names if name.upper() in ATTRIBUTES or name.isupper()]
    if not columns:
        raise BadInput(
            f"{corpus.name}: no column with recorded scores; expected columns such as "
            f"{', '.join(ATTRIBUTES[:3])}, found {', '.join(names) or 'none beside the text'}"
        )
    faults = Faults(corpus.name, unit="row")
    rows = []
    for column in columns:
        values = corpus.posts.select("id", value=tag(column, corpus.posts)).rows()
        for number, (id_, value) in enumerate(values, start=1):
            score = _score(value)
            if score is not None:
                rows.append((id_, column.upper(), score))
            elif value is not None:
                faults.add(f"{column} is {value!r}; expected a score from 0 to 1", number)
    faults.raise_if_any()
    truth = None
    gold = corpus.main_gold()
    if labels is not None and gold is not None:
        said = gold.select("post", "label").sort("post").rows()
        found = [(i, None, _truth(v, faults, n)) for n, (i, v) in enumerate(said, start=1)]
        faults.raise_if_any()
        truth = _long(found, _TRUTH)
    return _plain(corpus, _long(rows, _OLD), truth, [])


def _score(value: str | None) -> float | None:
    try:
        score = float(value) if value is not None else None
    except ValueError:
        return None
    return score if score is not None and 0 <= score <= 1 else None


def _plain(
    corpus: Corpus, old: pl.DataFrame, truth: pl.DataFrame | None, notes: list[str]
) -> Recorded:
    posts = corpus.posts.sort("id")
    same = posts.filter(pl.col("text").is_duplicated()).height
    once = posts.unique("text", keep="first", maintain_order=True)
    if same:
        notes.append(f"{same:,} posts share their text with another; each text counts once.")
    return Recorded(
        used=used(corpus),
        posts=_posts(once["id"], once["text"], None, once["source"][0]),
        old=old,
        truth=truth,
        notes=notes,
    )


def _posts(
    ids: Iterable[str], texts: Iterable[str | None], mentions: Any, source: str
) -> pl.DataFrame:
    texts = list(texts)
    found = mentions if mentions is not None else [mentioned(text or "") for text in texts]
    return pl.DataFrame(
        {"id": list(ids), "text": texts, "mentions": [list(each) for each in found]},
        schema={"id": pl.String, "text": pl.String, "mentions": pl.List(pl.String)},
    ).with_columns(source=pl.lit(source))


def _long(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict(schema), orient="row")
