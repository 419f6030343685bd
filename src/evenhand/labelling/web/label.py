"""Labelling: a post at a time, skip, undo, flag, rest, thanks, and stop at any moment."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence

from evenhand.labelling._leases import Task
from evenhand.labelling.errors import AnswerFault, AnswersRefused, NotHeld
from evenhand.labelling.questionnaire import Form
from evenhand.labelling.web.asking import Ask, Reply, to
from evenhand.labelling.web.forms import fields, unseen

NOTICES = ("saved", "skipped", "flagged", "undone", "nothing", "rested")
_MIDDLE = ("undone", "nothing")
"""No break is suggested to somebody who has just gone back to a post."""


def label_page(ask: Ask) -> Reply:
    """The post the person holds, or the next one."""
    if ask.me.break_due and ask.query.get("said") not in _MIDDLE:
        return to("/rest")
    task = ask.site.store.work.next(ask.me.id)
    return to("/thanks") if task is None else _form(ask, task, {})


def label(ask: Ask) -> Reply:
    """A vote, a skip or a flag; the page moves on only after the store has committed it."""
    work, token = ask.site.store.work, ask.one("token")
    if ask.one("action") == "skip":
        work.skip(ask.me.id, token)
        return to("/label?said=skipped")
    if ask.one("action") == "flag":
        work.flag(ask.me.id, token, ask.one("flag_note").strip())
        return to("/label?said=flagged")
    answers = ask.answers()
    if unseen(ask, ask.site.campaign.questionnaire):
        return _form(ask, work.task(ask.me.id, token), answers, more=True)
    try:
        work.vote(ask.me.id, token, answers)
    except AnswersRefused as refused:
        return _form(ask, work.task(ask.me.id, token), answers, refused.answer_faults)
    return to("/label?said=saved")


def _form(
    ask: Ask, task: Task, form: Form, faults: Sequence[AnswerFault] = (), more: bool = False
) -> Reply:
    questions = ask.site.campaign.questionnaire
    text = ask.site.masked(task.text, ask.me.mask)
    said = ask.query.get("said")
    return ask.page(
        "label.html",
        422 if faults else 200,
        task=task,
        text=text,
        context=ask.site.masked(task.context or "", ask.me.mask),
        fields=fields(ask, questions, form, text=text, faults=faults),
        faults=faults,
        more=more,
        revealed=bool(form) or not ask.me.blur,
        said=said if said in NOTICES else None,
    )


def undo(ask: Ask) -> Reply:
    """Take the last step back."""
    task = ask.site.store.work.undo(ask.me.id)
    return to("/label?said=nothing" if task is None else "/label?said=undone")


def rest_page(ask: Ask) -> Reply:
    """A break is suggested; nobody is held up."""
    back = "cases" if ask.query.get("from") == "cases" else "label"
    return ask.page("rest.html", totals=ask.site.totals(), back=back)


def rest(ask: Ask) -> Reply:
    """The person goes on after a break."""
    ask.site.store.work.rest(ask.me.id)
    cases = ask.one("back") == "cases" and ask.me.role == "expert"
    return to("/cases?said=rested" if cases else "/label?said=rested")


def thanks(ask: Ask) -> Reply:
    """Nothing is left for the person now."""
    return ask.page("thanks.html", totals=ask.site.totals())


def stop(ask: Ask) -> Reply:
    """Stop now: nothing more is shown, and where to find help."""
    return ask.page("stop.html")


def picture(ask: Ask) -> Reply:
    """A picture of a post the person has before them; others do not exist for them."""
    names = _shown(ask, ask.path["form"]).pictures
    number = int(ask.path["number"])
    folder = ask.site.campaign.folder.resolve()
    if not 0 <= number < len(names):
        return ask.refused(404, "missing")
    path = (folder / names[number]).resolve()
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not path.is_relative_to(folder) or not path.is_file() or not kind.startswith("image/"):
        return ask.refused(404, "missing")
    return Reply(path.read_bytes(), media_type=kind)


def _shown(ask: Ask, token: str) -> Task:
    try:
        return ask.site.store.work.task(ask.me.id, token)
    except NotHeld:
        if ask.me.role == "annotator":
            raise
    case = ask.site.store.experts.next(ask.me.id)
    if case is None or case.task.token != token:
        raise NotHeld("this picture is not before you")
    return case.task
