"""From what a user typed to a corpus: a registered name, a file, or a folder of records."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl

from evenhand.core import registry
from evenhand.core.errors import BadInput, BrokenComponent, UnknownComponent
from evenhand.core.provenance import DataUsed, sha256_of_all
from evenhand.core.tables import (
    draws_table,
    gold_table,
    judgements_table,
    posts_table,
    scores_table,
    write_parquet,
)
from evenhand.data.corpus import Corpus, Reader
from evenhand.data.user_file import FileOptions, read_user_file
from evenhand.stats.weights import check_strata

_TABLES: dict[str, Callable[..., pl.DataFrame]] = {
    "posts": posts_table,
    "gold": gold_table,
    "judgements": judgements_table,
    "draws": draws_table,
    "strata": check_strata,
    "scores": scores_table,
}
ABOUT = "corpus"
"""Name of the JSON file that says what a folder of records is."""


def data_folder() -> Path:
    """Where published corpora lie: ``EVENHAND_DATA``, or the user's data folder."""
    named = os.environ.get("EVENHAND_DATA")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "evenhand"


def reader(name: str) -> Reader:
    """The registered reader of a published corpus."""
    found = registry.get("readers", name)
    if not isinstance(found, Reader):
        raise BrokenComponent(f"readers {name!r} is a {type(found).__name__}; expected a Reader")
    return found


def find(name: str, options: FileOptions | None = None) -> Corpus:
    """The corpus a user named. A registered name wins over a file; ``./name`` is always a path."""
    if name in registry.names("readers"):
        if options and options != FileOptions():
            raise BadInput(f"{name} is a published corpus: its columns and labels are known")
        return reader(name).read(data_folder())
    expect_named(name)
    path = Path(name)
    return read_folder(path) if path.is_dir() else read_user_file(path, options)


def expect_named(name: str) -> None:
    """Refuse what is neither a registered name nor looks like a file or folder."""
    path = Path(name)
    if not (name in registry.names("readers") or path.exists() or path.suffix or os.sep in name):
        raise UnknownComponent(
            f"{registry.unknown('readers', name)}; nor is there a file or folder {name!r}"
        )


def used(corpus: Corpus) -> DataUsed:
    """The corpus as an input of a run."""
    return DataUsed(corpus.name, corpus.rows, sha256_of_all(corpus.files))


def write_folder(corpus: Corpus, folder: Path) -> None:
    """Write a corpus as a folder of records that :func:`find` reads back."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables(corpus).items():
        write_parquet(table, folder / f"{name}.parquet")
    text = json.dumps(about(corpus), indent=2, ensure_ascii=False)
    (folder / f"{ABOUT}.json").write_text(f"{text}\n", encoding="utf-8")


def tables(corpus: Corpus) -> dict[str, pl.DataFrame]:
    """The tables of a folder of records, by name."""
    found = {name: getattr(corpus, name) for name in _TABLES}
    return {name: table for name, table in found.items() if table is not None}


def about(corpus: Corpus) -> dict[str, object]:
    """What a folder of records says of itself in ``corpus.json``."""
    return {
        "name": corpus.name,
        "rows": corpus.rows,
        "question": corpus.question,
        "hateful": list(corpus.hateful),
        "notes": list(corpus.notes),
        "origin": corpus.origin,
    }


def read_folder(folder: Path) -> Corpus:
    """Read a folder of records; ``posts.parquet`` is required."""
    if not (folder / "posts.parquet").is_file():
        raise BadInput(f"{folder}: no posts.parquet; expected a folder of records or a file")
    found, files = {}, []
    for name, check in _TABLES.items():
        path = folder / f"{name}.parquet"
        if path.is_file():
            try:
                frame = pl.read_parquet(path)
            except Exception as error:  # Polars raises many kinds; each means it is unreadable
                reason = str(error).splitlines()[0]
                raise BadInput(f"{path}: cannot be read as Parquet: {reason}") from error
            found[name] = check(frame, where=str(path))
            files.append(path)
    path = folder / f"{ABOUT}.json"
    try:
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    return Corpus(
        name=known.get("name", folder.name),
        rows=known.get("rows", found["posts"].height),
        question=known.get("question", "label"),
        hateful=tuple(known.get("hateful", ())),
        notes=tuple(known.get("notes", ())),
        origin=known.get("origin", "data"),
        files=tuple(files),
        **found,
    )
