"""Scores that people suggest: read from requests, and kept as judgements in a file that only grows.

Each line of the file is a post with the judgements on it; ``evenhand label new --posts FILE`` reads
the posts. A line is on disk before the caller is told that it was taken, and several processes can
write.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.core.errors import BadInput
from evenhand.serving import google_errors as errors
from evenhand.serving.google_json import decoded, flag_at, number_at, object_at, text_at, value
from evenhand.serving.perspective import Offer, Spoken, comment, spoken

_COHORT = "suggested"
_YES = 0.5
"""A suggested score from here on is a yes."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Scores that a person finds right."""

    text: str
    scores: Mapping[str, float]
    spoken: Spoken
    token: str | None
    community: str | None
    session: str | None
    do_not_store: bool | None
    """None where the request does not say."""


def suggestion(body: bytes, offer: Offer) -> Suggestion:
    """Read suggested scores; raises :class:`~evenhand.serving.errors.Refused`."""
    given = decoded(body)
    text = comment(given)
    suggested = object_at(given, "attributeScores")
    if not suggested:
        raise errors.invalid("Missing attribute_scores")
    for name in suggested:
        if name not in offer.attributes:
            raise errors.invalid(f"Unknown attribute: {name}")
    return Suggestion(
        text=text,
        scores={name: _suggested(name, about) for name, about in suggested.items()},
        spoken=spoken(given, text, offer),
        token=text_at(given, "clientToken"),
        community=text_at(given, "communityId"),
        session=text_at(given, "sessionId"),
        do_not_store=flag_at(given, "doNotStore"),
    )


def reply(asked: Suggestion) -> dict[str, Any]:
    """The answer to suggested scores."""
    answer: dict[str, Any] = {
        "detectedLanguages": list(asked.spoken.detected),
        "requestedLanguages": list(asked.spoken.languages),
    }
    return answer if asked.token is None else {"clientToken": asked.token, **answer}


def _suggested(name: str, about: Any) -> float:
    """The score of the whole text or, where only parts have one, the highest of theirs."""
    place = f"attribute_scores[{name}]"
    if not isinstance(about, dict):
        raise errors.bad_value(place, "AttributeScores", about)
    parts = value(about, "spanScores") or []
    if not isinstance(parts, list):
        raise errors.bad_value(f"{place}.span_scores", "list", parts)
    for part in parts:
        if any(number_at(part, key, f"{place}.span_scores") is None for key in ("begin", "end")):
            raise errors.invalid(f"Span scores of {name} need begin and end")
    summary = value(about, "summaryScore")
    given = [summary] if summary is not None else [value(part, "score") for part in parts]
    found = [number_at(one, "value", f"{place}.score") for one in given]
    known = [one for one in found if one is not None]
    if not known:
        raise errors.invalid(f"Missing score of {name}")
    if not all(0 <= one <= 1 for one in known):
        raise errors.invalid(f"Suggested score of {name} must be from 0 to 1")
    return max(known)


class Suggestions:
    """A file of suggested scores."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        except OSError as error:
            raise BadInput(f"{path}: cannot be written: {error.strerror}") from error

    def keep(self, given: Suggestion, caller: str) -> None:
        """Add one; it is on disk when this returns."""
        line = json.dumps(_entry(given, caller), ensure_ascii=False) + "\n"
        with open(self.path, "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(line.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())


def _entry(given: Suggestion, caller: str) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    post = f"suggestion:{uuid.uuid4().hex}"
    return {
        "id": post,
        "text": given.text,
        "source": given.community or "suggestions",
        "token": given.token,
        "judgements": [
            {
                "post": post,
                "annotator": f"{caller}/{given.session}" if given.session else caller,
                "cohort": _COHORT,
                "question": name,
                "answer": ["yes" if value >= _YES else "no"],
                "value": value,
                "at": at,
            }
            for name, value in given.scores.items()
        ],
    }
