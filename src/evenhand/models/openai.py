"""Detector ``openai:URL``: a server that speaks OpenAI's moderation format.

Up to 32 texts a request; a category's score is the attribute, by default ``hate``, never a maximum
over categories. The base may or may not end in ``/v1``; a server that wants a model's name gets it
from ``model=`` in the URL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from evenhand.core.errors import BadInput, BrokenComponent
from evenhand.models._address import Address
from evenhand.models._dialect import probability

_VERSION, _METHOD = "/v1", "/moderations"


class OpenAI:
    """OpenAI's dialect."""

    kind: ClassVar[str] = "openai"
    settings: ClassVar[tuple[str, ...]] = ("model",)
    attribute: ClassVar[str] = "hate"
    most: ClassVar[int] = 32
    per_second: ClassVar[float] = 5.0

    def path(self, to: Address) -> str:
        """The base, completed."""
        return f"{to.path.removesuffix(_METHOD).removesuffix(_VERSION)}{_VERSION}{_METHOD}"

    def headers(self, to: Address) -> dict[str, str]:
        """The key."""
        return {"Authorization": f"Bearer {to.key}"} if to.key else {}

    def body(self, texts: Sequence[str], attribute: str, to: Address) -> Mapping[str, Any]:
        """A list of texts; the server answers for all categories."""
        return {"input": list(texts), **to.settings}

    def read(self, reply: Any, texts: int, attribute: str, name: str) -> list[float]:
        """The category's score in each result."""
        results = reply.get("results") if isinstance(reply, dict) else None
        if not isinstance(results, list) or len(results) != texts:
            found = f"{len(results)} results" if isinstance(results, list) else "no list of results"
            raise BrokenComponent(f"{name}: the server answered {texts} texts with {found}")
        return [_score(result, attribute, name) for result in results]

    def refused_attribute(self, message: str) -> str | None:
        """No category is asked for, so none can be refused."""
        return None


def _score(result: Any, attribute: str, name: str) -> float:
    scores = result.get("category_scores") if isinstance(result, dict) else None
    if not isinstance(scores, dict) or not scores:
        raise BrokenComponent(
            f"{name}: a result of the server has no category_scores, where {attribute} is expected"
        )
    if attribute not in scores:
        raise BadInput(
            f"{name}: no attribute {attribute!r}; the server has {', '.join(sorted(scores))}"
        )
    return probability(scores[attribute], attribute, name)
