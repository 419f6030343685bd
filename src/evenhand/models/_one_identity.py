"""One word for every group of people that a text names, so that none of them matters more.

Women become men first, and then each group one word of its form: a group, a member, the adjective.
Words that often mean something else are left where nothing says that people are meant. A slur that
names a group becomes one slur, and an emoji that stands for a group the group's word.

>>> passed("She met a Sikh, two deaf people and an Irish woman")
'He met a minority, two minorities and a minority man'
>>> passed("an Irish stew in the old house")
'an Irish stew in the old house'
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from evenhand.models._swapping import gender_edits
from evenhand.models._synthetic_source import TERM_SLOTS
from evenhand.models._synthetic_source import source as ours
from evenhand.models._synthetic_source import words as ours_of
from evenhand.models._trace import Edit

_MANY, _ONE, _ADJ = TERM_SLOTS
_SLUR = "slur"
_WORD = re.compile(r"[^\W_]+(?:[-'’+][^\W_]+)*\+?")
_LETTERS = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile("'s$")
_ARTICLES = ("a", "an", "any")
_SIGNS = "@#/&-"
"""A word behind one of these is part of something else."""
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}|🏴[\U000e0020-\U000e007f]+")
"""Of a country, or a part of one."""
_LONGEST_CLAUSE = 6
"""Words, with the one it stands behind."""
_PEOPLE = {"people": _MANY, "folk": _MANY, "folks": _MANY, "persons": _MANY, "person": _ONE}
"""Words that say no more than the group they are said of."""


class _Word(NamedTuple):
    start: int
    end: int
    plain: str
    """In small letters, without what makes it a possessive."""


@cache
def source() -> Mapping[str, Any]:
    """The data file as it stands."""
    place = files("evenhand.models").joinpath("sources", "identities.toml")
    found: Mapping[str, Any] = tomllib.loads(place.read_text(encoding="utf-8"))
    return found


def as_one(text: str) -> list[Edit]:
    """The edits that put one word for every group named in a text."""
    if _begin().isdisjoint(_LETTERS.findall(text.lower())):
        return []
    words = _words(text)
    edits: list[Edit] = []
    at = 0
    while at < len(words):
        named = _longest(text, words, at)
        many, form = named or (1, _PEOPLE.get(words[at].plain, words[at].plain))
        clauses = 0
        if form in (_MANY, _ONE) or words[at].plain in _persons():
            clauses = _clauses_behind(text, words, at + many - 1)
        if not (named or clauses):
            at += 1
            continue
        before = words[at - 1] if at else None
        if before and before.plain == "an" and before.end + 1 == words[at].start:
            edits.append((before.end - 1, before.end, ""))
        many += clauses
        edits.append(_edit(text, words[at].start, words[at + many - 1], form))
        at += many
    return edits


def _edit(text: str, start: int, last: _Word, form: str) -> Edit:
    """One word from here to there; a possessive stays one."""
    one = source()["one"].get(form) or f"{source()['one'][_ADJ]} {form}"
    end = last.start + len(last.plain)
    left = text[end : last.end]
    if left and (form == _MANY or last.plain in _ending_in_s()):
        end = last.end
        one += "" if last.plain in _ending_in_s() else left[0]
    return start, end, _written(one, text[start:end], begins=_begins(text, start))


PASSES: tuple[Callable[[str], list[Edit]], ...] = (gender_edits, as_one)
"""In this order."""


def passed(text: str) -> str:
    """A text after all passes."""
    for edits in PASSES:
        parts, done = [], 0
        for start, end, new in edits(text):
            parts += [text[done:start], new]
            done = end
        text = "".join([*parts, text[done:]])
    return text


@lru_cache(1 << 13)
def sign(sequence: str) -> str | None:
    """The word for an emoji (without tones and variation selectors) that stands for a group.

    >>> sign("🇫🇷"), sign("👨\u200d🦽"), sign("👨\u200d🚀")
    ('minorities', 'minorities', None)
    """
    first, *others = sequence.split("\u200d")
    flag = _FLAG.fullmatch(sequence) or sequence in source()["signs"]
    person = first in source()["depicted"] and all(map(source()["with_part"].__contains__, others))
    return str(source()["one"][_MANY]) if flag or person else None


def _words(text: str) -> list[_Word]:
    found = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if start and text[start - 1] in _SIGNS:
            continue
        plain = match[0].lower()
        if "'" in plain or "’" in plain:
            plain = plain.replace("’", "'")
            plain = plain if plain in _whole() else _without_s(plain)
        found.append(_Word(start, end, plain))
    return found


@cache
def _whole() -> frozenset[str]:
    """Words in which 's is no possessive."""
    words = (*_most(), *_swapping()["be"], *source()["be"])
    return frozenset(word for word in words if "'" in word)


def _without_s(word: str) -> str:
    """A word without what makes it a possessive."""
    return _POSSESSIVE.sub("", word)


def _longest(text: str, words: list[_Word], at: int) -> tuple[int, str] | None:
    """How many words from this one on name a group, and in which form."""
    most = _most().get(words[at].plain)
    if most is None:
        return None
    for many in range(min(most, len(words) - at), 0, -1):
        some = words[at : at + many]
        apart = any(text[a.end : b.start] != " " for a, b in zip(some, some[1:], strict=False))
        form = None if apart else _terms().get(" ".join(word.plain for word in some))
        if form is None:
            continue
        follows = _next(text, words, at + many - 1)
        if some[0].plain == "the" and follows in _persons():
            continue  # "the elderly man" is one of them
        if form in (_ADJ, _ONE) and follows:
            # "Polish people" is what "Poles" are: the word behind an adjective goes with it.
            if follows in _PEOPLE:
                return many + 1, _PEOPLE[follows]
            behind = _longest(text, words, at + many)
            if behind:
                return many + behind[0], behind[1]
        if form == _ADJ and follows not in _persons() and not _is_said(text, words, at, follows):
            continue
        return many, form
    return None


