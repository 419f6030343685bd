"""Detector ``perspective:URL``: a server that speaks the Perspective API's ``comments:analyze``.

One text and one attribute a request, ``doNotStore`` always. The base may or may not end in
``/v1alpha1``. Without ``language=`` in the URL the server detects the language, and refuses texts
in one it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlencode

from evenhand.core.errors import BrokenComponent
from evenhand.models._address import Address
from evenhand.models._dialect import probability

ATTRIBUTES = ("TOXICITY", "SEVERE_TOXICITY", "IDENTITY_ATTACK", "INSULT", "PROFANITY", "THREAT")
"""Those the public service had for all languages; a server may have others."""
_VERSION, _METHOD = "/v1alpha1", "/comments:analyze"


class Perspective:
    """The Perspective API's dialect."""

    kind: ClassVar[str] = "perspective"
    settings: ClassVar[tuple[str, ...]] = ("language",)
    attribute: ClassVar[str] = "TOXICITY"
    most: ClassVar[int] = 1
    per_second: ClassVar[float] = 1.0

    def path(self, to: Address) -> str:
        """The base, completed; the key is in the query."""
        base = to.path.removesuffix(_METHOD).removesuffix(_VERSION)
        query = f"?{urlencode({'key': to.key})}" if to.key else ""
        return f"{base}{_VERSION}{_METHOD}{query}"

    def headers(self, to: Address) -> dict[str, str]:
        """None of its own."""
        return {}

    def body(self, texts: Sequence[str], attribute: str, to: Address) -> Mapping[str, Any]:
        """One comment, one attribute."""
        [text] = texts
        asked = {
            "comment": {"text": text, "type": "PLAIN_TEXT"},
            "requestedAttributes": {attribute: {}},
            "doNotStore": True,
        }
        language = to.settings.get("language")
        return asked | {"languages": [language]} if language else asked

    def read(self, reply: Any, texts: int, attribute: str, name: str) -> list[float]:
        """The summary score."""
        try:
            value = reply["attributeScores"][attribute]["summaryScore"]["value"]
        except (KeyError, TypeError, IndexError):
            raise BrokenComponent(
                f"{name}: the server's answer has no score of {attribute}; expected "
                f"attributeScores.{attribute}.summaryScore.value"
            ) from None
        return [probability(value, attribute, name)]

    def refused_attribute(self, message: str) -> str | None:
        """Known by the service's own words."""
        if not message.startswith("Unknown requested attribute"):
            return None
        return f"a server has usually {', '.join(ATTRIBUTES)}"
