"""What a report does not show and is not for: the words at the foot of every page and card."""

from __future__ import annotations

LIMITS = (
    "Passing a suite shows the absence of these weaknesses only; templates are not people. "
    "Not for decisions about a person, author rankings, policing or immigration."
)
"""One sentence pair, used unchanged wherever results are shown."""
