"""The seven records every room of the house speaks in, one at a time.

``Post → Draw → Judgement → Gold → Split → Score → Finding``. In bulk the same records are Polars
tables whose columns are the field names (:mod:`evenhand.core.tables`); both refuse the same things.
Spans count Unicode code points, start inclusive and end exclusive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal

from evenhand.core.errors import BadInput

Origin = Literal["data", "simulated", "published"]
Span = tuple[int, int]


def _need(record: str, condition: bool, what: str) -> None:
    if not condition:
        raise BadInput(f"{record}: {what}")


@dataclass(frozen=True, kw_only=True)
class Post:
    """A text somebody wrote, as it was found."""

    id: str
    """Unique in its corpus; for a published corpus ``corpus:published id``."""
    text: str
    """The text as published. Empty is kept and counted."""
    source: str
    """The corpus or file it comes from."""
    author: str | None = None
    """Who wrote it; never leaves the store."""
    date: datetime | None = None
    """When it was written, in UTC."""
    reply_to: str | None = None
    """Id of the post it answers."""
    edit_of: str | None = None
    """Id of the post it was made from by a small change (a perturbation, a swap)."""
    targets: Sequence[str] = ()
    """The people it mentions."""
    media: Sequence[str] = ()
    """Pictures, videos, links that belong to it."""
    tags: Mapping[str, str | None] = field(default_factory=dict)
    """Anything else by name: ``split``, ``twin``, ``template``, ``functionality`` …"""

    def __post_init__(self) -> None:
        for name in ("id", "text", "source"):
            value = getattr(self, name)
            _need("Post", isinstance(value, str), f"{name} is {value!r}; expected a text")
        _need("Post", self.id != "", "id is empty; expected a text")
        _need("Post", self.source != "", "source is empty; expected a text")


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How a post came into a sample."""

    post: str
    stratum: str
    flag: bool
    """Whether a filter flagged the post."""
    probability: float
    """Inclusion probability, in (0, 1]."""
    weight: float
    phase: int = 1

    def __post_init__(self) -> None:
        _need(
            "Draw",
            0 < self.probability <= 1,
            f"post {self.post!r} has probability {self.probability}; expected 0 < p ≤ 1",
        )


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What one person answered to one question about one post."""

    post: str
    annotator: str
    question: str
    answer: Sequence[str]
    """One label, or several where the question allows it."""
    cohort: str | None = None
    spans: Sequence[Span] = ()
    """The words the annotator marked (a rationale)."""
    seconds: float | None = None
    at: datetime | None = None
    attempt: int = 1
    """1 for the first answer of this person to this question about this post."""
    anonymous: bool = False
    """True where the corpus does not say who answered (annotator is then ``?1``, ``?2`` …)."""

    def __post_init__(self) -> None:
        _need("Judgement", len(self.answer) > 0, f"post {self.post!r}: the answer is empty")
        _need("Judgement", self.attempt >= 1, f"post {self.post!r}: attempt {self.attempt} < 1")
        for start, end in self.spans:
            _need("Judgement", 0 <= start < end, f"post {self.post!r}: span ({start}, {end})")


@dataclass(frozen=True, kw_only=True)
class Gold:
    """What is taken as true of a post, as a share per label."""

    post: str
    question: str
    shares: Mapping[str, float]
    n: int
    """How many judgements (or published labels) the shares rest on."""
    origin: str
    """``published``, or the name of the aggregation."""
    label: str | None
    """The label; None on a tie, or where several apply."""
    multiple: bool = False
    """True where several labels can apply at once, so that shares need not sum to one."""

    def __post_init__(self) -> None:
        where = f"post {self.post!r}, question {self.question!r}"
        for label, share in self.shares.items():
            _need("Gold", 0 <= share <= 1, f"{where}: share of {label!r} is {share}")
        total = sum(self.shares.values())
        _need(
            "Gold",
            self.multiple or abs(total - 1) < 1e-6,
            f"{where}: shares sum to {total}; a single choice needs 1",
        )


@dataclass(frozen=True, kw_only=True)
class Split:
    """A division of posts into sides that a rule keeps apart."""

    name: str
    train: Sequence[str]
    test: Sequence[str]
    rule: str
    """What the split promises, e.g. ``author+twin+duplicate on one side``."""
    dev: Sequence[str] | None = None

    def __post_init__(self) -> None:
        sides = {"train": set(self.train), "dev": set(self.dev or ()), "test": set(self.test)}
        for a, b in (("train", "dev"), ("train", "test"), ("dev", "test")):
            both = sorted(sides[a] & sides[b])
            _need("Split", not both, f"{self.name}: {len(both)} posts in {a} and {b}: {both[:5]}")


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a detector says of a post."""

    post: str
    detector: str
    attribute: str
    p: float
    evidence: Sequence[tuple[int, int, float]] = ()
    """Weighted spans: (start, end, change of the score)."""

    def __post_init__(self) -> None:
        _need("Score", 0 <= self.p <= 1, f"post {self.post!r}: p is {self.p}; expected 0 ≤ p ≤ 1")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A figure with everything needed to defend it.

    A figure that does not exist has ``value=None`` and says why; it is never 0 and never NaN.
    """

    measure: str
    """Its name, as listed in docs/reference/measures.md."""
    value: float | None
    n: int
    """How many units the figure rests on."""
    group: Mapping[str, str | int] = field(default_factory=dict)
    """Which part it is about; empty for the main figure of what was asked."""
    low: float | None = None
    high: float | None = None
    level: float | None = None
    """Confidence level of low and high."""
    method: str = "count"
    """How value and interval were obtained."""
    unit: str | None = None
    """What was resampled, or what n counts."""
    weighted: bool = False
    n_effective: float | None = None
    origin: Origin = "data"
    why: str | None = None
    """Why there is no value, or no interval."""
    cases: Sequence[str] = ()
    """Ids of posts to look at."""

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "n_effective"):
            number = getattr(self, name)
            finite = number is None or math.isfinite(number)
            _need("Finding", finite, f"{self.measure}: {name} is {number}; use None and say why")
        if self.value is None:
            _need("Finding", bool(self.why), f"{self.measure}: no value and no reason")

    def as_dict(self) -> dict[str, Any]:
        """The finding as a JSON object, with every field present."""
        document = {f.name: getattr(self, f.name) for f in fields(self)}
        return document | {"group": dict(self.group), "cases": list(self.cases)}
