"""Detectors on a server: asked with patience, remembered, one attribute at a time.

Each distinct text is asked for once, in an order that does not depend on the rows. Scores are kept
in a file within a second or so (:mod:`evenhand.models.score_cache`), so that a run that was cut off
goes on. Kept scores are of the server as it was: up to three of them are asked for again, and if an
answer differs, or is a refusal, the run stops instead of mixing two detectors. A text the server
refuses, or never answers while it answers others, has a reason instead of a score; that is not
kept, so that the next run asks again. A refused key or a dead server is an error.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.core.errors import BadInput, BrokenComponent, EvenhandError
from evenhand.models._address import address
from evenhand.models._asking import in_threads
from evenhand.models._dialect import Dialect
from evenhand.models._http import Line, Patience, Unanswered
from evenhand.models._refusals import SAMPLE, Refused
from evenhand.models._server import Answers, Server
from evenhand.models._tally import Tally
from evenhand.models.protocol import Probabilities
from evenhand.models.score_cache import Kept, ScoreCache, cache_folder, digest
from evenhand.models.watching import Step

MOST_THREADS = 4
_CHANGED = 0.02
"""A kept score and a new one that differ by more are of two detectors."""
_WRITE_TEXTS, _WRITE_SECONDS = 64, 1.0
_GIVEN_UP = 8
"""So many requests given up in a row mean that the server is dead."""


@dataclass(frozen=True, kw_only=True)
class RemoteOptions:
    """How to treat a server."""

    timeout_seconds: float = 10.0
    attempts: int = 5
    per_second: float | None = None
    """Most requests a second; 0 for no limit; None for none on this machine, else the usual."""
    threads: int = MOST_THREADS
    cache: bool = True
    """Whether scores are kept for the next run."""
    sleep: Callable[[float], None] | None = None
    """For tests, as is the clock."""
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        rate = 0.0 if self.per_second is None else self.per_second
        wrong = {
            "timeout_seconds": not 0 < self.timeout_seconds < math.inf,
            "attempts": self.attempts < 1,
            "per_second": not 0 <= rate < math.inf,
            "threads": not 1 <= self.threads <= MOST_THREADS,
        }
        faults = [f"{name} is {getattr(self, name)}" for name, bad in wrong.items() if bad]
        if faults:
            raise BadInput(
                f"options of a server: {', '.join(faults)}; expected a time-out above 0, at least "
                f"one attempt, a rate of 0 or more and 1 to {MOST_THREADS} threads"
            )


@dataclass(frozen=True, eq=False)
class RemoteDetector:
    """A server as a detector of one attribute."""

    server: Server
    options: RemoteOptions
    _tally: Tally = field(default_factory=Tally)

    @property
    def name(self) -> str:
        """Kind and URL, without the key."""
        return self.server.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """The one that is asked for."""
        return (self.server.attribute,)

    @property
    def provenance(self) -> dict[str, Any]:
        """The server, and how many distinct texts so far were asked for, refused, or known."""
        tally = self._tally
        return {
            "server": self.name,
            "attribute": self.server.attribute,
            "texts_asked": len(tally.asked),
            "texts_refused": len(tally.refused),
            "texts_from_cache": len(tally.kept),
            "cache_since": tally.since.isoformat() if tally.since else None,
            "cache_checked": tally.checked if tally.kept else None,
        }

    def score(self, texts: Sequence[str]) -> Probabilities:
        """Probabilities; refuses to go on where the server refuses a text."""
        found = self.answers(texts)
        refused = [answer for answer in found if isinstance(answer, Refused)]
        if refused:
            raise BrokenComponent(
                f"{self.name}: {len(refused):,} of {len(found):,} texts were refused: "
                f"{refused[0].reason}"
            )
        return np.array(found, dtype=np.float64).reshape(len(found), 1)

    def answers(self, texts: Sequence[str], step: Step | None = None) -> list[float | Refused]:
        """A score or a refusal for each text."""
        distinct = sorted({text for text in texts if text.strip()}, key=digest)
        run = _Run(self.server, self.options, self._tally, distinct, step)
        run.finish()
        empty = Refused("the text is empty, so that it was not sent")
        return [run.found.get(text, empty) for text in texts]


class _Run:
    """One round of questions to a server."""

    def __init__(
        self,
        server: Server,
        options: RemoteOptions,
        tally: Tally,
        texts: list[str],
        step: Step | None,
    ) -> None:
        self._server, self._options, self._tally = server, options, tally
        self._texts, self._step = texts, step
        self._cache = ScoreCache.of(server.name, server.attribute, cache_folder())
        self._kept = self._cache.find(texts) if options.cache else {}
        self.found: Answers = {text: kept.p for text, kept in self._kept.items()}
        self._unwritten: list[tuple[str, float]] = []
        self._written = time.monotonic()
        self._refused = 0
        self._suspect: tuple[Kept, Refused] | None = None

    def finish(self) -> None:
        """Find an answer to every text."""
        self._tally.know(self._kept)
        most = self._server.dialect.most
        missing = [text for text in self._texts if text not in self._kept]
        batches = [missing[start : start + most] for start in range(0, len(missing), most)]
        with Line(self._server.address, self._patience()) as line:
            try:
                self._check_kept(line, bool(missing))
                in_threads(
                    lambda batch: self._server.ask(line, batch),
                    batches,
                    threads=self._options.threads,
                    take=self._take,
                    stop=line.stop,
                )
            except Unanswered as error:
                raise self._dead(error) from error
            finally:
                self._write()
        if self._suspect and missing:
            raise BrokenComponent(
                f"{self._server.name}: the server refuses every text, also one it scored before: "
                f"{self._suspect[1].reason}"
            )

    def _patience(self) -> Patience:
        options, server = self._options, self._server
        usual = 0.0 if server.address.loopback else server.dialect.per_second
        return Patience(
            timeout_seconds=options.timeout_seconds,
            attempts=options.attempts,
            per_second=usual if options.per_second is None else options.per_second,
            in_a_row=_GIVEN_UP,
            sleep=options.sleep,
            clock=options.clock,
        )

    def _check_kept(self, line: Line, more: bool) -> None:
        """See that the server still gives the scores that were kept, by up to three of them.

        A server that is gone is no fault when there is nothing ``more`` to ask it. One that refuses
        all three may refuse everything, which is known when it has scored another text.
        """
        if not self._kept or self._tally.checked:
            return
        ranked = sorted(self._kept, key=lambda text: (self._kept[text].p, digest(text)))
        doubtful = min(ranked, key=lambda text: abs(self._kept[text].p - 0.5))
        try:
            now: Answers = {}
            for text in dict.fromkeys((doubtful, ranked[0], ranked[-1])):
                now |= self._server.ask(line, [text])
        except (Unanswered, EvenhandError):
            if more:
                raise
            return
        refused = {text: a for text, a in now.items() if isinstance(a, Refused)}
        scored = {text: a for text, a in now.items() if not isinstance(a, Refused)}
        for text, refusal in refused.items():
            self._suspect = self._kept[text], refusal
        if self._suspect and scored:
            raise self._changed(*self._suspect)
        for text, p in scored.items():
            if abs(p - self._kept[text].p) > _CHANGED:
                raise self._changed(self._kept[text], p)
        self._tally.checked = not refused

    def _changed(self, kept: Kept, now: float | Refused) -> BadInput:
        what = f"a text that scored {kept.p:.3f} on {kept.day}"
        what = (
            f"{what} is refused now ({now.reason}), so that the detector may have changed; if it "
            "has not, run the command again"
            if isinstance(now, Refused)
            else f"the detector has changed: {what} scores {now:.3f} now"
        )
        return BadInput(
            f"{self._server.name}: {what}. To ask for all texts again delete {self._cache.path}, "
            "or use --no-cache"
        )

    def _take(self, answers: Answers) -> None:
        if self._suspect and any(not isinstance(answer, Refused) for answer in answers.values()):
            raise self._changed(*self._suspect)
        self.found |= answers
        refusals = [answer for answer in answers.values() if isinstance(answer, Refused)]
        self._refused += len(refusals)
        self._tally.answer(answers)
        self._unwritten += [(t, a) for t, a in answers.items() if not isinstance(a, Refused)]
        late = time.monotonic() - self._written > _WRITE_SECONDS
        if late or len(self._unwritten) >= _WRITE_TEXTS:
            self._write()
        if self._step:
            self._step(f"Scoring with {self._server.name}", len(self.found), len(self._texts))
        enough = len(self.found) >= min(SAMPLE, len(self._texts))
        if enough and refusals and 2 * self._refused > len(self.found):
            raise BrokenComponent(
                f"{self._server.name}: {self._refused:,} of the first {len(self.found):,} texts "
                f"were refused: {refusals[0].reason}"
            )

    def _write(self) -> None:
        if self._options.cache and self._unwritten:
            self._cache.keep(self._unwritten)
        self._unwritten = []
        self._written = time.monotonic()

    def _dead(self, error: Unanswered) -> EvenhandError:
        scored = sum(not isinstance(answer, Refused) for answer in self.found.values())
        kept = (
            "are scored and kept; run the command again to go on from there"
            if self._options.cache
            else "were scored, but none is kept (--no-cache)"
        )
        return EvenhandError(
            f"{self._server.name}: {error}. {scored:,} of {len(self._texts):,} texts {kept}"
        )


def remote_detector(
    dialect: Dialect, url: str, *, attribute: str | None, options: RemoteOptions
) -> RemoteDetector:
    """The detector at a URL."""
    to = address(url, dialect.settings, dialect.kind)
    return RemoteDetector(Server(dialect, to, attribute or dialect.attribute), options)
