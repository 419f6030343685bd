"""The pause a server asks for before the next request, and the longest one that is waited for."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime

LONGEST_WAIT_SECONDS = 120.0
"""A server that asks for a longer pause is reported instead of waited for."""


def retry_after(headers: Message) -> float | None:
    """The pause a server asks for, in seconds or as a date; None where it asks for none."""
    value = str(headers.get("Retry-After", "")).strip()
    if value.isdecimal():
        return float(value)
    with suppress(ValueError, TypeError, OverflowError):
        until = parsedate_to_datetime(value).astimezone(UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    return None
