"""Options of a recipe as people type them, and as a saved detector keeps them.

``name:key=value,key=value`` is read by the types of the dataclass's fields: a number, a text, yes
or no, one of some words, or several texts separated by ``|``. Every fault is named at once.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from evenhand.core.errors import BadInput, BrokenComponent

_IN_WORDS = {
    bool: "yes or no", int: "a whole number", float: "a number", str: "a text", dict: "a table",
}  # fmt: skip
_LARGEST = sys.float_info.max
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
    types = field_types(kind)
    faults = [unknown(key, types) for key in options if key not in types]
    faults += [
        f"option {key} is {value!r}; expected {expected(types[key])}"
        for key, value in options.items()
        if key in types and not fits(value, types[key])
    ]
    if faults:
        raise BadInput(*faults)
    return {name: tuple(v) if isinstance(v, list) else v for name, v in options.items()}


def fits(value: Any, kind: Any) -> bool:
    """Whether a value as JSON and TOML give it is of a type; numbers are finite.

    >>> fits(3, float), fits(True, int), fits("a", list[str]), fits(["a"], list[str])
    (True, False, False, True)
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is UnionType:
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin in (list, tuple):
        return isinstance(value, list | tuple) and all(fits(one, inner[0]) for one in value)
    if origin is Mapping:
        return isinstance(value, dict) and all(fits(one, inner[1]) for one in value.values())
    if kind in (int, float):
        numbers = int if kind is int else int | float
        return isinstance(value, numbers) and not isinstance(value, bool) and abs(value) <= _LARGEST
    return isinstance(value, kind)


def expected(kind: Any) -> str:
    """What a value of a type is, in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return expected(inner[0])
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin in (list, tuple):
        return "a list of texts"
    if origin is Mapping:
        return "a table" if inner[1] is Any else f"a table with {expected(inner[1])} each"
    return _IN_WORDS[kind]


def _value(kind: Any, text: str) -> Any:
    """The value of one option; a ValueError says what was expected."""
    if kind is str:
        return text
    if kind is bool:
        return _known(_SWITCH, text.lower(), expected(kind))
    if kind in (int, float):
        return _number(kind, text, expected(kind))
    if get_origin(kind) is Literal:
        words = get_args(kind)
        return _known(dict(zip(words, words, strict=True)), text, expected(kind))
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in text.split("|") if part.strip())
    raise BrokenComponent(f"an option of type {kind} cannot be typed; set it in Python")


def _known(table: Mapping[str, Any], text: str, expected: str) -> Any:
    if text not in table:
        raise ValueError(expected)
    return table[text]


def _number(kind: type[int] | type[float], text: str, expected: str) -> int | float:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(expected) from None
