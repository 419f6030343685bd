"""A detector's refusal of a text, with a reason that does not repeat the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

SAMPLE = 32
"""Of so many texts at most half may be refused; else the detector is broken as a whole."""
_LONGEST = 300
_SHARED = 12
"""So many letters that a reason shares with the text are taken for a quotation."""
_QUOTED = re.compile(r"'[^']+'|\"[^\"]+\"|“[^”]+”")
_GAP = "[…]"


@dataclass(frozen=True)
class Refused:
    """The answer of a detector that cannot score a text."""

    reason: str
    """Without the text."""


def without_text(reason: str, text: str) -> str:
    """The reason without what it repeats of the text, in one line of bearable length.

    Long pieces go wherever they stand, single words where they are quoted.

    >>> without_text("KeyError: 'fool'", "You fool")
    'KeyError: […]'
    >>> without_text("cannot read You are all vermin (line 1)", "You are all vermin")
    'cannot read […] (line 1)'
    """
    reason, text = " ".join(reason.split())[: 2 * _LONGEST], " ".join(text.split())
    reason = _QUOTED.sub(lambda found: _GAP if found[0][1:-1] in text else found[0], reason)
    if len(text) > 2:
        reason = reason.replace(text, _GAP)
    match = SequenceMatcher(None, reason, text, autojunk=False)
    while (shared := match.find_longest_match()).size >= _SHARED:
        reason = f"{reason[: shared.a]}{_GAP}{reason[shared.a + shared.size :]}"
        match.set_seq1(reason)
    return reason[:_LONGEST]
