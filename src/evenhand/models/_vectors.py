"""Word vectors: read from a file, or learned from unlabelled posts.

A file is text, plain or ``.gz``, in UTF-8: a word and its numbers a line, separated by spaces.
word2vec and fastText put a line with the count of words and numbers first; GloVe does not. The
numbers are the last ones of the line, so that a word may hold spaces of any kind (some of GloVe's
do). Of a word that stands twice the first line counts.

Learned vectors factor a table of how much more often than by chance two words stand near each
other: the positive part of the pointwise mutual information, with the shares of the neighbours
raised to the power 0.75 so that rare ones do not stick out (Levy, Goldberg and Dagan 2015), cut
down to the largest singular values, whose square roots weight the columns (Levy and Goldberg 2014).
Rare words keep their place when neighbours are counted. Left out, unlike there: the shift by the
log of the count of negative samples, and weights by distance.
"""

from __future__ import annotations

import gzip
import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import svds

from evenhand.core.errors import BadInput, Fault, Faults, NotEnoughData
from evenhand.core.streams import stream
from evenhand.data.files import open_binary
from evenhand.models._ngrams import Ints, flattened, numbered
from evenhand.models.words import words

Matrix = NDArray[np.float32]

SPREAD = 0.05 / 3**0.5
"""Root mean square of the values of learned vectors: that of even draws from -0.05 to 0.05."""

_SMOOTHING = 0.75
_BLOCK = 1 << 24
"""Bytes of a file read at a time, to bound memory."""
_HEAD = 4096
_LARGEST = float(np.finfo(np.float32).max)
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\v\f\r")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class Vectors:
    """Distinct words and their vectors."""

    words: pl.Series
    matrix: Matrix
    """One row a word."""

    def rows(self, words: pl.Series) -> tuple[Matrix, NDArray[np.bool_]]:
        """The vector of each word, zeros where it is unknown, and whether it is known."""
        numbers = numbered(words, self.words)
        found = numbers >= 0
        matrix = np.zeros((len(words), self.matrix.shape[1]), dtype=np.float32)
        matrix[found] = self.matrix[numbers[found]]
        return matrix, found


