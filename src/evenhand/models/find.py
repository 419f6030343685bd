"""From what a user typed to a detector or a recipe.

A detector is a folder written by ``train --save``, ``predictions:FILE`` or
``python:module:function``; a recipe is a registered name, with options as
``name:key=value,key=value``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import cast

from evenhand.core import registry
from evenhand.core.errors import BrokenComponent, UnknownComponent
from evenhand.models.callables import function_detector
from evenhand.models.options import parse
from evenhand.models.predictions import predictions
from evenhand.models.protocol import Detector, Recipe
from evenhand.models.saving import load
from evenhand.models.scoring import KnowsPosts


def detector(
    name: str, *, column: str | None = None, hateful: Sequence[str] = ()
) -> Detector | KnowsPosts:
    """The detector a user named; ``column`` and ``hateful`` are for files of predictions."""
    kind, colon, rest = name.partition(":")
    if colon and kind == "predictions":
        return predictions(Path(rest), column=column, hateful=hateful)
    if colon and kind == "python":
        return function_detector(name)
    path = Path(name)
    if path.is_dir() or (os.sep in name and not colon):
        return load(path)
    raise UnknownComponent(
        f"no detector {name!r}: expected a folder written by `evenhand train --save`, "
        "predictions:FILE or python:module:function"
    )


def recipe(name: str) -> Recipe:
    """The recipe a user named, with the options given behind a colon."""
    plain, _, options = name.partition(":")
    kind = registry.get("recipes", plain)
    if not (isinstance(kind, type) and is_dataclass(kind) and callable(getattr(kind, "fit", None))):
        raise BrokenComponent(
            f"recipes {plain!r} is {kind!r}; expected a dataclass of options with a method fit"
        )
    return cast(Recipe, kind(**parse(kind, options, plain)))
