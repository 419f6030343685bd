"""One URL into one ``.part`` file over as many connections as it takes.

Beside ``FILE.part`` stands ``FILE.part.json``: the URL, the server's name for this version (a
strong ETag, else Last-Modified) and the full length. With it a later connection asks for the rest
(``Range`` with ``If-Range``) and checks that the rest is what came. When the version has changed,
the server ignores ranges, or it never named the version, the download starts again. Cut
connections, 408, 429 and 5xx are tried again after a growing pause, or the one the server asks for
(:mod:`evenhand.core.waiting`); a range that does not fit is asked for again at once. A failure
after new bytes starts the count of failures again.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import IO
from urllib import request
from urllib.error import HTTPError
from urllib.parse import urlsplit

from evenhand.core.errors import EvenhandError
from evenhand.core.provenance import VERSION
from evenhand.core.waiting import LONGEST_WAIT_SECONDS, retry_after

ATTEMPTS = 4
"""So many failures in a row end a download; one after new bytes is the first of a new row."""
_CHUNK = 1 << 16
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")

Progress = Callable[[str, int, int | None], None]
"""Called with the file, the bytes there so far, and the bytes in all (None: not known)."""


class _Interrupted(Exception):
    """A failure that may pass: worth another try after ``wait_seconds`` (None: the usual)."""

    def __init__(self, what: str, wait_seconds: float | None = None) -> None:
        super().__init__(what)
        self.wait_seconds = wait_seconds


@dataclass
class Part:
    """A download under way: the bytes so far, and the version of the file they belong to."""

    path: Path
    url: str
    validator: str | None = None
    """The server's name for this version; without one a part cannot be continued safely."""
    total: int | None = None

    @classmethod
    def resume(cls, target: Path, url: str) -> Part:
        """What an earlier run left, or a fresh part where that cannot be continued."""
        part = cls(target.with_name(target.name + ".part"), url)
        with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            note = json.loads(part.note.read_text("utf-8"))
            if note["url"] == url:
                part.validator, part.total = note["validator"], note["total"]
        part.drop_unless_usable()
        return part

    @property
    def note(self) -> Path:
        """The file that says what the bytes are part of."""
        return self.path.with_name(self.path.name + ".json")

    @property
    def size(self) -> int:
        """Bytes there so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def complete(self) -> bool:
        """Whether all bytes are there; says nothing of the checksum."""
        return self.path.exists() and self.size == self.total

    def drop_unless_usable(self) -> None:
        """Discard bytes that cannot be continued."""
        too_long = self.total is not None and self.size > self.total
        if too_long or not (self.complete or self.validator):
            self.discard()

    def discard(self) -> None:
        """Forget everything; the bytes go before the note."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)
        self.validator = self.total = None

    def begin(self, validator: str | None, total: int | None) -> None:
        """Start from nothing. The old bytes go first: they must never meet the new note."""
        self.discard()
        self.validator = validator
        self.set_total(total)

    def set_total(self, total: int | None) -> None:
        """Remember the full length, also for the next run."""
        self.total = total
        facts = {"url": self.url, "validator": self.validator, "total": total}
        write_at_once(self.note, json.dumps(facts))

    def append(self, chunks: Iterator[bytes]) -> Iterator[int]:
        """Write chunks as they come, unbuffered; yields the size after each."""
        with self.path.open("ab", buffering=0) as file:
            for chunk in chunks:
                view = memoryview(chunk)
                while view:
                    view = view[file.write(view) :]
                yield file.tell()


