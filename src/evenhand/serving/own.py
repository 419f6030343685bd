"""Our own dialect: many texts in a call, thresholds by name or community, and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from evenhand.models.evidence import MOST_WORDS, Span
from evenhand.serving.engine import PROBABILITY, SCALES, Engine
from evenhand.serving.errors import own
from evenhand.serving.google_json import mended
from evenhand.serving.perspective import LONGEST, is_too_long
from evenhand.serving.service import Service

MOST_TEXTS = 1000
MOST_EXPLAINED = 20
"""Texts of a call of which evidence is given: every word costs a score."""


_Names = Annotated[list[str] | None, Meta(description="Which to score; all unless said.")]
_Thresholds = Annotated[
    str | dict[str, float] | None,
    Meta(description="The name of a set of the owner's (shipped: the detector's), or your own."),
]


class ScoreRequest(Struct, forbid_unknown_fields=True):
    """Texts, and what is wanted of them."""

    texts: Annotated[
        list[str],
        Meta(
            min_length=1,
            max_length=MOST_TEXTS,
            description=f"Up to {MOST_TEXTS:,}, each of at most {LONGEST:,} bytes.",
        ),
    ]
    attributes: _Names = None
    scale: Annotated[str, Meta(description=f"{' or '.join(SCALES)}.")] = PROBABILITY
    thresholds: _Thresholds = None
    community: Annotated[
        str | None, Meta(description="Whose set of thresholds to take where none is named.")
    ] = None
    evidence: Annotated[
        bool, Meta(description=f"Also the words a score goes by; {MOST_EXPLAINED} texts at most.")
    ] = False
    evidence_of: Annotated[
        str | None, Meta(description="The attribute evidence is of; the first unless said.")
    ] = None


class Word(Struct):
    """A word and what leaving it out does to the probability."""

    begin: int
    """In code points."""
    end: int
    weight: float


class Scored(Struct):
    """What is said of one text."""

    scores: dict[str, float]
    above: list[str]
    """Attributes at or above their threshold."""
    evidence: list[Word] | None = None


class ScoreReply(Struct):
    """What is said of all of them."""

    detector: dict[str, Any]
    scale: str
    thresholds: dict[str, float]
    results: list[Scored]


async def score(service: Service, asked: ScoreRequest) -> ScoreReply:
    """Score texts; raises :class:`~evenhand.serving.errors.Refused`."""
    engine = service.engine
    _check(asked, engine)
    names = asked.attributes or list(engine.attributes)
    thresholds = {
        name: value for name, value in _thresholds(service, asked, engine).items() if name in names
    }
    p = await service.score(asked.texts)
    shown = engine.shown(p, asked.scale, names)
    spans: Sequence[list[Span] | None] = [None] * len(asked.texts)
    if asked.evidence:
        spans = await _evidence(engine, asked)
    results = [
        Scored(
            scores={name: shown[name][row] for name in names},
            above=[name for name in names if name in thresholds
                   and shown[name][row] >= thresholds[name]],
            evidence=None if found is None else [Word(*span) for span in found],
        )
        for row, found in enumerate(spans)
    ]  # fmt: skip
    return ScoreReply(engine.about(), asked.scale, thresholds, results)


async def _evidence(engine: Engine, asked: ScoreRequest) -> list[list[Span]]:
    attribute = asked.evidence_of or (asked.attributes or engine.attributes)[0]
    return [await engine.evidence(text, attribute, MOST_WORDS) for text in asked.texts]


def _check(asked: ScoreRequest, engine: Engine) -> None:
    known = ", ".join(engine.attributes)
    for name in [*(asked.attributes or ()), *([asked.evidence_of] if asked.evidence_of else [])]:
        if name not in engine.attributes:
            raise own(400, f"no attribute {name!r}; {engine.loaded.name} has {known}")
    if asked.scale not in SCALES:
        raise own(400, f"scale {asked.scale!r}; expected {' or '.join(SCALES)}")
    if asked.evidence and len(asked.texts) > MOST_EXPLAINED:
        raise own(400, f"evidence of {len(asked.texts)} texts; at most {MOST_EXPLAINED} in a call")
    for place, text in enumerate(asked.texts):
        if is_too_long(text):
            raise own(400, f"texts[{place}] is longer than {LONGEST} bytes")


def _thresholds(service: Service, asked: ScoreRequest, engine: Engine) -> Mapping[str, float]:
    given = asked.thresholds
    if isinstance(given, dict):
        for name, value in given.items():
            if name not in engine.attributes:
                known = ", ".join(engine.attributes)
                raise own(400, f"thresholds name {name!r}; {engine.loaded.name} has {known}")
            if not 0 <= value <= 1:
                raise own(400, f"threshold {value} of {name}; expected 0 to 1")
        return given
    found = service.thresholds.named(given, asked.community)
    if found is None:
        known = ", ".join(["shipped", *service.thresholds.sets])
        raise own(400, f"no thresholds are named {given!r}; found {known}")
    return engine.thresholds(asked.scale) | dict(found)


def decoded(body: bytes) -> ScoreRequest:
    """A body as a request; half a pair of surrogates is read as in the other dialects."""
    try:
        try:
            return msgspec.json.decode(body, type=ScoreRequest)
        except msgspec.ValidationError:
            raise
        except (ValueError, RecursionError):
            return msgspec.convert(mended(body), ScoreRequest)
    except (ValueError, RecursionError) as error:
        raise own(400, str(error)) from None
