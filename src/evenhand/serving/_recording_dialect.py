"""What is kept of a request to Perspective and its answer: the text, the scores, the languages.

Nothing else is: no key, no client token, session or community, no context. An answer that cannot be
read is not kept, whatever it is; the caller has it all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.serving.errors import Refused
from evenhand.serving.google_batch import Part, parts

ANALYZE, SUGGEST, BATCH, DISCOVERY = (
    "comments:analyze",
    "comments:suggestscore",
    "/batch",
    "$discovery/rest",
)
Row = dict[str, Any]
_ADDRESSES = ("rootUrl", "baseUrl", "mtlsRootUrl")


def rows_of(
    path: str, asked: bytes, asked_type: str, answered: bytes, answered_type: str
) -> Iterator[Row]:
    """What to keep of a good answer: nothing, one row, or one for each part of a batch."""
    if path.rstrip("/").endswith(BATCH):
        yield from _batch(asked, asked_type, answered, answered_type)
    else:
        row = row_of(path, asked, answered)
        if row is not None:
            yield row


def row_of(path: str, asked: bytes, answered: bytes) -> Row | None:
    """What to keep of one call."""
    try:
        request, reply = json.loads(asked), json.loads(answered)
        text = request["comment"]["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(text, str) or not isinstance(reply, dict):
        return None
    if path.endswith(SUGGEST):
        suggested = scores_in(request)
        return {"text": text, "suggested": suggested} if suggested else None
    if not path.endswith(ANALYZE):
        return None
    wanted = request.get("requestedAttributes")
    return {
        "text": text,
        "scores": scores_in(reply),
        "asked": sorted(wanted) if isinstance(wanted, dict) else [],
        "languages": _languages(reply),
    }


def scores_in(document: Mapping[str, Any]) -> dict[str, float]:
    """The summary scores by attribute; what is no score is left out."""
    listed = document.get("attributeScores")
    found = {}
    for name, entry in listed.items() if isinstance(listed, dict) else ():
        try:
            value = entry["summaryScore"]["value"]
        except (KeyError, TypeError):
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 <= value <= 1:
            found[str(name)] = float(value)
    return found


def _languages(reply: Mapping[str, Any]) -> list[str]:
    found = reply.get("languages") or reply.get("detectedLanguages") or []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _batch(asked: bytes, asked_type: str, answered: bytes, answered_type: str) -> Iterator[Row]:
    try:
        requests = {_name(part): part for part in parts(asked_type, asked)}
        replies = parts(answered_type, answered)
    except Refused:
        return
    for reply in replies:
        # A server answers <x> as <response-x>. The status stands where a request has its path.
        request = requests.get(_name(reply).removeprefix("response-"))
        if request is not None and reply.path == "200":
            row = row_of(request.path, request.body, reply.body)
            if row is not None:
                yield row


def _name(part: Part) -> str:
    return (part.id or "").strip("<> ")


def pointed_here(answered: bytes, base: str) -> bytes:
    """A discovery document whose addresses are ours, since clients call what it names."""
    try:
        document = json.loads(answered)
        named = {key: document[key] for key in _ADDRESSES if isinstance(document.get(key), str)}
    except (ValueError, AttributeError, TypeError):
        return answered
    for key in named:
        document[key] = f"{base}/"
    return json.dumps(document).encode()
