"""A text in which some words stand for words near them, as a teacher's question and not as a post.

Near are words that a base represents alike in its first layer: words of a kind, synonyms,
opposites. Most other forms of the same word are none, since they say the same and break the
sentence, nor are the commonest words, which hold it together. What the text says may change, so its
label is not known; a teacher can say what it takes it for. The idea is that of Jiao et al.
(TinyBERT, 2020, section 3.2), where a masked language model and GloVe name the words; here it is
the base alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from evenhand.models._swapping import in_case_of
from evenhand.models.base_weights import WEIGHTS, find_base

_UNIT = re.compile(r"\S+")
_ADDRESS = re.compile(r"://|www\.|@")
"""What makes a unit an address, which stays as it is."""
_WORD = re.compile(r"(?<![\w#/&.'’-])[A-Za-z]{2,}(?![\w/'’-]|\.\w)")
"""A word that is no part of a hashtag or of another word."""
_SHARE = 0.2
"""Of the words that have near ones, how many change; one where chance has chosen none."""
_NEAR = 8
"""From how many words the new one is drawn."""
_ALIKE = 0.3
"""The least cosine of two near words."""
_LOOKED_AT = 24
"""How many nearest words are looked at for those that are no other forms."""
_COMMONEST = 100
"""So many words stay as they are; the base's vocabulary begins with the commonest."""
_STEM = 4
"""Words that begin with the same so many letters, or one with the other, are forms of one word."""
_AT_A_TIME = 256


def varied(text: str, near: Mapping[str, Sequence[str]], rng: np.random.Generator) -> str | None:
    """The text with other words for some of its words; None where no word has any near it.

    >>> varied("He was late, Ann", {"late": ["early"]}, np.random.default_rng(0))
    'He was early, Ann'
    """
    found = [
        match
        for unit in _UNIT.finditer(text)
        if not _ADDRESS.search(unit[0])
        for match in _WORD.finditer(text, *unit.span())
        if match[0].lower() in near
    ]
    if not found:
        return None
    chosen = rng.random(len(found)) < _SHARE
    if not chosen.any():
        chosen[rng.integers(len(found))] = True
    parts, done = [], 0
    for match in (match for match, changes in zip(found, chosen, strict=True) if changes):
        words = near[match[0].lower()]
        parts += [
            text[done : match.start()],
            in_case_of(match[0], words[int(rng.integers(len(words)))]),
        ]
        done = match.end()
    return "".join([*parts, text[done:]])


@cache
def near_words() -> dict[str, list[str]]:
    """The words that the default base represents alike, nearest first, for each that has any."""
    folder = find_base("").folder  # which says what to install
    from safetensors import safe_open
    from tokenizers import Tokenizer

    numbers = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab()
    words = sorted((w for w in numbers if re.fullmatch("[a-z]{2,}", w)), key=numbers.__getitem__)
    words = words[_COMMONEST:]
    with safe_open(folder / WEIGHTS, framework="numpy") as file:
        name = next(key for key in file.keys() if key.endswith("word_embeddings.weight"))  # noqa: SIM118
        table = file.get_tensor(name)[[numbers[word] for word in words]].astype(np.float64)
    table -= table.mean(axis=0)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    found = {}
    for start in range(0, len(words), _AT_A_TIME):
        alike = table[start : start + _AT_A_TIME] @ table.T
        for word, each in zip(words[start:], alike, strict=False):
            nearest = np.argpartition(-each, _LOOKED_AT)[:_LOOKED_AT]
            nearest = nearest[np.argsort(-each[nearest], kind="stable")]
            others = [words[at] for at in nearest.tolist() if each[at] >= _ALIKE]
            others = [other for other in others if not _of_one_stem(word, other)][:_NEAR]
            if others:
                found[word] = others
    return found


def _of_one_stem(word: str, other: str) -> bool:
    """Whether two words look like forms of one."""
    letters = min(_STEM, len(word), len(other))
    return word[:letters] == other[:letters]
