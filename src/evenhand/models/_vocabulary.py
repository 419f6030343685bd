"""A vocabulary of words and pairs of neighbouring words, learned from training texts only.

A feature is a number: first the words in alphabetical order, then the pairs. A pair is kept as one
number, first · words + second: a word of a pair that stands in enough posts stands in as many
itself, so every pair is a pair of known words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words and pairs, each sorted and distinct."""

    words: pl.Series
    pairs: Ints

    def __len__(self) -> int:
        return len(self.words) + len(self.pairs)

    @classmethod
    def learn(cls, lists: pl.Series, *, min_df: int, bigrams: bool) -> Self:
        """From lists of words, what stands in at least ``min_df`` of them."""
        rows, flat = _flat(lists)
        known = pl.Series("word", _frequent(rows, flat, min_df), dtype=pl.String)
        none = np.empty(0, dtype=np.int64)
        if not (bigrams and len(known)):
            return cls(known, none)
        at, pairs = _pairs(rows, _numbers(flat, known), len(known))
        return cls(known, _frequent(at, pl.Series(pairs), min_df).to_numpy())

    def features(self, lists: pl.Series) -> tuple[Ints, Ints]:
        """Every known word and pair in the lists: the list it stands in, and its number.

        A list's words come in order, then its pairs, so that sums over them do not depend on the
        other lists.
        """
        rows, flat = _flat(lists)
        numbers = _numbers(flat, self.words)
        known = numbers >= 0
        if not len(self.pairs):
            return rows[known], numbers[known]
        at, pairs = _pairs(rows, numbers, len(self.words))
        place = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        found = self.pairs[place] == pairs
        return (
            np.concatenate([rows[known], at[found]]),
            np.concatenate([numbers[known], len(self.words) + place[found]]),
        )

    def packed(self) -> NDArray[np.uint8]:
        """The words as bytes, one a line: an array of texts would be as wide as the longest."""
        return np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8)

    @classmethod
    def unpacked(cls, words: NDArray[np.uint8], pairs: Ints) -> Self:
        """The vocabulary with these packed words and these pairs."""
        return cls(pl.Series("word", words.tobytes().decode().split("\n")), pairs)


def _flat(lists: pl.Series) -> tuple[Ints, pl.Series]:
    """All words in order, and the list each stands in."""
    rows = np.repeat(np.arange(len(lists)), lists.list.len().to_numpy())
    return rows, lists.explode().drop_nulls()


def _frequent(rows: Ints, values: pl.Series, least: int) -> pl.Series:
    """The values that stand in at least so many rows, sorted."""
    table = pl.DataFrame({"row": rows, "value": values})
    counts = table.group_by("value").agg(pl.col("row").n_unique())
    return counts.filter(pl.col("row") >= least)["value"].sort()


def _numbers(flat: pl.Series, known: pl.Series) -> Ints:
    """The number of each word, -1 for an unknown one."""
    table = pl.DataFrame({"word": known, "number": np.arange(len(known))})
    found = flat.alias("word").to_frame().join(table, on="word", how="left", maintain_order="left")
    numbers: Ints = found["number"].fill_null(-1).to_numpy()
    return numbers


def _pairs(rows: Ints, numbers: Ints, size: int) -> tuple[Ints, Ints]:
    """Neighbouring known words of one list, as numbers of pairs, and the list they stand in."""
    first, second = numbers[:-1], numbers[1:]
    both = (rows[:-1] == rows[1:]) & (first >= 0) & (second >= 0)
    return rows[:-1][both], first[both] * size + second[both]
