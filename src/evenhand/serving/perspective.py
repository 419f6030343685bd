"""Perspective's dialect: what a request for scores asks for, and the reply.

Requests are read as their clients write them; names that are not known are ignored. What a request
may ask for depends on the detector: its attributes and the languages it was tested on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.serving import google_errors as errors
from evenhand.serving.errors import Refused
from evenhand.serving.google_json import (
    Object,
    decoded,
    flag_at,
    number_at,
    object_at,
    text_at,
    value,
)
from evenhand.serving.languages import Languages, primary
from evenhand.serving.sentences import Span, Units, sentences

LONGEST = 20_480
"""Bytes of a text."""
MOST_SENTENCES = 64
"""Of more the last span holds the rest."""
_SERVED = ("PROBABILITY", "SCORE_TYPE_UNSPECIFIED")
_NOT_SERVED = ("STD_DEV_SCORE", "PERCENTILE", "RAW")
_TEXTS = ("clientToken", "sessionId", "communityId")
_PLAIN = ("PLAIN_TEXT", "TEXT_TYPE_UNSPECIFIED")


@dataclass(frozen=True)
class Offer:
    """What a server can be asked for."""

    attributes: Sequence[str]
    languages: Sequence[str]
    """Those the detector was tested on; the first stands for texts whose language is not sure."""
    detector: Languages
    drop_unsupported: bool = False
    allow_untested: bool = False


@dataclass(frozen=True, slots=True)
class Spoken:
    """The languages of a request."""

    languages: Sequence[str]
    """As requested, or the detected one."""
    detected: Sequence[str]
    untested: Sequence[str]


@dataclass(frozen=True, slots=True)
class Analyze:
    """A request for scores."""

    text: str
    thresholds: Mapping[str, float]
    """By requested attribute."""
    spoken: Spoken
    spans: Sequence[Span]
    """Of sentences, where wanted; else of the whole text."""
    token: str | None

    @property
    def texts(self) -> list[str]:
        """What is scored: the text, then its sentences if there are several."""
        if len(self.spans) < 2:
            return [self.text]
        return [self.text, *(self.text[begin:end] for begin, end in self.spans)]


def analyze(body: bytes, offer: Offer) -> Analyze:
    """Read a request; raises :class:`~evenhand.serving.errors.Refused`."""
    given = decoded(body)
    text = comment(given)
    wanted = object_at(given, "requestedAttributes")
    if not wanted:
        raise errors.refused("NO_REQUESTED_ATTRIBUTES", "Missing requested_attributes")
    drops = offer.drop_unsupported or flag_at(given, "dropUnsupportedAttributes")
    thresholds = {}
    for name, about in wanted.items():
        threshold = _threshold(name, about)
        if name in offer.attributes:
            thresholds[name] = threshold
        elif not drops:
            raise errors.invalid(f"Unknown requested attribute: {name}")
    said = spoken(given, text, offer)
    if said.untested and not offer.allow_untested:
        if not drops:
            raise _unsupported(next(iter(wanted)), said)
        thresholds = {}
    spans = [(0, len(text))]
    if flag_at(given, "spanAnnotations"):
        spans = sentences(text, most=MOST_SENTENCES)
    return Analyze(text, thresholds, said, spans, text_at(given, "clientToken"))


def reply(asked: Analyze, scores: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The answer: for each attribute the scores of the texts, the whole first."""
    units = Units(asked.text)
    spans = [units.of(span) for span in asked.spans]
    found: dict[str, Any] = {}
    for name, threshold in asked.thresholds.items():
        whole, *parts = scores[name]
        entry: dict[str, Any] = {}
        kept = [
            {"begin": begin, "end": end, "score": _score(one)}
            for (begin, end), one in zip(spans, parts or [whole], strict=True)
            if one >= threshold
        ]
        if kept:
            entry["spanScores"] = kept
        if whole >= threshold:
            entry["summaryScore"] = _score(whole)
        if entry:
            found[name] = entry
    answer: dict[str, Any] = {"attributeScores": found} if found else {}
    answer["languages"] = list(asked.spoken.languages)
    answer["detectedLanguages"] = list(asked.spoken.detected)
    if asked.spoken.untested:
        answer["untestedLanguages"] = list(asked.spoken.untested)
    if asked.token is not None:
        answer["clientToken"] = asked.token
    return answer


def _score(found: float) -> dict[str, Any]:
    return {"value": found, "type": "PROBABILITY"}


def comment(given: Object) -> str:
    """The text of a request, and nothing wrong with what stands around it."""
    told = object_at(given, "comment") or {}
    text = told.get("text", "")
    if not isinstance(text, str):
        raise errors.bad_value("comment.text", "TYPE_STRING", text)
    if told.get("type", _PLAIN[0]) not in _PLAIN:
        raise errors.invalid("Currently, only 'PLAIN_TEXT' comments are supported")
    if not text or text.isspace():
        raise errors.refused("COMMENT_EMPTY", "Comment must be non-empty.")
    if is_too_long(text):
        raise errors.refused("COMMENT_TOO_LONG", "Comment text too long.")
    around = object_at(given, "context") or {}
    entries = value(around, "entries") or []
    if not isinstance(entries, list):
        raise errors.bad_value("context.entries", "TextEntry", entries)
    if object_at(around, "articleAndParentComment") and entries:
        raise errors.invalid(
            "Context can have either entries or article_and_parent_comment, but both fields were "
            "populated."
        )
    for name in _TEXTS:
        text_at(given, name)
    flag_at(given, "doNotStore")
    return text


def is_too_long(text: str) -> bool:
    """Whether a text has more bytes than are read."""
    if len(text) > LONGEST:
        return True
    return 4 * len(text) > LONGEST and len(text.encode("utf-8", "replace")) > LONGEST


def spoken(given: Object, text: str, offer: Offer) -> Spoken:
    """The languages of a request; those named are believed, whatever is detected."""
    named = value(given, "languages") or []
    if not isinstance(named, list) or not all(isinstance(tag, str) for tag in named):
        raise errors.bad_value("languages", "TYPE_STRING", named)
    if named:
        found = offer.detector.detected(text, [primary(named[0])]) or primary(named[0])
        return Spoken(named, [found], [t for t in named if primary(t) not in offer.languages])
    detected = offer.detector.detected(text, offer.languages)
    if detected is None:
        raise errors.refused("LANGUAGE_DETECTION_FAILED", "Unable to detect language")
    return Spoken([detected], [detected], [] if detected in offer.languages else [detected])


def _unsupported(attribute: str, said: Spoken) -> Refused:
    return errors.refused(
        "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
        f"Attribute {attribute} does not support request languages: {', '.join(said.untested)}",
        languageNotSupportedByAttributeError={
            "detectedLanguages": list(said.detected),
            "requestedLanguages": list(said.languages),
            "attribute": attribute,
        },
    )


def _threshold(name: str, about: Any) -> float:
    if about is None:
        return 0.0
    place = f"requested_attributes[{name}]"
    if not isinstance(about, dict):
        raise errors.bad_value(place, "AttributeParameters", about)
    kind = value(about, "scoreType")
    if kind in _NOT_SERVED:
        raise errors.invalid(f"Requested score type {kind} is not supported by attribute {name}")
    if kind is not None and kind not in _SERVED:
        raise errors.bad_value(f"{place}.score_type", "TYPE_ENUM", kind)
    return number_at(about, "scoreThreshold", place) or 0.0
