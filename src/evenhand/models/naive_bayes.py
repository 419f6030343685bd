"""Recipe ``naive-bayes``: multinomial Naive Bayes over words and pairs of neighbouring words.

The log-odds of a text are the log-odds of the classes plus, for every word and pair in it, the log
of how much more often that feature stands in hateful posts; frequencies are smoothed by adding
``alpha`` to every count (Laplace for 1). Words are those of :mod:`evenhand.models.words`; a feature
must stand in ``min_df`` training posts. Unknown words change nothing; a text without a known word
scores the share of hateful posts in training. Equal to scikit-learn's ``MultinomialNB`` on the same
counts.

Naive Bayes counts every word as fresh evidence, so long texts score near 0 or 1: the ranking is of
use, the value is no calibrated probability. The result does not depend on the order of the rows,
and the seed changes nothing.

Source: McCallum and Nigam 1998, the multinomial event model, with pairs of words as features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.models._vocabulary import Vocabulary
from evenhand.models.protocol import Arrays, Probabilities, Record, Trained
from evenhand.models.training import record, training_rows
from evenhand.models.words import words

_BATCH = 50_000
"""Texts scored at a time, to bound memory."""


@dataclass(frozen=True, kw_only=True)
class NaiveBayes:
    """Options of the recipe."""

    name: ClassVar[str] = "naive-bayes"

    question: str = ""
    """Which question's gold to learn; empty means the corpus's main one."""
    hateful: tuple[str, ...] = ()
    """Which labels count as hateful; empty means those the corpus declares."""
    min_df: int = 2
    """In how many training posts a word or pair must stand."""
    alpha: float = 1.0
    """What is added to every count."""
    bigrams: bool = True
    """Whether pairs of neighbouring words are features too."""

    def __post_init__(self) -> None:
        if self.min_df < 1:
            raise BadInput(f"naive-bayes: min_df is {self.min_df}; expected at least 1")
        if not 0 < self.alpha < np.inf:
            raise BadInput(f"naive-bayes: alpha is {self.alpha}; expected more than 0")

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> NaiveBayesDetector:
        """Count words and pairs in hateful and other posts."""
        rows = training_rows(posts, gold, self.question, self.hateful)
        lists = words(rows.texts)
        vocabulary = Vocabulary.learn(lists, min_df=self.min_df, bigrams=self.bigrams)
        if not len(vocabulary):
            raise NotEnoughData(
                f"naive-bayes: no word stands in {self.min_df} or more of the "
                f"{len(rows.labels)} training posts; add posts, or lower min_df"
            )
        at, features = vocabulary.features(lists)
        in_hateful = rows.labels[at]
        hateful = self._log_shares(features[in_hateful], len(vocabulary))
        others = self._log_shares(features[~in_hateful], len(vocabulary))
        count = int(rows.labels.sum())
        return NaiveBayesDetector(
            record=record(self, rows, seed=seed),
            vocabulary=vocabulary,
            log_odds=hateful - others,
            prior=float(np.log(count) - np.log(len(rows.labels) - count)),
        )

    def _log_shares(self, features: NDArray[np.int64], size: int) -> NDArray[np.float64]:
        counts = np.bincount(features, minlength=size) + self.alpha
        logs: NDArray[np.float64] = np.log(counts) - np.log(counts.sum())
        return logs

    def restore(self, record: Record, arrays: Arrays) -> NaiveBayesDetector:
        """The detector that gave these arrays."""
        vocabulary = Vocabulary.unpacked(arrays["words"], arrays["pairs"])
        if len(vocabulary) != len(arrays["log_odds"]):
            raise ValueError(
                f"{len(vocabulary)} words and pairs with {len(arrays['log_odds'])} weights"
            )
        return NaiveBayesDetector(
            record=record,
            vocabulary=vocabulary,
            log_odds=arrays["log_odds"],
            prior=float(arrays["prior"]),
        )


@dataclass(frozen=True, eq=False)
class NaiveBayesDetector(Trained):
    """How much each word and pair speaks for a hateful post."""

    vocabulary: Vocabulary
    log_odds: NDArray[np.float64]
    """One per word, then one per pair."""
    prior: float
    """Log-odds of the classes in training."""

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability that each text is hateful, in one column."""
        parts = [
            self._score(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate([np.empty(0), *parts])[:, None]

    def _score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        at, features = self.vocabulary.features(words(texts))
        sums = np.bincount(at, self.log_odds[features], len(texts))
        p: NDArray[np.float64] = expit(self.prior + sums)
        return p

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {
            "words": self.vocabulary.packed(),
            "pairs": self.vocabulary.pairs,
            "log_odds": self.log_odds,
            "prior": np.array(self.prior),
        }
