"""Texts as rows of numbers without a list of words: hashed runs of words and of characters.

A text is lower-cased and its pieces (what stands between spaces) are joined by one space. Features
are the runs of 1 to 2 words and of 2 to 5 characters that lie inside a piece and the space on each
side of it. A word is a run of letters, digits, marks and @. The number of a run, its *bucket*, is a
hash of its characters, so there is nothing to look up and nothing to keep but a weight for each
bucket; two runs in one bucket count as one.

Hashes of all runs come from one running sum: with an odd number P, sum c_j P^j over the characters
of a run, divided by P to the power of its start, is the same wherever the run stands (whole numbers
modulo 2^64, where every odd number has an inverse).

Of the buckets those are kept that tell the answers apart best: the largest log odds ratios over
their standard errors, for whichever task. Others do not exist for :class:`Hashed`, nor do they
count in the length of a row. Values are those of :mod:`evenhand.models._tfidf`: a bucket that holds
k runs of a text counts (1 + ln k) times its weight, and a row has length one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, Self
from unicodedata import category

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from evenhand.core.errors import NotEnoughData
from evenhand.models._tfidf import weighted

if TYPE_CHECKING:
    from evenhand.models._hashed_compiled import Compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

BITS = 20
"""A bucket is a number of so many bits."""
SPACE = 32
BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(BASE, -1, 1 << 64)
KINDS = 0xD1B54A32D192ED03
_CHARACTERS = range(2, 6)
PLANE = 0x10000
_AT_ONCE = 1 << 17
"""Characters hashed at a time: what fits into a processor's cache is quickest."""
_MANY_AT_ONCE = 1 << 21
"""The same where every bucket has to be summed up each time."""
_LEVELS, _LEAST, _HALF = 255, 2, 0.5


@dataclass(frozen=True, eq=False)
class Hashed:
    """Which buckets are kept, and the weight of each."""

    kept: NDArray[np.uint8]
    """A bit for every bucket."""
    idf: NDArray[np.uint8]
    """The weight of each bucket that is kept, in steps of ``step``."""
    step: float

    def __len__(self) -> int:
        return len(self.idf)

    @classmethod
    def learn(cls, texts: Sequence[str], mass: Floats, answers: Sequence[slice], most: int) -> Self:
        """The ``most`` buckets of those in two texts or more that tell answers apart best.

        ``mass`` says how much each text counts for each answer; ``answers`` are its columns by
        task. A text that counts for none is not looked at.
        """
        heavy = mass.sum(axis=1) > 0
        texts, mass = list(compress(texts, heavy)), mass[heavy]
        posts, by_answer = np.zeros(1 << BITS), np.zeros((1 << BITS, mass.shape[1]))
        for start, counts in _counted(texts, at_once=_MANY_AT_ONCE):
            counts.data[:] = 1
            posts += np.bincount(counts.indices, minlength=1 << BITS)
            by_answer += counts.T @ mass[start : start + counts.shape[0]]
        several = np.flatnonzero(posts >= _LEAST)
        telling = _telling(by_answer[several], mass.sum(axis=0), answers)
        best = np.sort(several[np.argsort(-telling, kind="stable")[:most]])
        if not len(best):
            raise NotEnoughData(
                f"no word or part of a word stands in {_LEAST} or more of the {len(texts)} "
                "training posts; add posts"
            )
        idf = np.log((1 + len(texts)) / (1 + posts[best])) + 1
        step = float(idf.max()) / _LEVELS
        kept = np.zeros(1 << BITS, dtype=np.bool_)
        kept[best] = True
        return cls(np.packbits(kept), np.rint(idf / step).astype(np.uint8), step)

    def rows(self, texts: Sequence[str]) -> csr_array:
        """The texts as rows, each the same whatever texts are beside it."""
        weights = self.idf * np.float64(self.step)
        parts = [weighted(counts, weights) for _, counts in _counted(texts, self._places)]
        return vstack([csr_array((0, len(self))), *parts], format="csr")

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """The column of each bucket, -1 for one that is not kept."""
        kept = np.unpackbits(self.kept)
        return np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, -1).astype(np.int32)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned, as plain arrays."""
        return {"kept": self.kept, "idf": self.idf, "step": np.array(self.step)}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The features that gave these arrays."""
        kept, idf = arrays["kept"], arrays["idf"]
        if len(kept) << 3 != 1 << BITS or np.bitwise_count(kept).sum() != len(idf):
            raise ValueError(f"{len(kept)} bytes of buckets with {len(idf)} weights")
        return cls(kept, idf, float(arrays["step"]))


def compiled(hashed: Hashed, weights: NDArray[np.int8], scale: Floats) -> Compiled | None:
    """The compiled loop that gives rows times weights, where Numba is installed."""
    try:
        from evenhand.models._hashed_compiled import Compiled
    except (ImportError, RuntimeError):  # not there, or no place to keep what it compiles
        return None
    return Compiled(hashed, weights, scale)


