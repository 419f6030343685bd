"""The people of a campaign: joining, the steps to the first post, settings, and their own data.

An annotator is a pseudonym; nothing about them is kept but what they answer. They can see all of
it, take it away and have it deleted: votes are then gone, posts go back to the pool, and the log
keeps only that somebody left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from evenhand.core.errors import BadInput
from evenhand.labelling._context import Context
from evenhand.labelling._erasing import everything_of, forget
from evenhand.labelling._tables import Found, invites, people
from evenhand.labelling.assignment import Row, again, first_row
from evenhand.labelling.codes import halves, new_name
from evenhand.labelling.errors import AnswersRefused, CodeRefused, NotAllowed
from evenhand.labelling.person import Person, person_of
from evenhand.labelling.questionnaire import Form

_ROW = ("ring", "start", "lap", "at", "deals", "golds")
_SETTINGS = ("language", "blur", "mask", "opt_outs")


class People:
    """People of one campaign."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def get(self, person: int) -> Person:
        """The person with that id."""
        with self._context.database.read() as connection:
            row = connection.execute(sa.select(people).where(people.c.id == person)).one_or_none()
        if row is None or row.erased_at is not None:
            raise NotAllowed("this person is not in the campaign (any more)")
        return person_of(row, self._context.campaign)

    def join(self, code: str, language: str | None = None) -> Person:
        """A new person by an invite code; costs one argon2 verification."""
        context = self._context
        selector, secret = halves(code)
        find = sa.select(invites).where(invites.c.selector == selector)
        with context.database.read() as connection:
            invite = connection.execute(find).one_or_none()
        if not context.codes.verify(secret, invite.hash if invite else None) or invite is None:
            raise CodeRefused("this invite code is not known; check it letter by letter", "code")
        now = context.clock()
        usable = (
            (invites.c.id == invite.id)
            & (invites.c.used < invites.c.most)
            & (invites.c.expires_at > now)
            & invites.c.revoked_at.is_(None)
        )
        with context.database.write() as connection:
            used = sa.update(invites).where(usable).values(used=invites.c.used + 1)
            if not connection.execute(used).rowcount:
                raise _refused(connection.execute(find).one(), now)
            role = context.campaign.cohort(invite.cohort).role
            return self.add(connection, role, invite.cohort, language)

    def add(
        self, connection: sa.Connection, role: str, cohort: str | None, language: str | None = None
    ) -> Person:
        """A new person, in a transaction of the caller's."""
        campaign = self._context.campaign

        def taken(name: str) -> bool:
            found = sa.select(people.c.id).where(people.c.name == name)
            return connection.execute(found).one_or_none() is not None

        name = new_name(taken)
        row = first_row(campaign.seed, name)
        values = {
            "name": name,
            "role": role,
            "cohort": cohort,
            "joined_at": self._context.clock(),
            "language": language if language in campaign.languages else campaign.languages[0],
            "blur": campaign.wellbeing.blur,
            "mask": campaign.wellbeing.mask,
            "opt_outs": [],
            "hand": [],
            **{key: getattr(row, key) for key in _ROW},
        }
        made = connection.execute(sa.insert(people).values(values).returning(people)).one()
        self._context.log(connection, "joined", made.id, data={"role": role, "cohort": cohort})
        return person_of(made, campaign)

    def consent(self, person: int) -> Person:
        """The person has read the warning and agreed."""
        return self._change(person, "consented", {"consented_at": self._context.clock()})

    def finish_tutorial(self, person: int) -> Person:
        """The person has read the tutorial."""
        return self._change(person, "tutorial", {"tutorial_at": self._context.clock()})

    def practise(self, person: int, done: int, form: Form) -> Person:
        """The answers to practice post number ``done`` (0 is the first); repeats change nothing."""
        data = {"practice": done, "form": {name: form[name] for name in form}}
        return self._change(person, "practised", {"practised": done + 1}, data, at_most=done)

    def take_check(self, person: int, form: Mapping[str, str]) -> tuple[bool, list[str]]:
        """Whether the comprehension check is passed, and the questions answered wrongly."""
        passed, wrong = self._context.campaign.tutorial.passed(form)
        values = {"checked_at": self._context.clock()} if passed else {}
        self._change(person, "checked", values, {"passed": passed, "wrong": wrong})
        return passed, wrong

    def change(self, person: int, **settings: Any) -> Person:
        """New settings: any of language, blur, mask, opt_outs."""
        campaign = self._context.campaign
        known = {choice.id for choice in campaign.wellbeing.categories}
        wrong = [name for name in settings if name not in _SETTINGS]
        wrong += [name for name in settings.get("opt_outs", ()) if name not in known]
        if settings.get("language", campaign.languages[0]) not in campaign.languages:
            wrong.append(settings["language"])
        if wrong:
            raise BadInput(f"settings: {', '.join(map(str, wrong))} cannot be chosen")
        if "opt_outs" in settings:
            settings["opt_outs"] = sorted(settings["opt_outs"])
        return self._change(person, "settings", settings, settings)

    def set_background(self, person: int, form: Form, *, consent: bool) -> Person:
        """Answers about oneself, kept only with consent; without it older ones are deleted."""
        if not consent:
            values: dict[str, Any] = {"background": None, "background_at": None}
            return self._change(person, "background", values, {"consent": False})
        questions = self._context.campaign.background.questions
        answers, faults = questions.check(form)
        faults = [fault for fault in faults if fault.code != "missing"]
        if faults:
            raise AnswersRefused(faults)
        kept = answers.as_dict()["chosen"]
        values = {"background": kept, "background_at": self._context.clock()}
        return self._change(person, "background", values, {"consent": True})

    def set_password(self, person: int, password: str) -> None:
        """A password to come back with."""
        hashed = self._context.codes.password(password)
        self._change(person, "password", {"password": hashed})

    def sign_in(self, name: str, password: str) -> Person:
        """The person of that pseudonym and password; costs one argon2 verification."""
        find = sa.select(people).where(people.c.name == name, people.c.erased_at.is_(None))
        with self._context.database.read() as connection:
            row = connection.execute(find).one_or_none()
        if not self._context.codes.verify(password, row.password if row else None) or row is None:
            raise CodeRefused("name or password is wrong", "password")
        return person_of(row, self._context.campaign)

    def data(self, person: int) -> dict[str, Any]:
        """Everything kept about the person, for them to see and take away."""
        with self._context.database.read() as connection:
            return everything_of(connection, person)

    def erase(self, person: int) -> None:
        """Delete the person's answers, settings and log; their posts go back to the pool."""
        with self._context.database.write() as connection:
            forget(connection, self._context, person)

    def _change(
        self,
        person: int,
        kind: str,
        values: Mapping[str, Any],
        data: Any = None,
        at_most: int | None = None,
    ) -> Person:
        with self._context.database.write() as connection:
            row = self._context.locked(connection, person)
            if at_most is not None and row.practised != at_most:
                return person_of(row, self._context.campaign)
            changed = dict(values)
            if "opt_outs" in changed and changed["opt_outs"] != row.opt_outs:
                place = again(Row(**{key: getattr(row, key) for key in _ROW}))
                changed |= {"lap": place.lap, "at": place.at, "hand": []}
            if changed:
                update = sa.update(people).where(people.c.id == person)
                row = connection.execute(update.values(changed).returning(people)).one()
            self._context.log(connection, kind, person, data=data)
            return person_of(row, self._context.campaign)


def _refused(invite: Found, now: float) -> CodeRefused:
    ask = "ask who invited you for a new one"
    if invite.revoked_at is not None:
        return CodeRefused(f"this invite was revoked; {ask}", "revoked")
    if invite.expires_at <= now:
        return CodeRefused(f"this invite has expired; {ask}", "expired")
    return CodeRefused(f"this invite has been used up; {ask}", "used_up")
