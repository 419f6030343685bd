"""Posts to look at: ids, and their texts only where the caller gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.reports._html import element, escaped
from evenhand.reports.masking import mask

_WARNING = (
    "These texts can hurt. Each stays covered until you open it; handles, links "
    "and e-mail addresses are replaced."
)
_LONGEST_COVER = 5
_CHARACTERS_PER_COVER = 56


@dataclass(frozen=True)
class Case:
    """A post to look at. Give the text only if the user asked for texts."""

    id: str
    text: str | None = None


def cases(given: Sequence[Case]) -> str:
    """The list of a section's posts; texts are masked here, and blurred until opened."""
    if not given:
        return ""
    warning = (
        element("p", escaped(_WARNING)) if any(case.text is not None for case in given) else ""
    )
    items = "\n".join(element("li", _case(case)) for case in given)
    return f'<h3>Posts to look at</h3>\n{warning}<ul class="posts">\n{items}\n</ul>'


def _case(case: Case) -> str:
    name = element("span", escaped(case.id), class_="id")
    if case.text is None:
        return name
    # A closed <details> hides the text from screen readers, search and print as well as from the
    # eye, and opens without JavaScript; the blurred lines only say how long the text is.
    lines = min(1 + len(case.text) // _CHARACTERS_PER_COVER, _LONGEST_COVER)
    cover = element("span", "<i></i>" * lines, class_="cover", aria_hidden="true")
    shown = element("p", escaped(mask(case.text)) or "(the text is empty)", dir="auto")
    return f"<details><summary>{name}{cover}</summary>{shown}</details>"
