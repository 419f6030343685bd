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
from numpy.typing import NDArray

from evenhand.models._vocabulary import Ints, Vocabulary, _flat, _numbers

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

    vocabulary: Vocabulary
    length: int

    @classmethod
    def learn(cls, lists: pl.Series, *, min_df: int, length: int) -> Self:
        """From lists of words, what stands in at least ``min_df`` of them."""
        return cls(Vocabulary.learn(lists, min_df=min_df, bigrams=False), length)

    def encode(self, lists: pl.Series) -> Encoded:
        """The numbers of the words in each list."""
        lists = lists.list.head(self.length)
        rows, flat = _flat(lists)
        numbers = _numbers(flat, self.vocabulary.words)
        numbers = np.where(numbers < 0, UNKNOWN, numbers + FIRST)
        lengths = np.bincount(rows, minlength=len(lists))
        numbers = np.insert(numbers, np.cumsum(lengths)[lengths == 0], UNKNOWN)
        return Encoded(numbers, np.maximum(lengths, 1))

    def packed(self) -> NDArray[np.uint8]:
        """The words as bytes."""
        return self.vocabulary.packed()

    @classmethod
    def unpacked(cls, words: NDArray[np.uint8], length: int) -> Self:
        """The encoding with these packed words."""
        return cls(Vocabulary.unpacked(words, np.empty(0, dtype=np.int64)), length)
