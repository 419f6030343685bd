"""OpenAI's moderation dialect.

Four of its thirteen categories are judged; the others are always false, with a score of 0 and no
input type, which is the dialect's own way of saying that nothing was looked at.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from evenhand.serving.errors import Dialect, Refused
from evenhand.serving.google_json import decoded
from evenhand.serving.perspective import LONGEST, is_too_long

JUDGED: Mapping[str, tuple[str, ...]] = {
    "harassment": ("INSULT",),
    "harassment/threatening": ("INSULT", "THREAT"),
    "hate": ("HATE",),
    "hate/threatening": ("HATE", "THREAT"),
}
"""Category → attributes; of two the lower score counts, and both must reach their threshold."""
CATEGORIES = (
    "harassment", "harassment/threatening", "hate", "hate/threatening", "illicit",
    "illicit/violent", "self-harm", "self-harm/instructions", "self-harm/intent", "sexual",
    "sexual/minors", "violence", "violence/graphic",
)  # fmt: skip
MOST_TEXTS = 256


class Request(Struct):
    """What a client sends; read by hand, so that errors are in the dialect's form."""

    input: Annotated[
        str | list[str | dict[str, Any]],
        Meta(description=f"A text, up to {MOST_TEXTS} texts, or the text parts of one message."),
    ]
    model: Annotated[
        str | None, Meta(description="Taken and not heeded: the server's detector answers.")
    ] = None


class Result(Struct):
    """What is said of one text, each by category."""

    flagged: bool
    categories: dict[str, bool]
    category_scores: dict[str, float]
    category_applied_input_types: dict[str, list[str]]


class Reply(Struct):
    """What is said of all of them."""

    id: str
    model: str
    results: list[Result]


def _error(
    code: int, message: str, kind: str, name: str | None = None, retry_after: int | None = None
) -> Refused:
    body = {"error": {"message": message, "type": kind, "param": None, "code": name}}
    return Refused(code, body, retry_after)


def _plain(code: int, message: str) -> Refused:
    return _error(code, message, "server_error" if code >= 500 else "invalid_request_error")


def _too_many(message: str, seconds: int) -> Refused:
    return _error(429, message, "requests", "rate_limit_exceeded", seconds)


OPENAI = Dialect(
    name="openai",
    no_key=lambda: _error(
        401, "You didn't provide an API key. Send it as a Bearer token.", "invalid_request_error"
    ),
    wrong_key=lambda: _error(
        401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"
    ),
    too_often=lambda rate, seconds: _too_many(
        f"Rate limit reached: {rate:g} requests per minute. Please try again in {seconds}s.",
        seconds,
    ),
    busy=lambda seconds: _too_many(
        f"The server is overloaded. Please try again in {seconds}s.", seconds
    ),
    plain=_plain,
)


def texts_of(body: bytes) -> list[str]:
    """The texts of a request; raises :class:`~evenhand.serving.errors.Refused`."""
    try:
        given = decoded(body)
    except Refused:
        raise _plain(400, "We could not parse the JSON body of your request.") from None
    found = given.get("input")
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list) or not found:
        raise _plain(400, "'input' must be a text, or a list of texts that is not empty.")
    if all(isinstance(part, dict) for part in found):
        found = [_joined(found)]  # the parts of one message
    if len(found) > MOST_TEXTS:
        raise _plain(400, f"'input' has {len(found)} texts; at most {MOST_TEXTS} are allowed.")
    for place, text in enumerate(found):
        if not isinstance(text, str):
            raise _plain(400, f"'input[{place}]' must be a text.")
        if is_too_long(text):
            raise _plain(400, f"'input[{place}]' is longer than {LONGEST} bytes.")
    return found


def _joined(parts: Sequence[Mapping[str, Any]]) -> str:
    texts = []
    for place, part in enumerate(parts):
        if part.get("type") != "text":
            raise _plain(400, f"'input[{place}]' is not text; pictures are not judged here.")
        if not isinstance(part.get("text"), str):
            raise _plain(400, f"'input[{place}].text' must be a text.")
        texts.append(part["text"])
    return "\n".join(texts)


def reply(
    model: str,
    scores: Mapping[str, Sequence[float]],
    thresholds: Mapping[str, float],
    texts: int,
) -> Reply:
    """The answer for some texts: scores by attribute, and the threshold of each."""
    judged = {
        category: names
        for category, names in JUDGED.items()
        if all(name in scores and name in thresholds for name in names)
    }
    results = []
    for row in range(texts):
        found = {
            category: (
                min(scores[name][row] for name in names),
                all(scores[name][row] >= thresholds[name] for name in names),
            )
            for category, names in judged.items()
        }
        results.append(
            Result(
                flagged=any(yes for _, yes in found.values()),
                categories={name: found.get(name, (0.0, False))[1] for name in CATEGORIES},
                category_scores={name: found.get(name, (0.0, False))[0] for name in CATEGORIES},
                category_applied_input_types={
                    name: ["text"] if name in found else [] for name in CATEGORIES
                },
            )
        )
    return Reply(f"modr-{uuid.uuid4().hex}", model, results)
