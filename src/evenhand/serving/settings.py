"""How a server is set up: what `evenhand serve` was told, handed on to every worker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from evenhand.core.errors import BadInput
from evenhand.data.find import data_folder
from evenhand.serving.listening import Where


def keys_file() -> Path:
    """Where keys are kept unless another file is named."""
    return data_folder() / "keys.json"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Plain values only, so that they can be sent to a worker."""

    detector: str = "evenhand-base"
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    keys: str = field(default_factory=lambda: str(keys_file()))
    require_key: bool = False
    rate: float | None = None
    """Requests a minute of a caller without a rate of its own, over all workers."""
    batch: int = 32
    """Texts scored together at most; 1 for each request on its own."""
    patience: float = 0.5
    """Seconds a request may wait before it is refused as too many."""
    languages: tuple[str, ...] = ("en",)
    """Those the detector was tested on."""
    allow_untested_language: bool = False
    drop_unsupported: bool = False
    base_rate: Mapping[str, float] | float | None = None
    mapping: str | None = None
    thresholds: str | None = None
    suggestions: str | None = None
    """Where suggested scores are kept; None keeps none."""
    store_by_default: bool = False
    """Whether a suggestion that does not say doNotStore is kept."""
    shadow: str | None = None
    state: str | None = None
    """The file that says which of two detectors answers."""

    def __post_init__(self) -> None:
        faults = [
            f"--{name.replace('_', '-')} {getattr(self, name)}; expected more than 0"
            for name in ("workers", "batch", "patience", "rate")
            if getattr(self, name) is not None and not getattr(self, name) > 0
        ]
        if not 0 <= self.port < 65536:
            faults.append(f"--port {self.port}; expected a port from 1 to 65535, or 0 for any")
        if faults:
            raise BadInput(*faults)

    @property
    def where(self) -> Where:
        """Where the server listens."""
        return Where(self.host, self.port)

    @property
    def needs_key(self) -> bool:
        """Whether a request without a key is refused."""
        return self.require_key or not self.where.loopback

    @property
    def rate_of_one(self) -> float | None:
        """The rate that one of the workers allows."""
        return None if self.rate is None else self.rate / self.workers

    def json(self) -> str:
        """To be read back by :meth:`of_json`."""
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Self:
        """Settings from their JSON."""
        found: dict[str, Any] = json.loads(text)
        return cls(**{**found, "languages": tuple(found["languages"])})
