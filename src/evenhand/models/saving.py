"""A trained detector as a folder, written at once and checked when it is read.

======================  ==========================================================================
``detector.json``       format, recipe and its options, attributes, provenance, checksums
``arrays.npz``          what was learned
``training.npz``        digests of the training posts (:mod:`evenhand.models.seen`)
======================  ==========================================================================

Nothing is pickled: an array of objects is neither written nor read. A detector loads in any process
with scores equal to the last bit on the same machine and library versions. The name of a loaded
detector is its folder's.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from evenhand.core import registry
from evenhand.core.errors import BadInput, BrokenComponent, UnknownComponent
from evenhand.core.provenance import VERSION, DataUsed, folder_at_once, sha256
from evenhand.models.options import as_json, from_json
from evenhand.models.protocol import Recipe, Record, Trained
from evenhand.models.seen import Seen

FORMAT = 1
"""Raised when an older version could no longer read what is written."""
ABOUT, ARRAYS, TRAINING = "detector.json", "arrays.npz", "training.npz"
CARD = "card.md"
"""The model card in a detector's folder, where it has one."""
_NEEDED: dict[str, type] = {
    "evenhand": str, "kind": str, "attributes": list, "options": dict, "provenance": dict,
    "files": dict,
}  # fmt: skip


def save(detector: Trained, folder: Path, *, data: Sequence[DataUsed] = ()) -> None:
    """Write a detector; ``data`` names the corpora it was trained on, with checksums."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder}: is a file; expected a folder to save the detector in")
    record = detector.record
    if data:
        provenance = {**record.provenance, "data": [vars(used) for used in data]}
        record = replace(record, provenance=provenance)
    try:
        with folder_at_once(folder) as temporary:
            _write(temporary / ARRAYS, detector.arrays(), record.recipe.name)
            seen = {"ids": record.seen.ids, "keys": record.seen.keys}
            _write(temporary / TRAINING, seen, record.recipe.name)
            text = json.dumps(_about(record, temporary), indent=2, ensure_ascii=False)
            (temporary / ABOUT).write_text(f"{text}\n", encoding="utf-8")
        (folder / CARD).unlink(missing_ok=True)  # of another detector that was there
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error}") from error


def _write(path: Path, arrays: Mapping[str, NDArray[Any]], recipe: str) -> None:
    objects = [name for name, array in arrays.items() if array.dtype.hasobject]
    if objects:
        raise BrokenComponent(
            f"recipe {recipe!r} wants to save objects in {', '.join(objects)}; "
            "expected plain arrays of numbers"
        )
    np.savez_compressed(path, **cast(Any, arrays))


def _about(record: Record, folder: Path) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "evenhand": VERSION,
        "kind": record.recipe.name,
        "attributes": list(record.attributes),
        "options": as_json(record.recipe),
        "provenance": dict(record.provenance),
        "files": {name: sha256(folder / name) for name in (ARRAYS, TRAINING)},
    }


def load(folder: Path) -> Trained:
    """Read a saved detector."""
    about = _read_about(folder)
    for name in (ARRAYS, TRAINING):
        _check_file(folder / name, about["files"].get(name))
    recipe = _recipe(folder, about)
    try:
        training, arrays = _read(folder / TRAINING), _read(folder / ARRAYS)
        record = Record(
            recipe=recipe,
            name=folder.resolve().name,
            attributes=tuple(about["attributes"]),
            provenance=about["provenance"],
            seen=Seen(training["ids"], training["keys"]),
        )
        return recipe.restore(record, arrays)
    except (
        KeyError, ValueError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile,
    ) as error:  # fmt: skip
        raise BadInput(
            f"{folder}: the arrays are not those of a {about['kind']} detector "
            f"({type(error).__name__}: {error}); train it again"
        ) from error


def _read_about(folder: Path) -> dict[str, Any]:
    path = folder / ABOUT
    if not path.is_file():
        what = "has no detector.json" if folder.is_dir() else "does not exist"
        raise BadInput(f"{folder}: {what}; expected a folder written by `evenhand train --save`")
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise BadInput(f"{path}: cannot be read as JSON: {error}; train it again") from error
    found = about.get("format") if isinstance(about, dict) else None
    if not isinstance(found, int):
        raise BadInput(f"{path}: has no format number; expected a saved detector")
    if found > FORMAT:
        raise BadInput(
            f"{path}: format {found}, written by evenhand {about.get('evenhand', '(unknown)')}; "
            f"this is evenhand {VERSION}, which reads up to format {FORMAT}. Upgrade evenhand."
        )
    wrong = [key for key, kind in _NEEDED.items() if not isinstance(about.get(key), kind)]
    names = about.get("attributes") or [None]
    if "attributes" not in wrong and not all(isinstance(name, str) for name in names):
        wrong.append("attributes")
    if wrong:
        raise BadInput(f"{path}: {', '.join(wrong)} missing or malformed; train it again")
    return dict(about)


def _check_file(path: Path, expected: object) -> None:
    if not path.is_file():
        raise BadInput(f"{path}: is missing; copy the whole folder, or train the detector again")
    if sha256(path) != expected:
        raise BadInput(
            f"{path}: its checksum is not the one in {ABOUT}: changed, or cut off while being "
            "saved or copied. Copy the folder again, or train the detector again."
        )


def _recipe(folder: Path, about: Mapping[str, Any]) -> Recipe:
    try:
        kind = registry.get("recipes", about["kind"])
    except UnknownComponent as error:
        raise UnknownComponent(f"{folder}: {error}; install the package that has it") from None
    try:
        recipe: Recipe = kind(**from_json(kind, about["options"]))
    except (BadInput, TypeError) as error:
        raise BadInput(f"{folder / ABOUT}: the options are wrong: {error}") from error
    return recipe


def _read(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)
