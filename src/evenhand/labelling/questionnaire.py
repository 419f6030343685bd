"""What people are asked about a post: questions, follow-ups on conditions, and checked answers.

Kinds of question: ``one`` answer, ``ordinal`` (one, answers from least to most), ``several``
answers, ``words`` (words of the post are marked as the reason for another question's answer) and
``note`` (free text). A question with ``when`` is asked only if every question named there is asked
and got one of the listed answers. ``visible`` and ``check`` are pure functions of the questionnaire
and a form, the form being a dict as a browser sends it: question → text or texts.

>>> yes_no = (Choice("yes"), Choice("no"))
>>> asked = Questionnaire((
...     Question("bad", "one", yes_no),
...     Question("kind", "several", (Choice("a"), Choice("b")), when={"bad": ("yes",)})))
>>> [question.id for question in asked.visible({"bad": "no"})]
['bad']
>>> answers, faults = asked.check({"bad": "yes"})
>>> [str(fault) for fault in faults]
['kind: needs an answer']
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.records import Span
from evenhand.labelling._reading import Text
from evenhand.labelling.errors import AnswerFault

CHOICES = ("one", "several", "ordinal")
KINDS = (*CHOICES, "words", "note")
LONGEST_NOTE = 2000

Form = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class Choice:
    """One answer that can be given."""

    id: str
    """What is stored and exported."""
    text: Text = field(default_factory=dict)
    definition: Text = field(default_factory=dict)
    examples: Sequence[Text] = ()


@dataclass(frozen=True)
class Question:
    """One question about a post."""

    id: str
    kind: str
    answers: Sequence[Choice] = ()
    when: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Question → answers: asked only where all of these hold."""
    optional: bool = False
    of: str | None = None
    """For ``words``: the question whose answer the words explain."""
    text: Text = field(default_factory=dict)
    help: Text = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """The ids of the answers, in order."""
        return tuple(answer.id for answer in self.answers)


@dataclass(frozen=True)
class Answers:
    """Answers that fit the questionnaire."""

    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Question → answers, in the questionnaire's order."""
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """``words`` question → marked words, in code points of the shown text."""
    notes: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "chosen": {name: list(answers) for name, answers in self.chosen.items()},
            "spans": {name: [list(span) for span in spans] for name, spans in self.spans.items()},
            "notes": dict(self.notes),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Answers:
        """From what :meth:`as_dict` gave."""
        return cls(
            {name: tuple(answers) for name, answers in stored["chosen"].items()},
            {name: tuple((a, b) for a, b in spans) for name, spans in stored["spans"].items()},
            dict(stored["notes"]),
        )


@dataclass(frozen=True)
class Questionnaire:
    """The questions, in the order they are asked."""

    questions: Sequence[Question]

    def question(self, name: str) -> Question | None:
        """The question of that id."""
        return next((question for question in self.questions if question.id == name), None)

    def visible(self, form: Form) -> list[Question]:
        """The questions that are asked given the answers so far."""
        known = {question.id: question for question in self.questions}

        def asked(question: Question) -> bool:
            return all(
                asked(known[name]) and set(values(form, name)) & set(wanted)
                for name, wanted in question.when.items()
            )

        return [question for question in self.questions if asked(question)]

    def check(self, form: Form, text: str = "") -> tuple[Answers, list[AnswerFault]]:
        """The answers that fit, and every fault; answers to questions not asked are left out."""
        faults = [
            AnswerFault(name, "unknown", "is not a question of this form")
            for name in form
            if self.question(name) is None
        ]
        chosen: dict[str, tuple[str, ...]] = {}
        spans: dict[str, tuple[Span, ...]] = {}
        notes: dict[str, str] = {}
        for question in self.visible(form):
            given = values(form, question.id)
            if not given:
                if not question.optional:
                    faults.append(AnswerFault(question.id, "missing", "needs an answer"))
            elif question.kind == "note":
                notes[question.id] = given[0]
                if len(given[0]) > LONGEST_NOTE:
                    what = f"is longer than {LONGEST_NOTE:,} characters"
                    faults.append(AnswerFault(question.id, "long", what))
            elif question.kind == "words":
                spans[question.id], wrong = _spans(question, given, text)
                faults += wrong
            else:
                chosen[question.id] = tuple(v for v in question.labels if v in given)
                faults += _choice_faults(question, given)
        return Answers(chosen, spans, notes), faults


def values(form: Form, name: str) -> list[str]:
    """What a form says to a question, without blanks."""
    given = form.get(name, ())
    listed = [given] if isinstance(given, str) else list(given)
    return [value.strip() for value in listed if value.strip()]


def words(text: str) -> list[Span]:
    """The words of a text that can be marked: runs without white space, in code points.

    >>> words("two  words")
    [(0, 3), (5, 10)]
    """
    return [match.span() for match in re.finditer(r"\S+", text)]


def _choice_faults(question: Question, given: Sequence[str]) -> list[AnswerFault]:
    outside = [value for value in given if value not in question.labels]
    if outside:
        what = f"{outside[0]!r} is not one of {', '.join(question.labels)}"
        return [AnswerFault(question.id, "outside", what)]
    if question.kind != "several" and len(set(given)) > 1:
        return [AnswerFault(question.id, "one", "takes one answer only")]
    return []


def _spans(
    question: Question, given: Sequence[str], text: str
) -> tuple[tuple[Span, ...], list[AnswerFault]]:
    """Marked words, sent as ``start-end`` and separated by spaces or as several values."""
    possible = set(words(text))
    found = set()
    for part in " ".join(given).split():
        match = re.fullmatch(r"(\d{1,7})-(\d{1,7})", part)
        span = (int(match[1]), int(match[2])) if match else None
        if span not in possible:
            what = f"{part!r} does not mark a word of the post"
            return (), [AnswerFault(question.id, "words", what)]
        found.add(span)
    return tuple(sorted(found)), []
