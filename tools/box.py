"""Puts a trained detector in the box: src/evenhand/models/in_the_box, with its checksums.

Run ``python tools/box.py evenhand-base FOLDER CARD`` with a folder written by ``evenhand train``
and its model card. The detector is loaded once, so that nothing broken ships, and refused where it
is larger than MOST_BYTES allows. An artefact is committed once, when it is final.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from evenhand.core.errors import BadInput, EvenhandError
from evenhand.core.provenance import folder_at_once, sha256
from evenhand.models.saving import ABOUT, ARRAYS, CARD, TRAINING, load
from evenhand.models.shipped import BOX, CHECKSUMS, MOST_BYTES


def put(name: str, folder: Path, card: Path, box: Path = BOX) -> int:
    """Copy a detector into the box and pin its files; how many bytes it has."""
    if name not in MOST_BYTES:
        raise BadInput(f"no place for {name!r} in the box; expected {' or '.join(MOST_BYTES)}")
    if not card.is_file():
        raise BadInput(f"{card}: no such file; a detector does not ship without its model card")
    load(folder)
    files = {file: folder / file for file in (ABOUT, ARRAYS, TRAINING)} | {CARD: card}
    size = sum(path.stat().st_size for path in files.values())
    if size > MOST_BYTES[name]:
        parts = ", ".join(f"{file} {path.stat().st_size:,}" for file, path in files.items())
        raise BadInput(f"{name} has {size:,} bytes of at most {MOST_BYTES[name]:,}: {parts}")
    with folder_at_once(box / name) as place:
        for file, path in files.items():
            shutil.copyfile(path, place / file)
    pins = box / CHECKSUMS
    known = json.loads(pins.read_text(encoding="utf-8")) if pins.is_file() else {}
    known[name] = {file: sha256(box / name / file) for file in files}
    text = json.dumps(known, indent=2, sort_keys=True)
    pins.write_text(f"{text}\n", encoding="utf-8")
    return size


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python tools/box.py NAME FOLDER CARD")
    name, folder, card = sys.argv[1:]
    try:
        print(f"{name}: {put(name, Path(folder), Path(card)):,} bytes in {BOX}")
    except EvenhandError as error:
        sys.exit(f"box: {error}")