def _next(text: str, words: list[_Word], at: int) -> str:
    """The word that stands behind this one, nothing but a space between them; else nothing."""
    after = words[at + 1] if at + 1 < len(words) else None
    return after.plain if after and text[words[at].end : after.start] == " " else ""


def _clauses_behind(text: str, words: list[_Word], at: int) -> int:
    """How many words behind this one say who is meant: a friend *who is deaf*, *with autism*."""
    for many in range(min(_LONGEST_CLAUSE, len(words) - at - 1), 1, -1):
        some = words[at : at + many + 1]
        if any(text[a.end : b.start] != " " for a, b in zip(some, some[1:], strict=False)):
            continue
        if " ".join(word.plain for word in some[1:]) not in _clauses():
            continue
        if some[1].plain == "from" and _next(text, words, at + many):
            beyond = words[at + many + 1].start
            if text[beyond].isupper() and not text[beyond:].isupper():
                continue  # from Mexico City
        return many + _clauses_behind(text, words, at + many)
    return 0


def _is_said(text: str, words: list[_Word], at: int, follows: str) -> bool:
    """Whether an adjective stands after a form of to be, and is clearly said of people there."""
    before, whom = (words[at - n].plain if at >= n else "" for n in (1, 2))
    be = before in _swapping()["be"] or before in source()["be"]
    if not be or follows == "than" or text[words[at - 1].end : words[at].start] != " ":
        return False
    plain = words[at].plain
    clear = plain not in _swapping()["unclear"] and plain not in source()["unclear"]
    return clear or "'" in before or whom in source()["subjects"] or whom in _persons()


@cache
def _persons() -> frozenset[str]:
    """Words for people."""
    given = source()["persons"]
    return frozenset([*_swapping()["people"], *given, *(f"{word}s" for word in given)])


@cache
def _terms() -> Mapping[str, str]:
    """Every term in small letters → its form."""
    given = source()
    terms: dict[str, str] = {}

    def add(form: str, *names: str) -> None:
        for name in names:
            terms.setdefault(name.lower(), form)

    for who in ours()["identities"]:
        for form in TERM_SLOTS:
            add(form, *filter(_is_one_term, ours_of(form, who)))
    add(_MANY, *given["many"], *(f"{name}s" for name in (*given["both"], *given["nouns"])))
    add(_ONE, *given["one_of"], *given["nouns"], *given["both"])
    add(_ADJ, *given["adjectives"])
    add(_SLUR, *given["slurs"], *(f"{name}s" for name in given["slurs"]))
    never = {word.lower() for word in (*_swapping()["never"], *given["never"])}
    return {term: form for term, form in terms.items() if term not in never}


@cache
def _adjectives() -> frozenset[str]:
    """What is an adjective, also where it is a member, too."""
    own = (word for who in ours()["identities"] for word in ours_of(_ADJ, who))
    given = source()
    return frozenset(word.lower() for word in (*own, *given["both"], *given["adjectives"]))


def _is_one_term(term: str) -> bool:
    """Whether it is more than a word for people and what is said of them, which are read so."""
    who, _, clause = term.lower().partition(" ")
    if who in _PEOPLE and clause in _clauses():
        return False
    first, _, last = term.lower().rpartition(" ")
    return last in _PEOPLE or last not in _persons() or first not in _adjectives()


@cache
def _raw_clauses() -> tuple[str, ...]:
    given = source()
    said = (f"who {be} {name}" for be in ("is", "are") for name in _adjectives())
    of = (("with", "with"), ("living with", "with"), ("from", "from"), ("who", "who"),
          ("without", "without"))  # fmt: skip
    named = (f"{word} {name.lower()}" for word, key in of for name in given[key])
    none = (f"with no {name}" for name in given["without"] if name.split()[0] not in _ARTICLES)
    return (*said, *named, *none, *given["behind"])


@cache
def _clauses() -> frozenset[str]:
    """What may stand behind a word for people, in small letters, without possessives."""
    return frozenset(" ".join(map(_without_s, clause.split())) for clause in _raw_clauses())


@cache
def _ending_in_s() -> frozenset[str]:
    """The words that only look like a possessive: Alzheimer's."""
    last = (clause.split()[-1] for clause in _raw_clauses())
    return frozenset(_without_s(word) for word in last if word != _without_s(word))


@cache
def _most() -> Mapping[str, int]:
    """The first word of a term → of how many words the longest such term is."""
    most: dict[str, int] = {}
    for term in _terms():
        first, *others = term.split()
        most[first] = max(most.get(first, 0), 1 + len(others))
    return most


@cache
def _begin() -> frozenset[str]:
    """With what letters a term begins, or a word for people."""
    return frozenset(_LETTERS.findall(word)[0] for word in (*_most(), *_persons()))


@cache
def _swapping() -> Mapping[str, Any]:
    found: Mapping[str, Any] = ours()["swapping"]
    return found


def _begins(text: str, start: int) -> bool:
    """Whether a word there is the first of a sentence."""
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?"


def _written(new: str, old: str, *, begins: bool) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new.capitalize() if begins and old[0].isupper() else new
