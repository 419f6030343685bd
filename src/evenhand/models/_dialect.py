"""What the two kinds of server have in common: a request, a reply with scores, a refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from evenhand.core.errors import BrokenComponent
from evenhand.models._address import Address


class Dialect(Protocol):
    """How to ask a kind of server for one attribute, and how to read what it answers."""

    kind: ClassVar[str]
    """The word before the URL."""
    settings: ClassVar[tuple[str, ...]]
    """What may stand in the URL's query besides the key."""
    attribute: ClassVar[str]
    """What is asked for unless the user says otherwise."""
    most: ClassVar[int]
    """Texts in a request."""
    per_second: ClassVar[float]
    """Requests a second to a server elsewhere."""

    def path(self, to: Address) -> str:
        """Path and query to post to, with the key where it belongs there."""

    def headers(self, to: Address) -> dict[str, str]:
        """Headers, with the key where it belongs there."""

    def body(self, texts: Sequence[str], attribute: str, to: Address) -> Mapping[str, Any]:
        """The request, as JSON."""

    def read(self, reply: Any, texts: int, attribute: str, name: str) -> list[float]:
        """One score per text; refuses a reply without them."""

    def refused_attribute(self, message: str) -> str | None:
        """Where a refusal is about the attribute: what there is instead."""


def parsed(body: bytes, name: str) -> Any:
    """The body of a good reply."""
    try:
        return json.loads(body)
    except ValueError:
        raise BrokenComponent(
            f"{name}: the server's answer cannot be read as JSON ({len(body):,} bytes)"
        ) from None


def message_of(body: bytes) -> str:
    """What a server says of a refusal; empty where it says nothing we can read."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    return message if isinstance(message, str) else ""


def probability(value: Any, attribute: str, name: str) -> float:
    """A score in a reply; refuses what is no number between 0 and 1."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        found = value if number else type(value).__name__
        raise BrokenComponent(
            f"{name}: the server's score of {attribute} is {found}; expected a number between "
            "0 and 1"
        )
    return float(value)
