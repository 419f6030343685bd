"""What a server counts, for Prometheus: requests, texts, waiting times. Never a text or a key."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder through which several workers count together."""
CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 5.0)


class Metrics:
    """The counters of one server process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "evenhand_requests", "Requests answered", ["route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "evenhand_request_seconds",
            "Time from a request to its answer",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._texts = Counter("evenhand_texts", "Texts scored", registry=self._registry)
        self._batches = Counter("evenhand_batches", "Batches scored", registry=self._registry)
        self._waiting = Gauge(
            "evenhand_waiting",
            "Texts that wait or are being scored, a long one counting several times",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self._shadow = Counter(
            "evenhand_shadow",
            "What a shadow said of texts, beside the detector that answers; /shadow has the shares",
            ["attribute", "what"],
            registry=self._registry,
        )
        self._observed = cache(self._seconds.labels)
        self._counted: Callable[[str, str], Counter] = cache(self._requests.labels)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._counted(route, str(status)).inc()
        self._observed(route).observe(seconds)

    def scored(self, texts: int, batches: int) -> None:
        """Count texts, and the batches since texts were last counted."""
        self._texts.inc(texts)
        self._batches.inc(batches)

    def waiting(self, count: int) -> None:
        """How much waits."""
        self._waiting.set(count)

    def shadow(self, attribute: str, counts: Mapping[str, float]) -> None:
        """Count what a shadow said."""
        for what, amount in counts.items():
            self._shadow.labels(attribute, what).inc(amount)

    def shadowed(self) -> dict[str, dict[str, float]]:
        """What :meth:`shadow` was told by all workers, by attribute."""
        found: dict[str, dict[str, float]] = {}
        for family in self._everything().collect():
            for sample in family.samples:
                if sample.name == "evenhand_shadow_total":
                    by_what = found.setdefault(sample.labels["attribute"], {})
                    by_what[sample.labels["what"]] = sample.value
        return found

    def page(self) -> bytes:
        """In Prometheus's text form, of all workers."""
        return generate_latest(self._everything())

    def _everything(self) -> CollectorRegistry:
        """The counters of all workers."""
        if FOLDER not in os.environ:
            return self._registry
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry
