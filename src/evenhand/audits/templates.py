"""Sentences made from templates, the same for every identity term, abusive and neutral by half.

A set is data: templates with two slots, words for the one (as many abusive as neutral ones of each
kind) and identity terms for the other. Terms come in rows, one of each group in a row: man and
woman, or one name for each of six religions. Every template is filled with every word of its kind
and every term, so that whatever differs between two groups comes from the terms alone.

The posts are tagged with ``template``, ``word``, ``frame`` (template and word: a sentence without
its term), ``term``, ``group`` and ``pair`` (the row of the term). A set that cannot keep its
promises is refused with every fault.

>>> gender = sentences_of(read_set("gender"))
>>> gender.posts.filter(pl.col("id") == "gender:what-a/2")["text"].item()
'What a disgusting woman!'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.audits.filling import filled, slots
from evenhand.audits.shapes import misfit, name_fault, read_text, toml
from evenhand.audits.slurs import starred
from evenhand.core.errors import BadInput, Faults, UnknownComponent
from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.user_file import single_labels

ABUSIVE, NEUTRAL = "abusive", "neutral"
LABELS = (ABUSIVE, NEUTRAL)
IDENTITY, PROFANITY = "identity", "profanity"
KINDS = (IDENTITY, PROFANITY)
_ENDING = ".toml"
_NEEDED = ("name", "words", "templates", "pairs")
_SHAPES: dict[str, tuple[str, Any]] = {
    "name": ("a text", ""),
    "words": ("a table of kinds, each with a list of words by label", {"": {"": [""]}}),
    "templates": ("a table of texts", {"": ""}),
    "pairs": ("a list of tables: forms of a term by group", [{"": {"": ""}}]),
    "an_before": ("a list of words", [""]),
    "a_before": ("a list of words", [""]),
    "kind": ("a text", ""),
    "title": ("a text", ""),
    "about": ("a text", ""),
}
"""Of a file: key → what it holds, in words and as an example with empty texts."""

Term = Mapping[str, str]
"""The forms of an identity term, by name, such as ``one`` and ``many``."""


@dataclass(frozen=True, kw_only=True)
class TemplateSet:
    """Templates, the words and the identity terms that fill them."""

    name: str
    templates: Mapping[str, str]
    """Text by name, with slots in braces: one kind of word, one form of a term, ``{a}``."""
    words: Mapping[str, Mapping[str, Sequence[str]]]
    """Kind of word → label → words."""
    pairs: Sequence[Mapping[str, Term]]
    """Rows of terms that stand for each other, one of each group."""
    an_before: Sequence[str] = ()
    """Words with "an" although they start with a consonant letter."""
    a_before: Sequence[str] = ()
    """Words with "a" although they start with a vowel letter."""
    kind: str = IDENTITY
    """What the terms are: names of people, or ordinary and swear words in their place."""
    title: str = ""
    """The set in a few words, for people."""
    about: str = ""
    """Who is compared with whom, and how the terms were chosen."""

    def __post_init__(self) -> None:
        faults = Faults(f"template set {self.name!r}")
        if wrong := name_fault(self.name):
            faults.add(wrong)
        if self.kind not in KINDS:
            faults.add(f"kind is {self.kind!r}; expected {' or '.join(map(repr, KINDS))}")
        for what in (*self._word_faults(), *self._term_faults(), *self._template_faults()):
            faults.add(what)
        faults.raise_if_any()

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of the terms."""
        return tuple(self.pairs[0])

    def _word_faults(self) -> Iterator[str]:
        for kind, words in self.words.items():
            counts = [len(set(words.get(label, ()))) for label in LABELS]
            if set(words) != set(LABELS) or counts[0] != counts[1] or not counts[0]:
                yield (
                    f"words {kind!r}: {counts[0]} abusive and {counts[1]} neutral, among the "
                    f"labels {', '.join(words)}; expected as many of each, and no other label"
                )
            for word, times in Counter(w for label in words for w in words[label]).items():
                if times > 1:
                    yield f"words {kind!r}: {word!r} stands there {times} times; expected once"

    def _term_faults(self) -> Iterator[str]:
        if not self.pairs or len(self.pairs[0]) < 2:
            yield "pairs: expected at least one, with terms of two groups or more"
            return
        first = next(iter(self.pairs[0].values()))
        for number, pair in enumerate(self.pairs, start=1):
            if set(pair) != set(self.groups):
                yield (
                    f"pair {number}: groups {', '.join(pair)}; expected {', '.join(self.groups)}, "
                    "so that every group has as many terms"
                )
            for group, term in pair.items():
                if set(term) != set(first):
                    yield (
                        f"pair {number}, {group}: forms {', '.join(term)}; expected "
                        f"{', '.join(first)}"
                    )
        names = Counter(_name(term) for pair in self.pairs for term in pair.values() if term)
        for name, times in names.items():
            if times > 1:
                yield f"pairs: the term {name!r} stands there {times} times; expected once"

    def _template_faults(self) -> Iterator[str]:
        forms = {form for pair in self.pairs for term in pair.values() for form in term}
        for clash in sorted(forms & set(self.words)):
            yield f"{clash!r} is both a kind of word and a form of a term; rename one"
        if not self.templates:
            yield "templates: none; expected at least one"
        for name, text in self.templates.items():
            own = slots(text)
            words = [slot for slot in own if slot in self.words]
            terms = [slot for slot in own if slot in forms]
            if len(words) != 1 or len(terms) != 1 or len(own) != 2:
                yield (
                    f"template {name!r} has the slots {', '.join(own) or '(none)'}; expected one "
                    f"of {', '.join(self.words)} and one of {', '.join(sorted(forms))}"
                )


