"""Where a server of ours listens, and whether it can."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address

from evenhand.core.errors import BadInput


@dataclass(frozen=True)
class Where:
    """An address of this machine."""

    host: str = "127.0.0.1"
    port: int = 8090

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def listening(self) -> socket.socket:
        """A socket that takes calls from now on."""
        found = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((self.host, self.port))
            found.listen()
        except OSError as error:
            found.close()
            raise BadInput(
                f"cannot listen on {self.host} port {self.port}: {error.strerror or error}; name "
                "another --host or --port"
            ) from error
        return found
