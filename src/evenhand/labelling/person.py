"""Somebody who takes part in a campaign, and the step they are at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.labelling._tables import Found
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.wellbeing import break_due


@dataclass(frozen=True)
class Person:
    """Somebody who takes part, as pages and policies see them."""

    id: int
    name: str
    """A pseudonym."""
    role: str
    """annotator, expert or owner."""
    cohort: str | None
    language: str
    blur: bool
    mask: bool
    opt_outs: tuple[str, ...]
    stage: str
    """The step they are at: consent, tutorial, practice, check or ready."""
    practised: int
    """Practice posts done."""
    background: Mapping[str, Any] | None
    has_password: bool
    seen: int
    """Posts seen in all; visible to the person, the owner sees totals."""
    hard: int
    breaks: int
    break_due: bool
    """Whether to suggest a break."""


def person_of(row: Found, campaign: Campaign) -> Person:
    """A person from their row in the database."""
    return Person(
        id=row.id,
        name=row.name,
        role=row.role,
        cohort=row.cohort,
        language=row.language,
        blur=row.blur,
        mask=row.mask,
        opt_outs=tuple(row.opt_outs),
        stage=_stage(row, campaign),
        practised=row.practised,
        background=row.background,
        has_password=row.password is not None,
        seen=row.seen,
        hard=row.hard,
        breaks=row.breaks,
        break_due=break_due(campaign.wellbeing, posts=row.seen_since, hard=row.hard_since),
    )


def _stage(row: Found, campaign: Campaign) -> str:
    tutorial = campaign.tutorial
    practice = [p for p in tutorial.practice if p.language in (None, row.language)]
    if row.consented_at is None and row.role != "owner":
        return "consent"
    if tutorial.pages and row.tutorial_at is None:
        return "tutorial"
    if row.practised < len(practice):
        return "practice"
    if tutorial.check and row.checked_at is None:
        return "check"
    return "ready"
