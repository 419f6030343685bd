"""When to rest and how to mask: pure functions of counters and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from evenhand.labelling._parts import Wellbeing


def break_due(care: Wellbeing, *, posts: int, hard: int) -> bool:
    """Whether a break should be suggested after so many posts and hard posts without one."""
    return hard >= care.break_after_hard or posts >= care.break_after_posts


def is_hard(care: Wellbeing, chosen: Mapping[str, Sequence[str]]) -> bool:
    """Whether the answers say that the post was hard to read.

    >>> is_hard(Wellbeing(hard={"abuse": ["Abusive"]}), {"abuse": ("Abusive",)})
    True
    """
    return any(set(chosen.get(name, ())) & set(labels) for name, labels in care.hard.items())


def masked(text: str, listed: Iterable[str]) -> str:
    """The text with the listed words masked; its length stays, so that marked words stay right.

    >>> masked("You fool, foolish FOOL", ["fool"])
    'You f•••, foolish F•••'
    """
    names = sorted(filter(None, listed), key=len, reverse=True)
    if not names:
        return text
    pattern = r"(?<!\w)(?:" + "|".join(map(re.escape, names)) + r")(?!\w)"
    return re.sub(pattern, lambda m: m[0][0] + "•" * (len(m[0]) - 1), text, flags=re.IGNORECASE)
