"""What a server answers when it does not answer with scores.

Every dialect has its own form of the same few errors; a handler raises :class:`Refused`, whatever
the form, and it is answered in one place (:mod:`evenhand.serving.service`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, body: Mapping[str, Any], retry_after: int | None = None) -> None:
        super().__init__(f"{code}")
        self.code = code
        self.body = body
        self.retry_after = retry_after
        """Seconds after which to try again."""


@dataclass(frozen=True)
class Dialect:
    """How a dialect says what can happen to any request."""

    name: str
    no_key: Callable[[], Refused]
    wrong_key: Callable[[], Refused]
    too_often: Callable[[float, int], Refused]
    """More than the requests a minute that a key has; seconds to wait."""
    busy: Callable[[int], Refused]
    """More waits than can be scored in time; seconds to wait."""
    plain: Callable[[int, str], Refused]
    """Any other error, by HTTP status."""


def own(code: int, message: str, retry_after: int | None = None) -> Refused:
    """An error in our own form."""
    return Refused(code, {"error": {"code": code, "message": message}}, retry_after)


OWN = Dialect(
    name="own",
    no_key=lambda: own(
        401, "this server wants a key: add one with `evenhand keys add`, send it as a Bearer token"
    ),
    wrong_key=lambda: own(401, "the key is not known or was revoked"),
    too_often=lambda rate, seconds: own(
        429, f"more than {rate:g} requests a minute; try again in {seconds} s", seconds
    ),
    busy=lambda seconds: own(
        429, f"more texts wait than can be scored in time; try again in {seconds} s", seconds
    ),
    plain=own,
)
