"""Exchange the identity terms of a text, or its genders: the same text about somebody else.

A term becomes one of the same grammatical form (a group, a member, an adjective), with its case,
its possessive and the article before it. Words that often mean something else are exchanged only
where the next word speaks of people, or never; the data file lists them.

>>> import numpy as np
>>> swapped("The weather is fine", np.random.default_rng(1)) is None
True
>>> regendered("She said that her brother saw him")
'He said that his sister saw her'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from evenhand.models._synthetic_source import TERM_SLOTS, source, words
from evenhand.models._trace import Edit

_MANY, _ONE, _ADJ = TERM_SLOTS
_BOTH = "noun and adjective"
"""The form of a word that is a member and an adjective alike."""
_VOWELS = "aeiou"


def swapped(text: str, rng: np.random.Generator) -> str | None:
    """The text with every identity in it exchanged for another; None if it names none.

    One identity becomes one other throughout the text, two become two.
    """
    found = [match for match in _pattern().finditer(text) if _is_term(match, text)]
    if not found:
        return None
    new = _new_identities([_terms()[_plain(match)] for match in found], rng)
    parts, done = [], 0
    for match in found:
        parts += [text[done : match.start()], _exchanged(match, text, new, rng)]
        done = match.end()
    return "".join([*parts, text[done:]])


def regendered(text: str) -> str | None:
    """The text with men for women and women for men; None if it names neither."""
    edits = gender_edits(text, _gender_pairs())
    new, done = [], 0
    for start, end, other in edits:
        new += [text[done:start], other]
        done = end
    return "".join([*new, text[done:]]) if edits else None


def gender_edits(text: str, pairs: Mapping[str, str] | None = None) -> list[Edit]:
    """The edits that put one gender for another, men for women unless said."""
    pairs = _men_for_women() if pairs is None else pairs
    edits: list[Edit] = []
    for match in _GENDERED.finditer(text):
        word = match[0].lower().replace("’", "'")
        stem, mark, behind = word.partition("'")
        other = pairs.get(word) or _of_her(word, text[match.end() :])
        if other is None and mark and stem in pairs:
            other = f"{pairs[stem]}'{behind}"
        if other is not None:
            edits.append((match.start(), match.end(), in_case_of(match[0], other)))
    return edits


_GENDERED = re.compile(r"(?<![\w@#/&-])[^\W\d_]+(?:['’](?:s|d|ll)(?!\w))?(?![\w-])")
"""A word, with the verb that is written together with it."""


@cache
def _gender_pairs() -> Mapping[str, str]:
    rules = source()["swapping"]
    there = {man: woman for man, woman in rules["pairs"]}
    back = {woman: man for man, woman in rules["pairs"]}
    return {**there, **back, **dict.fromkeys(rules["to_her"], "her"), "hers": "his"}


@cache
def _men_for_women() -> Mapping[str, str]:
    rules = source()["swapping"]
    pairs = [*rules["pairs"], *rules["one_way"]]
    return {**{woman: man for man, woman in pairs}, "hers": "his"}


def _of_her(word: str, after: str) -> str | None:
    """What stands for ``her``: his before what may be a noun, him elsewhere."""
    if word != "her":
        return None
    follows = re.match(r"\s+([\w'’]+)", after)
    is_noun = follows and follows[1].lower() not in source()["swapping"]["not_noun"]
    return "his" if is_noun else "him"


def in_case_of(old: str, word: str) -> str:
    """A word in the case of another, in whose place it stands."""
    if old.isupper() and len(old) > 1:
        return word.upper()
    return word.capitalize() if old[0].isupper() else word


@cache
def _terms() -> Mapping[str, tuple[str, str]]:
    """Every term in small letters → its identity and form."""
    never = {word.lower() for word in source()["swapping"]["never"]}
    terms: dict[str, tuple[str, str]] = {}
    for who in source()["identities"]:
        for form in TERM_SLOTS:
            for word in words(form, who):
                terms.setdefault(word.lower(), (who, form))
        if _is_both(who):
            terms[words(_ONE, who)[0].lower()] = (who, _BOTH)
    return {word: found for word, found in terms.items() if word not in never}


def _is_both(who: str) -> bool:
    return words(_ONE, who) == words(_ADJ, who)


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(_terms(), key=lambda word: (-len(word), word))
    terms = "|".join(map(re.escape, longest_first)).replace(r"\ ", r"\s+")
    return re.compile(
        rf"(?<![\w@#/&-])(?:(?P<article>an?)(?P<gap>\s+))?(?P<term>{terms})"
        r"(?P<possessive>['’]s\b|(?<=s)['’](?=\s+\w))?(?![\w-])",
        re.IGNORECASE,
    )


def _plain(match: re.Match[str]) -> str:
    """The term that was found, in small letters and with single spaces."""
    return " ".join(match["term"].lower().split())


def _is_term(match: re.Match[str], text: str) -> bool:
    """Whether the words around an adjective say that it is about people."""
    term = _plain(match)
    if term not in _terms():  # a letter that only looks like another in capitals
        return False
    if _terms()[term][1] != _ADJ:
        return True
    rules = source()["swapping"]
    after = re.match(r"\s+(\w+)", text[match.end() :])
    if after and after[1].lower() in rules["people"]:
        return True
    before = re.search(r"([\w'’]+)\s+$", text[: match.start()])
    is_said = before is not None and before[1].lower().replace("’", "'") in rules["be"]
    return is_said and not match["article"] and term not in rules["unclear"]


def _new_identities(found: list[tuple[str, str]], rng: np.random.Generator) -> dict[str, str]:
    """For each identity another that is not in the text, with all the forms it is used in."""
    new: dict[str, str] = {}
    for who in dict(found):
        taken = {*dict(found), *new.values()}
        both = (who, _BOTH) in found
        free = [i for i in source()["identities"] if i not in taken and (_is_both(i) or not both)]
        new[who] = free[rng.integers(len(free))]
    return new


def _exchanged(
    match: re.Match[str], text: str, new: Mapping[str, str], rng: np.random.Generator
) -> str:
    old = match["term"]
    who, form = _terms()[_plain(match)]
    options = words(_ONE if form == _BOTH else form, new[who])
    term = _cased(options[rng.integers(len(options))], old, who, form, _begins(match, text))
    if match["possessive"]:
        term += "'" if form == _MANY and term.lower().endswith("s") else "'s"
    if not match["article"]:
        return term
    article = "an" if term[0].lower() in _VOWELS else "a"
    if match["article"][0].isupper():
        article = article.upper() if old.isupper() else article.capitalize()
    return article + match["gap"] + term


def _begins(match: re.Match[str], text: str) -> bool:
    """Whether the term is the first word of a sentence."""
    return re.search(r"(?:^|[.!?]\s+)\W*$", text[: match.start("term")]) is not None


def _cased(term: str, old: str, who: str, form: str, begins: bool) -> str:
    if old.isupper():
        return term.upper()
    usual = [word for word in words(_ONE if form == _BOTH else form, who) if word == old]
    if old.islower() and not usual:
        return term.lower()
    return term[0].upper() + term[1:] if begins and old[0].isupper() else term
