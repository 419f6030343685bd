"""Which questions are asked, and which answers fit."""

from __future__ import annotations

import pytest

from evenhand.labelling.questionnaire import Answers, Choice, Question, Questionnaire, words


def choices(*names):
    return tuple(Choice(name) for name in names)


ASKED = Questionnaire(
    (
        Question("abuse", "ordinal", choices("No", "Problematic", "Abusive")),
        Question("type", "several", choices("a", "b"), when={"abuse": ("Problematic", "Abusive")}),
        Question("worse", "one", choices("x", "y"), when={"type": ("b",)}, optional=True),
        Question("words", "words", when={"abuse": ("Abusive",)}, optional=True, of="abuse"),
        Question("note", "note", optional=True),
    )
)


def ids(form):
    return [question.id for question in ASKED.visible(form)]


def test_follow_ups_appear_with_their_conditions():
    assert ids({}) == ["abuse", "note"]
    assert ids({"abuse": "No"}) == ["abuse", "note"]
    assert ids({"abuse": "Problematic"}) == ["abuse", "type", "note"]
    assert ids({"abuse": "Abusive", "type": ["a", "b"]}) == [
        "abuse", "type", "worse", "words", "note",
    ]  # fmt: skip


def test_a_follow_up_of_a_hidden_question_is_hidden():
    # A browser still sends what was chosen before the mind was changed.
    assert ids({"abuse": "No", "type": "b", "worse": "x"}) == ["abuse", "note"]


def test_answers_come_in_the_order_of_the_form_and_hidden_ones_are_left_out():
    answers, faults = ASKED.check({"abuse": ["Problematic"], "type": ["b", "a", "b"], "note": " "})
    assert faults == []
    assert answers == Answers({"abuse": ("Problematic",), "type": ("a", "b")})
    answers, faults = ASKED.check({"abuse": "No", "type": "a"})
    assert (answers.chosen, faults) == ({"abuse": ("No",)}, [])


@pytest.mark.parametrize(
    ("form", "question", "code"),
    [
        ({}, "abuse", "missing"),
        ({"abuse": ""}, "abuse", "missing"),
        ({"abuse": "Abusive"}, "type", "missing"),
        ({"abuse": "Maybe"}, "abuse", "outside"),
        ({"abuse": ["No", "Abusive"]}, "abuse", "one"),
        ({"abuse": "No", "size": "3"}, "size", "unknown"),
        ({"abuse": "No", "note": "x" * 2001}, "note", "long"),
        ({"abuse": "Abusive", "type": "a", "words": "1-3"}, "words", "words"),
        ({"abuse": "Abusive", "type": "a", "words": "0-99"}, "words", "words"),
        ({"abuse": "Abusive", "type": "a", "words": "drop"}, "words", "words"),
    ],
)
def test_every_fault_is_named(form, question, code):
    _, faults = ASKED.check(form, "you fool")
    assert (question, code) in {(fault.question, fault.code) for fault in faults}


def test_marked_words_are_spans_of_code_points():
    text = "you 😀 fool"
    # y0 o1 u2 _3 😀4 _5 f6 … l9
    assert words(text) == [(0, 3), (4, 5), (6, 10)]
    answers, faults = ASKED.check({"abuse": "Abusive", "type": "a", "words": ["6-10 0-3"]}, text)
    assert (answers.spans, faults) == ({"words": ((0, 3), (6, 10))}, [])


def test_answers_survive_being_stored():
    answers = Answers({"abuse": ("No",)}, {"words": ((0, 3),)}, {"note": "hm"})
    assert Answers.from_dict(answers.as_dict()) == answers
