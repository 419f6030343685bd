"""Which posts a detector was trained on, kept as digests.

A detector judged on posts it was trained on looks better than it is, so a trained detector carries
64-bit digests of its training posts: of source and id (ids are unique in their corpus only), and
of the strict key of the text (:func:`evenhand.data.duplicates.strict_key`), so that an exact copy
under another id is recognised too. An empty key (only links or handles) is nobody's copy.

Digests hide no secrets: whoever holds a post can find out whether a detector was trained on it.

>>> posts = pl.DataFrame({"id": ["1", "2"], "source": "a.csv", "text": ["Good day", "Bye"]})
>>> copy = pl.DataFrame({"id": ["7", "8"], "source": "b.csv", "text": ["@you good  day", "Hello"]})
>>> Seen.of(posts).among(copy)
['7']
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.data.duplicates import strict_key

Digests = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Seen:
    """Digests of posts, each kind sorted and distinct."""

    ids: Digests
    """Of source and id."""
    keys: Digests
    """Of the strict keys that are not empty."""

    @classmethod
    def of(cls, posts: pl.DataFrame) -> Self:
        """The digests of a table of posts."""
        keys = strict_key(posts["text"])
        return cls(np.unique(_named(posts)), np.unique(_hashed(keys.filter(keys != ""))))

    def among(self, posts: pl.DataFrame, *, copies: bool = True) -> list[str]:
        """Ids of the given posts that are among those seen (or ``copies`` of one), in order."""
        known = np.isin(_named(posts), self.ids)
        if copies:
            known |= np.isin(_hashed(strict_key(posts["text"])), self.keys)
        return posts["id"].filter(pl.Series(known)).to_list()

    def sha256(self) -> str:
        """One checksum for the set of training posts, whatever their order."""
        parts = (self.ids.astype("<u8").tobytes(), self.keys.astype("<u8").tobytes())
        return hashlib.sha256(b"".join(parts)).hexdigest()


def trained_on(detector: object, posts: pl.DataFrame) -> list[str] | None:
    """Ids of the posts the detector was trained on, or None where it does not say.

    A file of predictions, a Python function and an outside service do not say.
    """
    seen = getattr(getattr(detector, "record", None), "seen", None)
    return seen.among(posts) if isinstance(seen, Seen) else None


def _named(posts: pl.DataFrame) -> Digests:
    """Digests of source and id."""
    return _hashed(posts.select(pl.format("{}\x1f{}", "source", "id")).to_series())


def _hashed(values: Iterable[str]) -> Digests:
    parts = (hashlib.blake2b(value.encode(), digest_size=8).digest() for value in values)
    return np.frombuffer(b"".join(parts), dtype="<u8").astype(np.uint64)
