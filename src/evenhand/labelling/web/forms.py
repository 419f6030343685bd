"""A questionnaire as a form: what is asked, what was answered, what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.labelling.errors import AnswerFault
from evenhand.labelling.questionnaire import Form, Question, Questionnaire, values, words
from evenhand.labelling.web.asking import QUESTION, Ask
from evenhand.labelling.web.texts import text as page_text

SHOWN = "shown"
"""Field that names the questions somebody saw when they sent the form."""


@dataclass(frozen=True)
class Option:
    """An answer to choose."""

    id: str
    text: str
    checked: bool


@dataclass(frozen=True)
class Word:
    """A word that can be marked, and what stands before it."""

    before: str
    text: str
    value: str
    checked: bool


@dataclass(frozen=True)
class Field:
    """A question in a form."""

    id: str
    name: str
    kind: str
    text: str
    help: str
    optional: bool
    visible: bool
    when: str
    """Conditions as JSON, for the script that shows follow-ups at once."""
    options: Sequence[Option]
    words: Sequence[Word]
    note: str
    faults: Sequence[str]


def fields(
    ask: Ask,
    questionnaire: Questionnaire,
    form: Form,
    *,
    text: str = "",
    faults: Sequence[AnswerFault] = (),
) -> list[Field]:
    """Every question; those that are not asked (yet) are there and hidden."""
    asked = {question.id for question in questionnaire.visible(form)}
    return [
        _field(ask, question, form, text, faults, question.id in asked)
        for question in questionnaire.questions
    ]


def _field(
    ask: Ask, question: Question, form: Form, text: str, faults: Sequence[AnswerFault], asked: bool
) -> Field:
    given = values(form, question.id)
    return Field(
        id=question.id,
        name=QUESTION + question.id,
        kind=question.kind,
        text=ask.say(question.text),
        help=ask.say(question.help),
        optional=question.optional,
        visible=asked,
        when=json.dumps({name: list(wanted) for name, wanted in question.when.items()}),
        options=[Option(c.id, ask.say(c.text) or c.id, c.id in given) for c in question.answers],
        words=_words(text, given) if question.kind == "words" else (),
        note=given[0] if given and question.kind == "note" else "",
        faults=[
            page_text(ask.language, f"fault.{fault.code}")
            for fault in faults
            if fault.question == question.id and asked
        ],
    )


def _words(text: str, given: Sequence[str]) -> list[Word]:
    marked = set(" ".join(given).split())
    found = []
    at = 0
    for start, end in words(text):
        value = f"{start}-{end}"
        found.append(Word(text[at:start], text[start:end], value, value in marked))
        at = end
    return found


def unseen(ask: Ask, questionnaire: Questionnaire) -> bool:
    """Whether the answers lead to questions that were not on the page when it was sent."""
    seen = set(ask.form.get(SHOWN, ()))
    return any(question.id not in seen for question in questionnaire.visible(ask.answers()))
