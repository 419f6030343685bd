"""Known English words with how many posts have them; ``tools/words.py`` makes the list."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from math import exp, log
from typing import NamedTuple

_SHORT = frozenset((
    "a", "i", "am", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it",
    "me", "my", "no", "of", "oh", "on", "or", "so", "to", "up", "us", "we",
))  # fmt: skip
_LONGEST = 18
_PER_WORD = 4.0
"""What a further word costs: one word is likelier than two that make it up."""


class Lexicon(NamedTuple):
    """Posts by word, posts in which the word was masked, and words by length and first letter."""

    counts: dict[str, int]
    masked: dict[str, int]
    shapes: dict[tuple[int, str], list[str]]


@lru_cache(1)
def lexicon() -> Lexicon:
    """The list, read at first use."""
    raw = files("evenhand.models").joinpath("sources", "english.tsv.gz").read_bytes()
    counts, masked = {}, {}
    shapes = defaultdict(list)
    for line in gzip.decompress(raw).decode().splitlines():
        word, count, starred = line.split("\t")
        counts[word] = int(count)
        shapes[len(word), word[0]].append(word)
        if starred != "0":
            masked[word] = int(starred)
    return Lexicon(counts, masked, dict(shapes))


def more_frequent(whole: str, parts: Sequence[str]) -> bool:
    """Whether a word is far more frequent than its parts are as words (by their geometric mean)."""
    counts = lexicon().counts
    mean = exp(sum(log(max(1, counts.get(part, 0))) for part in parts) / len(parts))
    return counts.get(whole, 0) >= max(50, 20 * mean)


@lru_cache(1)
def _costs() -> dict[str, float]:
    """What each word that may be part of a compound costs: the rarer, the more."""
    counts = lexicon().counts
    most = max(counts.values())
    return {
        word: _PER_WORD + log(most / count)
        for word, count in counts.items()
        if count >= 100 and (len(word) > 2 or word in _SHORT)
    }


@lru_cache(1 << 14)
def split_words(joined: str) -> tuple[str, ...]:
    """The words a lower-case compound clearly consists of, or nothing.

    >>> split_words("sendthemback")
    ('send', 'them', 'back')
    >>> split_words("blorpfizz")
    ()
    """
    costs = _costs()
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(joined) + 1):
        options = [
            (best[start][0] + costs[joined[start:end]], start)
            for start in range(max(0, end - _LONGEST), end)
            if joined[start:end] in costs and (start == 0 or joined[start:end] != "i")
        ]
        best.append(min(options, default=(float("inf"), end - 1)))
    if best[-1][0] == float("inf"):
        return ()
    found, end = [], len(joined)
    while end:
        start = best[end][1]
        found.append(joined[start:end])
        end = start
    # Many short words are found in any string of letters.
    return tuple(reversed(found)) if len(joined) >= 3 * len(found) else ()
