"""Published files of a corpus, downloaded once and proved by checksum: ``data get``.

:func:`fetch` writes each :class:`~evenhand.data.corpus.Download` of a reader below the data folder,
as served. Bytes arrive in ``FILE.part`` (:mod:`evenhand.data._transfer`, the only part of
``evenhand.data`` that uses the network); the part takes its final name in one step, when length and
checksum agree, and not before. A download that was cut off is continued by the next run if the
server names the version of the file, and else begun again.

A checksum the reader declares must be met. Where it declares none, the first download's is recorded
in ``SHA256SUMS`` beside the files (``sha256sum --check`` reads it) and must be met from then on.
``force`` replaces an installed file; it never excuses a wrong checksum. One process at a time works
in a folder.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from evenhand.core.errors import BadInput, EvenhandError, Fault
from evenhand.core.provenance import sha256
from evenhand.data._transfer import Part, Progress, Wire, complete, write_at_once
from evenhand.data.corpus import Download, Reader

SUMS = "SHA256SUMS"
_LOCK = ".get.lock"
_SUM_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](.+)")

Status = Literal["downloaded", "installed", "unchecked"]


@dataclass(frozen=True)
class Fetched:
    """One file after :func:`fetch`."""

    path: Path
    url: str
    status: Status
    """``downloaded`` now; ``installed`` before, with the right checksum; or ``unchecked``: it was
    there before and no checksum is known for it (it is left alone)."""
    bytes: int
    sha256: str


def fetch(
    reader: Reader,
    data: Path,
    *,
    mirror: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
    sleep: Callable[[float], None] = time.sleep,
    timeout_seconds: float = 30.0,
) -> list[Fetched]:
    """Download what the reader declares into ``data / reader.folder``; one result per download.

    ``mirror`` is a base URL that holds the same files as ``FOLDER/FILE``. A reader without
    downloads is refused with its ``by_hand`` text; where it has both, showing ``by_hand`` is left
    to the caller.
    """
    folder = data / reader.folder
    if not reader.downloads:
        how = reader.by_hand or f"no download is known; see {reader.homepage or 'its publication'}"
        raise BadInput(f"{reader.name}: {how}\nThe files go into {folder}")
    urls = [_url(reader, download, mirror) for download in reader.downloads]
    _refuse_unsafe(reader, urls)
    wire = Wire(progress or (lambda file, done, total: None), sleep, timeout_seconds)
    try:
        with _locked(folder):
            pairs = zip(reader.downloads, urls, strict=True)
            return [_get(folder, download, url, force, wire) for download, url in pairs]
    except OSError as error:  # Network failures are caught where they arise: this is the disk.
        raise EvenhandError(
            f"{folder}: cannot write there: {error}. What has arrived is kept; mend that (make "
            "room, change permissions) and run the command again to resume"
        ) from error


def _url(reader: Reader, download: Download, mirror: str | None) -> str:
    if mirror is None:
        return download.url
    return f"{mirror.rstrip('/')}/{quote(f'{reader.folder}/{download.file}')}"


def _refuse_unsafe(reader: Reader, urls: list[str]) -> None:
    """Refuse names that leave their folder and URLs that are not plain http or https."""
    names = [reader.folder, *(download.file for download in reader.downloads)]
    faults = [
        Fault(reader.name, f"{name!r} is not a plain path below the data folder; nothing was done")
        for name in names
        if not _is_safe_name(name)
    ]
    faults += [
        Fault(reader.name, f"{url!r} cannot be used; expected http(s)://HOST/PATH, without a login")
        for url in urls
        if not _is_web_url(url)
    ]
    if faults:
        raise BadInput(*faults)


def _is_safe_name(name: str) -> bool:
    r"""Whether ``name`` is a relative path that stays below its folder and is not one of ours.

    >>> [_is_safe_name(name) for name in ("a/b.csv", "../b.csv", "/b.csv", "a\\b.csv", "b.part")]
    [True, False, False, False, False]
    """
    steps = name.split("/")
    ours = steps[-1] in (SUMS, _LOCK) or name.endswith((".part", ".part.json"))
    plain = name.isprintable() and not set(name) & {"\\", ":"}
    return plain and not ours and not set(steps) & {"", ".", ".."}


def _is_web_url(url: str) -> bool:
    """Whether this is a plain http or https URL without a login.

    >>> [_is_web_url(url) for url in ("https://a.org/b", "file:///b", "http://me:x@a.org/b")]
    [True, False, False]
    """
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0  # A bad port raises.
    except ValueError:
        return False
    plain = re.fullmatch(r"[!-~]+", url) is not None and "@" not in parts.netloc
    return parts.scheme in ("http", "https") and has_host and plain


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes out; the lock goes with the process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EvenhandError(
                f"{folder}: another process is downloading into this folder; "
                "run the command again when it is done"
            ) from None
        yield


def _get(folder: Path, download: Download, url: str, force: bool, wire: Wire) -> Fetched:
    """See that one file is installed with the right checksum."""
    target = folder / download.file
    sums = _read_sums(folder)
    known = download.sha256 or sums.get(download.file)
    origin = "declared by the reader" if download.sha256 else f"recorded in {folder / SUMS}"
    if target.exists():
        found = sha256(target)
        if _agree(known, found) or (known is None and not force):
            status: Status = "installed" if known else "unchecked"
            return Fetched(target, url, status, target.stat().st_size, found)
        if not force:
            raise BadInput(
                f"{target}: is installed, but differs from the published file: sha256 expected "
                f"{known} ({origin}), found {found}. It was left alone; move it away or --force"
            )
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Part.resume(target, url)
    complete(part, download.file, checksum_known=known is not None, wire=wire)
    found = sha256(part.path)
    if known is None:  # Recorded before the file is there: a crash between must not lose it.
        _write_sums(folder, sums | {download.file: found})
    elif not _agree(known, found):
        part.discard()
        raise BadInput(_mismatch(download, url, f"{known} ({origin})", found))
    os.replace(part.path, target)
    part.discard()
    return Fetched(target, url, "downloaded", target.stat().st_size, found)


def _agree(known: str | None, found: str) -> bool:
    return known is not None and known.lower() == found


def _mismatch(download: Download, url: str, expected: str, found: str) -> str:
    return (
        f"{url}: sha256 expected {expected}, found {found}. The download was removed, nothing was "
        "installed. Try again later or use a mirror"
        + ("" if download.sha256 else "; if the publisher changed the file, delete that record")
    )


def _read_sums(folder: Path) -> dict[str, str]:
    path = folder / SUMS
    sums = {}
    lines = path.read_text("utf-8", "surrogateescape").splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        match = _SUM_LINE.fullmatch(line)
        if match is None:
            raise BadInput(Fault(str(path), "expected 'SHA256  FILE'; delete the line", number))
        sums[match[2]] = match[1]
    return sums


def _write_sums(folder: Path, sums: dict[str, str]) -> None:
    text = "".join(f"{value}  {file}\n" for file, value in sorted(sums.items()))
    write_at_once(folder / SUMS, text)