class _WebRedirects(request.HTTPRedirectHandler):
    """Follows redirects to http and https only, and never from https back to http."""

    def redirect_request(
        self,
        req: request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> request.Request | None:
        allowed = ("https",) if req.type == "https" else ("http", "https")
        if urlsplit(newurl).scheme not in allowed:
            raise HTTPError(newurl, code, f"{msg} (a redirect to {newurl})", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> request.OpenerDirector:
    """An opener with proxies, but without urllib's doors to ftp:, file: and data:."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        _WebRedirects,
    ):
        opener.add_handler(handler())
    return opener


@dataclass(frozen=True)
class Wire:
    """How to talk to servers."""

    progress: Progress
    sleep: Callable[[float], None]
    timeout_seconds: float
    opener: request.OpenerDirector = field(default_factory=_opener)


def complete(part: Part, file: str, *, checksum_known: bool, wire: Wire) -> None:
    """Bring the part to its full length; ``file`` is its name for people."""
    failures, most = 0, part.size
    while not part.complete:
        try:
            _receive(part, file, checksum_known, wire)
        except _Interrupted as cut:
            failures = 1 if part.size > most else failures + 1
            most = max(most, part.size)
            part.drop_unless_usable()
            wait = 2.0 ** (failures - 1) if cut.wait_seconds is None else cut.wait_seconds
            if failures >= ATTEMPTS or wait > LONGEST_WAIT_SECONDS:
                raise EvenhandError(
                    f"{part.url}: {cut} (tries without progress: {failures}); {part.size} bytes of "
                    f"{file} are kept. Run the command again to resume"
                ) from cut
            wire.sleep(wait)


def _receive(part: Part, file: str, checksum_known: bool, wire: Wire) -> None:
    """One connection: continue the part, or start it again where the server does."""
    with _open(part, wire) as response:
        if response.status == 206:
            _accept_range(part, response)
        else:
            part.begin(_validator(response.headers), response.length)
        if response.length is None and not response.chunked and not checksum_known:
            raise EvenhandError(
                f"{part.url}: the server does not say how long the file is and no checksum is "
                "known, so that half a file would look like a whole one; use a mirror"
            )
        promised = part.size + (response.length or 0)
        wire.progress(file, part.size, part.total)
        for size in part.append(_chunks(response)):
            wire.progress(file, size, part.total)
    if part.size < promised or part.size < (part.total or 0):
        raise _Interrupted(f"the connection ended after {part.size} of {part.total} bytes")
    part.set_total(part.size)


def _open(part: Part, wire: Wire) -> http.client.HTTPResponse:
    headers = {"User-Agent": f"evenhand/{VERSION}", "Accept-Encoding": "identity"}
    if part.size and part.validator:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": part.validator}
    asked = request.Request(part.url, headers=headers)
    try:
        response: http.client.HTTPResponse = wire.opener.open(asked, timeout=wire.timeout_seconds)
    except HTTPError as error:
        with error:
            raise _refusal(part, error) from error
    except ValueError as error:
        raise EvenhandError(f"{part.url}: cannot be used: {error}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise EvenhandError(f"{part.url}: the server cannot be trusted: {reason}") from error
        raise _Interrupted(f"no connection: {reason or type(reason).__name__}") from error
    if response.status not in (200, 206):
        response.close()
        raise EvenhandError(f"{part.url}: the server answered {response.status}, without the file")
    return response


def _refusal(part: Part, error: HTTPError) -> Exception:
    """What a status other than success means for the download."""
    what = f"the server answered {error.code} {error.reason}"
    if error.code == 416:
        what += f" after {part.size} of {part.total} bytes"
        part.discard()
        return _Interrupted(what, 0.0)
    if error.code in (408, 429) or error.code >= 500:
        wait = retry_after(error.headers)
        return _Interrupted(what if wait is None else f"{what}, try again in {wait:.0f} s", wait)
    why = "the file is not there" if error.code in (404, 410) else "it does not hand the file out"
    return EvenhandError(f"{part.url}: {what}: {why}. Use a mirror, or get the file by hand")


def _validator(headers: Message) -> str | None:
    """What names this version of the file: a strong ETag, else the date it was changed."""
    etag = headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")


def _accept_range(part: Part, response: http.client.HTTPResponse) -> None:
    """See that the rest is of the same place and version; otherwise the part starts again."""
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if (
        match is None
        or not 0 < part.size == int(match[1])
        or match[2] not in ("*", str(part.total or match[2]))
        or _validator(response.headers) not in (None, part.validator)
    ):
        part.discard()
        raise _Interrupted("the server continued another file than the one begun", 0.0)
    if match[2] != "*":
        part.set_total(int(match[2]))


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while chunk := response.read(_CHUNK):
            yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise _Interrupted(f"the connection broke: {error or type(error).__name__}") from error


def write_at_once(path: Path, text: str) -> None:
    """Write a small file so that nobody sees half of it."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, "utf-8", "surrogateescape")
    os.replace(new, path)
