"""Which words a score goes by: how far it falls when a word is left out.

The weight of a word is the score of the text minus the score of the text without the word, so a
word that raises the score has a positive weight. Words stand between spaces, without the
punctuation around them; an emoji sequence (skin tones, joined pictures, flags) is a word, and
punctuation alone is none. A text of more than ``words`` words is divided into that many runs of
neighbouring words at most, each left out as a whole, so that no text costs more than ``words``
scores.

Any detector is asked for the texts without their words, in batches of bounded size. Where the
score is known to be a function of sums over words and their neighbours (``linear``, ``svm``,
``naive-bayes``), the change is computed from what the word takes part in, which is as exact and
much quicker (:mod:`evenhand.models._left_out`). ``fast`` is asked like the others: its front end
reads s p a c e d letters as one word, so that leaving one out changes how others are read. A server
may refuse a text; a word without a score on both sides has no weight and is not listed.

Weights need not add up to the score: two words of which either suffices have weights near 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, runtime_checkable

import regex

from evenhand.core.errors import BadInput
from evenhand.models._halving import halved
from evenhand.models._left_out import SPACES, UNIT, closed_form
from evenhand.models._refusals import Refused
from evenhand.models.protocol import Detector, Trained
from evenhand.models.scoring import AnswersEach

MOST_WORDS = 200
"""So many words are left out one by one; a longer text is divided into so many runs at most."""
_BATCH = 1024
"""Texts scored at a time."""
_BATCH_CHARACTERS = 2_000_000
"""And so many characters at most, or one text."""
_CUTS = 20_000
"""Words for which a closed form is computed at a time."""

_EMOJI = r"(?=\p{Extended_Pictographic}|\p{Regional_Indicator})\X"
_PIECE = regex.compile(rf"{_EMOJI}|(?:(?!{_EMOJI}).)+", regex.DOTALL)
_AROUND = ".,;:!?\"'“”‘’„«»()[]{}<>…—–-/|~`^=+\\¡¿。、！？"
_READABLE = regex.compile(r"[\p{L}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}]")

Cut = tuple[int, int]


class Span(NamedTuple):
    """A part of a text (code points, end exclusive) and how much of the score goes by it."""

    start: int
    end: int
    weight: float


@runtime_checkable
class Delegates(Protocol):
    """A detector that leaves each text to one of several."""

    def deciding(self, texts: Sequence[str]) -> list[Detector]:
        """Who scores each text; evidence is of that one alone, with every word left out."""


def evidence(
    detector: Detector,
    texts: Sequence[str],
    *,
    attribute: str | None = None,
    words: int = MOST_WORDS,
) -> list[list[Span]]:
    """The words of each text, in order, with their weights; by default of the first attribute."""
    wanted = attribute or detector.attributes[0]
    if wanted not in detector.attributes:
        raise BadInput(
            f"{detector.name} has no attribute {wanted!r}; found {', '.join(detector.attributes)}"
        )
    if words < 1:
        raise BadInput(f"words is {words}; expected at least 1")
    if isinstance(detector, Delegates):
        deciding = detector.deciding(texts)
        return [
            evidence(who, [text], attribute=wanted, words=words)[0]
            for who, text in zip(deciding, texts, strict=True)
        ]
    column = detector.attributes.index(wanted)
    cuts = [cuts_of(text, words) for text in texts]
    exact = closed_form(detector)
    scores = (
        _asked(detector, column, texts, cuts)
        if exact is None
        else (
            float(p)
            for start, end in _groups(cuts)
            for p in exact(texts[start:end], cuts[start:end])[:, column]
        )
    )
    return [_spans(of_text, list(islice(scores, 1 + len(of_text)))) for of_text in cuts]


def _spans(cuts: Sequence[Cut], scores: Sequence[float | None]) -> list[Span]:
    """Weights from the score of the text and those without each cut."""
    whole, without = scores[0], scores[1:]
    return [
        Span(start, end, whole - p)
        for (start, end), p in zip(cuts, without, strict=True)
        if whole is not None and p is not None
    ]


def cuts_of(text: str, most: int = MOST_WORDS) -> list[Cut]:
    """The words of a text, or at most ``most`` runs of neighbouring ones.

    >>> text = "“Well, you f00l!” 👍🏽👍"
    >>> [text[start:end] for start, end in cuts_of(text)]
    ['Well', 'you', 'f00l', '👍🏽', '👍']
    >>> cuts_of("a b c d e", 2)
    [(0, 5), (6, 9)]
    """
    found = []
    for unit in UNIT.finditer(text):
        for start, piece in _pieces(unit.start(), unit[0]):
            word = piece.strip(_AROUND)
            if word.isalnum() or _READABLE.search(word):
                start += piece.index(word)
                found.append((start, start + len(word)))
    size = -(-len(found) // most) or 1
    runs = [found[first : first + size] for first in range(0, len(found), size)]
    return [(run[0][0], run[-1][1]) for run in runs]


def _pieces(start: int, unit: str) -> Iterable[tuple[int, str]]:
    """What stands between spaces, emoji apart from the rest."""
    if unit.isascii():
        return [(start, unit)]
    return ((start + match.start(), match[0]) for match in _PIECE.finditer(unit))


def without(text: str, cut: Cut) -> str:
    """The text without a part, and without the space that would stand there twice.

    >>> without("you fool you", (4, 8)), without("(fool)", (1, 5))
    ('you you', '()')
    """
    start, end = cut
    if (start == 0 or text[start - 1] in SPACES) and (end == len(text) or text[end] in SPACES):
        if end < len(text):
            end += 1
        elif start:
            start -= 1
    return text[:start] + text[end:]


def _asked(
    detector: Detector, column: int, texts: Sequence[str], cuts: Sequence[Sequence[Cut]]
) -> Iterator[float | None]:
    """The score of each text, followed by those without each cut; None where it is refused."""
    every = (
        variant
        for text, of_text in zip(texts, cuts, strict=True)
        for variant in (text, *(without(text, cut) for cut in of_text))
    )
    for batch in _batches(every):
        distinct = list(dict.fromkeys(batch))
        found: list[float | Refused]
        if isinstance(detector, AnswersEach):
            found = detector.answers(distinct)
        elif isinstance(detector, Trained):
            found = detector.score(distinct)[:, column].tolist()
        else:  # of others, some fail on a text, such as what is left of a single word: nothing
            numbers = [str(number) for number in range(len(distinct))]
            found = halved(detector, detector.attributes[column], numbers, distinct)
        scores = dict(zip(distinct, found, strict=True))
        for variant in batch:
            p = scores[variant]
            yield None if isinstance(p, Refused) else p


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    """The texts in batches of bounded size."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == _BATCH or characters + len(text) > _BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _groups(cuts: Sequence[Sequence[Cut]]) -> Iterator[tuple[int, int]]:
    """Starts and ends of groups of texts with a bounded number of cuts."""
    start, held = 0, 0
    for row, of_text in enumerate(cuts):
        if row > start and held + len(of_text) > _CUTS:
            yield start, row
            start, held = row, 0
        held += 1 + len(of_text)
    if cuts:
        yield start, len(cuts)
