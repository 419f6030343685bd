"""TOML files and the shape of what they hold, for suites, slurs and template sets.

A shape is an example with empty texts: ``{"": [""]}`` is a table of lists of texts, ``{}`` is any
table. What does not fit is named by its place, so that a file can be mended without a search.
"""

from __future__ import annotations

import re
import reprlib
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from evenhand.core.errors import BadInput


def read_text(place: Traversable | Path, where: str) -> str:
    """The text of a file, called ``where`` in a fault."""
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: cannot be read: {error}; expected a UTF-8 text file") from error


def toml(text: str, where: str) -> dict[str, Any]:
    """The document that a TOML text holds."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{where}: not TOML: {error}") from error


def misfit(value: object, shape: Any, name: str) -> str | None:
    """The first thing in a value that is not of the shape, or nothing; a text may not be blank.

    >>> misfit({"a": ["x", 5]}, {"": [""]}, "words")
    'words.a.2 is 5'
    >>> misfit({"a": ["x", "y"]}, {"": [""]}, "words")
    """
    if isinstance(shape, dict) and isinstance(value, dict):
        if "" in value:
            return f"{name} has an empty key"
        parts = [(part, shape[""], f"{name}.{key}") for key, part in value.items() if shape]
    elif isinstance(shape, list) and isinstance(value, list):
        parts = [(part, shape[0], f"{name}.{n}") for n, part in enumerate(value, start=1)]
    elif isinstance(shape, str) and isinstance(value, str) and value.strip():
        return None
    else:
        return f"{name} is {reprlib.repr(value)}"
    return next((found for part in parts if (found := misfit(*part))), None)


def name_fault(name: str) -> str | None:
    """Why a name cannot stand in the names of files and cases; None where it can.

    >>> name_fault("my-suite"), name_fault("../x")
    (None, "name is '../x'; expected letters, digits, dots, hyphens and underscores only")
    """
    if re.fullmatch(r"\w[\w.-]*", name):
        return None
    return f"name is {name!r}; expected letters, digits, dots, hyphens and underscores only"
