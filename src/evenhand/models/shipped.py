"""The detectors in the box: trained folders that come with the package, pinned by checksum.

They lie in ``in_the_box`` beside this module, a folder each, written by ``tools/box.py``, which
also writes ``checksums.json``. A folder that is not the one this version was made with is refused,
so that scores under a shipped name are always those its model card speaks of. A detector in the box
goes by its name, also where the current folder holds a folder of that name (``./evenhand-base``).
"""

from __future__ import annotations

import json
from pathlib import Path

from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.core.provenance import sha256
from evenhand.models.protocol import Trained
from evenhand.models.saving import load

BASE, FAST = "evenhand-base", "evenhand-fast"
MOST_BYTES = {BASE: 25_000_000, FAST: 3_000_000}
"""The names of detectors in the box, and how large each may be with all its files."""
CHECKSUMS = "checksums.json"
BOX = Path(__file__).parent / "in_the_box"


def folder_of(name: str) -> Path:
    """The folder of a detector in the box."""
    folder = BOX / name
    if not folder.is_dir():
        there = [known for known in MOST_BYTES if (BOX / known).is_dir()]
        only = f"has only {' and '.join(there)}" if there else "has no detector"
        raise UnknownComponent(
            f"no {name}: this build of evenhand {only} in the box. Name another detector, such as "
            "a folder written by `evenhand train --save`"
        )
    return folder


def shipped(name: str) -> Trained:
    """A detector in the box, after its files were checked."""
    folder = folder_of(name)
    for file, expected in _pinned(name).items():
        path = folder / file
        if not path.is_file() or sha256(path) != expected:
            what = "is not the one" if path.is_file() else "is missing; it is among those"
            raise BadInput(
                f"{path}: {what} this version of evenhand came with. Install evenhand again; to "
                f"use a detector of your own, name its folder by another path than {name}"
            )
    return load(folder)


def _pinned(name: str) -> dict[str, str]:
    """The checksum of every file of a detector."""
    path = BOX / CHECKSUMS
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))[name])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}: has no checksums of {name} ({type(error).__name__}). Install evenhand again"
        ) from error
