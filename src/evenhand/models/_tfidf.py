"""Texts as rows of numbers: runs of words, and of the characters inside words, by tf-idf.

Words are those of :mod:`evenhand.models.words`. A run of characters stays inside a piece (what
stands between spaces, with its punctuation, cleaned as words are) and the space on each side of it.
A feature in d of n training posts has the weight
ln((1 + n) / (1 + d)) + 1; one that stands k times in a text counts 1 + ln k times; a text's values
are divided by the root of the sum of their squares, for words and for characters apart. Equal to
scikit-learn's ``TfidfVectorizer`` (``sublinear_tf``; ``char_wb`` for characters) but for the order
of the columns; characters are counted once per distinct piece, so it is quicker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from evenhand.core.errors import NotEnoughData
from evenhand.models._ngrams import Ngrams, counted, flattened, numbered
from evenhand.models.words import cleaned, words

Floats = NDArray[np.float64]
_LEAST_CHARACTERS = 2


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """Runs of words and of characters, and the weight of each."""

    words: Ngrams
    characters: Ngrams | None
    idf: Floats
    """First those of words, then those of characters."""

    def __len__(self) -> int:
        return len(self.idf)

    @classmethod
    def learn(
        cls, texts: Sequence[str], *, words_to: int, characters_to: int, min_df: int
    ) -> tuple[Self, csr_array]:
        """What stands in at least ``min_df`` of the texts, and the texts as rows."""
        lists = words(texts)
        runs = Ngrams.learn(lists, longest=words_to, min_df=min_df)
        counts = [runs.counts(lists)]
        characters = None
        if characters_to:
            posts, spelt = spelt_out(pieces(texts))
            characters = Ngrams.learn(
                spelt,
                shortest=_LEAST_CHARACTERS,
                longest=characters_to,
                min_df=min_df,
                posts=posts,
            )
            counts.append(posts @ characters.counts(spelt))
        if not sum(part.shape[1] for part in counts):
            raise NotEnoughData(
                f"no word stands in {min_df} or more of the {len(texts)} training posts; add "
                "posts, or lower min_df"
            )
        made = cls(runs, characters, np.concatenate([idf(part) for part in counts]))
        return made, made._weighted(counts)

    def rows(self, texts: Sequence[str]) -> csr_array:
        """The texts as rows; a text without known features is all zeros."""
        lists = words(texts)
        counts = [self.words.counts(lists)]
        if self.characters is not None:
            posts, spelt = spelt_out(pieces(texts))
            counts.append(posts @ self.characters.counts(spelt))
        return self._weighted(counts)

    def _weighted(self, counts: Sequence[csr_array]) -> csr_array:
        weights = np.split(self.idf, [len(self.words)])
        parts = [weighted(part, idf) for part, idf in zip(counts, weights, strict=False)]
        return hstack(parts, format="csr")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned, as plain arrays."""
        characters = {} if self.characters is None else self.characters.arrays("characters")
        return {**self.words.arrays("words"), **characters, "idf": self.idf}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The features that gave these arrays."""
        characters = None
        if "characters" in arrays:
            characters = Ngrams.restore(arrays, "characters", shortest=_LEAST_CHARACTERS)
        return cls(Ngrams.restore(arrays, "words"), characters, arrays["idf"])


def idf(counts: csr_array) -> Floats:
    """The weight of each feature, from its counts in the training posts."""
    there = np.bincount(counts.indices, minlength=counts.shape[1])
    weights: Floats = np.log((1 + counts.shape[0]) / (1 + there)) + 1
    return weights


def weighted(counts: csr_array, weights: Floats) -> csr_array:
    """Sublinear counts times weights, each row of length one."""
    counts.sort_indices()  # sums must not depend on the order in which features were met
    values = (1 + np.log(counts.data)) * weights[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(rows, values**2, counts.shape[0]))
    return csr_array((values / lengths[rows], counts.indices, counts.indptr), shape=counts.shape)


def pieces(texts: Sequence[str]) -> pl.Series:
    """What stands between spaces in each text, in lower case, handles and links by one name."""
    return cleaned(texts).str.extract_all(r"\S+")


def spelt_out(lists: pl.Series) -> tuple[csr_array, pl.Series]:
    """How often each distinct piece stands in each text, and the characters of those pieces."""
    at, flat = flattened(lists)
    distinct = flat.unique().sort()
    posts = counted(at, numbered(flat, distinct), (len(lists), len(distinct)))
    return posts, (" " + distinct + " ").str.split("")
