"""Where the sentences of a text are, and offsets as the wire counts them.

Inside, offsets count code points; Perspective's count UTF-16 units, in which an emoji is two.
Sentences end at a full stop, question or exclamation mark or an ellipsis that a space follows, and
at a line's end. Abbreviations and initials end none, and what has no letter or digit (an emoji, a
row of dots) belongs to the sentence before it. White space between sentences belongs to none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import regex

Span = tuple[int, int]

_END = regex.compile(
    r"""[\r\n\u2028\u2029]+ | [.!?…。！？｡؟।]+ [\p{Pe}\p{Pf}\p{Pi}"'*_~]* (?=\s)""", regex.VERBOSE
)
_ABBREVIATED = regex.compile(
    r"""(?: ^ | [\s\p{P}] )
    (?: \p{L} | (?:\p{L}\.)+\p{L} | mr | mrs | ms | dr | prof | st | jr | sr | vs | etc | inc | no )
    \. $""",
    regex.VERBOSE | regex.IGNORECASE,
)
_LOOK_BACK = 12
_JOINED = regex.compile(r"[\p{M}\u200d\ufe0e\ufe0f\U0001F3FB-\U0001F3FF]")
"""What a reader sees as one with the character before it."""
_WORD = regex.compile(r"[\p{L}\p{N}]")


def sentences(text: str, *, most: int | None = None) -> list[Span]:
    """Beginning and end of each sentence; of more than ``most`` the last holds the rest.

    >>> sentences("You are wrong. Sorry, I like it! 🙂")
    [(0, 14), (15, 34)]
    """
    found: list[Span] = []
    for begin, end in _cut(text):
        begin, end = _trimmed(text, begin, end)
        if begin == end:
            continue
        if found and (not _WORD.search(text, begin, end) or (most and len(found) == most)):
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def _cut(text: str) -> Iterator[Span]:
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        before = text[max(start, end - _LOOK_BACK) : end]
        if _JOINED.match(text, _trimmed(text, end, len(text))[0]):
            continue
        if text[match.start()] == "." and _ABBREVIATED.search(before):
            continue
        yield start, end
        start = end
    yield start, len(text)


def _trimmed(text: str, begin: int, end: int) -> Span:
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    return begin, end


class Units:
    """Offsets of one text in UTF-16 units.

    >>> Units("a🙂b").of((1, 3))
    (1, 4)
    """

    def __init__(self, text: str) -> None:
        self._before = None
        if not text.isascii():
            sizes = (2 if character > "\uffff" else 1 for character in text)
            self._before = [0, *accumulate(sizes)]

    def of(self, span: Span) -> Span:
        """A span of code points in units."""
        if self._before is None:
            return span
        return self._before[span[0]], self._before[span[1]]
