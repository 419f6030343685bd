"""Sentences made for training: what real corpora teach badly, the same for every identity.

Corpora hold many hateful posts about some groups and few harmless ones, so a detector trained on
them takes the mention of a group for hate. These sentences put every group equally often into
hateful and harmless ones: quotations, negations, answers to hate, reclaimed words, abuse of
things and trades. Templates and the words that fill them are data (``sources/synthetic.toml``),
written by us and kept apart from every suite by a test.

Sentences come in four families by what names the group: an identity term, a slur, an emoji that
stands for it, or nothing. Within a family both labels have as many sentences about each identity.

>>> made = sentences(7, many=200)
>>> sum(sentence.hateful for sentence in made), len({sentence.text for sentence in made})
(100, 200)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

from evenhand.core.errors import BadInput
from evenhand.core.streams import stream
from evenhand.models._swapping import regendered, swapped
from evenhand.models._synthetic_source import SLOT, TERM_SLOTS, slots, source, words

__all__ = ["FAMILIES", "Sentence", "Template", "regendered", "sentences", "swapped", "templates"]

IDENTITY, SLUR, SIGN, NOBODY = "identity", "slur", "sign", "nobody"
FAMILIES = (IDENTITY, SLUR, SIGN, NOBODY)
_ARTICLE = re.compile(r"\{a\}(?=\s+~?(\S))")
_DISGUISED = re.compile(r"~([^~]+)~")
_DIGITS = str.maketrans("aeiosAEIOS", "4310543105")
_HELD_OUT = 0.1
_TRIES = 60
_Word = TypeVar("_Word", str, str | None)


@dataclass(frozen=True)
class Template:
    """A sentence with slots."""

    name: str
    kind: str
    text: str
    hateful: bool
    family: str
    """What names the group: one of ``FAMILIES``."""
    held_out: bool
    """Kept from training, to measure what carries over to sentences of another make."""


@dataclass(frozen=True)
class Sentence:
    """A filled template and its label."""

    text: str
    hateful: bool
    kind: str
    template: str
    identity: str | None
    """Whom it is about; None where no term, slur or emoji names a group."""


@cache
def templates() -> tuple[Template, ...]:
    """Every template, by kind; a tenth of each kind, at least one, is held out."""
    return tuple(
        Template(f"{kind}/{number}", kind, text, about["hateful"], _family(text), text in kept)
        for kind, about in source()["kinds"].items()
        for kept in [_kept(about["templates"])]
        for number, text in enumerate(about["templates"], start=1)
    )


def _kept(texts: Sequence[str]) -> frozenset[str]:
    """The texts to hold out: chosen by their words, whatever their order."""
    drawn = sorted(texts, key=lambda text: (stream(0, "held out", text).random(), text))
    return frozenset(drawn[: max(1, round(_HELD_OUT * len(texts)))])


def _family(text: str) -> str:
    found = set(slots(text))
    if found & {"slur", "slurs"}:
        return SLUR
    if "sign" in found:
        return SIGN
    return IDENTITY if found & set(TERM_SLOTS) else NOBODY


def sentences(seed: int, *, many: int, held_out: bool = False) -> list[Sentence]:
    """Make ``many`` sentences, half of them hateful, no two equal, in a drawn order.

    Within a family and a label every template is used equally often, give or take one.

    Args:
        seed: The same seed gives the same sentences.
        many: How many; an even number, so that both labels have as many.
        held_out: Use the templates that are kept from training instead of the others.
    """
    if many < 2 or many % 2:
        raise BadInput(f"{many} sentences; expected an even number of at least 2")
    chosen = [template for template in templates() if template.held_out == held_out]
    shares = _shares(Counter(template.family for template in chosen), many // 2)
    made: list[Sentence] = []
    for hateful in (True, False):
        maker = _Maker(stream(seed, "synthetic", str(hateful)))
        for family, share in shares.items():
            some = [t for t in chosen if t.family == family and t.hateful == hateful]
            whom = _blocks(_pool(family), share, stream(seed, "synthetic", family))
            made.extend(maker.make(some, whom))
    order = stream(seed, "synthetic", "order").permutation(len(made))
    return [made[at] for at in order]


def _shares(weights: Mapping[str, int], total: int) -> dict[str, int]:
    """How many sentences of each family: by its number of templates, what is left to the first."""
    whole = sum(weights.values())
    shares = {family: total * weights[family] // whole for family in FAMILIES}
    shares[IDENTITY] += total - sum(shares.values())
    return shares


def _pool(family: str) -> list[str | None]:
    key = {IDENTITY: "identities", SLUR: "slurs", SIGN: "signs"}.get(family)
    return [None] if key is None else list(source()[key])


def _blocks(
    pool: Sequence[str | None], many: int, rng: np.random.Generator
) -> Iterator[list[str | None]]:
    """Blocks in which everyone occurs once; the last is a part, the same for both labels."""
    last = [pool[at] for at in rng.permutation(len(pool))[: many % len(pool)]]
    for _ in range(many // len(pool)):
        yield list(pool)
    yield last


class _Maker:
    """Fills templates, taking of every list what it has taken least."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._used: Counter[tuple[str, str | None]] = Counter()
        self._seen: set[str] = set()

    def make(
        self, some: Sequence[Template], blocks: Iterator[list[str | None]]
    ) -> Iterator[Sentence]:
        order = [some[at] for at in self._rng.permutation(len(some))]
        turn = 0
        for block in blocks:
            while block:
                template = order[turn % len(order)]
                who = self._least(template.name, block)
                block.remove(who)
                text = self._new(template, who)
                yield Sentence(text, template.hateful, template.kind, template.name, who)
                turn += 1

    def _least(self, place: str, options: Sequence[_Word]) -> _Word:
        fewest = min(self._used[place, option] for option in options)
        ties = [option for option in options if self._used[place, option] == fewest]
        found = ties[self._rng.integers(len(ties))]
        self._used[place, found] += 1
        return found

    def _new(self, template: Template, who: str | None) -> str:
        for _ in range(_TRIES):
            text = self._surface(self._filled(template.text, who))
            key = "".join(text.lower().replace("@user", "").split())
            if key not in self._seen:
                self._seen.add(key)
                return text
        raise BadInput(
            f"template {template.name!r} gives no further sentence; ask for fewer sentences"
        )

    def _filled(self, text: str, who: str | None) -> str:
        fill: dict[str, str] = {"a": "{a}"}
        for slot in slots(text):
            if slot not in fill:
                place = f"{slot} of {who}" if slot in TERM_SLOTS else slot
                fill[slot] = self._least(place, words(slot, who))
        text = SLOT.sub(lambda found: fill[found[1]], text)
        text = _ARTICLE.sub(lambda found: "an" if found[1].lower() in "aeiou" else "a", text)
        return _DISGUISED.sub(lambda found: self._disguised(found[1]), text)

    def _disguised(self, text: str) -> str:
        """The text with its longest word spelt in a way that hides it from a list of words."""
        word = max(text.split(), key=len)
        inner = int(self._rng.integers(1, max(2, len(word) - 1)))
        ways = (
            word.translate(_DIGITS),
            word[:inner] + "*" + word[inner + 1 :],
            " ".join(word),
            ".".join(word),
            word[:inner] + word[inner] * 3 + word[inner + 1 :],
        )
        return text.replace(word, ways[self._rng.integers(len(ways))], 1)

    def _surface(self, text: str) -> str:
        """As people type: capitals, endings, openings and slips, alike for both labels."""
        rng, surface = self._rng, source()["surface"]
        opening = surface["openings"][rng.integers(len(surface["openings"]))]
        ending = surface["endings"][rng.integers(len(surface["endings"]))]
        lower, slip, bare = rng.random(3) < (0.25, 0.1, 0.15)
        if not opening and not lower:
            text = text[:1].upper() + text[1:]
        if text[-1].isalpha():
            text += ending
        if slip:
            text = self._slipped(text)
        if bare:
            text = text.replace("'", "").removesuffix(".")
        text = opening + text
        return text.lower() if lower else text

    def _slipped(self, text: str) -> str:
        """The text with two letters of a longer word exchanged, where it has one."""
        words = [found.start() for found in re.finditer(r"[a-z]{6,}", text)]
        if not words:
            return text
        at = words[self._rng.integers(len(words))] + int(self._rng.integers(1, 4))
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
