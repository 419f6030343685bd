"""Texts as numbers of words, for networks.

Number 0 is padding and 1 is any unknown word; known words follow in alphabetical order. Only the
first ``length`` words of a text are used. A text without a word is read as one unknown word.

>>> encoding = Encoding.learn(pl.Series([["a", "fool"], ["fool"]]), min_df=1, length=3)
>>> some = encoding.encode(pl.Series([["you", "fool"], []], dtype=pl.List(pl.String)))
>>> some.padded(np.array([0, 1]), 4).tolist(), some.lengths.tolist()
([[1, 3, 0, 0], [1, 0, 0, 0]], [2, 1])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from evenhand.models._ngrams import Ints, Ngrams, flattened, numbered

PADDING, UNKNOWN, FIRST = 0, 1, 2
"""What fills up a text, what an unknown word is, and the number of the first known word."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Texts as numbers of words, one after the other."""

    numbers: Ints
    lengths: Ints
    """How many of the numbers each text has, at least one."""

    @cached_property
    def starts(self) -> Ints:
        """Where each text starts."""
        starts: Ints = np.cumsum(self.lengths) - self.lengths
        return starts

    def padded(self, rows: Ints, width: int) -> Ints:
        """Some of the texts as a table, filled up with padding behind."""
        lengths = self.lengths[rows]
        inside = np.arange(width) < lengths[:, None]
        table = np.full(inside.shape, PADDING, dtype=np.int64)
        table[inside] = self.numbers[(self.starts[rows][:, None] + np.arange(width))[inside]]
        return table


@dataclass(frozen=True, eq=False)
class Encoding:
    """Which words are known, and how much of a text is used."""

    vocabulary: Ngrams
    length: int

    @classmethod
    def learn(cls, lists: pl.Series, *, min_df: int, length: int) -> Self:
        """From lists of words, what stands in at least ``min_df`` of them."""
        return cls(Ngrams.learn(lists, longest=1, min_df=min_df), length)

    def encode(self, lists: pl.Series) -> Encoded:
        """The numbers of the words in each list."""
        lists = lists.list.head(self.length)
        rows, flat = flattened(lists)
        numbers = numbered(flat, self.vocabulary.symbols)
        numbers = np.where(numbers < 0, UNKNOWN, numbers + FIRST)
        lengths = np.bincount(rows, minlength=len(lists))
        numbers = np.insert(numbers, np.cumsum(lengths)[lengths == 0], UNKNOWN)
        return Encoded(numbers, np.maximum(lengths, 1))
