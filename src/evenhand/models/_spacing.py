"""Words spaced out, cut in two, run together or stretched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, product

from evenhand.models._disguise import EDGES, LETTER, cased, spelled
from evenhand.models._lexicon import lexicon, more_frequent, split_words
from evenhand.models._trace import Edit

_ALONE = rf"{LETTER}(?![^ .,!?;:'\")])"
_SPACED = re.compile(rf"(?<![^ ])(?:{LETTER} +(?={_ALONE})){{2,}}+{LETTER}")
_STRETCHED = re.compile(r"(?ai)(?<![a-z])[a-z]*([a-z])\1\1[a-z]*")
_RUN = re.compile(r"(.)\1\1+")


def spaced(text: str) -> list[Edit]:
    """Letters spaced out: ``i d i o t``; wider gaps are between words."""
    edits: list[Edit] = []
    for match in _SPACED.finditer(text):
        edits += _respaced(match[0], match.start())
    return edits


def _respaced(run: str, at: int) -> list[Edit]:
    groups = [group.replace(" ", "") for group in re.split(" {2,}", run)]
    found = [spelled(group) if len(group) > 1 else [group.lower()] for group in groups]
    words = [word for group in found if group for word in group]
    if None in found or len(words) > len(run) / 4:
        words = spelled("".join(groups)) or []
    if not words or not re.search("[A-Za-z]", run):
        return []
    letters = "".join(words)
    first = set(accumulate(map(len, words[:-1])))
    edits: list[Edit] = []
    seen = 0
    for gap in re.finditer(r"[^ ]| +", run):
        start, end = at + gap.start(), at + gap.end()
        if gap[0][0] == " ":
            edits += [] if seen in first else [(start, end, "")]
            continue
        if letters[seen] != gap[0].lower():
            edits.append((start, end, cased(letters[seen], run)))
        seen += 1
    return edits


def divided(text: str) -> list[Edit]:
    """Words with a space put inside (``idi ot``), and four or more clear words written as one."""
    low = text.lower()
    if len(low) != len(text):
        return []  # a few letters become two in lower case
    ordinary = common()
    tokens = low.split(" ")
    rare = [n for n, token in enumerate(tokens) if token not in ordinary]
    found: list[tuple[int, Edit]] = []
    last, before = -1, ""
    for n in rare:
        token = tokens[n]
        word = token.strip(EDGES)
        if not (word.isascii() and word.isalpha()):
            continue
        if last == n - 1 and before and token.startswith(word) and _halves(before, word):
            found.append((n, (-1, 0, "")))
            before = ""
            continue
        if 12 <= len(word) <= 60 and (firsts := _run_together(word)):
            at = token.index(word)
            found += [(n, (at + i, at + i + 1, " ")) for i in firsts]
        last, before = n, word if token.endswith(word) else ""
    if not found:
        return []
    places = list(accumulate((len(token) + 1 for token in tokens), initial=0))
    return [
        (places[n] + start, places[n] + end, new and new + text[places[n] + start])
        for n, (start, end, new) in found
    ]


def _halves(first: str, second: str) -> bool:
    """Whether two rare words are the halves of a far more frequent one."""
    long = min(len(first), len(second)) > 1 and len(first + second) > 4
    return long and more_frequent(first + second, (first, second))


@lru_cache(1 << 12)
def _run_together(word: str) -> tuple[int, ...]:
    """Where the words but the first begin in several frequent words written as one."""
    counts = lexicon().counts
    words = () if word in counts else split_words(word)
    if len(set(words)) < 4 or len(word) <= 3 * len(words) or min(counts[w] for w in words) < 300:
        return ()
    return tuple(accumulate(map(len, words[:-1])))


@lru_cache(1)
def common() -> frozenset[str]:
    """Words too frequent to be half of another, and what is no word."""
    frequent = (word for word, count in lexicon().counts.items() if count > 300)
    return frozenset((*frequent, "@user", "url", ""))


def stretched(text: str) -> list[Edit]:
    """Letters repeated for stress: the known word, or no more than three of a letter."""
    edits: list[Edit] = []
    for match in _STRETCHED.finditer(text):
        at = match.start()
        edits += [(at + start, at + end, new) for start, end, new in _shortened(match[0].lower())]
    return edits


@lru_cache(1 << 14)
def _shortened(low: str) -> tuple[Edit, ...]:
    counts = lexicon().counts
    if low in counts:
        return ()
    runs = list(_RUN.finditer(low))
    keep = [3] * len(runs)
    if len(runs) <= 4 and len(low) <= 200:
        best = 0
        for lengths in product((1, 2), repeat=len(runs)):
            count = counts.get(_with(low, runs, lengths), 0)
            if count > best:
                best, keep = count, list(lengths)
    return tuple(
        (run.start() + n, run.end(), "")
        for run, n in zip(runs, keep, strict=True)
        if run.end() - run.start() > n
    )


def _with(low: str, runs: list[re.Match[str]], lengths: Iterable[int]) -> str:
    pieces, at = [], 0
    for run, length in zip(runs, lengths, strict=True):
        pieces += [low[at : run.start()], run[1] * length]
        at = run.end()
    return "".join([*pieces, low[at:]])
