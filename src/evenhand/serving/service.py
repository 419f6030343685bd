"""What every route goes through: keys, limits, the queue, counting, errors; and what they share."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException

from evenhand.models.loaded import load
from evenhand.serving.batching import Closed, Overloaded, whole_seconds
from evenhand.serving.engine import Engine, Floats
from evenhand.serving.errors import Dialect, Refused
from evenhand.serving.keys import Keys, Limiter
from evenhand.serving.languages import Languages
from evenhand.serving.mapping import Mapping as RecordedMapping
from evenhand.serving.metrics import Metrics
from evenhand.serving.settings import Settings
from evenhand.serving.shadow import Shadow, Switch
from evenhand.serving.suggestions import Suggestions
from evenhand.serving.thresholds import Thresholds

AnyRequest = Request[Any, Any, Any]
Read = Callable[[], Awaitable[bytes]]
"""Reads the body of a request."""
log = logging.getLogger("evenhand.serving")
_ANYBODY = "anybody"
JSON = "application/json; charset=UTF-8"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    id: str
    """Of the key, or ``anybody``."""
    rate: float | None = None
    admin: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back."""

    body: bytes
    status: int = 200
    media_type: str = JSON
    retry_after: int | None = None

    def response(self) -> Response[bytes]:
        """In the framework's form."""
        headers = None if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return Response(
            self.body, status_code=self.status, headers=headers, media_type=self.media_type
        )


Handler = Callable[[bytes, Caller], Awaitable[Any]]
"""Gives what a body asks for, to be written as JSON, or bytes of another kind."""


@dataclass(eq=False)
class Service:
    """One server process."""

    settings: Settings
    engines: tuple[Engine, ...]
    """The detector that answers and, if there is a shadow, the other."""
    keys: Keys
    limiter: Limiter
    thresholds: Thresholds
    switch: Switch
    metrics: Metrics
    languages: Languages = field(default_factory=Languages)
    shadow: Shadow | None = None
    suggestions: Suggestions | None = None
    ready: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Service:
        """Load what the settings name; everything that is wrong with them is said here."""
        mapping = RecordedMapping.read(Path(settings.mapping)) if settings.mapping else None
        names = [settings.detector, *([settings.shadow] if settings.shadow else [])]
        engines = []
        for name in names:
            loaded = load(name)
            if mapping is not None and name == settings.detector:
                mapping.expect(loaded, settings.mapping or "the mapping")
            engines.append(
                Engine.of(
                    loaded,
                    batch=settings.batch,
                    patience=settings.patience,
                    base_rate=settings.base_rate,
                    mapping=mapping if name == settings.detector else None,
                )
            )
        metrics = Metrics()
        shadow = None
        if settings.shadow:
            shadow = Shadow(engines[0].loaded, engines[1].loaded, metrics)
        return cls(
            settings=settings,
            engines=tuple(engines),
            keys=Keys(Path(settings.keys)),
            limiter=Limiter(settings.rate_of_one),
            thresholds=Thresholds.read(settings.thresholds, engines[0]),
            switch=Switch(Path(settings.state) if settings.state else None),
            metrics=metrics,
            shadow=shadow,
            suggestions=Suggestions(Path(settings.suggestions)) if settings.suggestions else None,
            ready=True,
        )

    @property
    def engine(self) -> Engine:
        """The detector that answers."""
        return self.engines[1 if self.shadow and self.switch.new else 0]

    async def score(self, texts: Sequence[str]) -> Floats:
        """Probabilities, one row per text."""
        engine = self.engine
        p = await engine.batcher.score(texts)
        self.metrics.scored(len(texts), engine.batcher.new_batches())
        if self.shadow:
            self.shadow.see(texts, p, by_new=engine is self.engines[1])
        return p

    def caller(self, given: str | None, dialect: Dialect) -> Caller:
        """Who asks; refuses where a key is needed and none, or a wrong one, was given."""
        if given is None:
            if self.settings.needs_key:
                raise dialect.no_key()
            return Caller(_ANYBODY)
        key = self.keys.found(given)
        if key is not None:
            rate = None if key.rate is None else key.rate / self.settings.workers
            return Caller(key.id, rate, key.admin)
        if self.settings.needs_key:
            raise dialect.wrong_key()
        return Caller(_ANYBODY)

    def admit(self, caller: Caller, dialect: Dialect, cost: float = 1.0) -> None:
        """Refuse at once what is too often, or what would wait too long."""
        seconds = self.limiter.seconds_to_wait(caller.id, caller.rate, cost)
        if seconds:
            rate = caller.rate or self.limiter.rate or 0.0
            raise dialect.too_often(rate * self.settings.workers, whole_seconds(seconds))
        try:
            self.engine.batcher.expect_room()
        except (Overloaded, Closed) as error:
            raise in_words(error, dialect) from None

    async def answered(
        self,
        route: str,
        dialect: Dialect,
        scope: Mapping[str, Any],
        read: Read,
        handler: Handler,
        *,
        counts: bool = True,
        media_type: str = JSON,
    ) -> Answer:
        """Check who asks, read, handle, count; whatever happens is answered in the dialect."""
        start = time.perf_counter()
        try:
            caller = self.caller(given_key(scope), dialect)
            if counts:
                self.admit(caller, dialect)
            found = await handler(await read(), caller)
            body = found if isinstance(found, bytes) else msgspec.json.encode(found)
            answer = Answer(body, media_type=media_type)
        except Exception as error:
            refused = in_words(error, dialect)
            body = json.dumps(refused.body, ensure_ascii=False).encode("utf-8", "replace")
            answer = Answer(body, refused.code, retry_after=refused.retry_after)
        self.metrics.request(route, answer.status, time.perf_counter() - start)
        self.metrics.waiting(self.engine.batcher.pending)
        return answer

    async def close(self) -> None:
        """Finish what was taken."""
        self.ready = False
        for engine in self.engines:
            await engine.batcher.close()
        if self.shadow:
            self.shadow.close()


def given_key(scope: Mapping[str, Any]) -> str | None:
    """The key of a request, wherever clients put it."""
    query: bytes = scope["query_string"]
    if b"key=" in query:
        named = parse_qs(query.decode("latin-1")).get("key")
        if named:
            return named[0]
    found = bearer = ""
    for name, value in scope["headers"]:
        if name == b"x-goog-api-key":
            found = value.decode("latin-1")
        elif name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            bearer = token.strip() if scheme.lower() == "bearer" else ""
    return found or bearer or None


def in_words(error: Exception, dialect: Dialect) -> Refused:
    """Any error as one that can be answered; one of ours is logged, without what was asked."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, Overloaded):
        return dialect.busy(whole_seconds(error.seconds))
    if isinstance(error, Closed):
        return dialect.plain(503, "The server is shutting down.")
    if isinstance(error, HTTPException):
        return dialect.plain(error.status_code, error.detail)
    # An error's message may repeat the text; where it was raised does not.
    places = [
        f"{Path(frame.filename).stem}.{frame.name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    log.error("%s at %s", type(error).__name__, " > ".join(places[-6:]))
    return dialect.plain(500, "Internal error. It was logged, without the text.")
