"""How a campaign is served, checked before a port is opened."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.core.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What ``evenhand label serve`` was told."""

    folder: str
    database: str | None = None
    host: str = "127.0.0.1"
    port: int = 8090
    workers: int = 1
    public_url: str | None = None
    """The address people use, where a proxy stands in front."""
    insecure: bool = False
    failures: int = 10
    """Wrong codes, passwords or links an address may send in ten minutes."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BadInput(f"--workers {self.workers}; expected at least 1")
        if self.public_url is not None:
            _check_url(self.public_url)
        if self.workers > 1 and not (self.database or "").startswith("postgresql"):
            raise BadInput(
                f"--workers {self.workers} needs a database that several processes can write: "
                "--database postgresql://…"
            )
        if not (_loopback(self.host) or self.https or self.insecure):
            raise BadInput(
                f"--host {self.host} can be reached from other machines, and without https others "
                "can read along. Put a proxy with https in front and say --public-url https://…, "
                "or, on a network you trust, --insecure"
            )

    @property
    def https(self) -> bool:
        """Whether people come over https, so that cookies can be kept to it."""
        return (self.public_url or "").startswith("https://")

    @property
    def base(self) -> str:
        """The beginning of every address that is handed out."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return (self.public_url or f"http://{shown}:{self.port}").rstrip("/")

    def json(self) -> str:
        """For the workers, which are processes of their own."""
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Settings:
        """From what :meth:`json` gave."""
        return cls(**json.loads(text))

    @property
    def path(self) -> Path:
        """The campaign's folder."""
        return Path(self.folder)


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise BadInput(f"--public-url {url}; expected an address such as https://label.example.org")


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
