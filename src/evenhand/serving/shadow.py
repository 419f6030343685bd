"""A new detector beside the old one: what it would have said, counted, and the change-over.

The shadow scores the same texts in a thread of its own, after the answer has gone out; when it
falls behind texts are left out and counted. Only counts are kept, no text and no single score. A
file says which of the two answers, so that all workers of a server change over together and a
restart does not undo it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.core.provenance import file_at_once
from evenhand.models.loaded import Loaded
from evenhand.serving.metrics import Metrics
from evenhand.stats.intervals import wilson

Floats = NDArray[np.float64]
_BINS = 10
_MOST_WAITING = 256
_LOOK_SECONDS = 1.0
_ALL = "all"
"""Under which texts are counted that the shadow did not score."""


@dataclass(eq=False)
class Drift:
    """How one attribute of two detectors differs."""

    n: int = 0
    distance: float = 0.0
    """Sum of |new − old|."""
    raised: int = 0
    """Flagged by the new one only."""
    cleared: int = 0
    """Flagged by the old one only."""
    old: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BINS, dtype=np.int64))
    new: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BINS, dtype=np.int64))

    def add(self, old: Floats, new: Floats, at_old: float, at_new: float) -> None:
        """Count some texts."""
        self.n += len(old)
        self.distance += float(np.abs(new - old).sum())
        self.raised += int(((new >= at_new) & (old < at_old)).sum())
        self.cleared += int(((new < at_new) & (old >= at_old)).sum())
        self.old += _counted(old)
        self.new += _counted(new)

    def counts(self) -> dict[str, float]:
        """Everything counted, by name; sums of them are drifts, too."""
        return {
            "texts": self.n,
            "distance": self.distance,
            "newly_flagged": self.raised,
            "no_longer_flagged": self.cleared,
            **{f"old_{number}": float(count) for number, count in enumerate(self.old)},
            **{f"new_{number}": float(count) for number, count in enumerate(self.new)},
        }

    @classmethod
    def of(cls, counts: Mapping[str, float]) -> Self:
        """From what :meth:`counts` gave, summed."""
        old, new = (
            np.array([int(counts.get(f"{side}_{number}", 0)) for number in range(_BINS)])
            for side in ("old", "new")
        )
        return cls(
            int(counts.get("texts", 0)),
            counts.get("distance", 0.0),
            int(counts.get("newly_flagged", 0)),
            int(counts.get("no_longer_flagged", 0)),
            old,
            new,
        )

    def document(self) -> dict[str, Any]:
        """Figures with n and intervals; null before the first text."""
        if not self.n:
            return {"n": 0, "why": "no text was scored by both detectors yet"}
        shares = {}
        for name, count in (("newly_flagged", self.raised), ("no_longer_flagged", self.cleared)):
            low, high = wilson(count, self.n)
            shares[name] = {"count": count, "share": count / self.n, "low": low, "high": high}
        return {
            "n": self.n,
            "mean_distance": self.distance / self.n,
            "stability_index": self.stability_index(),
            **shares,
        }

    def stability_index(self) -> float:
        """Σ (new − old) · ln(new / old) over ten bins of scores, half a text added to each."""
        old = (self.old + 0.5) / (self.n + 0.5 * _BINS)
        new = (self.new + 0.5) / (self.n + 0.5 * _BINS)
        return float(((new - old) * np.log(new / old)).sum())


def _counted(p: Floats) -> NDArray[np.int64]:
    return np.bincount(np.minimum((p * _BINS).astype(int), _BINS - 1), minlength=_BINS)


class Shadow:
    """Scores what the answering detector scored, and counts the differences."""

    def __init__(self, old: Loaded, new: Loaded, metrics: Metrics) -> None:
        self.old, self.new = old, new
        self._metrics = metrics
        self._attributes = [name for name in old.attributes if name in new.attributes]
        if not self._attributes:
            raise BadInput(f"--shadow {new.name}: has no attribute of {old.name}")
        self._waiting = 0
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shadow")

    def see(self, texts: Sequence[str], p: Floats, *, by_new: bool) -> None:
        """Let the detector that did not answer score these texts, too, when there is time."""
        with self._lock:
            if self._waiting + len(texts) > _MOST_WAITING:
                self._metrics.shadow(_ALL, {"left_out": len(texts)})
                return
            self._waiting += len(texts)
        self._thread.submit(self._compare, list(texts), p, by_new)

    def _compare(self, texts: list[str], p: Floats, by_new: bool) -> None:
        try:
            q = (self.old if by_new else self.new).raw.score(texts)
            old, new = (q, p) if by_new else (p, q)
            at_old, at_new = self._thresholds(self.old), self._thresholds(self.new)
            for name in self._attributes:
                drift = Drift()
                drift.add(
                    old[:, self.old.attributes.index(name)],
                    new[:, self.new.attributes.index(name)],
                    at_old.get(name, 0.5),
                    at_new.get(name, 0.5),
                )
                self._metrics.shadow(name, drift.counts())
        except Exception:  # whatever the shadow does, answers go on
            self._metrics.shadow(_ALL, {"failed": len(texts)})
        finally:
            with self._lock:
                self._waiting -= len(texts)

    @staticmethod
    def _thresholds(loaded: Loaded) -> dict[str, float]:
        return {name: found.threshold for name, found in loaded.calibrations.items()}

    def document(self) -> dict[str, Any]:
        """The drift of each attribute, over all workers."""
        counted = self._metrics.shadowed()
        return {
            "old": self.old.name,
            "new": self.new.name,
            **{what: int(counted.get(_ALL, {}).get(what, 0)) for what in ("left_out", "failed")},
            "attributes": {
                name: Drift.of(counted.get(name, {})).document() for name in self._attributes
            },
        }

    def close(self) -> None:
        """Wait for what was taken."""
        self._thread.shutdown()


class Switch:
    """Which of two detectors answers."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._new = False
        self._looked = -_LOOK_SECONDS

    @property
    def new(self) -> bool:
        """Whether the new one answers."""
        now = time.monotonic()
        if self._path and now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._new = self._read()
        return self._new

    def turn(self, *, new: bool) -> None:
        """Let the new or the old one answer from now on."""
        if self._path:
            with file_at_once(self._path) as path:
                path.write_text(json.dumps({"answers": "new" if new else "old"}))
        self._new, self._looked = new, time.monotonic()

    def _read(self) -> bool:
        try:
            return bool(json.loads(self._path.read_text())["answers"] == "new")  # type: ignore[union-attr]
        except FileNotFoundError:
            return False
        except (ValueError, KeyError, TypeError):
            return self._new  # a file that cannot be read changes nothing
