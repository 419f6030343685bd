"""Recipe ``naive-bayes``: multinomial Naive Bayes over words and pairs of neighbouring words.

The log-probability of a class is, up to a constant, the log of its share in training plus, for
every word and pair in the text, the log of how often that feature stands in posts of the class;
frequencies are smoothed by adding ``alpha`` to every count (Laplace for 1). Words are those of
:mod:`evenhand.models.words`; a feature must stand in ``min_df`` training posts. Unknown words
change nothing; a text without a known word scores the shares of the classes in training. Equal to
scikit-learn's ``MultinomialNB`` on the same counts.

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
from scipy.special import softmax

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.models._ngrams import Ngrams
from evenhand.models.protocol import Arrays, Probabilities, Record, Trained
from evenhand.models.training import record, shown, training_rows
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
    classes: tuple[str, ...] = ()
    """Labels to tell apart; empty means hateful posts from all others."""
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
        """Count words and pairs in the posts of each class."""
        rows = training_rows(posts, gold, self)
        lists = words(rows.texts)
        features = Ngrams.learn(lists, longest=2 if self.bigrams else 1, min_df=self.min_df)
        if not len(features):
            raise NotEnoughData(
                f"naive-bayes: no word stands in {self.min_df} or more of the "
                f"{len(rows.labels)} training posts; add posts, or lower min_df"
            )
        of_class = rows.labels == np.arange(rows.classes)[:, None]
        counts = of_class.astype(np.float64) @ features.counts(lists) + self.alpha
        with np.errstate(divide="ignore"):  # a class without rows has probability 0
            prior = np.log(np.bincount(rows.labels, minlength=rows.classes) / len(rows.labels))
        return NaiveBayesDetector(
            record=record(self, rows, seed=seed),
            features=features,
            log_shares=np.log(counts) - np.log(counts.sum(axis=1, keepdims=True)),
            prior=prior,
        )

    def restore(self, record: Record, arrays: Arrays) -> NaiveBayesDetector:
        """The detector that gave these arrays."""
        features = Ngrams.restore(arrays, "words")
        if len(features) != arrays["log_shares"].shape[1]:
            raise ValueError(
                f"{len(features)} words and pairs with {arrays['log_shares'].shape[1]} weights"
            )
        return NaiveBayesDetector(
            record=record,
            features=features,
            log_shares=arrays["log_shares"],
            prior=arrays["prior"],
        )


@dataclass(frozen=True, eq=False)
class NaiveBayesDetector(Trained):
    """How often each word and pair stands in posts of each class."""

    features: Ngrams
    log_shares: NDArray[np.float64]
    """One row a class; one column per word, then one per pair."""
    prior: NDArray[np.float64]
    """Log of each class's share in training."""

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        parts = [
            self._score(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)
        ]
        every = np.concatenate([np.empty((0, len(self.prior))), *parts])
        return shown(every, self.attributes)

    def _score(self, texts: Sequence[str]) -> Probabilities:
        sums = self.features.counts(words(texts)) @ self.log_shares.T
        p: Probabilities = softmax(self.prior + sums, axis=1)
        return p

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {
            **self.features.arrays("words"),
            "log_shares": self.log_shares,
            "prior": self.prior,
        }
