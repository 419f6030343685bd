"""Pairs of texts with Jaccard similarity of at least .8 on character 5-grams; none is missed.

A set-similarity join with prefix filtering (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and
Srikant 2007; Xiao et al. 2008) and a bitmap filter (Sandes, Teodoro and Melo 2020). Different from
the sources: the filters run on hashed 5-grams, and every bound below holds even if hashes collide,
so that a collision costs time and never a pair. What survives is compared on the true 5-grams.

Why no pair is lost. Let A and B be the sets of 5-grams of two texts with |A∩B| ≥ .8 |A∪B|, f the
hash, s = |f(A)| ≤ |A| the number of ids, m ≥ |A| a bound on the size (the 5-grams counted with
repeats; exact where that is far off). Sort the ids of each text by one fixed order, rarest first;
the rank of an id is the number of ids before it. An id that only A has stands for a 5-gram that
only A has. Therefore:

1. |A∖B| ≤ |A|/5. So at least s - m/5 ids are common, and the first k common ones have ranks below
   m/5 + k in either text.
2. |A∖B| + |B∖A| ≤ (|A| + |B|)/9. The text with the smaller s has at most half of these, and
   |B| ≤ 1.25 |A|: there the ranks are below |A|/8 + k ≤ m/8 + k.
3. s(B) ≤ |B| ≤ 1.25 |A| ≤ 1.25 m(A).
4. The parity bitmaps of f(A) and f(B) differ in at most |A∖B| + |B∖A| bits.

With k = 1 this is prefix filtering; a slightly larger k asks for several common ids at once, which
unrelated texts hardly ever have.

Memory is bounded by blocks, apart from the entries kept: at most a fifth of the characters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Pairs = NDArray[np.int32]
Block = tuple[int, int]
T = TypeVar("T")

_GRAM = 5
_SAMPLE = 1 << 20  # 5-grams looked at to learn which are rare
_BUCKETS = 1 << 20  # counters for them
_BLOCK = 1 << 18  # 5-grams sorted at a time: what a processor's cache holds
_CANDIDATES = 1 << 19  # meetings of texts held at a time, per processor
_EXACT = 1 << 20  # 5-grams of both sides copied at a time when pairs are compared
_TEXTS = 1 << 23  # characters held at a time then
_RARITY_BITS = 6
_HASH_BITS = 42  # with the rarity and 15 bits of text number one signed word
_BITMAP = 256
_ODD = np.array([0x9E3779B97F4A7C15, 0x165667B19E3779F9, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


class _Prefixes(NamedTuple):
    """The rarest ids of each text: an entry per id and text; then four facts per text."""

    id: Ints
    text: Ints
    low: Flags
    """Whether the rank is low enough for the text with fewer ids (bound 2)."""
    ids: Ints
    """The number of distinct ids, s."""
    most: Ints
    """The bound on the number of distinct 5-grams, m."""
    common: Ints
    """How many ids of the prefix a similar text must share, k."""
    bitmap: NDArray[np.uint64]
    """The bits, of 256, on which an odd number of its ids falls."""


def jaccard_pairs(texts: pl.Series) -> Iterator[Pairs]:
    """Yield blocks of pairs (i, j) with i < j, each pair once; every text needs 5 characters."""
    if len(texts) < 2:
        return
    grams = lengths(texts) - (_GRAM - 1)
    join = _Join(_prefixes(texts, grams))

    def pairs_of(block: Block) -> Pairs:
        pairs = join.candidates(*block)
        return pairs[at_least(texts, pairs)]

    yield from _in_threads(pairs_of, blocks(join.work, _CANDIDATES))


def at_least(texts: pl.Series, pairs: Pairs) -> Flags:
    """Whether the Jaccard similarity of each pair is at least .8, by the true 5-grams."""
    used = np.zeros(len(texts), dtype=np.bool_)
    used[pairs] = True
    some = texts.filter(pl.Series(used))
    if len(pairs) > 1 and int(lengths(some).sum()) > _TEXTS:
        half = len(pairs) // 2
        return np.concatenate([at_least(texts, pairs[:half]), at_least(texts, pairs[half:])])
    sets = _gram_sets(some)
    left, right = (np.cumsum(used) - 1)[pairs].T
    sizes = np.diff(sets.indptr).astype(np.int64)
    both = sizes[left] + sizes[right]
    shared = np.zeros(len(pairs), dtype=np.int64)
    for start, stop in blocks(both, _EXACT):
        common = sets[left[start:stop]].multiply(sets[right[start:stop]])
        shared[start:stop] = np.diff(common.indptr)
    # shared / (both - shared) ≥ 4/5, in whole numbers.
    return np.asarray(9 * shared >= 4 * both)


def _in_threads(function: Callable[[Block], T], items: Iterator[Block]) -> Iterator[T]:
    """Map on all processors, in order, without running far ahead of whoever takes the results."""
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        while wave := list(islice(items, 4 * workers)):
            yield from pool.map(function, wave)


def lengths(texts: pl.Series) -> Ints:
    """How many code points each text has."""
    return texts.str.len_chars().to_numpy().astype(np.int64)


def code_points(texts: pl.Series) -> NDArray[np.uint32]:
    """The code points of all texts, one text after the other."""
    return np.frombuffer("".join(texts.to_list()).encode("utf-32-le"), dtype=np.uint32)


def blocks(sizes: Ints, limit: int, most: int = 1 << 62) -> Iterator[Block]:
    """Cut a list into runs whose sizes sum to at most ``limit``, or of one item that is larger."""
    total = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = total[start - 1] if start else 0
        stop = int(np.searchsorted(total, before + limit, side="right"))
        stop = min(max(start + 1, stop), start + most)
        yield start, stop
        start = stop


def spread(starts: Ints, counts: Ints) -> Ints:
    """For every start the numbers start, start + 1, … (as many as its count), in one array."""
    ends = np.cumsum(counts)
    number = np.arange(counts.sum()) + np.repeat(starts - (ends - counts), counts)
    return np.asarray(number, dtype=np.int64)


def distinct(values: Ints) -> Ints:
    """Sort in place and drop repeats; for large arrays faster than ``np.unique``."""
    values.sort()
    return np.asarray(values[_first_of_run(values)])


def _first_of_run(values: Ints) -> Flags:
    first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def _hashes(texts: pl.Series, bits: int) -> Ints:
    """The 5-grams of the joined texts, hashed; at the seams they reach into the next text."""
    code = code_points(texts).astype(np.uint64)
    two = code[:-1] * _ODD[0] + code[1:]
    four = two[:-2] * _ODD[1] + two[2:]
    five = four[:-1] * _ODD[0] + code[4:]
    five ^= five >> np.uint64(32)
    five *= _ODD[2]
    five >>= np.uint64(64 - bits)
    return np.asarray(five.view(np.int64))


def _seams(grams: Ints) -> Ints:
    """Where a 5-gram of the joined texts begins in one text and ends in the next."""
    ends = np.cumsum(grams + (_GRAM - 1))[:-1]
    return np.asarray((ends[:, np.newaxis] - np.arange(1, _GRAM)).ravel())


def _rarity(texts: pl.Series, grams: Ints, bits: int) -> NDArray[np.uint8]:
    """By the last bits of a hash: how common it is, 0 to 63, learned from a sample.

    Only speed depends on it, so that a sample will do, and the seams do no harm.
    """
    ids = _hashes(texts.gather_every(1 + int(grams.sum()) // _SAMPLE), bits)
    counts = np.bincount(ids & (_BUCKETS - 1), minlength=_BUCKETS)
    rarity = np.minimum(4 * np.log2(counts + 1), (1 << _RARITY_BITS) - 1).astype(np.uint8)
    return np.asarray(rarity)


def _prefixes(texts: pl.Series, grams: Ints) -> _Prefixes:
    """The prefixes of all texts, block by block on all processors."""
    bits = min(_HASH_BITS, 62 - _RARITY_BITS - len(texts).bit_length())
    rarity = _rarity(texts, grams, bits)

    def part(block: Block) -> _Prefixes:
        start, stop = block
        found = _prefixes_of_block(texts[start:stop], grams[start:stop], bits, rarity)
        return found._replace(text=found.text + start)

    parts = _in_threads(part, blocks(grams, _BLOCK, most=1 << 15))
    return _Prefixes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _prefixes_of_block(
    texts: pl.Series, grams: Ints, bits: int, rarity: NDArray[np.uint8]
) -> _Prefixes:
    word = _hashes(texts, bits)
    word |= rarity[word & (_BUCKETS - 1)].astype(np.int64) << bits
    number = np.arange(len(grams)) << (bits + _RARITY_BITS)
    word |= np.repeat(number, grams + (_GRAM - 1))[: len(word)]
    word[_seams(grams)] = np.iinfo(np.int64).max
    word = distinct(word)  # by text, then rarity, then hash
    word = word[: len(word) - (len(grams) > 1)]  # without the mark of the seams
    text = word >> (bits + _RARITY_BITS)
    ids = np.bincount(text, minlength=len(grams))
    odd = np.bincount(text * _BITMAP + (word & (_BITMAP - 1)), minlength=len(grams) * _BITMAP)
    bitmap = np.packbits(odd.astype(np.uint8) & 1).view(np.uint64).reshape(len(grams), -1)
    most = _bound(texts, grams, ids)
    common = np.clip(ids - most // 5, 1, 2 + most // 50)
    kept = np.minimum(ids, most // 5 + common)
    at = spread(np.cumsum(ids) - ids, kept)
    rank = spread(np.zeros_like(kept), kept)
    text = text[at]
    word = word[at] & ((1 << (bits + _RARITY_BITS)) - 1)
    return _Prefixes(word, text, rank < (most // 8 + common)[text], ids, most, common, bitmap)


def _bound(texts: pl.Series, grams: Ints, ids: Ints) -> Ints:
    """At least the number of distinct 5-grams, and exact for a text that repeats itself a lot."""
    repeats = 4 * grams > 5 * ids
    bound = grams.copy()
    bound[repeats] = np.diff(_gram_sets(texts.filter(pl.Series(repeats))).indptr)
    return bound


class _Join:
    """Which texts share an id of their prefixes. Texts are numbered by ``order`` inside."""

    def __init__(self, prefixes: _Prefixes) -> None:
        self.order = np.argsort(prefixes.ids, kind="stable")
        self.ids = prefixes.ids[self.order]
        self.most = prefixes.most[self.order]
        self.common = prefixes.common[self.order]
        self.bitmap = prefixes.bitmap[self.order]
        self._list(prefixes)
        work = np.bincount(self.later, weights=self.count, minlength=len(self.order))
        self.work = work.astype(np.int64)
        """Per text: how many entries of earlier texts it meets."""

    def _list(self, prefixes: _Prefixes) -> None:
        """For every entry of a later text, find the run of earlier texts with the same id.

        An earlier text has fewer ids, so that its entries with a low rank are enough (bound 2).
        """
        bits = len(self.order).bit_length()
        number = np.empty_like(self.order)
        number[self.order] = np.arange(len(self.order))
        word = (prefixes.id << (bits + 1)) | (number[prefixes.text] << 1) | prefixes.low
        word.sort()  # by id, then text
        low = (word & 1).astype(np.bool_)
        word >>= 1
        end: Ints = np.cumsum(low) - low
        first = np.flatnonzero(_first_of_run(word >> bits))
        meets = end > np.repeat(end[first], np.diff(first, append=len(word)))
        runs, word, end = word[low], word[meets], end[meets]
        self.earlier = runs & ((1 << bits) - 1)
        later = word & ((1 << bits) - 1)
        # Texts that bound 3 rules out come first in a run: begin behind them.
        least = np.searchsorted(5 * np.maximum.accumulate(self.most), 4 * self.ids)
        start = np.searchsorted(runs, word - later + least[later])
        by_text = np.sort((later << 32) | np.arange(len(later))) & ((1 << 32) - 1)
        self.later = later[by_text]
        self.start = start[by_text]
        self.count = end[by_text] - self.start

    def candidates(self, start: int, stop: int) -> Pairs:
        """The pairs whose later text is one of these and that pass the bounds."""
        here = slice(*np.searchsorted(self.later, [start, stop]))
        i = self.earlier[spread(self.start[here], self.count[here])]
        j = np.repeat(self.later[here], self.count[here])
        fits = 5 * self.most[i] >= 4 * self.ids[j]
        meeting = np.sort((i[fits] << 32) | j[fits])
        first = np.flatnonzero(_first_of_run(meeting))
        shared = np.diff(first, append=len(meeting))
        i, j = meeting[first] >> 32, meeting[first] & ((1 << 32) - 1)
        enough = shared >= np.minimum(self.common[i], self.common[j])
        i, j = i[enough], j[enough]
        differ = np.bitwise_count(self.bitmap[i] ^ self.bitmap[j]).sum(axis=1, dtype=np.int64)
        close = 9 * differ <= self.most[i] + self.most[j]
        i, j = i[close], j[close]
        found = np.stack([self.order[i], self.order[j]], axis=1)
        return np.sort(found, axis=1).astype(np.int32)


def _gram_sets(texts: pl.Series) -> Any:
    """A sparse row per text whose columns are its distinct 5-grams, numbered without collision."""
    code = code_points(texts)
    present = np.zeros(int(code.max(initial=0)) + 1, dtype=np.bool_)
    present[code] = True
    rank = (np.cumsum(present) - 1)[code]
    size = int(present.sum())
    two = rank[:-1] * size + rank[1:]
    if size**_GRAM < 1 << 63:
        four = two[:-2] * size**2 + two[2:]
    else:  # too many different characters to pack five into a word: number what occurs
        two = np.unique(two, return_inverse=True)[1]
        four = np.unique(two[:-2] * (int(two.max()) + 1) + two[2:], return_inverse=True)[1]
    grams = lengths(texts) - (_GRAM - 1)
    column = np.delete(four[:-1] * size + rank[4:], _seams(grams))
    start = np.concatenate([[0], np.cumsum(grams)])
    shape = (len(texts), (1 << 63) - 1)
    sets = csr_array((np.ones(len(column), dtype=np.int8), column, start), shape=shape)
    sets.sum_duplicates()
    sets.data[:] = 1
    return sets
