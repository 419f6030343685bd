"""Options of a recipe as people type them, and as a saved detector keeps them.

``name:key=value,key=value`` is read by the types of the dataclass's fields: a number, a text, yes
or no, one of some words, or several texts separated by ``|``. Every fault is named at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from evenhand.core.errors import BadInput, BrokenComponent

_SWITCH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def parse(kind: type[Any], text: str, name: str) -> dict[str, Any]:
    """Options typed as ``key=value,key=value`` for a recipe called ``name``."""
    types = field_types(kind)
    found: dict[str, Any] = {}
    faults = []
    for part in text.split(",") if text else ():
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            faults.append(f"{name}: {part!r} is no option; expected key=value")
        elif key not in types:
            faults.append(f"{name}: {unknown(key, types)}")
        elif key in found:
            faults.append(f"{name}: option {key} stands twice")
        else:
            try:
                found[key] = _value(types[key], value)
            except ValueError as error:
                faults.append(f"{name}: option {key} is {value!r}; expected {error}")
                found[key] = None
    if faults:
        raise BadInput(*faults)
    return found


def choices(kind: type[Any], name: str, texts: Sequence[str]) -> dict[str, list[Any]]:
    """Values to choose from, each typed as ``key=A|B``."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        key, _, values = text.partition("=")
        parts = [part.strip() for part in values.split("|") if part.strip()]
        if len(parts) < 2:
            raise BadInput(f"{name}: {text!r} gives nothing to choose; expected key=A|B")
        found[key.strip()] = [parse(kind, f"{key}={part}", name)[key.strip()] for part in parts]
    return found


def unknown(key: str, types: Mapping[str, Any]) -> str:
    """The sentence for an option that is not there."""
    close = difflib.get_close_matches(key, types, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"no option {key!r}; the options are {', '.join(types) or '(none)'}.{hint}"


def field_types(kind: type[Any]) -> dict[str, Any]:
    """The options of a recipe and their types."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


def as_json(recipe: Any) -> dict[str, Any]:
    """The options of a recipe, ready for JSON."""
    values = {name: getattr(recipe, name) for name in field_types(type(recipe))}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def from_json(kind: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that :func:`as_json` gave."""
    absent = [key for key in options if key not in field_types(kind)]
    if absent:
        raise BadInput(*(unknown(key, field_types(kind)) for key in absent))
    return {name: tuple(v) if isinstance(v, list) else v for name, v in options.items()}


def _value(expected: Any, text: str) -> Any:
    """The value of one option; a ValueError says what was expected."""
    if expected is str:
        return text
    if expected is bool:
        return _known(_SWITCH, text.lower(), "yes or no")
    if expected is int:
        return _number(int, text, "a whole number")
    if expected is float:
        return _number(float, text, "a number")
    if get_origin(expected) is Literal:
        words = get_args(expected)
        return _known(dict(zip(words, words, strict=True)), text, f"one of {', '.join(words)}")
    if expected == tuple[str, ...]:
        return tuple(part.strip() for part in text.split("|") if part.strip())
    raise BrokenComponent(f"an option of type {expected} cannot be typed; set it in Python")


def _known(table: Mapping[str, Any], text: str, expected: str) -> Any:
    if text not in table:
        raise ValueError(expected)
    return table[text]


def _number(kind: type[int] | type[float], text: str, expected: str) -> int | float:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(expected) from None
