"""What belongs to the person: settings, a password, answers about oneself, all of their data."""

from __future__ import annotations

import json

from evenhand.core.errors import BadInput
from evenhand.labelling.errors import AnswersRefused
from evenhand.labelling.web.asking import Ask, Reply, attached, home, opened, to
from evenhand.labelling.web.forms import fields


def settings_page(ask: Ask) -> Reply:
    """How posts are shown to this person."""
    return _settings(ask)


def settings(ask: Ask) -> Reply:
    """New settings."""
    campaign = ask.site.campaign
    changed = {
        "language": ask.one("language") or ask.me.language,
        "blur": bool(ask.one("blur")),
        "mask": bool(ask.one("mask")),
    }
    if campaign.wellbeing.categories and ask.me.role != "owner":
        changed["opt_outs"] = list(ask.form.get("opt_outs", ()))
    ask.site.store.people.change(ask.me.id, **changed)
    return to("/settings?said=kept")


def password(ask: Ask) -> Reply:
    """A password to come back with; whoever was signed in elsewhere with the old one is out."""
    try:
        ask.site.store.people.set_password(ask.me.id, ask.one("password"))
    except BadInput:
        return _settings(ask, 422, short=True)
    ask.site.store.sessions.close_all(ask.me.id)
    return opened(ask, ask.me, "/settings?said=password")


def _settings(ask: Ask, status: int = 200, short: bool = False) -> Reply:
    said = ask.query.get("said")
    said = said if said in ("kept", "password") else None
    return ask.page("settings.html", status, said=said, short=short)


def about_page(ask: Ask) -> Reply:
    """Optional questions about the person, for the data statement."""
    background = ask.site.campaign.background.questions
    if not background.questions:
        return to(home(ask.me))
    given = ask.me.background or {}
    return ask.page("about_me.html", fields=fields(ask, background, given), faults=())


def about(ask: Ask) -> Reply:
    """Kept only with consent; without it what was there is deleted."""
    agreed = bool(ask.one("agreed"))
    people, background = ask.site.store.people, ask.site.campaign.background.questions
    try:
        people.set_background(ask.me.id, ask.answers(), consent=agreed)
    except AnswersRefused as refused:
        found = fields(ask, background, ask.answers(), faults=refused.answer_faults)
        return ask.page("about_me.html", 422, fields=found, faults=refused.answer_faults)
    return to(home(ask.me))


def data_page(ask: Ask) -> Reply:
    """Everything kept about the person, to read."""
    return ask.page("my_data.html", data=_data(ask), unsure=False)


def data_file(ask: Ask) -> Reply:
    """The same, to take away."""
    headers = attached(f"{ask.site.campaign.name}-{ask.me.name}.json")
    return Reply(_data(ask), media_type="application/json", headers=headers)


def _data(ask: Ask) -> str:
    return json.dumps(ask.site.store.people.data(ask.me.id), indent=2, ensure_ascii=False)


def delete(ask: Ask) -> Reply:
    """Delete it all; the person is then unknown here."""
    if not ask.one("sure"):
        return ask.page("my_data.html", 422, data=_data(ask), unsure=True)
    ask.site.store.people.erase(ask.me.id)
    gone = Ask(ask.site, ask.language, "")
    page = gone.page("gone.html")
    return Reply(page.body, page.status, cookie="")
