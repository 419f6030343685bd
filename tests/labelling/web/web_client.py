"""A lean client of the pages: a request as bytes, a reply as status, way on and page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

_LENGTH = re.compile(rb"content-length: (\d+)", re.I)
_LOCATION = re.compile(rb"location: (\S+)", re.I)
_COOKIE = re.compile(rb"set-cookie: (evenhand=[^;\r]+)", re.I)
LOST = (OSError, EOFError, asyncio.TimeoutError)
"""A reply that never came: the connection was refused, cut, or silent for too long."""


@dataclass(frozen=True)
class Seen:
    """A reply."""

    status: int
    location: str
    page: str

    def value(self, name: str) -> str:
        """A field of a form on the page; empty where there is none."""
        found = re.search(rf'name="{name}" value="([^"]*)"', self.page)
        return found[1] if found else ""


class Client:
    """One browser: a cookie and a connection that is opened again when it is lost."""

    def __init__(self, port: int, patience: float = 60.0) -> None:
        self._port = port
        self._patience = patience
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.cookie = ""

    def get(self, path: str) -> bytes:
        """A request for a page."""
        return self._request("GET", path, b"")

    def form(self, path: str, fields: Mapping[str, object]) -> bytes:
        """A request that sends a form."""
        return self._request("POST", path, urlencode(fields, doseq=True).encode())

    def _request(self, method: str, path: str, body: bytes) -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        if self.cookie:
            head += f"Cookie: {self.cookie}\r\n"
        if body:
            head += "Content-Type: application/x-www-form-urlencoded\r\n"
            head += f"Content-Length: {len(body)}\r\n"
        return f"{head}\r\n".encode() + body

    async def ask(self, request: bytes) -> Seen:
        """Send and read the reply; raises one of LOST."""
        try:
            async with asyncio.timeout(self._patience):
                if self._open is None:
                    self._open = await asyncio.open_connection("127.0.0.1", self._port)
                reader, writer = self._open
                writer.write(request)
                return self._seen(*await _reply(reader))
        except LOST:
            self.close()
            raise

    async def ask_aside(self, request: bytes, *, send: float = 1.0, hold: float = 0.0) -> None:
        """Send a part of a request on another connection and cut it without reading a reply."""
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            writer.write(request[: max(1, round(send * len(request)))])
            await writer.drain()
            await asyncio.sleep(hold)
            writer.transport.abort()
        except OSError:
            pass

    def close(self) -> None:
        """Drop the connection."""
        if self._open is not None:
            self._open[1].transport.abort()
            self._open = None

    def _seen(self, head: bytes, body: bytes) -> Seen:
        location = _LOCATION.search(head)
        if cookie := _COOKIE.search(head):
            self.cookie = cookie[1].decode()
        return Seen(int(head[9:12]), location[1].decode() if location else "", body.decode())


async def _reply(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head, await reader.readexactly(int(length[1])) if length else b""
