"""Detector ``python:module:function``: a Python function from a list of texts to probabilities.

The function returns n numbers, or n rows of k numbers with the names of the k attributes in its
``attributes``. It is looked for in the current folder and on PYTHONPATH. What it returns is
checked: one row per text, finite, between 0 and 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import BadInput, BrokenComponent
from evenhand.data.files import like
from evenhand.models.protocol import HATE, Probabilities


@dataclass(frozen=True, eq=False)
class FunctionDetector:
    """A function as a detector."""

    name: str
    attributes: tuple[str, ...]
    function: Callable[[list[str]], Any]

    @property
    def provenance(self) -> dict[str, Any]:
        """Only its name is known."""
        return {"function": self.name}

    def score(self, texts: Sequence[str]) -> Probabilities:
        """What the function says of the texts, checked."""
        try:
            found = self.function(list(texts))
            p = np.asarray(found, dtype=np.float64)
        except Exception as error:  # the function is not ours: whatever it raises is its fault
            raise BrokenComponent(f"{self.name}: raised {type(error).__name__}: {error}") from error
        return checked(p, len(texts), self.attributes, self.name)


def checked(p: Probabilities, texts: int, attributes: Sequence[str], name: str) -> Probabilities:
    """Scores as n × k; refuses another shape and what is no probability."""
    if p.shape == (texts,) and len(attributes) == 1:
        p = p[:, None]
    if p.shape != (texts, len(attributes)):
        hint = "" if len(attributes) > 1 else ". Name several in the function's .attributes"
        raise BrokenComponent(
            f"{name}: returned an array of shape {p.shape} for {texts} texts; expected "
            f"{texts} rows of {len(attributes)} ({', '.join(attributes)}){hint}"
        )
    wrong = np.argwhere(~((p >= 0) & (p <= 1)))
    if len(wrong):
        row, column = wrong[0]
        raise BrokenComponent(
            f"{name}: text {row + 1} scores {p[row, column]} for {attributes[column]}; expected a "
            f"number between 0 and 1 ({len(wrong)} like this)"
        )
    return p


def function_detector(name: str) -> FunctionDetector:
    """The detector named ``python:module:function``."""
    _, _, place = name.partition(":")
    module_name, _, function_name = place.partition(":")
    if not module_name or not function_name:
        raise BadInput(f"{name}: expected python:module:function")
    function = _function(name, module_name, function_name)
    attributes = getattr(function, "attributes", (HATE,))
    if isinstance(attributes, str) or not attributes:
        raise BadInput(f"{name}: .attributes is {attributes!r}; expected a list of names")
    return FunctionDetector(name, tuple(map(str, attributes)), function)


def _function(name: str, module_name: str, function_name: str) -> Callable[[list[str]], Any]:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # and it stays: the function may import when it is called
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _import_failed(name, error) from error
        raise BadInput(
            f"{name}: no module {module_name!r} in the current folder or on PYTHONPATH"
        ) from None
    except Exception as error:  # a module runs any code when imported
        raise _import_failed(name, error) from error
    function = getattr(module, function_name, None)
    if function is None:
        close = like(function_name, dir(module))
        hint = f"; did you mean {close!r}?" if close else ""
        raise BadInput(f"{name}: module {module_name!r} has no {function_name!r}{hint}")
    if not callable(function):
        raise BadInput(f"{name}: is a {type(function).__name__}; expected a function")
    return function  # type: ignore[no-any-return]


def _import_failed(name: str, error: Exception) -> BrokenComponent:
    return BrokenComponent(f"{name}: importing it raised {type(error).__name__}: {error}")
