"""Duplicates among posts: equal under a strict key, or nearly so.

The strict key of a text is what remains without RT markers, @handles, links, HTML entities (also
escaped twice), letter case and spacing. Two posts with the same key are *exact* duplicates. Two
posts with different keys are *near* duplicates when their cleaned texts have

- at least 12 characters each and a Jaccard similarity of character 5-grams of at least .8, or
- 12 to 39 characters each and an edit distance of at most 2.

The cleaned text is the key with single spaces: "to day" and "today" have one key, while the 5-grams
see words. Where posts of one key differ in spacing, the first cleaned text in alphabetical order
stands for all. Below 12 characters only equality counts. A post with an empty key (only links or
handles; a missing text) is nobody's duplicate.

Nothing is sampled or approximated: every pair is found, whatever the order of the posts, and pairs
of identical posts are counted, not listed, so that 50,000 copies of one text cost nothing.

>>> posts = pl.Series(["RT @a: Good morning, all of you!", "good  morning, all of you! http://t.co/x",
...                    "Good morning, all of you!!", "@a", "@b"])
>>> found = find_duplicates(posts)
>>> found.pairs(), found.group.tolist()
((1, 2), [0, 0, 0, 1, 2])
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evenhand.core.errors import BadInput
from evenhand.data._edits import edit_pairs
from evenhand.data._jaccard import Ints, Pairs, at_least, jaccard_pairs

SHORTEST = 12
"""Below this many characters only equality counts."""
MOST_KEPT = 10_000_000
"""Near pairs of keys held in memory; if there are more they are found anew when asked for."""

_LINK = r"https?://\S*|\bwww\.\S*|pic\.twitter\.com/\S*|\bt\.co/\S*"
_HANDLE = r"@(?:[a-z0-9_]+|#+)"
"""A handle, also one that a publisher has written over with #."""
_NOISE = rf"{_LINK}|\brt\b(?:\s*{_HANDLE})?\s*:?|{_HANDLE}:?"
_ZERO_WIDTH = r"\u200b\u2060\ufeff"
_SPACES = rf"[\s{_ZERO_WIDTH}]+"
_UNTIDY = rf"^ | $|  |[^\S ]|[{_ZERO_WIDTH}]"


def clean(texts: pl.Series) -> pl.Series:
    """Each text without RT markers, handles, links, entities and case, with single spaces.

    A colon after an RT marker or a handle goes with it; Unicode is composed (NFC).

    >>> clean(pl.Series(["RT @a: Tom &amp;amp; Ann  www.x.org/y", None])).to_list()
    ['tom & ann', '']
    """
    texts = texts.cast(pl.String).fill_null("")
    texts = _change(texts, texts.str.contains("&[#A-Za-z]"), _unescape).str.to_lowercase()
    not_ascii = texts.str.len_bytes() != texts.str.len_chars()
    texts = _change(texts, not_ascii, lambda some: some.str.normalize("NFC"))
    noisy = texts.str.contains(_NOISE)
    texts = _change(texts, noisy, lambda some: some.str.replace_all(_NOISE, " "))
    untidy = texts.str.contains(_UNTIDY)
    return _change(
        texts, untidy, lambda some: some.str.replace_all(_SPACES, " ").str.strip_chars(" ")
    )


def strict_key(texts: pl.Series) -> pl.Series:
    """Each text cleaned and without spaces: equal keys are exact duplicates, empty keys are not.

    >>> strict_key(pl.Series(["RT @a: To day", "TODAY http://t.co/x", "@b"])).to_list()
    ['today', 'today', '']
    """
    return _without_spaces(clean(texts))


@dataclass(frozen=True, eq=False)
class Duplicates:
    """What was found among some posts."""

    keys: pl.Series
    """The strict key of every post."""
    group: Ints
    """For every post its connected component of exact and near pairs, numbered by first post."""
    number: Ints
    """For every post the number of its key, in order of first post; -1 for an empty key."""
    texts: pl.Series
    """For every key the cleaned text that stands for it."""
    near: Pairs | None
    """Near pairs of key numbers, i < j, sorted; None where there are more than ``MOST_KEPT``."""

    def pairs(self, side: pl.Series | None = None) -> tuple[int, int]:
        """Count exact and near pairs of posts.

        With ``side`` (a split, an author, a label for every post) only pairs whose sides differ
        count. A missing side is a side of its own: it equals another missing one, nothing else.
        """
        counts = self._counts(side)
        posts = counts.sum(axis=1)
        same = (posts * (posts - 1)).sum() // 2
        near = sum(int(posts[block].prod(axis=1).sum()) for block in self.near_pairs())
        if side is None:
            return int(same), near
        together = (counts.data * (counts.data - 1)).sum() // 2
        for block in self.near_pairs():
            near -= int(counts[block[:, 0]].multiply(counts[block[:, 1]]).sum())
        return int(same - together), near

    def examples(self, limit: int = 10, *, near: bool = False) -> list[tuple[int, int]]:
        """Positions of at most ``limit`` pairs, in order: the first two posts of a key each.

        With ``near`` the first posts of near pairs of keys instead.
        """
        posts = np.argsort(self.number, kind="stable")
        posts = posts[self.number[posts] >= 0]
        first = np.flatnonzero(np.diff(self.number[posts], prepend=-1))
        if near:
            found = islice((pair for block in self.near_pairs() for pair in block), limit)
            return [(int(posts[first[i]]), int(posts[first[j]])) for i, j in found]
        twice = first[np.bincount(self.number[posts]) > 1][:limit]
        return [(int(posts[at]), int(posts[at + 1])) for at in twice]

    def near_pairs(self) -> Iterable[Pairs]:
        """Near pairs of keys in blocks, each pair once."""
        return _near_pairs(self.texts) if self.near is None else [self.near]

    def _counts(self, side: pl.Series | None) -> Any:
        """Posts by key (row) and side (column)."""
        if side is not None and len(side) != len(self.number):
            raise BadInput(f"{len(side)} sides for {len(self.number)} posts; expected one for each")
        columns = np.zeros(len(self.number), dtype=np.int64) if side is None else _numbers(side)
        keyed = self.number >= 0
        shape = (len(self.texts), int(columns.max(initial=0)) + 1)
        ones = np.ones(int(keyed.sum()), dtype=np.int64)
        return coo_array((ones, (self.number[keyed], columns[keyed])), shape).tocsr()


