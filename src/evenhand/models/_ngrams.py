"""Runs of neighbouring symbols (words, characters, tags) that stand in enough training posts.

A run of n symbols is kept as one number: the number of its first n - 1 symbols times the number of
symbols, plus the number of its last. What begins a frequent run is as frequent itself, so every
kept run begins with a kept run. Features are numbered by length, then in order; the counts of a
list never depend on the lists beside it.

>>> runs = Ngrams.learn(pl.Series([["a", "fool"], ["a", "fool", "a"]]), longest=2, min_df=2)
>>> runs.counts(pl.Series([["a", "fool", "a", "fool"]])).toarray().tolist()  # a; fool; a fool
[[2.0, 2.0, 2.0]]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ngrams:
    """Runs of symbols."""

    symbols: pl.Series
    """The symbols, sorted and distinct."""
    longer: tuple[Ints, ...]
    """The numbers of the runs of two symbols, of three …, each sorted."""
    shortest: int = 1
    """How many symbols a run needs to be a feature."""

    def __len__(self) -> int:
        return sum(self._sizes()[self.shortest - 1 :])

    def _sizes(self) -> list[int]:
        return [len(self.symbols), *map(len, self.longer)]

    @classmethod
    def learn(
        cls,
        lists: pl.Series,
        *,
        longest: int,
        min_df: int,
        shortest: int = 1,
        posts: csr_array | None = None,
    ) -> Self:
        """What stands in at least ``min_df`` posts.

        A post is a list of symbols; or, with ``posts``, a row of it, whose columns say how often
        each list stands in the post.
        """
        at, flat = flattened(lists)
        every = flat.unique().sort()
        places, numbers = np.arange(len(flat)), numbered(flat, every)
        kept = _frequent(at, numbers, posts, min_df)
        runs = cls(every.gather(kept), (), shortest)
        numbers = _position(kept, numbers)
        symbols = numbers
        for length in range(2, longest + 1):
            places, keys = _extended(at, symbols, places, numbers, length, len(kept))
            found = _frequent(at[places], keys, posts, min_df)
            runs = cls(runs.symbols, (*runs.longer, found), shortest)
            numbers = _position(found, keys)
        return runs

    def counts(self, lists: pl.Series) -> csr_array:
        """How often each feature stands in each list."""
        at, flat = flattened(lists)
        rows, columns = [at[:0]], [at[:0]]
        first = 0
        for length, (places, numbers) in enumerate(self._found(at, flat), start=1):
            if length >= self.shortest:
                rows.append(at[places])
                columns.append(first + numbers)
                first += self._sizes()[length - 1]
        return counted(np.concatenate(rows), np.concatenate(columns), (len(lists), len(self)))

    def _found(self, at: Ints, flat: pl.Series) -> Iterator[tuple[Ints, Ints]]:
        """For each length, where a known run begins, and its number."""
        symbols = numbers = numbered(flat, self.symbols)
        places = np.arange(len(flat))
        places, numbers = places[numbers >= 0], numbers[numbers >= 0]
        yield places, numbers
        for length, known in enumerate(self.longer, start=2):
            places, keys = _extended(at, symbols, places, numbers, length, len(self.symbols))
            numbers = _position(known, keys)
            places, numbers = places[numbers >= 0], numbers[numbers >= 0]
            yield places, numbers

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Plain arrays: the symbols as bytes, one a line, then the runs of each length."""
        packed = np.frombuffer("\n".join(self.symbols).encode(), dtype=np.uint8)
        longer = {f"{name}_{n}": runs for n, runs in enumerate(self.longer, start=2)}
        return {name: packed, **longer}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], name: str, *, shortest: int = 1) -> Self:
        """The runs that gave these arrays under this name."""
        lengths = range(2, 2 + sum(key.startswith(f"{name}_") for key in arrays))
        symbols = arrays[name].tobytes().decode().split("\n") if arrays[name].size else []
        return cls(
            pl.Series(symbols, dtype=pl.String),
            tuple(arrays[f"{name}_{length}"] for length in lengths),
            shortest,
        )


def flattened(lists: pl.Series) -> tuple[Ints, pl.Series]:
    """All symbols in order, and the list each stands in."""
    at = np.repeat(np.arange(len(lists)), lists.list.len().to_numpy())
    return at, lists.explode().drop_nulls().cast(pl.String)


def numbered(flat: pl.Series, known: pl.Series) -> Ints:
    """The place of each symbol among the known ones, -1 for an unknown one."""
    table = pl.DataFrame({"symbol": known, "number": np.arange(len(known))})
    left = flat.alias("symbol").to_frame()
    found = left.join(table, on="symbol", how="left", maintain_order="left")
    numbers: Ints = found["number"].fill_null(-1).to_numpy()
    return numbers


def counted(rows: Ints, columns: Ints, shape: tuple[int, int]) -> csr_array:
    """A table of how often each cell is named, the columns of each row in order."""
    cells = rows.astype(np.int32), columns.astype(np.int32)  # liblinear takes no longer numbers
    return csr_array((np.ones(len(rows)), cells), shape=shape)


def _extended(
    at: Ints, symbols: Ints, places: Ints, numbers: Ints, length: int, size: int
) -> tuple[Ints, Ints]:
    """Known runs one symbol longer: where they begin, and the number of each."""
    fits = (numbers >= 0) & (places + length <= len(at))
    places, numbers = places[fits], numbers[fits]
    last = places + length - 1
    fits = (at[places] == at[last]) & (symbols[last] >= 0)
    return places[fits], numbers[fits] * size + symbols[last[fits]]


def _frequent(at: Ints, values: Ints, posts: csr_array | None, least: int) -> Ints:
    """The values that stand in at least so many posts, sorted."""
    distinct, codes = np.unique(values, return_inverse=True)
    lists = int(at.max(initial=-1)) + 1 if posts is None else posts.shape[1]
    table = counted(at, codes, (lists, len(distinct)))
    if posts is not None:
        table = posts @ table
    return distinct[np.bincount(table.indices, minlength=len(distinct)) >= least]


def _position(known: Ints, values: Ints) -> Ints:
    """The place of each value among the known ones, -1 for an unknown one."""
    if not len(known):
        return np.full(len(values), -1)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[places] == values, places, -1)
