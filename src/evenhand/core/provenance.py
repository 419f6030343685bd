"""Where a result comes from: the command, the seed, the data with checksums, the machine.

A :class:`Run` collects the data used and the findings made. ``document`` is what ``--json``
prints; ``run.json`` adds the environment, so that a result can be traced and repeated.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding

VERSION = version("evenhand")
_PACKAGES = ("numpy", "scipy", "polars", "torch")


@dataclass(frozen=True)
class DataUsed:
    """One input of a run."""

    name: str
    rows: int
    sha256: str | None
    """Of the file's bytes; of the sorted list of file checksums where there are several."""


@dataclass
class Run:
    """One command: what went in, what came out, how long it took."""

    command: list[str]
    seed: int = 0
    data: list[DataUsed] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def document(self) -> dict[str, Any]:
        """The JSON document of ``--json``."""
        return {
            "evenhand": VERSION,
            "command": self.command,
            "seed": self.seed,
            "data": [vars(used) for used in self.data],
            "seconds": round(time.monotonic() - self.started, 3),
            "findings": [finding.as_dict() for finding in self.findings],
        }

    def provenance(self) -> dict[str, Any]:
        """The contents of ``run.json``: everything but the findings, with the environment."""
        document = self.document()
        count = len(document.pop("findings"))
        return document | {
            "findings": count,
            "at": self.at.isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": {name: v for name in _PACKAGES if (v := _version(name))},
        }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def sha256(path: Path) -> str:
    """Checksum of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_all(paths: Iterable[Path]) -> str | None:
    """One checksum for a corpus: the file's own, or that of the sorted list of checksums."""
    sums = sorted(sha256(path) for path in paths)
    if len(sums) <= 1:
        return sums[0] if sums else None
    return hashlib.sha256("\n".join(sums).encode()).hexdigest()


def refuse_unwritable(out: Path) -> None:
    """Say at once that results cannot be written there, before they are worked for."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: is a file; --out expects a folder")
    place = next((at for at in (out, *out.absolute().parents) if at.exists()), out)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise BadInput(f"{out}: cannot be written: no folder can be made in {place}")


@contextmanager
def folder_at_once(out: Path) -> Iterator[Path]:
    """Write a folder of results so that a failure leaves nothing half-written.

    Yields an empty folder beside ``out``; when the block ends well its files are moved into
    ``out``, each replacing its older version in one step. When it raises, they are deleted.
    """
    refuse_unwritable(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as temporary:
        yield Path(temporary)
        out.mkdir(exist_ok=True)
        for path in sorted(Path(temporary).iterdir()):
            os.replace(path, out / path.name)


@contextmanager
def file_at_once(path: Path) -> Iterator[Path]:
    """Write a file so that a reader finds the old or the new one, whole, also after a crash.

    Yields a path beside it; when the block ends well that file takes the place of ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(name)
        with open(name, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
