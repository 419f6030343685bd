"""Labelling campaigns: volunteers and experts judge posts, blind, and no vote is lost.

A campaign is a folder with ``campaign.toml``, posts and a secret (:mod:`~evenhand.labelling.new`
writes one from a template). What the pages, the commands and the tests use:

::

    campaign = read_campaign(folder)          # checked; BadInput lists every fault with file + key
    found = read_posts(campaign)              # pseudonyms in place
    store = Store(campaign, url=None)         # SQLite in the folder, or postgresql://…
    store.load(found)                         # brings in new posts, 0 where nothing is new

    store.invites   .make(cohort, most, days, note) → code    .all()    .revoke(id)
    store.people    .join(code, language) → Person            .sign_in(name, password) → Person
                    .get(id)   .consent(id)   .finish_tutorial(id)   .practise(id, number, form)
                    .take_check(id, form) → (passed, wrong)   .set_password(id, password)
                    .change(id, language=, blur=, mask=, opt_outs=)
                    .set_background(id, form, consent=)       .data(id) → dict   .erase(id)
    store.sessions  .open(id) → token   .person(token) → Person | None   .close(token)
                    .close_all(id)      .owner_link() → token            .redeem(token) → Person
    store.work      .next(id) → Task | None     .vote(id, token, form, seconds=) → Receipt
                    .skip(id, token)   .flag(id, token, note)   .undo(id) → Task | None
                    .task(id, token)   .rest(id) → Person       .sweep() → leases taken back
    store.experts   .next(id) → Case | None     .settle(id, token, form)     .leave(id, token)
                    .waiting() → int
    store.progress() → Progress                 # totals for the owner

    read_records(store, found) → Records        # tables: evenhand.labelling.records
    export(out, form, campaign, records)        # evenhand.labelling.export
    report(campaign, records, estimate=)        # sections and findings: evenhand.labelling.report

A form is a dict as a browser sends it: question → text or list of texts; marked words are
``start-end`` of :func:`~evenhand.labelling.questionnaire.words`. ``questionnaire.visible(form)``
says which questions are asked, ``questionnaire.check(form, text)`` gives answers and faults. Texts
for people are ``said(text, language)``. A ``Person.stage`` (consent, tutorial, practice, check,
ready) says which page comes next, ``break_due`` when to suggest a rest; ``masked(text, words)`` of
:mod:`~evenhand.labelling.wellbeing` masks words for those who ask. A :class:`Task` has no post id:
show its token only. Errors are in :mod:`~evenhand.labelling.errors`, all of them BadInput or
StoreError. Names load on first use, so that a command's help imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.labelling._reading import Text, said
    from evenhand.labelling.campaign import Campaign, read_campaign
    from evenhand.labelling.person import Person
    from evenhand.labelling.posts import CampaignPosts, read_posts
    from evenhand.labelling.questionnaire import Answers, Question, Questionnaire, words
    from evenhand.labelling.store import Store, opened
    from evenhand.labelling.work import Receipt, Task

__all__ = [
    "Answers",
    "Campaign",
    "CampaignPosts",
    "Person",
    "Question",
    "Questionnaire",
    "Receipt",
    "Store",
    "Task",
    "Text",
    "opened",
    "read_campaign",
    "read_posts",
    "said",
    "words",
]

_MODULES = {
    "_reading": ("Text", "said"),
    "campaign": ("Campaign", "read_campaign"),
    "person": ("Person",),
    "posts": ("CampaignPosts", "read_posts"),
    "questionnaire": ("Answers", "Question", "Questionnaire", "words"),
    "store": ("Store", "opened"),
    "work": ("Receipt", "Task"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}
_NEEDED = ("sqlalchemy", "alembic", "argon2", "psycopg")


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _NEEDED:
            raise
        from evenhand.core.errors import MissingExtra

        raise MissingExtra(
            f"{error.name} is not installed; campaigns need: pip install 'evenhand[label]'"
        ) from error
