"""From what a user typed to a detector or a recipe.

A detector is one in the box (``evenhand-base``, ``evenhand-fast``), a folder written by ``train
--save``, ``hf:FOLDER``, ``perspective:URL``, ``openai:URL``, ``predictions:FILE`` or
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
from evenhand.models.addresses import without_key
from evenhand.models.callables import function_detector
from evenhand.models.openai import OpenAI
from evenhand.models.options import parse
from evenhand.models.perspective import Perspective
from evenhand.models.predictions import predictions
from evenhand.models.protocol import HATE, Detector, Recipe
from evenhand.models.remote import RemoteOptions, remote_detector
from evenhand.models.saving import load
from evenhand.models.scoring import KnowsPosts
from evenhand.models.shipped import MOST_BYTES, shipped
from evenhand.models.transformers_folder import folder_detector

_DIALECTS = {dialect.kind: dialect for dialect in (Perspective(), OpenAI())}
_USUAL = RemoteOptions()


def detector(
    name: str,
    *,
    column: str | None = None,
    hateful: Sequence[str] = (),
    attribute: str | None = None,
    remote: RemoteOptions = _USUAL,
) -> Detector | KnowsPosts:
    """The detector a user named.

    ``column`` and ``hateful`` are for files of predictions, ``remote`` is for servers.
    ``attribute`` is what a server is asked for, a file has scores of, or a transformers folder is
    judged by; any other detector has all its attributes whatever is given here.
    """
    if name in MOST_BYTES:
        return shipped(name)
    kind, colon, rest = name.partition(":")
    if colon and kind == "predictions":
        return predictions(Path(rest), column=column, attribute=attribute or HATE, hateful=hateful)
    if colon and kind == "python":
        return function_detector(name)
    if colon and kind == "hf":
        return folder_detector(name, attribute)
    if colon and kind in _DIALECTS:
        return remote_detector(_DIALECTS[kind], rest, attribute=attribute, options=remote)
    path = Path(name)
    if path.is_dir() or (os.sep in name and not colon):
        return load(path)
    raise UnknownComponent(
        f"no detector {without_key(name)!r}: expected {', '.join(MOST_BYTES)}, a folder written by "
        "`evenhand train --save`, hf:FOLDER, perspective:URL, openai:URL, predictions:FILE or "
        "python:module:function"
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