def _telling(by_answer: Floats, total: Floats, answers: Sequence[slice]) -> Floats:
    """How surely a bucket goes with an answer of a task: |log odds ratio| / its standard error."""
    best = np.zeros(len(by_answer))
    for task in answers:
        here, every = by_answer[:, task], total[task]
        yes, no = here + _HALF, every - here + _HALF
        other = here.sum(axis=1, keepdims=True) - here
        rest = (every.sum() - every) - other
        ratio = np.log(yes / no) - np.log((other + _HALF) / (rest + _HALF))
        error = np.sqrt(1 / yes + 1 / no + 1 / (other + _HALF) + 1 / (rest + _HALF))
        best = np.maximum(best, (np.abs(ratio) / error).max(axis=1))
    return best


def _counted(
    texts: Sequence[str], places: NDArray[np.int32] | None = None, *, at_once: int = _AT_ONCE
) -> Iterator[tuple[int, csr_array]]:
    """How often each bucket, or each place of one, is in each text; some texts at a time."""
    width = 1 << BITS if places is None else int(places.max()) + 1
    ends = np.cumsum([len(text) for text in texts]) // at_once
    bounds = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(texts)]
    for start, end in pairwise(bounds):
        at, columns = buckets(texts[start:end])
        if places is not None:
            columns = places[columns].astype(np.int64)
            at, columns = at[columns >= 0], columns[columns >= 0]
        cells, times = np.unique(at * width + columns, return_counts=True)
        rows = np.bincount(cells // width, minlength=end - start)
        starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int32)
        table = (times.astype(np.float64), (cells % width).astype(np.int32), starts)
        yield start, csr_array(table, shape=(end - start, width))


def spelt(texts: Sequence[str]) -> tuple[NDArray[np.uint32], Ints]:
    """The characters of all texts, each in lower case between single spaces, and how many each."""
    shown = [f" {' '.join(text.lower().split())} " for text in texts]
    encoded = "".join(shown).encode("utf-32-le", errors="replace")
    return np.frombuffer(encoded, dtype="<u4"), np.array([len(part) for part in shown], np.int64)


def buckets(texts: Sequence[str]) -> tuple[Ints, Ints]:
    """The text and the bucket of every run in every text, in no order."""
    characters, lengths = spelt(texts)
    text = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    sums = _Sums(characters)
    places, numbers = [], []
    for starts, hashes in (*_words(characters, text, sums), *_inside(characters, sums)):
        places.append(text[starts])
        numbers.append((hashes >> np.uint64(64 - BITS)).astype(np.int64))
    return np.concatenate(places), np.concatenate(numbers)


def hashes_of(words: Sequence[str]) -> Hashes:
    """The hash of each word before it is scattered: that of ab is a's plus P^len(a) times b's."""
    characters, lengths = spelt(words)
    ends = np.cumsum(lengths)
    return _Sums(characters).hashed(ends - lengths + 1, ends - 1)


class _Sums:
    """Running sums of characters, which give the hash of any run."""

    def __init__(self, characters: NDArray[np.uint32]) -> None:
        powers = np.full(len(characters), BASE, dtype=np.uint64)
        inverse = np.full(len(characters), _INVERSE, dtype=np.uint64)
        powers[:1] = inverse[:1] = 1
        self._inverse = np.cumprod(inverse)
        self._sums = np.zeros(len(characters) + 1, dtype=np.uint64)
        np.cumsum(np.cumprod(powers) * characters, out=self._sums[1:])

    def hashed(self, starts: Ints, ends: Ints) -> Hashes:
        hashes: Hashes = (self._sums[ends] - self._sums[starts]) * self._inverse[starts]
        return hashes


def _words(
    characters: NDArray[np.uint32], text: Ints, sums: _Sums
) -> Iterator[tuple[Ints, Hashes]]:
    """Words and pairs of neighbouring words: where each begins, and its hash."""
    inside = word_characters()[np.minimum(characters, PLANE)]
    edges = np.flatnonzero(np.diff(inside))  # every text begins and ends with a space
    starts, ends = edges[::2] + 1, edges[1::2] + 1
    hashes = sums.hashed(starts, ends)
    yield starts, mixed(hashes, 1)
    same = text[starts[1:]] == text[starts[:-1]]
    pairs = hashes[:-1] * np.uint64(KINDS) + hashes[1:]
    yield starts[:-1][same], mixed(pairs[same], 2)


def _inside(characters: NDArray[np.uint32], sums: _Sums) -> Iterator[tuple[Ints, Hashes]]:
    """Runs of characters inside pieces, of each length: where each begins, and its hash."""
    space = characters == SPACE
    free = ~(space[:-1] & space[1:])
    for length in _CHARACTERS:
        starts = np.flatnonzero(free)
        yield starts, mixed(sums.hashed(starts, starts + length), 0)
        free = free[:-1] & ~space[length - 1 : -1]  # the last of a run is inside the next longer


@lru_cache(1)
def word_characters() -> NDArray[np.bool_]:
    """Whether a character is part of a word; the last stands for those of higher planes."""
    known = [category(chr(code))[0] in "LMN" or chr(code) == "@" for code in range(PLANE)]
    return np.array([*known, True])


def mixed(hashes: Hashes, kind: int) -> Hashes:
    """Scattered, so that the first bits will do, and each kind by itself."""
    z = hashes + np.uint64((kind * KINDS) % (1 << 64))
    z = (z ^ (z >> np.uint64(32))) * np.uint64(BASE)
    found: Hashes = z ^ (z >> np.uint64(29))
    return found
