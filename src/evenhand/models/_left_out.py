"""Scores of texts without some of their words, from the features that change: closed forms.

``linear``, ``svm`` and ``naive-bayes`` see a text as counts of runs of words and of characters, and
what they read between two spaces does not depend on what is beside it. Leaving a word out therefore
takes away the features the word stands in, and adds those of what is left between the same spaces
and those that arise where its neighbours join. With tf-idf the length of the row changes as well,
by the features that change. Nothing is approximated: the result is that of scoring the text without
the word, but for rounding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import softmax

from evenhand.models._ngrams import Ngrams, counted, flattened
from evenhand.models._ragged import Ragged, ranges
from evenhand.models._tfidf import TextFeatures, pieces, spelt_out
from evenhand.models.linear import LinearDetector
from evenhand.models.naive_bayes import NaiveBayesDetector
from evenhand.models.protocol import Detector, Probabilities
from evenhand.models.training import shown
from evenhand.models.words import words

SPACES = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's white space: what no word and no link reaches over."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cuts = Sequence[Sequence[tuple[int, int]]]
Exact = Callable[[Sequence[str], Cuts], Probabilities]
"""From texts and cuts to the scores of each text followed by those without each of its cuts."""
UNIT = re.compile(f"[^{SPACES}]+")
"""What stands between spaces."""


def closed_form(detector: Detector) -> Exact | None:
    """How to score texts without some words quickly; None where only asking the detector helps."""
    # A subclass may score in another way, so the very class is asked for.
    if type(detector) is LinearDetector and isinstance(detector.features, TextFeatures):
        return partial(_linear, detector, detector.features)
    if type(detector) is NaiveBayesDetector:
        return partial(_naive_bayes, detector)
    return None


def _linear(
    detector: LinearDetector, features: TextFeatures, texts: Sequence[str], cuts: Cuts
) -> Probabilities:
    units = _Units.of(texts, cuts)
    tables = [units.runs(features.words)]
    if features.characters is not None:
        tables.append(units.characters(features.characters))
    ends = np.cumsum([table.shape[1] for table in tables])[:-1]
    parts = zip(tables, np.split(detector.weights, ends), np.split(features.idf, ends), strict=True)
    margins = sum(units.margins(*part) for part in parts) + detector.bias
    return units.ordered(shown(softmax(margins, axis=1), detector.attributes))


def _naive_bayes(detector: NaiveBayesDetector, texts: Sequence[str], cuts: Cuts) -> Probabilities:
    units = _Units.of(texts, cuts)
    sums = units.sums(units.runs(detector.features), detector.log_shares.T)
    return units.ordered(shown(softmax(sums + detector.prior, axis=1), detector.attributes))


@dataclass(frozen=True, eq=False)
class _Units:
    """Texts as what stands between spaces, and what each cut leaves of that.

    Tables have a row for each text, then for each cut one of what it takes away and one of what it
    leaves, both with the same neighbours.
    """

    strings: list[str]
    """What stands between spaces, or is left there by a cut: each once."""
    units: Ints
    """The strings of all texts in order, by number."""
    bounds: Ints
    """Where the units of each text begin, and where the last ones end."""
    at: Ints
    """The text of each cut."""
    first: Ints
    """The first unit that a cut touches."""
    last: Ints
    """And the last, inclusive."""
    rest: Ints
    """The number of the string that a cut leaves there."""

    @classmethod
    def of(cls, texts: Sequence[str], cuts: Cuts) -> Self:
        numbers: dict[str, int] = {}
        units: list[int] = []
        bounds, made = [0], []
        for row, (text, of_text) in enumerate(zip(texts, cuts, strict=True)):
            spans = [match.span() for match in UNIT.finditer(text)]
            units += [numbers.setdefault(text[a:b], len(numbers)) for a, b in spans]
            before, first = bounds[-1], 0
            for start, end in of_text:
                while spans[first][1] <= start:
                    first += 1
                last = first
                while spans[last][1] < end:
                    last += 1
                left = text[spans[first][0] : start] + text[end : spans[last][1]]
                rest = numbers.setdefault(left, len(numbers))
                made.append((row, before + first, before + last, rest))
            bounds.append(len(units))
        columns = np.array(made, dtype=np.int64).reshape(-1, 4).T
        return cls(list(numbers), np.array(units, np.int64), np.array(bounds), *columns)

    @property
    def texts(self) -> int:
        """How many there are."""
        return len(self.bounds) - 1

    def runs(self, known: Ngrams) -> csr_array:
        """How often known runs of words stand in texts, and in what cuts take away and leave."""
        lists = words(self.strings)
        sizes = lists.list.len().to_numpy().astype(np.int64)
        starts = np.cumsum(sizes) - sizes
        # All words of all texts in order, then the words of each string, then a word that nobody
        # knows, which ends every row: a run does not reach over it.
        _, flat = flattened(lists)
        in_texts = ranges(starts[self.units], sizes[self.units])
        every = np.concatenate([in_texts, np.arange(len(flat) + 1)])
        ends = np.cumsum(np.append(0, sizes[self.units]))
        low, high = ends[self.bounds[:-1]], ends[self.bounds[1:]]
        start, end = ends[self.first], ends[self.last + 1]
        reach = len(known.longer)
        before, after = (
            np.maximum(start - reach, low[self.at]),
            np.minimum(end + reach, high[self.at]),
        )
        spelt = len(in_texts) + starts[self.rest]
        rows = Ragged()
        rows.add((low, high))
        rows.add((before, after))
        rows.add((before, start), (spelt, spelt + sizes[self.rest]), (end, after))
        at, places = rows.joined(len(every) - 1)
        symbols = pl.concat([flat, pl.Series([""])]).gather(every[places])
        table = pl.DataFrame({"at": at, "symbol": symbols})
        return known.counts(table.group_by("at", maintain_order=True).agg("symbol")["symbol"])

    def characters(self, known: Ngrams) -> csr_array:
        """The same for known runs of characters, which never reach over a space."""
        rows = Ragged()
        rows.add((self.bounds[:-1], self.bounds[1:]))
        rows.add((self.first, self.last + 1))
        left = np.arange(len(self.rest)) + len(self.units)
        rows.add((left, left + 1))
        at, places = rows.joined()
        strings = np.concatenate([self.units, self.rest])[places]
        of_string, spelt = spelt_out(pieces(self.strings))
        made = counted(at, strings, (rows.many, len(self.strings)))
        return made @ (of_string @ known.counts(spelt))

    def _apart(self, counts: csr_array) -> tuple[csr_array, csr_array]:
        """The counts of the texts, and what each cut changes of them."""
        counts.sort_indices()
        texts, cuts = self.texts, len(self.at)
        return counts[:texts], counts[texts + cuts :] - counts[texts : texts + cuts]

    def sums(self, counts: csr_array, weights: Floats) -> Floats:
        """Weighted counts of each text, and of each text without a cut."""
        whole, change = self._apart(counts)
        first = whole @ weights
        return np.concatenate([first, first[self.at] + change @ weights])

    def margins(self, counts: csr_array, weights: Floats, idf: Floats) -> Floats:
        """The same by tf-idf, each row divided by its length."""
        whole, change = self._apart(counts)
        rows, size = _rows(change), len(self.at)
        old = _looked_up(whole, self.at[rows], change.indices)
        new = old + change.data
        was, now = _tf_idf(old, idf[change.indices]), _tf_idf(new, idf[change.indices])
        values = _tf_idf(whole.data, idf[whole.indices])
        first = _like(whole, values) @ weights
        second = first[self.at] + _like(change, now - was) @ weights
        squares = np.bincount(_rows(whole), values**2, self.texts)
        fewer = np.bincount(rows, now**2 - was**2, size)
        known = np.bincount(_rows(whole), minlength=self.texts)
        gone = np.bincount(rows, (now > 0).astype(np.float64) - (was > 0), size)
        return np.concatenate(
            [
                _divided(first, squares, known),
                _divided(second, squares[self.at] + fewer, known[self.at] + gone),
            ]
        )

    def ordered(self, p: Probabilities) -> Probabilities:
        """Each text followed by its cuts, from all texts followed by all cuts."""
        texts = np.arange(self.texts)
        return p[np.argsort(np.concatenate([texts, self.at]), kind="stable")]


def _rows(table: csr_array) -> Ints:
    return np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))


def _like(table: csr_array, values: Floats) -> csr_array:
    """A table with other values in the same cells."""
    return csr_array((values, table.indices, table.indptr), shape=table.shape)


def _looked_up(table: csr_array, rows: Ints, columns: Ints) -> Floats:
    """The values of some cells."""
    width = table.shape[1]
    keys = np.append(_rows(table) * width + table.indices, -1)
    wanted = rows * width + columns
    places = np.searchsorted(keys[:-1], wanted)
    return np.where(keys[places] == wanted, np.append(table.data, 0)[places], 0)


def _tf_idf(counts: Floats, idf: Floats) -> Floats:
    return np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * idf


def _divided(sums: Floats, squares: NDArray[Any], known: NDArray[Any]) -> Floats:
    """Sums divided by the length of the row, where rounding may leave some of one without any."""
    return sums / np.sqrt(np.where(known > 0.5, squares, 1))[:, None]
