"""Requests refused while they are still bytes, so that an overload costs little.

Where four times as many requests come as can be scored, three of four are refused. Made into a
request first, with a task and a scope, a refusal takes a tenth of what a score takes, and what is
spent on refusing is not there for scoring. Here a plain request for scores that would wait too long
is read by the parser and answered, and nothing else. Whose key it has is not looked at: there is no
room for anybody. All other requests go the usual way, as do those that were sent behind an
unanswered one, wait to be told to continue or want the connection closed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Refusing(HttpToolsProtocol):
    """uvicorn's connection, with an application that can say at once that it is busy."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        app: Any = self.app
        while not hasattr(app, "busy") and hasattr(app, "app"):  # behind uvicorn's own layers
            app = app.app
        self._busy: Callable[[bytes], bytes | None] | None = getattr(app, "busy", None)
        self._refusal: bytes | None = None

    def on_headers_complete(self) -> None:
        """Refuse, or let the request be made."""
        self._refusal = self._refused()
        if self._refusal is None:
            super().on_headers_complete()

    def _refused(self) -> bytes | None:
        parser = self.parser
        plain = (
            self._busy is not None
            and parser.get_method() == b"POST"
            and (self.cycle is None or self.cycle.response_complete)
            and not self.expect_100_continue
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not parser.should_upgrade()
        )
        return self._busy(self.url) if plain and self._busy is not None else None

    def on_body(self, body: bytes) -> None:
        """What was refused is not kept."""
        if self._refusal is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Answer what was refused."""
        if self._refusal is None:
            super().on_message_complete()
            return
        head, _, rest = self._refusal.partition(b"\r\n")
        named = b"".join(b"%b: %b\r\n" % pair for pair in self.server_state.default_headers)
        self._refusal = None
        self.transport.write(b"%b\r\n%b%b" % (head, named, rest))
        self.on_response_complete()
