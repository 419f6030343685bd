"""A limited vocabulary of abusive words: a list in a file, and words of the training posts.

A list has one word or phrase a line; of a line with tabs the first part counts, without the part of
speech behind an underscore, and only if the second part says yes (``TRUE``, or a number above 0),
as in Wiegand's lexicons. The training posts add the words that are most over-represented in the
abusive ones: those with the highest z of the log-odds of standing in an abusive post against
standing in another, each word counted once a post and half a post added to each count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.models.front_end import FrontEnd
from evenhand.models.words import words

_NO_WORDS = ["@user", "@link"]
_RARE = 5
"""A word of fewer posts is not learned."""


def listed(path: Path, front_end: FrontEnd) -> list[str]:
    """The single words of a list as the front end reads them in posts, sorted.

    Phrases of several words are left out, and so are handles.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path}: not UTF-8 at byte {error.start}; save the word list as UTF-8"
        ) from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from error
    if "\0" in text:
        raise BadInput(f"{path}: has NUL bytes, as UTF-16 has; save the word list as UTF-8")
    kept = [word for line in text.splitlines() if (word := _word(line, path))]
    read = words(front_end.texts(kept)).to_list()
    found = {each[0] for each in read if len(each) == 1} - set(_NO_WORDS)
    if not found:
        raise BadInput(f"{path}: has no words; expected one word a line")
    return sorted(found)


def _word(line: str, path: Path) -> str | None:
    word, tab, value = line.strip().partition("\t")
    if not tab:
        return word or None
    value = value.split("\t")[0].strip().lower()
    try:
        counts = float(value) > 0
    except ValueError:
        if value not in ("true", "false"):
            raise BadInput(
                f"{path}: {value!r} behind a tab; expected TRUE, FALSE or a number"
            ) from None
        counts = value == "true"
    return word.rpartition("_")[0] or word if counts else None


def over_represented(texts: Sequence[str], abusive: NDArray[np.bool_], many: int) -> list[str]:
    """The words most over-represented in the abusive posts, sorted."""
    table = pl.DataFrame({"word": words(texts).list.unique(), "abusive": abusive}).explode("word")
    counts = (
        table.drop_nulls("word")
        .group_by("word")
        .agg(bad=pl.col("abusive").sum(), all=pl.len())
        .filter((pl.col("all") >= _RARE) & ~pl.col("word").is_in(_NO_WORDS))
        .sort("word")
    )
    bad = counts["bad"].to_numpy().astype(float)
    good = counts["all"].to_numpy() - bad
    n_bad, n_good = float(abusive.sum()), float((~abusive).sum())
    odds = np.log((bad + 0.5) / (n_bad - bad + 0.5)) - np.log((good + 0.5) / (n_good - good + 0.5))
    z = odds / np.sqrt(1 / (bad + 0.5) + 1 / (good + 0.5))
    best = np.argsort(-z, kind="stable")[:many]
    chosen = best[z[best] > 0]
    return sorted(counts["word"].gather(chosen).to_list())


@dataclass(frozen=True)
class Vocabulary:
    """The words, and how large the layers are that read them."""

    words: tuple[str, ...]
    """Sorted."""
    embedding: int
    hidden: int

    def numbered(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers, from 1, of the words of each text that are in the vocabulary, in order."""
        place = {word: number for number, word in enumerate(self.words, 1)}
        return [[place[w] for w in found if w in place] for found in words(texts).to_list()]
