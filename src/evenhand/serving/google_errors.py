"""Errors in the form of Google's APIs, which clients of Perspective read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.serving.errors import Dialect, Refused

_ERROR = "type.googleapis.com/google.commentanalyzer.v1alpha1.Error"
_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
_HELP = "type.googleapis.com/google.rpc.Help"
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
_DOMAIN = "googleapis.com"
_STATUS = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def _error(
    code: int,
    message: str,
    details: list[dict[str, Any]] | None = None,
    retry_after: int | None = None,
) -> Refused:
    status = _STATUS.get(code, "UNKNOWN")
    if details is None:  # clients look into them, whatever happened
        details = [_detail("INVALID_REQUEST")] if status == "INVALID_ARGUMENT" else []
    error = {"code": code, "message": message, "status": status, "details": details}
    return Refused(code, {"error": error}, retry_after)


def _detail(kind: str, **more: Any) -> dict[str, Any]:
    return {"@type": _ERROR, "errorType": kind, **more}


def refused(kind: str, message: str, **more: Any) -> Refused:
    """An error of the comment analyzer, e.g. ``COMMENT_EMPTY``."""
    return _error(400, message, [_detail(kind, **more)])


def invalid(message: str) -> Refused:
    """A request that asks for what does not exist."""
    return refused("INVALID_REQUEST", message)


def bad_value(field: str, wanted: str, found: Any) -> Refused:
    """A field of a wrong type; what was found is shown by its type only."""
    kind = {dict: "an object", list: "a list", str: "a text", bool: "a bool"}.get(
        type(found), "null" if found is None else "a number"
    )
    said = f"Invalid value at '{field}' ({wanted}): found {kind}"
    return _error(
        400,
        said,
        [{"@type": _BAD_REQUEST, "fieldViolations": [{"field": field, "description": said}]}],
    )


def not_json() -> Refused:
    """A body that is no JSON object."""
    return _error(400, "Invalid JSON payload received. Expected a JSON object in UTF-8.")


def wrong_key() -> Refused:
    """A key that is not known or was revoked."""
    return _error(
        400,
        "API key not valid. Please pass a valid API key.",
        [{"@type": _INFO, "reason": "API_KEY_INVALID", "domain": _DOMAIN, "metadata": _SERVICE}],
    )


def no_key() -> Refused:
    """A request without a key where one is needed."""
    return _error(
        403,
        "Method doesn't allow unregistered callers (callers without established identity). "
        "Please use an API key: add one with `evenhand keys add`.",
    )


def too_many(limit: str, per: str, seconds: int) -> Refused:
    """More than a quota allows, or than can be scored in time."""
    return _error(
        429,
        f"Quota exceeded for quota metric 'Analysis requests (AnalyzeComment)' and limit "
        f"'{limit} per {per}' of service 'commentanalyzer.googleapis.com'. "
        f"Try again in {seconds} s.",
        [
            {
                "@type": _INFO,
                "reason": "RATE_LIMIT_EXCEEDED",
                "domain": _DOMAIN,
                "metadata": {**_SERVICE, "quota_limit_value": limit},
            },
            {"@type": _HELP, "links": [{"description": "Limits of this server", "url": "/"}]},
        ],
        retry_after=seconds,
    )


_SERVICE: Mapping[str, str] = {"service": "commentanalyzer.googleapis.com"}

GOOGLE = Dialect(
    name="perspective",
    no_key=no_key,
    wrong_key=wrong_key,
    too_often=lambda rate, seconds: too_many(f"{rate:g} requests", "minute", seconds),
    busy=lambda seconds: too_many("what can be scored in time", "second", seconds),
    plain=_error,
)
