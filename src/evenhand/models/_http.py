"""Requests to one server: connections that stay open, a rate limit, and patience.

Time-outs, broken connections, 408, 429 and 5xx are tried again after a growing pause, or the pause
the server asks for, with some jitter on top; until it is over no thread sends anything. Any other
reply is handed to the caller. A server that refuses connections or does not exist is given up at
once if it has never answered. A request that was sent and is given up may be to blame itself, until
several in a row are given up. Redirects are not followed, so that the key goes to nobody else.
Proxies are taken from the environment, but never for this machine.
"""

from __future__ import annotations

import base64
import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Self
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from evenhand.core.errors import BadInput
from evenhand.core.provenance import VERSION
from evenhand.core.streams import stream
from evenhand.core.waiting import LONGEST_WAIT_SECONDS, retry_after
from evenhand.models._address import Address

_FIRST_PAUSE_SECONDS = 0.5
_FIRST_PAUSE_AT_QUOTA_SECONDS = 4.0  # doubled thrice: quotas are counted by the minute
_JITTER = 0.25
_LARGEST_REPLY = 1 << 24
_ABOUT_SERVER = (429, 502, 503)
"""Statuses that are tried again and never the fault of one request."""
_NOW_SECONDS = 1e-9
"""A wait that is shorter is the clock's rounding."""


class Unanswered(Exception):
    """No answer after all attempts."""

    def __init__(self, what: str, *, one: bool = False) -> None:
        super().__init__(what)
        self.one = one
        """Whether the request may be to blame: the server answers others."""


class _Unconnected(Exception):
    """There is no connection, so that nothing was sent; the cause says why."""


class Stopped(Exception):
    """Somebody else has failed, so that this request is not worth waiting for."""


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    reason: str
    headers: Message
    body: bytes


@dataclass(frozen=True)
class Patience:
    """How long to wait and how often to try."""

    timeout_seconds: float
    attempts: int
    per_second: float
    """Most requests a second; 0 means no limit."""
    in_a_row: int
    """So many requests given up with no success between: it is the server, not the request."""
    sleep: Callable[[float], None] | None = None
    """For tests; by default a sleep that ends early when everything stops."""
    clock: Callable[[], float] = time.monotonic


