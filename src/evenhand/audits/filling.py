"""Slots in a text and what fills them: words by name, the right article, a written-over region.

A text has slots in braces, ``{many}``; ``{a}`` becomes "a" or "an" by the word behind it. A region
in double square brackets is written in another way by a *substitution*: a table of letters (or
longer pieces), of which the first that stands there is replaced, or one of the built-in ways to
misspell.

>>> filled("{many} are {a} [[odd]] lot", {"many": "cats"})
'Cats are an [[odd]] lot'
>>> substituted("Cats are an [[odd]] lot", {"o": "0"})
'Cats are an 0dd lot'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

ARTICLE = "a"
_SLOT = re.compile(r"\{([^{}]*)\}")
_REGION = re.compile(r"\[\[(.*?)\]\]")
_STRAY = re.compile(r"[{}]|\[\[|\]\]")
_MARK = re.compile(r"[{}\[\]]")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST = 4
_VOWELS = tuple("aeiouAEIOU")

Substitution = Mapping[str, str] | Callable[[str], str]
"""Letters and what is written for them, or a way to misspell."""


def slots(text: str) -> list[str]:
    """The names of the slots in a text, articles left out."""
    return [name for name in _SLOT.findall(text) if name != ARTICLE]


def has_region(text: str) -> bool:
    """Whether a part of the text is to be written in another way."""
    return bool(_REGION.search(text))


def filled(
    text: str,
    fill: Mapping[str, str],
    *,
    an_before: Collection[str] = (),
    a_before: Collection[str] = (),
) -> str:
    """The text with its slots filled, and a capital if it, or its first region, starts with one.

    ``an_before`` and ``a_before`` are the words whose first letter misleads about the article.
    """

    def article(match: re.Match[str]) -> str:
        word = match[2]
        vowel = word.startswith(_VOWELS) and word not in a_before
        return f"{'an' if vowel or word in an_before else 'a'}{match[1]}{word}"

    done = _SLOT.sub(lambda slot: fill.get(slot[1], slot[0]), text)
    done = re.sub(r"\{a\}([\s\[]+)([\w'-]+)", article, done)
    start = 2 if text.startswith("[[{") else 0
    starts = text.startswith("{", start)
    return done[:start] + done[start].upper() + done[start + 1 :] if starts else done


def plain(text: str) -> str:
    """The text with its regions as they are."""
    return _REGION.sub(r"\1", text)


def substituted(text: str, way: Substitution) -> str:
    """The text with its regions written in another way; equal to :func:`plain` if that fails."""
    change = way if callable(way) else lambda region: _first_replaced(region, way)
    return _REGION.sub(lambda match: change(match[1]), text)


def shown(text: str, way: Substitution | None, mask: Callable[[str], str]) -> str:
    """The text for people: masked, and a region in which something is masked is left as it is.

    ``mask`` must keep the length of a text.

    >>> shown("an [[odd]] [[fox]]", {"o": "0"}, lambda text: text.replace("fox", "f*x"))
    'an 0dd f*x'
    """
    masked, done, at = mask(plain(text)), [], 0
    for number, part in enumerate(_REGION.split(text)):
        piece = masked[at : at + len(part)]
        at += len(part)
        # Every second part is a region.
        if number % 2 and piece == part and way is not None:
            piece = substituted(f"[[{part}]]", way)
        done.append(piece)
    return "".join(done)


def stray(text: str) -> str | None:
    """The first brace or double bracket that belongs to no slot or region.

    >>> stray("{many} are [[odd]]"), stray("{many are odd"), stray("[[odd")
    (None, '{', '[[')
    """
    found = _STRAY.search(plain(_SLOT.sub("", text)))
    return found[0] if found else None


def marked(text: str) -> bool:
    """Whether a text that fills a slot has a brace or bracket, which would be taken for a mark."""
    return bool(_MARK.search(text))


def _first_replaced(region: str, table: Mapping[str, str]) -> str:
    keys = sorted(table, key=len, reverse=True)
    # One group for each key: what was found says by its group which key it is, in any case.
    pattern = "|".join(f"({re.escape(key)})" for key in keys)
    return re.sub(
        pattern, lambda m: table[keys[(m.lastindex or 1) - 1]], region, count=1, flags=re.IGNORECASE
    )


def _in_long_words(change: Callable[[str, int], str]) -> Callable[[str], str]:
    """Change every word of four letters or more, told where its middle is."""

    def word(match: re.Match[str]) -> str:
        found = match[0]
        return change(found, len(found) // 2) if len(found) >= _SHORTEST else found

    return lambda region: _WORD.sub(word, region)


def _swapped(word: str, middle: int) -> str:
    return word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]


MISSPELLINGS: Mapping[str, Callable[[str], str]] = {
    "swap": _in_long_words(_swapped),
    "drop": _in_long_words(lambda word, middle: word[:middle] + word[middle + 1 :]),
    "join": lambda region: region.replace(" ", ""),
    "space": lambda region: _WORD.sub(lambda match: " ".join(match[0]), region),
}
"""Middle letters swapped, middle letter dropped, spaces left out, letters spaced."""
