"""Where a server is, read from the URL a user typed, with its key kept apart.

The key comes from ``key=…`` in the URL's query, or from EVENHAND_API_KEY. It is no part of ``url``,
which is what provenance, reports, errors and the cache's file name are made from, and
:meth:`Address.hide` takes it out of whatever a server says. Other settings in the query
(``language=en``, ``model=…``) are part of the URL: they change the scores. What was typed is shown
by :func:`~evenhand.models.addresses.without_key` only.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, quote_plus, urlencode, urlsplit

from evenhand.core.errors import BadInput
from evenhand.models.addresses import without_key

KEY = "EVENHAND_API_KEY"


@dataclass(frozen=True)
class Address:
    """A server's address."""

    url: str
    """Without the key."""
    scheme: str
    host: str
    port: int
    path: str
    """Without a slash at the end."""
    settings: Mapping[str, str]
    key: str = field(default="", repr=False)

    @property
    def loopback(self) -> bool:
        """Whether the server is on this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def netloc(self) -> str:
        """Host and port as they stand in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"http": 80, "https": 443}[self.scheme]
        return host if self.port == usual else f"{host}:{self.port}"

    def hide(self, message: str) -> str:
        """The message without the key, however it is written."""
        for written in {self.key, quote(self.key, safe=""), quote_plus(self.key)} - {""}:
            message = message.replace(written, "…")
        return message


def address(typed: str, settings: Sequence[str], name: str) -> Address:
    """Read a URL; ``settings`` are the names its query may hold besides ``key``."""
    shown = without_key(typed)
    expected = f"{name}: expected {name}:http(s)://HOST[:PORT][/PATH], found {shown!r}"
    try:
        parts = urlsplit(typed)
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")  # an empty or endless label cannot be looked up
    except ValueError:
        raise BadInput(expected) from None
    plain = re.fullmatch(r"[!-~]+", typed) is not None and not parts.fragment
    if parts.scheme not in ("http", "https") or not host or port == 0 or not plain:
        raise BadInput(expected)
    if "@" in parts.netloc:
        raise BadInput(f"{expected}. A login in the URL is not sent; give a key in {KEY}")
    given = _query(parts.query, settings, name, shown)
    key = _key(given.pop("key", ""), name)
    path = parts.path.rstrip("/")
    found = Address("", parts.scheme, host, port or _usual(parts.scheme), path, given, key)
    query = f"?{urlencode(sorted(given.items()))}" if given else ""
    url = f"{found.scheme}://{found.netloc}{path}{query}"
    return Address(url, found.scheme, host, found.port, path, given, key)


def _usual(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _query(query: str, settings: Sequence[str], name: str, shown: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    # A name without a value may be a piece of a key that has an & in it.
    others = [pair for pair in pairs if pair[0] not in ("key", *settings)]
    if unknown := sorted({setting if value else "…" for setting, value in others}):
        known = " and ".join(["key", *settings])
        raise BadInput(
            f"{name}: no setting {', '.join(unknown)} in {shown!r}; behind the ? may stand {known}"
        )
    if len(dict(pairs)) < len(pairs):
        raise BadInput(f"{name}: a setting stands twice in {shown!r}")
    # The value stands in reports: it must not have swallowed a key.
    if any(setting != "key" and re.search("[;&=]", value) for setting, value in pairs):
        raise BadInput(f"{name}: a value in {shown!r} has ; & or = in it; put & between settings")
    return {setting: value for setting, value in pairs if value}


def _key(given: str, name: str) -> str:
    key = given or os.environ.get(KEY, "").strip()
    if not re.fullmatch(r"[!-~]*", key):
        raise BadInput(f"{name}: the key has a space or a letter outside ASCII; check {KEY}")
    return key
