"""The peer of benchmarks/serving.py: FastAPI with the same validation, checks and reply.

The request is a pydantic model, as a FastAPI user would write it; keys, limits, languages, counters
and the trivial detector are our own functions, so that only the framework and the way requests are
read and answers written differ.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from evenhand.serving.keys import Keys, Limiter
from evenhand.serving.languages import Languages, primary
from evenhand.serving.metrics import Metrics

LONGEST = 20_480


class Comment(BaseModel):
    """A text."""

    text: str = Field(min_length=1, max_length=LONGEST)
    type: Literal["PLAIN_TEXT", "TEXT_TYPE_UNSPECIFIED"] = "PLAIN_TEXT"


class Wanted(BaseModel):
    """How an attribute is wanted."""

    scoreType: Literal["PROBABILITY", "SCORE_TYPE_UNSPECIFIED"] = "PROBABILITY"
    scoreThreshold: float = 0.0


class Context(BaseModel):
    """What stands around."""

    entries: list[dict[str, Any]] | None = None
    articleAndParentComment: dict[str, Any] | None = None


class Asked(BaseModel):
    """A request."""

    comment: Comment
    requestedAttributes: dict[str, Wanted] = Field(min_length=1)
    context: Context | None = None
    languages: list[str] = []
    doNotStore: bool = True
    spanAnnotations: bool = False
    dropUnsupportedAttributes: bool = False
    clientToken: str | None = None
    sessionId: str | None = None
    communityId: str | None = None


class Score(BaseModel):
    """A score."""

    value: float
    type: str = "PROBABILITY"


class SpanScore(BaseModel):
    """The score of a part."""

    begin: int
    end: int
    score: Score


class Scores(BaseModel):
    """The scores of an attribute."""

    spanScores: list[SpanScore]
    summaryScore: Score


class Answer(BaseModel):
    """The reply."""

    attributeScores: dict[str, Scores]
    languages: list[str]
    detectedLanguages: list[str]
    clientToken: str | None = None


app = FastAPI()
keys = Keys(Path(os.environ["EVENHAND_BENCH_KEYS"]))
limiter, languages, metrics = Limiter(None), Languages(), Metrics()
KNOWN = ("TOXICITY",)


def score(texts: list[str]) -> list[float]:
    return [0.25 for _ in texts]


@app.post("/v1alpha1/comments:analyze", response_model=Answer, response_model_exclude_none=True)
async def analyze(request: Request, asked: Asked, key: str = "") -> Any:
    start = time.perf_counter()
    found = keys.found(key)
    if found is None:
        return JSONResponse({"error": {"code": 400, "message": "API key not valid."}}, 400)
    if limiter.seconds_to_wait(found.id, found.rate):
        return JSONResponse({"error": {"code": 429}}, 429)
    for name in asked.requestedAttributes:
        if name not in KNOWN:
            return JSONResponse({"error": {"code": 400, "message": f"Unknown {name}"}}, 400)
    text = asked.comment.text
    named = asked.languages or ["en"]
    detected = languages.detected(text, [primary(named[0])]) or primary(named[0])
    (p,) = score([text])
    scores = {
        name: Scores(
            spanScores=[SpanScore(begin=0, end=len(text), score=Score(value=p))],
            summaryScore=Score(value=p),
        )
        for name, wanted in asked.requestedAttributes.items()
        if p >= wanted.scoreThreshold
    }
    metrics.request("analyze", 200, time.perf_counter() - start)
    metrics.scored(1, 1)
    return Answer(
        attributeScores=scores, languages=named, detectedLanguages=[detected],
        clientToken=asked.clientToken,
    )  # fmt: skip
