"""Several requests in one: ``multipart/mixed`` as Google's clients write it."""

from __future__ import annotations

import email.parser
import email.policy
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from evenhand.serving.google_errors import GOOGLE

MOST_PARTS = 100


@dataclass(frozen=True, slots=True)
class Part:
    """A request within a batch."""

    id: str | None
    method: str
    path: str
    key: str | None
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a part."""

    status: int
    body: Any
    retry_after: int | None = None


def parts(content_type: str, body: bytes) -> list[Part]:
    """The requests of a batch; raises :class:`~evenhand.serving.errors.Refused`."""
    if not content_type.lower().startswith("multipart/mixed"):
        raise GOOGLE.plain(
            400, "The batch request could not be processed: expected multipart/mixed."
        )
    head = b"Content-Type: " + content_type.encode("latin-1", "replace") + b"\r\n\r\n"
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    found = [one for one in message.walk() if not one.is_multipart()]
    if not message.is_multipart() or not found:
        raise GOOGLE.plain(400, "Failed to parse batch request: no parts found.")
    if len(found) > MOST_PARTS:
        raise GOOGLE.plain(
            400, f"The batch request has {len(found)} parts; at most {MOST_PARTS} are allowed."
        )
    return [_part(one.get("Content-ID"), one.get_payload(decode=True)) for one in found]


def _part(name: str | None, content: Any) -> Part:
    raw = content if isinstance(content, bytes) else b""
    head, _, body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
    lines = head.split(b"\n")
    method, _, rest = lines[0].decode("latin-1").partition(" ")
    target = urlsplit(rest.rpartition(" ")[0] if " " in rest else rest)
    given = parse_qs(target.query).get("key")
    key = given[0] if given else None
    for line in lines[1:]:
        header, _, value = line.decode("latin-1").partition(":")
        if header.lower() == "x-goog-api-key" and key is None:
            key = value.strip()
    return Part(name, method.upper(), target.path, key, body.strip())


def written(answers: Sequence[tuple[Part, Answer]]) -> tuple[str, bytes]:
    """The content type and body of the answer to a batch."""
    boundary = f"batch_{uuid.uuid4().hex}"
    lines = []
    for part, answer in answers:
        reason = HTTPStatus(answer.status).phrase
        lines += [f"--{boundary}", "Content-Type: application/http"]
        if part.id:
            lines.append(f"Content-ID: {_response_id(part.id)}")
        lines += ["", f"HTTP/1.1 {answer.status} {reason}"]
        lines.append("Content-Type: application/json; charset=UTF-8")
        if answer.retry_after is not None:
            lines.append(f"Retry-After: {answer.retry_after}")
        lines += ["", json.dumps(answer.body, ensure_ascii=False), ""]
    lines.append(f"--{boundary}--")
    return f"multipart/mixed; boundary={boundary}", "\r\n".join(lines).encode("utf-8", "replace")


def _response_id(asked: str) -> str:
    inner = asked.strip().removeprefix("<")
    return f"<response-{inner}" if inner.endswith(">") else f"<response-{inner}>"
