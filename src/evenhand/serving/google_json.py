"""Reading JSON as Google's services do: names in either spelling, errors in their form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from evenhand.serving import google_errors as errors

Object = Mapping[str, Any]
_LARGEST = 3.4e38
"""A number in the protocol has 32 bits."""


def decoded(body: bytes) -> dict[str, Any]:
    """A body as an object; half a pair of surrogates is read as the replacement character."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            found = mended(body)
        except (ValueError, RecursionError):
            raise errors.not_json() from None
    if not isinstance(found, dict):
        raise errors.not_json()
    return found


def mended(body: bytes) -> Any:
    """What a body holds, with the replacement character for half a pair; raises ValueError."""
    return _mended(json.loads(body, parse_constant=_no_number))


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _mended(found: Any) -> Any:
    if isinstance(found, str):
        return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(found, list):
        return [_mended(part) for part in found]
    if isinstance(found, dict):
        return {_mended(key): _mended(value) for key, value in found.items()}
    return found


@cache
def snake(name: str) -> str:
    """The other spelling of a name, which errors use.

    >>> snake("requestedAttributes")
    'requested_attributes'
    """
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)


def value(given: Object, name: str) -> Any:
    """What stands under a name, in either spelling; None where nothing does."""
    found = given.get(name)
    return found if found is not None else given.get(snake(name))


def object_at(given: Object, name: str) -> dict[str, Any] | None:
    """An object, if it is there."""
    found = value(given, name)
    if found is not None and not isinstance(found, dict):
        raise errors.bad_value(snake(name), "object", found)
    return found


def text_at(given: Object, name: str) -> str | None:
    """A text, if it is there."""
    found = value(given, name)
    if found is not None and not isinstance(found, str):
        raise errors.bad_value(snake(name), "TYPE_STRING", found)
    return found


def flag_at(given: Object, name: str) -> bool | None:
    """True or false, if it is there."""
    found = value(given, name)
    if found is not None and not isinstance(found, bool):
        raise errors.bad_value(snake(name), "TYPE_BOOL", found)
    return found


def number_at(given: Any, name: str, place: str) -> float | None:
    """A number, if it is there; ``place`` is where ``given`` stands."""
    if not isinstance(given, dict):
        raise errors.bad_value(place, "object", given)
    found = value(given, name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or abs(found) > _LARGEST:
        raise errors.bad_value(f"{place}.{snake(name)}", "TYPE_FLOAT", found)
    return float(found)
