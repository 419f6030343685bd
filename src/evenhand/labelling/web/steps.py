"""The steps before the first post: consent, tutorial, practice with feedback, a short check."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.labelling._parts import Practice
from evenhand.labelling.errors import AnswerFault, NotHeld
from evenhand.labelling.questionnaire import CHOICES, Form, Questionnaire, values
from evenhand.labelling.web.asking import Ask, Reply, home, to
from evenhand.labelling.web.forms import fields, unseen


def consent_page(ask: Ask) -> Reply:
    """What one agrees to, and the warning."""
    return ask.page("consent.html", missing=False)


def consent(ask: Ask) -> Reply:
    """The person agrees, and is asked about themselves if the campaign does."""
    if not ask.one("agreed"):
        return ask.page("consent.html", 422, missing=True)
    person = ask.site.store.people.consent(ask.me.id)
    return to("/about-me" if ask.site.campaign.background.questions.questions else home(person))


def tutorial_page(ask: Ask) -> Reply:
    """All pages of the tutorial, one below the other: they are short."""
    return ask.page("tutorial.html")


def tutorial(ask: Ask) -> Reply:
    """The person has read it."""
    return to(home(ask.site.store.people.finish_tutorial(ask.me.id)))


def practice_page(ask: Ask) -> Reply:
    """The next practice post."""
    return _practice_form(ask, ask.me.practised, {})


def practice(ask: Ask) -> Reply:
    """Feedback: what we would answer and why. Nothing here is right or wrong."""
    number = ask.one("number")
    if not number.isdecimal() or int(number) > min(ask.me.practised, len(_practices(ask)) - 1):
        raise NotHeld("this practice post does not come next")
    at, answers = int(number), ask.answers()
    post = _practices(ask)[at]
    questions = ask.site.campaign.questionnaire
    if unseen(ask, questions):
        return _practice_form(ask, at, answers, more=True)
    faults = questions.check(answers, post.text)[1]
    if faults:
        return _practice_form(ask, at, answers, faults)
    person = ask.site.store.people.practise(ask.me.id, at, answers)
    compared = _compared(ask, post, answers)
    return ask.page("feedback.html", post=post, compared=compared, onward=home(person))


def _practices(ask: Ask) -> list[Practice]:
    found = ask.site.campaign.tutorial.practice
    return [post for post in found if post.language in (None, ask.me.language)]


def _practice_form(
    ask: Ask, number: int, form: Form, faults: Sequence[AnswerFault] = (), more: bool = False
) -> Reply:
    post = _practices(ask)[number]
    questions = ask.site.campaign.questionnaire
    return ask.page(
        "practice.html",
        422 if faults else 200,
        number=number,
        of=len(_practices(ask)),
        text=post.text,
        fields=fields(ask, questions, form, text=post.text, faults=faults),
        faults=faults,
        more=more,
    )


def _compared(ask: Ask, post: Practice, form: Form) -> list[tuple[str, str, str, bool]]:
    """Question, the person's answer, ours, and whether they are the same."""
    rows = []
    for question in ask.site.campaign.questionnaire.questions:
        ours, theirs = values(post.answers, question.id), values(form, question.id)
        if question.kind in CHOICES and (ours or theirs):
            texts = {choice.id: ask.say(choice.text) or choice.id for choice in question.answers}
            mine, yours = (", ".join(texts[v] for v in texts if v in g) for g in (ours, theirs))
            rows.append((ask.say(question.text), yours, mine, set(ours) == set(theirs)))
    return rows


def check_page(ask: Ask) -> Reply:
    """A few questions on what the words mean here."""
    return _check_form(ask, {})


def check(ask: Ask) -> Reply:
    """Passed, or the same questions again with those to think over marked."""
    answers = {name: given[0] for name, given in ask.answers().items()}
    passed, wrong = ask.site.store.people.take_check(ask.me.id, answers)
    if passed:
        return to("/label")
    return _check_form(ask, answers, [AnswerFault(name, "again", "think again") for name in wrong])


def _check_form(ask: Ask, form: Form, faults: Sequence[AnswerFault] = ()) -> Reply:
    asked = fields(ask, Questionnaire(ask.site.campaign.tutorial.check), form, faults=faults)
    return ask.page("check.html", 422 if faults else 200, fields=asked, faults=faults)
