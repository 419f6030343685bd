"""The experts' queue: what was answered and how often, never by whom; one answer then stands."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.labelling.errors import AnswerFault, AnswersRefused
from evenhand.labelling.experts import Case
from evenhand.labelling.questionnaire import Form
from evenhand.labelling.web.asking import Ask, Reply, to
from evenhand.labelling.web.forms import fields, unseen

NOTICES = ("settled", "passed", "rested")


def case_page(ask: Ask) -> Reply:
    """The case the expert holds, or the oldest that is free; a break is suggested as elsewhere."""
    if ask.me.break_due and ask.me.role != "owner":
        return to("/rest?from=cases")
    case = ask.site.store.experts.next(ask.me.id)
    return _page(ask, case, {})


def settle(ask: Ask) -> Reply:
    """The expert's answers stand for the post, or the case is left to others."""
    experts, answers = ask.site.store.experts, ask.answers()
    if ask.one("action") == "skip":
        experts.leave(ask.me.id, ask.one("token"))
        return to("/cases?said=passed")
    if unseen(ask, ask.site.campaign.questionnaire):
        return _again(ask, answers, more=True)
    try:
        experts.settle(ask.me.id, ask.one("token"), answers)
    except AnswersRefused as refused:
        return _again(ask, answers, refused.answer_faults)
    return to("/cases?said=settled")


def _again(ask: Ask, form: Form, faults: Sequence[AnswerFault] = (), more: bool = False) -> Reply:
    case = ask.site.store.experts.next(ask.me.id)
    if case is None or case.task.token != ask.one("token"):
        return to("/cases")
    return _page(ask, case, form, faults, more)


def _page(
    ask: Ask,
    case: Case | None,
    form: Form,
    faults: Sequence[AnswerFault] = (),
    more: bool = False,
) -> Reply:
    said = ask.query.get("said")
    said = said if said in NOTICES else None
    waiting = ask.site.store.experts.waiting()
    if case is None:
        return ask.page("no_case.html", said=said, waiting=waiting)
    questions = ask.site.campaign.questionnaire
    text = ask.site.masked(case.task.text, ask.me.mask)
    return ask.page(
        "case.html",
        422 if faults else 200,
        case=case,
        task=case.task,
        text=text,
        context=ask.site.masked(case.task.context or "", ask.me.mask),
        tallies=_tallies(ask, case),
        fields=fields(ask, questions, form, text=text, faults=faults),
        faults=faults,
        more=more,
        revealed=bool(form) or not ask.me.blur,
        waiting=waiting,
        said=said,
    )


def _tallies(ask: Ask, case: Case) -> list[tuple[str, list[tuple[str, int]]]]:
    """Question → answers with their votes, in the questionnaire's order."""
    found = []
    for question in ask.site.campaign.questionnaire.questions:
        votes = case.tallies.get(question.id, {})
        rows = [(ask.say(c.text) or c.id, votes.get(c.id, 0)) for c in question.answers]
        if votes:
            found.append((ask.say(question.text), rows))
    return found