def find_duplicates(texts: pl.Series, *, near: bool = True) -> Duplicates:
    """Find all exact and, unless told otherwise, near duplicates among texts."""
    cleaned = clean(texts)
    keys = _without_spaces(cleaned)
    filled = (keys != "").to_numpy()
    posts = pl.DataFrame({"key": keys, "text": cleaned}).filter(filled)
    shown = posts.group_by("key", maintain_order=True).agg(pl.col("text").min())["text"]
    number = np.full(len(keys), -1, dtype=np.int64)
    number[filled] = _numbers(posts["key"])
    label = np.arange(len(shown))
    kept: list[Pairs] = []
    for block in _near_pairs(shown) if near else ():
        label = _joined(label, block)
        if sum(map(len, kept)) <= MOST_KEPT:
            kept.append(block)
    alone = len(shown) + np.arange(len(keys))
    alone[filled] = label[number[filled]]
    pairs = _sorted(kept) if sum(map(len, kept)) <= MOST_KEPT else None
    return Duplicates(keys, _numbers(pl.Series(alone)), number, shown, pairs)


def _near_pairs(texts: pl.Series) -> Iterator[Pairs]:
    """Near pairs among the cleaned texts of different keys, in large blocks."""
    rows = (texts.str.len_chars() >= SHORTEST).arg_true().to_numpy().astype(np.int32)
    long = texts.gather(rows)
    for pairs in _gathered(jaccard_pairs(long)):
        yield rows[pairs]
    for pairs in _gathered(edit_pairs(long)):
        yield rows[pairs[~at_least(long, pairs)]]


def _gathered(blocks: Iterator[Pairs]) -> Iterator[Pairs]:
    """The same pairs in blocks of about a million."""
    waiting: list[Pairs] = []
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) >= 1 << 20:
            yield np.concatenate(waiting)
            waiting = []
    if any(map(len, waiting)):
        yield np.concatenate(waiting)


def _change(
    texts: pl.Series, where: pl.Series, function: Callable[[pl.Series], pl.Series]
) -> pl.Series:
    """Apply a function to some of the texts: most posts need none of the costly steps."""
    rows = where.arg_true()
    if len(rows) == 0:
        return texts
    source = np.arange(len(texts))
    source[rows.to_numpy()] = len(texts) + np.arange(len(rows))
    return pl.concat([texts, function(texts.gather(rows))]).gather(source)


def _without_spaces(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(" ", "", literal=True)


def _unescape(texts: pl.Series) -> pl.Series:
    """Resolve entities; three rounds, since scraped text is often escaped more than once."""
    texts = texts.str.replace_all("&(?:amp;)+", "&")
    changed = [html.unescape(html.unescape(html.unescape(text))) for text in texts]
    return pl.Series(texts.name, changed, dtype=pl.String)


def _numbers(values: pl.Series) -> Ints:
    """Number the distinct values, null among them, in order of first appearance."""
    frame = values.alias("value").to_frame().with_row_index("row")
    first = frame.select(pl.col("row").first().over("value"))["row"].to_numpy()
    return np.unique(first, return_inverse=True)[1].astype(np.int64)


def _joined(label: Ints, pairs: Pairs) -> Ints:
    """Component labels after adding pairs to the graph that the labels describe."""
    size = len(label)
    start = np.concatenate([np.arange(size), pairs[:, 0]])
    end = np.concatenate([label, pairs[:, 1]])
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), (size, size))
    component = connected_components(graph, directed=False)[1]
    first = np.unique(component, return_index=True)[1]
    return np.asarray(first[component])


def _sorted(blocks: list[Pairs]) -> Pairs:
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int32), *blocks])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
