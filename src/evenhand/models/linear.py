"""Recipe ``linear``: logistic regression over runs of words and of the characters inside words.

Features are runs of up to ``words`` words and of 2 to ``characters`` characters, weighted by tf-idf
(:mod:`evenhand.models._tfidf`); a run must stand in ``min_df`` training posts. The classifier is
scikit-learn's ``LogisticRegression`` (lbfgs; multinomial for several classes) and the scores are
its probabilities: equal to the same pipeline made of scikit-learn's parts. A text without a known
feature scores by the intercept alone. A class without training posts has probability 0. The result
does not depend on the order of the rows, and the seed changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import softmax

from evenhand.core.errors import BadInput
from evenhand.models._tfidf import TextFeatures
from evenhand.models.protocol import Arrays, Probabilities, Record, Trained
from evenhand.models.training import record, shown, training_rows

_BATCH = 10_000
"""Texts scored at a time, to bound memory."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Options of the recipe."""

    name: ClassVar[str] = "linear"
    choices: ClassVar[Mapping[str, tuple[float, ...]]] = {"c": (0.1, 1.0, 10.0)}
    """The options, and their values, among which a selection on training posts chooses."""

    question: str = ""
    """Which question's gold to learn; empty means the corpus's main one."""
    hateful: tuple[str, ...] = ()
    """Which labels count as hateful; empty means those the corpus declares."""
    classes: tuple[str, ...] = ()
    """Labels to tell apart; empty means hateful posts from all others."""
    words: int = 2
    """How many neighbouring words a feature has at most."""
    characters: int = 5
    """How many neighbouring characters a feature has at most; 0 for no such features."""
    min_df: int = 2
    """In how many training posts a feature must stand."""
    c: float = 10.0
    """How little large weights cost: the inverse of the penalty on their squares."""
    balanced: bool = False
    """Whether every class weighs the same in training, however many posts it has."""

    def __post_init__(self) -> None:
        expect_usable(self.name, words=self.words, min_df=self.min_df, c=self.c)
        if self.characters != 0 and self.characters < 2:
            raise BadInput(
                f"linear: characters is {self.characters}; expected at least 2, or 0 for none"
            )

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> LinearDetector:
        """Learn the features, then their weights."""
        from sklearn.linear_model import LogisticRegression

        rows = training_rows(posts, gold, self)
        features, table = TextFeatures.learn(
            rows.texts, words_to=self.words, characters_to=self.characters, min_df=self.min_df
        )
        classifier = LogisticRegression(
            C=self.c, class_weight="balanced" if self.balanced else None, max_iter=1000
        )
        weights, bias = learned(classifier, table, rows.labels, rows.classes)
        return LinearDetector(record(self, rows, seed=seed), features, weights, bias)

    def restore(self, record: Record, arrays: Arrays) -> LinearDetector:
        """The detector that gave these arrays."""
        return LinearDetector.restore(record, TextFeatures.restore(arrays), arrays)


class Features(Protocol):
    """What turns texts into rows of numbers."""

    def __len__(self) -> int:
        """How many numbers a row has."""

    def rows(self, texts: Sequence[str]) -> csr_array:
        """The texts as rows, each the same whatever texts are beside it."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned, as plain arrays."""


@dataclass(frozen=True, eq=False)
class LinearDetector(Trained):
    """A weight of each feature for each class."""

    features: Features
    weights: Floats
    """One row a feature, one column a class."""
    bias: Floats
    """What each class has without any feature; minus infinity for a class without posts."""

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        starts = range(0, len(texts), _BATCH)
        parts = [self.features.rows(texts[at : at + _BATCH]) @ self.weights for at in starts]
        margins = np.concatenate([np.empty((0, len(self.bias))), *parts])
        return shown(softmax(margins + self.bias, axis=1), self.attributes)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {**self.features.arrays(), "weights": self.weights, "bias": self.bias}

    @classmethod
    def restore(cls, record: Record, features: Features, arrays: Arrays) -> Self:
        """The detector that gave these arrays, with its features."""
        if len(features) != len(arrays["weights"]):
            raise ValueError(f"{len(features)} features with {len(arrays['weights'])} weights")
        return cls(record, features, arrays["weights"], arrays["bias"])


def learned(
    classifier: Any, table: csr_array, labels: NDArray[np.int64], classes: int
) -> tuple[Floats, Floats]:
    """Weights and bias of each class, from a classifier of scikit-learn fitted on one thread.

    Of two classes the first has no weights, so that the softmax is the logistic of the margin.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # sums over several threads depend on how many there are
        classifier.fit(table, labels)
    coefficients, intercepts = classifier.coef_, classifier.intercept_
    if len(coefficients) == 1:
        coefficients = np.concatenate([np.zeros_like(coefficients), coefficients])
        intercepts = np.concatenate([np.zeros(1), intercepts])
    weights, bias = np.zeros((table.shape[1], classes)), np.full(classes, -np.inf)
    weights[:, classifier.classes_] = coefficients.T
    bias[classifier.classes_] = intercepts
    return weights, bias


def expect_usable(recipe: str, *, words: int, min_df: int, c: float) -> None:
    """Refuse options out of range."""
    for name, value in (("words", words), ("min_df", min_df)):
        if value < 1:
            raise BadInput(f"{recipe}: {name} is {value}; expected at least 1")
    if not 0 < c < np.inf:
        raise BadInput(f"{recipe}: c is {c}; expected more than 0")
