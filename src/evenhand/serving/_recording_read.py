"""What a recording is of, and everything it holds, read from its folder."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import BadInput, Fault

FORMAT, VERSION = "evenhand-recording", 1
ABOUT, KEY = "recording.json", "digest.key"
_PARTS = "part-*.jsonl"
_WORDS = (
    "expected the folder that `evenhand migrate record --out` wrote, a corpus with published "
    "scores, or a file with a column for each attribute"
)


@dataclass(frozen=True, kw_only=True)
class About:
    """What a recording is of."""

    upstream: str
    """The service that answered, without a key."""
    texts: bool
    """Whether texts are kept; else their digests, and the scores of ``detector`` beside."""
    sample: float = 1.0
    detector: str | None = None
    sha256: str | None = None
    """The detector's checksum."""

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}


@dataclass(frozen=True)
class Recording:
    """A recording that was read."""

    about: About
    rows: list[dict[str, Any]]
    """Answers in the order they were stored."""
    files: tuple[Path, ...]
    torn: int
    """Lines that were being written when a run ended."""


def digest_of(folder: Path, about: About) -> Digest:
    """What stands for texts in this recording."""
    if about.texts:
        return Digest(b"")
    try:
        return Digest(bytes.fromhex((folder / KEY).read_text(encoding="ascii")))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{folder / KEY}: cannot be read ({type(error).__name__}), so that known texts cannot "
            "be told from new ones; record into a new folder"
        ) from error


@dataclass(frozen=True)
class Digest:
    """From a text to an id: keyed where texts are not kept."""

    key: bytes

    def of(self, text: str) -> str:
        """32 hexadecimal digits; the same text always has the same."""
        written = text.encode("utf-8", "surrogatepass")
        if not self.key:
            return hashlib.sha256(written).hexdigest()[:32]
        return hmac.new(self.key, written, hashlib.sha256).hexdigest()[:32]


def read_about(folder: Path) -> About:
    """What a folder says it is; refuses one that is no recording."""
    path = folder / ABOUT
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("format") != FORMAT:
            raise ValueError("another format")
        version = found.pop("version")
        if version != VERSION:
            raise BadInput(f"{path}: version {version}; this evenhand reads {VERSION}")
        return About(**found)
    except FileNotFoundError:
        raise BadInput(f"{folder}: no {ABOUT}, so it is no recording; {_WORDS}") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{path}: cannot be read as a recording ({error}); {_WORDS}") from error


def read_recording(folder: Path) -> Recording:
    """Everything a folder holds; every damaged line is named."""
    about = read_about(folder)
    parts = parts_of(folder)
    rows: list[dict[str, Any]] = []
    torn = 0
    wrong: list[Fault] = []
    for path in parts:
        for number, line in _lines(path):
            if not line.endswith(b"\n"):
                torn += 1
                continue
            try:
                row = json.loads(line)
                if not isinstance(row, dict) or not isinstance(row["id"], str):
                    raise ValueError("no answer")
            except (ValueError, KeyError) as error:
                what = f"not a recorded answer ({error}); delete the line"
                wrong.append(Fault(str(path), what, number))
            else:
                rows.append(row)
    if wrong:
        raise BadInput(*wrong)
    return Recording(about, rows, (folder / ABOUT, *parts), torn)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from enumerate(file, start=1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from error


def parts_of(folder: Path) -> list[Path]:
    """The files of answers, in order."""
    return sorted(path for path in folder.glob(_PARTS) if path.stem[5:].isdecimal())
