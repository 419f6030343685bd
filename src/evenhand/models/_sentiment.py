"""How positive or negative posts sound, by the lexicon and rules of VADER (Hutto and Gilbert 2014).

The lexicon comes with the package ``vaderSentiment``; nothing is downloaded. Of a very long text
only the beginning is looked at, since VADER's time grows with the square of the number of words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import MissingExtra

KINDS = ("neg", "neu", "pos", "compound")
"""The shares of negative, neutral and positive words, and all in one from -1 to 1."""
_LONGEST = 5_000
"""How many characters of a text are looked at."""


def sentiment(texts: Sequence[str]) -> NDArray[np.float64]:
    """One row per text, one column per kind."""
    analyse = _analyser()
    scores = [analyse(text[:_LONGEST]) for text in texts]
    return np.array([[score[kind] for kind in KINDS] for score in scores]).reshape(-1, len(KINDS))


@cache
def _analyser() -> Callable[[str], Mapping[str, float]]:
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ImportError as error:
        raise MissingExtra(
            f"sentiment needs vaderSentiment ({error}); install it with "
            "`pip install 'evenhand[train]'`"
        ) from error
    analyse: Callable[[str], Mapping[str, float]] = SentimentIntensityAnalyzer().polarity_scores
    return analyse
