"""Questions read from the campaign's TOML and checked against each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from evenhand.labelling._reading import Node
from evenhand.labelling.questionnaire import CHOICES, KINDS, Choice, Question

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_FEWEST_ANSWERS = 2


def read_questions(
    node: Node, name: str = "question", kinds: Sequence[str] = KINDS
) -> tuple[Question, ...]:
    """The questions under a key, each checked alone and then against the others."""
    nodes = node.tables(name)
    questions = tuple(_question(entry, kinds) for entry in nodes)
    known = {question.id: question for question in questions}
    for again, times in Counter(question.id for question in questions).items():
        if times > 1 and again:
            node.fault(name, f"{times} questions have the id {again!r}")
    for entry, question in zip(nodes, questions, strict=True):
        _check_references(entry, question, known)
    for cycle in cycles({question.id: tuple(question.when) for question in questions}):
        node.fault(name, f"the conditions go in a circle: {' → '.join((*cycle, cycle[0]))}")
    return questions


def _question(node: Node, kinds: Sequence[str]) -> Question:
    name = node.string("id")
    if name and not _NAME.fullmatch(name):
        node.fault("id", f"{name!r}; expected small letters, digits, - and _, at most 40")
    kind = node.string("kind", choices=kinds)
    answers = [_choice(entry) for entry in node.tables("answer")] if kind in CHOICES else []
    if kind in CHOICES and len(answers) < _FEWEST_ANSWERS:
        node.fault("answer", f"{len(answers)} answers; expected at least {_FEWEST_ANSWERS}")
    for again, times in Counter(answer.id for answer in answers).items():
        if times > 1 and again:
            node.fault("answer", f"{times} answers have the id {again!r}")
    of = node.string("of") if kind == "words" else None
    question = Question(
        id=name,
        kind=kind,
        answers=tuple(answers),
        when=node.lists("when"),
        optional=node.yes("optional", kind == "note"),
        of=of,
        text=node.text("text"),
        help=node.text("help", ""),
    )
    node.close()
    return question


def _choice(node: Node) -> Choice:
    choice = Choice(
        id=node.string("id"),
        text=node.text("text"),
        definition=node.text("definition", ""),
        examples=tuple(example.text("text") for example in node.tables("example")),
    )
    if choice.id != choice.id.strip() or any(not letter.isprintable() for letter in choice.id):
        node.fault("id", f"{choice.id!r}; expected visible letters without spaces at the ends")
    node.close()
    return choice


def _check_references(node: Node, question: Question, known: Mapping[str, Question]) -> None:
    for name, wanted in question.when.items():
        other = known.get(name)
        if other is None or other.kind not in CHOICES:
            node.fault(f"when.{name}", f"no question {name!r} with answers to choose from")
            continue
        for label in wanted:
            if label not in other.labels:
                node.fault(
                    f"when.{name}",
                    f"{label!r} is not an answer to {name!r}; expected {', '.join(other.labels)}",
                )
    if question.of:
        explained = known.get(question.of)
        if explained is None or explained.kind not in CHOICES:
            node.fault("of", f"no question {question.of!r} with answers to choose from")


def cycles(after: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Every circle of names that wait for each other, each once.

    >>> cycles({"a": ["b"], "b": ["a"], "c": ["a"], "d": ["d"]})
    [('a', 'b'), ('d',)]
    """
    found: dict[frozenset[str], tuple[str, ...]] = {}
    finished: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = path[path.index(name) :]
            found.setdefault(frozenset(circle), circle)
        elif name not in finished:
            for other in after.get(name, ()):
                walk(other, (*path, name))
            finished.add(name)

    for name in after:
        walk(name, ())
    return list(found.values())
