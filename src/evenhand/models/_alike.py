"""Letters of other scripts that stand for the Latin ones they look like."""

from __future__ import annotations

import re

from evenhand.models._lexicon import lexicon
from evenhand.models._trace import Edit

_ALIKE = dict(
    zip(
        "аеорсухіјѕԁԛԝһгкмтвнѵүҽёїոսօհյցզաАВЕКМНОРСТУХІЈЅԌѴԚԜҮԀЁЇαβγε"
        "ικνορτυχωησϲϳάέίόύΑΒΕΖΗΙΚΜΝΟΡΤΥΧᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃ",
        "aeopcyxijsdqwhrkmtbhvyeeinuohjgqwABEKMHOPCTYXIJSGVQWYDEIabye"
        "ikvoptuxwnocjaeiouABEZHIKMNOPTYXABCDEGHiJKLMPSTVWZ",
        strict=True,
    )
)

_FOREIGN = re.compile(f"[{''.join(_ALIKE)}]")
_WORD = re.compile(r"[^\W\d_]+")


def alike(text: str) -> list[Edit]:
    """Letters of other scripts that look Latin, in words that are otherwise Latin.

    A word wholly in another script is left alone unless all of it looks Latin, it then is a known
    word, and no word of the text is clearly of another script while some are Latin.
    """
    if text.isascii() or not _FOREIGN.search(text):
        return []
    words = list(_WORD.finditer(text))
    others = any(any(not _latin(c) and c not in _ALIKE for c in word[0]) for word in words)
    latin = not others and any(any(map(_latin, word[0])) for word in words)
    edits: list[Edit] = []
    for match in words:
        word = match[0]
        seen = "".join(_ALIKE.get(char, char) for char in word)
        if seen == word or not all(map(_latin, seen)):
            continue
        mixed = any(map(_latin, word))
        if mixed or latin and lexicon().counts.get(seen.lower(), 0) >= 20:
            edits.append((match.start(), match.end(), seen))
    return edits


def _latin(char: str) -> bool:
    return char < "\u0250" or "\u1e00" <= char <= "\u1eff"