def read_vectors(path: Path) -> Vectors:
    """The vectors in a text file of word2vec, fastText or GloVe; faults are named with lines."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise BadInput(f"{path}: {what}; expected a file of word vectors")
    faults = Faults(str(path))
    try:
        with open_binary(path) as file:
            layout = _layout(path, file)
            blocks = _blocks(file, layout, faults)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(
            f"{path}: the gzip data is damaged or cut off ({error}); get the file again"
        ) from error
    faults.raise_if_any()
    found = sum(len(block) for _, block in blocks)
    if layout.count not in (None, found):
        raise BadInput(
            Fault(
                str(path),
                f"says {layout.count:,} words but {found:,} follow; if the file was cut off get it "
                "again, otherwise write the right count here",
                line=1,
            )
        )
    return _joined(blocks, found, layout.size)


@dataclass(frozen=True)
class _Layout:
    """What the first line tells."""

    size: int
    """Numbers a word."""
    count: int | None
    """Words in the file; None if the first line is a word."""


def _layout(path: Path, file: IO[bytes]) -> _Layout:
    """What the first line tells; the file then stands at the first word."""
    head = file.read(_HEAD)
    if not head.strip():
        raise BadInput(f"{path}: is empty; expected a word and its numbers a line")
    if _CONTROLS & set(head):
        raise BadInput(
            f"{path}: is binary; export it as text (word2vec: -binary 0; fastText: the .vec file; "
            "gensim: save_word2vec_format with binary=False)"
        )
    file.seek(len(_MARK) if head.startswith(_MARK) else 0)
    start = file.tell()
    first = _stripped(file.readline())
    parts = first.split(b" ")
    if len(parts) == 2 and all(part.isdigit() for part in parts):
        count, size = map(int, parts)
        _expect_fit(path, size, file)
        return _Layout(size, count)
    file.seek(start)
    if not _numbers_behind(first):
        raise BadInput(
            Fault(
                str(path),
                "no number behind the word; expected a word and its numbers, separated by spaces, "
                "or the count of words and of numbers a word",
                line=1,
            )
        )
    return _Layout(len(parts) - 1, None)


def _expect_fit(path: Path, size: int, file: IO[bytes]) -> None:
    """That the first word has as many numbers as the line above says; the file stands there."""
    start = file.tell()
    second = _stripped(file.readline())
    if not second:
        raise BadInput(f"{path}: has no words below line 1; expected a word and its numbers a line")
    found = second.count(b" ")
    if not 0 < size <= found or _numbers_behind(second) > size:
        raise BadInput(
            Fault(
                str(path),
                f"says {size} numbers a word but line 2 has {found}; write the right number here, "
                "or export the file again",
                line=1,
            )
        )
    file.seek(start)


def _blocks(file: IO[bytes], layout: _Layout, faults: Faults) -> deque[tuple[list[str], Matrix]]:
    """The words and vectors of the file, a few megabytes at a time."""
    blocks: deque[tuple[list[str], Matrix]] = deque()
    line = 1 if layout.count is None else 2
    while lines := file.readlines(_BLOCK):
        blocks.append(_block(lines, line, layout.size, faults))
        line += len(lines)
    return blocks


def _block(lines: list[bytes], start: int, size: int, faults: Faults) -> tuple[list[str], Matrix]:
    heads, tails, at = [], [], []
    for number, line in enumerate(map(_stripped, lines), start):
        if not line:
            continue
        head, _, tail = line.partition(b" ")
        if tail.count(b" ") != size - 1:
            found = _numbers_behind(line)
            if found != size:
                faults.add(
                    f"{found} numbers behind the word; expected {size}, as line 1 has it. Delete "
                    "the line, or export the file again",
                    number,
                )
                continue
            head, *parts = line.rsplit(b" ", size)
            tail = b" ".join(parts)
        heads.append(head)
        tails.append(tail)
        at.append(number)
    return _decoded(heads, at, faults), _parsed(tails, at, size, faults)


def _decoded(heads: list[bytes], at: list[int], faults: Faults) -> list[str]:
    try:
        found = b"\n".join(heads).decode().split("\n") if heads else []
    except UnicodeDecodeError:
        found = []
        for number, head in zip(at, heads, strict=True):
            try:
                head.decode()
            except UnicodeDecodeError as error:
                faults.add(
                    f"byte 0x{head[error.start]:02x} at position {error.start + 1} is not UTF-8; "
                    "save the file as UTF-8, or delete the line",
                    number,
                )
    if "" in found:
        faults.add_lines(
            "no word in front of the numbers; delete the line",
            (number for number, head in zip(at, heads, strict=True) if not head),
        )
    return found


def _parsed(tails: list[bytes], at: list[int], size: int, faults: Faults) -> Matrix:
    """The numbers; where one is wrong, a fault for the first of each line."""
    try:
        table = pl.read_csv(
            b"\n".join(tails),
            has_header=False,
            separator=" ",
            quote_char=None,
            schema={str(column): pl.Float32 for column in range(size)},
        )
        matrix: Matrix = table.to_numpy(order="c")
        if np.isfinite(matrix).all():  # a missing number has become NaN
            return matrix
    except pl.exceptions.PolarsError:
        pass
    return _parsed_slowly(tails, at, size, faults)


def _parsed_slowly(tails: list[bytes], at: list[int], size: int, faults: Faults) -> Matrix:
    sound = []
    for number, tail in zip(at, tails, strict=True):
        parts = tail.split(b" ")
        wrong = next((part for part in parts if not _is_finite(part)), None)
        if wrong is None:
            sound.append([float(part) for part in parts])
            continue
        shown = wrong[:40].decode(errors="replace")
        faults.add(f"{shown!r} where a finite number was expected; mend or delete the line", number)
    return np.array(sound, dtype=np.float32).reshape(-1, size)


def _joined(blocks: deque[tuple[list[str], Matrix]], count: int, size: int) -> Vectors:
    """All blocks in one, each let go of as soon as it is copied; the first of a word is kept."""
    matrix = np.empty((count, size), dtype=np.float32)
    parts, start = [], 0
    while blocks:
        texts, block = blocks.popleft()
        matrix[start : start + len(block)] = block
        start += len(block)
        parts.append(pl.Series("word", texts, dtype=pl.String))
    every = pl.concat(parts)
    first = every.is_first_distinct()
    if first.all():
        return Vectors(every, matrix)
    return Vectors(every.filter(first), matrix[first.to_numpy()])


def _stripped(line: bytes) -> bytes:
    """Without the end of the line: word2vec and fastText leave a space there."""
    return line.rstrip(b" \r\n")


def _numbers_behind(line: bytes) -> int:
    """How many parts at the end of the line, the first part left aside, are numbers."""
    count = 0
    for part in reversed(line.split(b" ")[1:]):
        if _value(part) is None:
            break
        count += 1
    return count


def _value(part: bytes) -> float | None:
    try:
        return None if b"_" in part else float(part)
    except ValueError:
        return None


def _is_finite(part: bytes) -> bool:
    """Whether the part is a number that single precision can hold."""
    value = _value(part)
    return value is not None and abs(value) <= _LARGEST


def learn_vectors(
    texts: Sequence[str], size: int, *, seed: int, window: int = 5, min_count: int = 5
) -> Vectors:
    """Vectors of the words in the texts, in alphabetical order; labels are not needed.

    Args:
        texts: Posts, in any order.
        size: Numbers a word.
        seed: Of the vector that the search for singular values starts with.
        window: How many words apart two words may stand to count as neighbours.
        min_count: How often a word must stand in the texts.
    """
    rows, flat = flattened(words(texts))
    known = _frequent_words(flat, min_count)
    if len(known) <= size:
        raise NotEnoughData(
            f"{len(known)} words stand {min_count} times or more in the {len(texts)} texts; "
            f"vectors of {size} numbers need more than {size} words. Add texts, lower min_count, "
            "or ask for shorter vectors."
        )
    table = _positive_pmi(_neighbours(rows, numbered(flat, known), len(known), window))
    if not table.nnz:
        raise NotEnoughData(
            f"none of the {len(known)} known words stands within {window} words of another; add "
            "longer texts, or lower min_count"
        )
    return Vectors(known, _factor(table, size, seed))


def _frequent_words(flat: pl.Series, least: int) -> pl.Series:
    counts = flat.alias("word").value_counts()
    return counts.filter(pl.col("count") >= least)["word"].sort()


def _neighbours(rows: Ints, numbers: Ints, count: int, window: int) -> Any:
    """How often each known word stands near each other one: a symmetric sparse table."""
    total = csr_array((count, count), dtype=np.float64)
    for step in range(1, window + 1):
        first, second = numbers[:-step], numbers[step:]
        both = (rows[:-step] == rows[step:]) & (first >= 0) & (second >= 0)
        ones = np.ones(np.count_nonzero(both))
        total += coo_array((ones, (first[both], second[both])), shape=total.shape).tocsr()
    return (total + total.T).tocoo()


def _positive_pmi(counts: Any) -> Any:
    """Log of how much more often than by chance two words are neighbours, where it is more."""
    sums = np.asarray(counts.sum(axis=1))
    smoothed = sums**_SMOOTHING
    shares = smoothed / max(smoothed.sum(), 1)
    word, neighbour = counts.coords
    information = np.log(counts.data / (sums[word] * shares[neighbour]))
    more = information > 0
    return coo_array((information[more], (word[more], neighbour[more])), shape=counts.shape).tocsr()


def _factor(table: Any, size: int, seed: int) -> Matrix:
    """Left singular vectors times the roots of their values, largest first, to scale."""
    from threadpoolctl import threadpool_limits

    start = stream(seed, "vectors").uniform(-1, 1, size=table.shape[0])
    with threadpool_limits(1):  # sums in another order would give other vectors
        left, values, _ = svds(table, k=size, v0=start)
    order = np.argsort(-values, kind="stable")
    left, values = left[:, order], values[order]
    # A singular vector may point either way: let its largest value be positive.
    left *= np.sign(left[np.abs(left).argmax(axis=0), np.arange(size)])
    matrix = left * np.sqrt(values)
    scaled: Matrix = (matrix * (SPREAD / np.sqrt(np.mean(matrix**2)))).astype(np.float32)
    return scaled
