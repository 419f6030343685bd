"""What can go wrong while people label, as part of the tree of :mod:`evenhand.core.errors`.

::

    BadInput
    ├── AnswersRefused   the form does not fit the questionnaire; lists every fault
    ├── NotHeld          a vote for a post the person does not hold
    ├── NotAllowed       the person may not do this, or not yet
    └── CodeRefused      an invite, password or link is wrong, used up, expired or revoked
    StoreError
    ├── StoreTooNew      the database was made by a newer Evenhand
    ├── StoreFull        the disk is full: this change is not saved, everything before is
    └── StoreUnreachable the database does not answer
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.errors import BadInput, EvenhandError


@dataclass(frozen=True)
class AnswerFault:
    """One thing that is wrong with a filled form; pages word it in their language by ``code``."""

    question: str
    code: str
    """missing, unknown, outside, one, words or long."""
    what: str
    """The same in English, for logs and programs."""

    def __str__(self) -> str:
        return f"{self.question}: {self.what}"


class AnswersRefused(BadInput):
    """The form does not fit the questionnaire; nothing was changed."""

    def __init__(self, faults: Sequence[AnswerFault]) -> None:
        super().__init__(*map(str, faults))
        self.answer_faults = tuple(faults)


class NotHeld(BadInput):
    """The person does not hold this post: the form is old, or somebody else finished the post."""


class NotAllowed(BadInput):
    """The person may not do this, or not yet."""


class CodeRefused(BadInput):
    """An invite code, password or one-time link is wrong, used up, expired or revoked."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what)
        self.why = why
        """code, password, link (these may be guesses), expired, revoked or used_up."""


class StoreError(EvenhandError):
    """The database cannot do what was asked; nothing that was acknowledged is lost."""


class StoreTooNew(StoreError):
    """The database was made by a newer version."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreUnreachable(StoreError):
    """The database does not answer."""