class Line:
    """Connections to one server, shared by threads; close it by leaving its ``with``."""

    def __init__(self, address: Address, patience: Patience) -> None:
        self._address = address
        self._patience = patience
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._sleep = patience.sleep or self._stopped.wait
        self._jitter = stream(os.getpid(), "jitter")
        self._proxy = _proxy(address)
        self._next = 0.0  # when the next request may start
        self._reached = False
        self._given_up = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        while self._idle:
            self._idle.pop().close()

    def stop(self) -> None:
        """Let waiting threads give up at once."""
        self._stopped.set()

    def post(self, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Send until there is an answer."""
        attempt = 0
        while True:
            attempt += 1
            self._turn()
            wait, pause, one = None, _FIRST_PAUSE_SECONDS, True
            try:
                reply = self._once(path, headers, body)
            except _Unconnected as error:
                what, one = self._no_answer(error.__cause__), False
                if not self._reached and isinstance(
                    error.__cause__, ConnectionRefusedError | socket.gaierror
                ):
                    raise Unanswered(what) from None
            except (OSError, http.client.HTTPException) as error:
                what = self._no_answer(error)
            else:
                self._reached = True
                if reply.status not in (408, 429) and reply.status < 500:
                    self._given_up = 0
                    return reply
                what = f"the server answered {reply.status} {reply.reason}"
                wait = retry_after(reply.headers)
                one = reply.status not in _ABOUT_SERVER
                if reply.status == 429:
                    pause = _FIRST_PAUSE_AT_QUOTA_SECONDS
            too_long = (wait or 0) > LONGEST_WAIT_SECONDS
            last = attempt >= self._patience.attempts
            if not too_long and (wait is not None or not last):
                asked = pause * 2 ** (attempt - 1) if wait is None else wait
                self._hold(asked * (1 + _JITTER * self._jitter.random()))
            if too_long or last:
                if wait is not None:
                    what += f" and asks for a pause of {wait:.0f} s"
                raise self._give_up(what, attempt, one and not too_long)

    def _no_answer(self, error: BaseException | None) -> str:
        if isinstance(error, TimeoutError):
            return f"no answer within {self._patience.timeout_seconds:g} s"
        return f"no answer: {str(error) or type(error).__name__}"

    def _give_up(self, what: str, attempt: int, one: bool) -> Unanswered:
        with self._lock:
            self._given_up += 1
            one = one and self._given_up < self._patience.in_a_row
        what = f"{self._address.hide(what)} (attempt {attempt} of {self._patience.attempts})"
        return Unanswered(what, one=one)

    def _turn(self) -> None:
        """Wait until a request may start; a pause that begins meanwhile is waited for too."""
        while not self._stopped.is_set():
            with self._lock:
                now = self._patience.clock()
                wait = self._next - now
                if wait < _NOW_SECONDS:
                    rate = self._patience.per_second
                    self._next = now + 1 / rate if rate else now
                    return
            self._sleep(wait)
        raise Stopped

    def _hold(self, seconds: float) -> None:
        with self._lock:
            self._next = max(self._next, self._patience.clock() + seconds)

    def _once(self, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._exchange(self._connection(), path, headers, body)
        try:
            return self._exchange(connection, path, headers, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # A server may close a connection that was idle; that is no failure.
            return self._exchange(self._connection(), path, headers, body)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> Reply:
        sent = {
            "User-Agent": f"evenhand/{VERSION}",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            **headers,
        }
        if self._proxy and self._address.scheme == "http":
            path = f"http://{self._address.netloc}{path}"
            sent |= self._proxy[2]
        try:
            connection.request("POST", path, body, sent)
            with connection.getresponse() as response:
                read = response.read(_LARGEST_REPLY)
                if response.length and len(read) < _LARGEST_REPLY:
                    raise http.client.IncompleteRead(read, response.length)
                reply = Reply(response.status, response.reason, response.headers, read)
                usable = not response.will_close and response.isclosed()
        except BaseException:
            connection.close()
            raise
        if usable and not self._stopped.is_set():
            self._idle.append(connection)
        else:
            connection.close()
        return reply

    def _connection(self) -> http.client.HTTPConnection:
        to, seconds = self._address, self._patience.timeout_seconds
        kind = http.client.HTTPSConnection if to.scheme == "https" else http.client.HTTPConnection
        if self._proxy is None:
            connection = kind(to.host, to.port, timeout=seconds)
        else:
            host, port, headers = self._proxy
            connection = kind(host, port, timeout=seconds)
            if to.scheme == "https":
                connection.set_tunnel(to.host, to.port, headers)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if isinstance(error, ssl.SSLCertVerificationError):
                raise Unanswered(f"the server cannot be trusted: {error.verify_message}") from None
            raise _Unconnected from error
        return connection


def _proxy(to: Address) -> tuple[str, int, dict[str, str]] | None:
    """Host, port and headers of the proxy the environment names for this server."""
    named = None if to.loopback or proxy_bypass(to.netloc) else getproxies().get(to.scheme)
    if not named:
        return None
    try:
        parts = urlsplit(named if "://" in named else f"//{named}")
        host, port = parts.hostname or "", parts.port or 80
        host.encode("idna")  # an empty or endless label cannot be looked up
    except ValueError:
        raise BadInput(
            f"the environment's {to.scheme}_proxy cannot be used; expected http://HOST:PORT"
        ) from None
    login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    coded = base64.b64encode(login.encode()).decode()
    headers = {"Proxy-Authorization": f"Basic {coded}"} if parts.username else {}
    return host, port, headers
