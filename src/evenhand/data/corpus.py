"""A corpus in memory, and what a reader declares about a published one.

A :class:`Reader` is data plus one function: where the files lie, what the labels mean, who made
them and under which licence, and ``read``, which turns the files into a :class:`Corpus`. Readers
are registered by name; ``find`` resolves a name, a file or a folder of records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from evenhand.core.records import Origin


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Posts and whatever was published with them, as checked tables."""

    name: str
    rows: int
    """Rows in the files, before rows with the same id were joined."""
    posts: pl.DataFrame
    gold: pl.DataFrame | None = None
    judgements: pl.DataFrame | None = None
    draws: pl.DataFrame | None = None
    strata: pl.DataFrame | None = None
    """What the draws came from: stratum, flag, volume, available."""
    scores: pl.DataFrame | None = None
    hateful: Sequence[str] = ()
    """Which labels of the main question count as hateful (abusive)."""
    question: str = "label"
    """The main question; ``gold`` and ``judgements`` may hold others."""
    files: Sequence[Path] = ()
    notes: Sequence[str] = ()
    """What a user should know of how these files were read."""
    origin: Origin = "data"

    def main_gold(self) -> pl.DataFrame | None:
        """Gold of the main question, or None where there is none."""
        if self.gold is None:
            return None
        gold = self.gold.filter(pl.col("question") == self.question)
        return gold if gold.height else None


@dataclass(frozen=True)
class Download:
    """One published file that `data get` can fetch."""

    file: str
    """Where it goes, below the corpus's folder."""
    url: str
    sha256: str | None = None
    """Of the publisher's bytes; None where we have not seen them (recorded at first download)."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The parts of a data statement (Bender and Friedman 2018); None is shown as "not known"."""

    curation: str | None = None
    """Why these texts, how they were found."""
    language: str | None = None
    speakers: str | None = None
    """Who wrote the texts."""
    annotators: str | None = None
    situation: str | None = None
    """When and where the texts were written."""
    text: str | None = None
    """Genre, topic, how the text was changed before publication."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A published corpus: its facts, and how to read it."""

    name: str
    title: str
    citation: str
    licence: str
    may_train: str
    """Whether a shipped detector may be trained on it: yes, no, or on what condition."""
    folder: str
    """Below the data folder."""
    labels: Mapping[str, str]
    """Label → what it means, for the main question."""
    hateful: Sequence[str]
    read: Callable[[Path], Corpus]
    """From the data folder (not the corpus's own) to a corpus."""
    question: str = "label"
    files: Sequence[str] = ()
    """What must be there, below the data folder (each plain or gzipped; ``a|b``: either)."""
    homepage: str | None = None
    downloads: Sequence[Download] = ()
    by_hand: str | None = None
    """How to get what cannot be downloaded, and where to put it."""
    statement: Statement = field(default_factory=Statement)

    def installed(self, data: Path) -> bool:
        """Whether every file the reader needs lies in the data folder."""
        return all(
            any(_present(data / name) for name in choice.split("|")) for choice in self.files
        )


def _present(path: Path) -> bool:
    return path.is_file() or path.with_name(path.name + ".gz").is_file()
