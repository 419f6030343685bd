"""Every route and who may use it: the one place where roles are decided.

The application is made from this table and nothing else, and a test reads it: every route for
every role. ``stage`` is the step somebody must be at; others are sent to theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import evenhand.labelling.web.cases as cases
import evenhand.labelling.web.label as label
import evenhand.labelling.web.mine as mine
import evenhand.labelling.web.owner as owner
import evenhand.labelling.web.steps as steps
import evenhand.labelling.web.visit as visit
from evenhand.labelling.web.asking import Ask, Reply

ANYONE = frozenset({"anonymous", "annotator", "expert", "owner"})
SIGNED_IN = ANYONE - {"anonymous"}
LABELS = frozenset({"annotator", "expert"})
SETTLES = frozenset({"expert", "owner"})
OWNER = frozenset({"owner"})


@dataclass(frozen=True)
class Route:
    """A page or a form's target."""

    method: str
    path: str
    roles: frozenset[str]
    answer: Callable[[Ask], Reply]
    stage: str | None = None
    guarded: bool = False
    """Takes a secret (code, password, link): tries are limited and run in a pool of their own."""

    @property
    def secret(self) -> bool:
        """Whether its form holds a secret, which is never sent back."""
        return self.guarded or self.path == "/password"


ROUTES = (
    Route("GET", "/", ANYONE, visit.front),
    Route("GET", "/join/{code:str}", ANYONE, visit.invited),
    Route("POST", "/join", ANYONE, visit.join, guarded=True),
    Route("GET", "/sign-in", ANYONE, visit.sign_in_page),
    Route("POST", "/sign-in", ANYONE, visit.sign_in, guarded=True),
    Route("GET", "/owner/{link:str}", ANYONE, visit.owner_page),
    Route("POST", "/owner", ANYONE, visit.owner, guarded=True),
    Route("POST", "/sign-out", SIGNED_IN, visit.sign_out),
    Route("POST", "/sign-out-everywhere", SIGNED_IN, visit.sign_out_everywhere),
    Route("GET", "/stop", SIGNED_IN, label.stop),
    Route("GET", "/consent", LABELS, steps.consent_page, "consent"),
    Route("POST", "/consent", LABELS, steps.consent, "consent"),
    Route("GET", "/tutorial", LABELS, steps.tutorial_page, "tutorial"),
    Route("POST", "/tutorial", LABELS, steps.tutorial, "tutorial"),
    Route("GET", "/practice", LABELS, steps.practice_page, "practice"),
    Route("POST", "/practice", LABELS, steps.practice),
    Route("GET", "/check", LABELS, steps.check_page, "check"),
    Route("POST", "/check", LABELS, steps.check, "check"),
    Route("GET", "/label", LABELS, label.label_page, "ready"),
    Route("POST", "/label", LABELS, label.label, "ready"),
    Route("POST", "/undo", LABELS, label.undo, "ready"),
    Route("GET", "/rest", LABELS, label.rest_page, "ready"),
    Route("POST", "/rest", LABELS, label.rest, "ready"),
    Route("GET", "/thanks", LABELS, label.thanks, "ready"),
    Route("GET", "/picture/{form:str}/{number:int}", SIGNED_IN, label.picture),
    Route("GET", "/settings", SIGNED_IN, mine.settings_page),
    Route("POST", "/settings", SIGNED_IN, mine.settings),
    Route("POST", "/password", SIGNED_IN, mine.password),
    Route("GET", "/about-me", LABELS, mine.about_page),
    Route("POST", "/about-me", LABELS, mine.about),
    Route("GET", "/my-data", LABELS, mine.data_page),
    Route("GET", "/my-data.json", LABELS, mine.data_file),
    Route("POST", "/my-data/delete", LABELS, mine.delete),
    Route("GET", "/cases", SETTLES, cases.case_page, "ready"),
    Route("POST", "/cases", SETTLES, cases.settle, "ready"),
    Route("GET", "/dashboard", OWNER, owner.dashboard),
    Route("GET", "/agreement", OWNER, owner.figures),
    Route("GET", "/invites", OWNER, owner.invites_page),
    Route("POST", "/invites", OWNER, owner.invite),
    Route("POST", "/invites/revoke", OWNER, owner.revoke),
    Route("GET", "/export/{form:str}", OWNER, owner.download),
)