def set_names() -> tuple[str, ...]:
    """The sets that come with Evenhand."""
    return tuple(sorted(file.name.removesuffix(_ENDING) for file in _home().iterdir()))


def _home() -> Traversable:
    return files("evenhand.audits").joinpath("sources", "templates")


def read_set(name: str | Path) -> TemplateSet:
    """The set that comes with Evenhand under this name, or one of your own: a path to a TOML file.

    A file has the keys of :class:`TemplateSet`.
    """
    if str(name).endswith(_ENDING):
        return parse_set(read_text(Path(name), str(name)), str(name))
    if name not in set_names():
        raise UnknownComponent(
            f"no template set {str(name)!r}; known: {', '.join(set_names())}, or a file that ends "
            "in .toml"
        )
    file = _home().joinpath(f"{name}{_ENDING}")
    return parse_set(read_text(file, file.name), file.name)


def parse_set(text: str, where: str) -> TemplateSet:
    """A set from the text of a TOML file."""
    document = toml(text, where)
    wrong = [f"{where}: {key} is missing" for key in _NEEDED if key not in document]
    for key, value in document.items():
        if key not in _SHAPES:
            wrong.append(f"{where}: unknown key {key!r}; the keys are {', '.join(_SHAPES)}")
        elif found := misfit(value, _SHAPES[key][1], key):
            wrong.append(f"{where}: {found}; expected {_SHAPES[key][0]}")
    if wrong:
        raise BadInput(*wrong)
    return TemplateSet(**document)


def sentences_of(chosen: TemplateSet) -> Corpus:
    """Every sentence of the set as a post with gold: abusive or neutral.

    Posts are numbered within their template, in the order of the set's words and rows of terms.
    """
    rows = pl.DataFrame(
        [
            _row(chosen, number, *sentence)
            for template in chosen.templates
            for number, sentence in enumerate(_sentences(chosen, template), start=1)
        ]
    )
    twice = rows.filter(pl.col("text").is_duplicated()).sort("text", "id")
    if twice.height:
        listed = "; ".join(
            f"{i}: {starred(text)}" for i, text in twice.select("id", "text").head(6).rows()
        )
        raise BadInput(
            f"template set {chosen.name!r}: {twice.height} posts share their text with another "
            f"({listed}); expected every text once. Take out a template, word or term"
        )
    tags = pl.struct("template", "word", "frame", "term", "group", "pair")
    return Corpus(
        name=f"{chosen.name} templates",
        rows=rows.height,
        posts=posts_table(rows.select("id", "text", source=pl.lit(chosen.name), tags=tags)),
        gold=single_labels(rows),
        hateful=(ABUSIVE,),
        notes=("Made from templates: nobody wrote these sentences.",),
    )


_Sentence = tuple[str, str, str, Mapping[str, Term], str]


def _sentences(chosen: TemplateSet, template: str) -> Iterator[_Sentence]:
    """Template, label, word, pair and group of every sentence of a template."""
    kind = next(slot for slot in slots(chosen.templates[template]) if slot in chosen.words)
    for label in LABELS:
        for word in chosen.words[kind][label]:
            for pair in chosen.pairs:
                for group in chosen.groups:
                    yield template, label, word, pair, group


def _row(
    chosen: TemplateSet,
    number: int,
    template: str,
    label: str,
    word: str,
    pair: Mapping[str, Term],
    group: str,
) -> dict[str, str]:
    text = chosen.templates[template]
    fill = {**dict.fromkeys(chosen.words, word), **pair[group]}
    term = _name(pair[group])
    return {
        "id": f"{chosen.name}:{template}/{number}",
        "text": filled(text, fill, an_before=chosen.an_before, a_before=chosen.a_before),
        "label": label,
        "template": template,
        "word": word,
        "frame": f"{template}/{word}",
        "term": term,
        "group": group,
        "pair": "/".join(_name(pair[other]) for other in chosen.groups),
    }


def _name(term: Term) -> str:
    """What a term is called: its first form."""
    return next(iter(term.values()))
