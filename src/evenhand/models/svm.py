"""Recipe ``svm``: a linear support vector machine over words and pairs of neighbouring words.

Source: Blevins et al. 2016, who tell aggression and loss in tweets of gang members with a linear
SVM. Of their features ours has the unigrams and bigrams, weighted by tf-idf
(:mod:`evenhand.models._tfidf`); their part-of-speech tags (of a tagger made for that community)
and their emotion scores (of a lexicon made for it) are left out, as neither tagger nor lexicon can
be had for other communities. The classifier is scikit-learn's ``LinearSVC`` (squared hinge, solved
in the primal, each class against the rest).

A score is the logistic of the distance to the hyperplane, so 0.5 lies on it; for several classes,
the softmax of the distances. It ranks, but is no calibrated probability. A class without training
posts scores 0. The result does not depend on the order of the rows, and the seed changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from evenhand.models._tfidf import TextFeatures
from evenhand.models.linear import LinearDetector, expect_usable, learned
from evenhand.models.protocol import Arrays, Record
from evenhand.models.training import record, training_rows


@dataclass(frozen=True, kw_only=True)
class Svm:
    """Options of the recipe."""

    name: ClassVar[str] = "svm"
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
    min_df: int = 2
    """In how many training posts a feature must stand."""
    c: float = 1.0
    """How much a post on the wrong side costs, against large weights."""
    balanced: bool = False
    """Whether every class weighs the same in training, however many posts it has."""

    def __post_init__(self) -> None:
        expect_usable(self.name, words=self.words, min_df=self.min_df, c=self.c)

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> LinearDetector:
        """Learn the features, then their weights."""
        from sklearn.svm import LinearSVC

        rows = training_rows(posts, gold, self)
        features, table = TextFeatures.learn(
            rows.texts, words_to=self.words, characters_to=0, min_df=self.min_df
        )
        classifier = LinearSVC(
            C=self.c,
            class_weight="balanced" if self.balanced else None,
            dual=False,  # the dual is solved in a random order
            max_iter=10_000,
        )
        weights, bias = learned(classifier, table, rows.labels, rows.classes)
        return LinearDetector(record(self, rows, seed=seed), features, weights, bias)

    def restore(self, record: Record, arrays: Arrays) -> LinearDetector:
        """The detector that gave these arrays."""
        return LinearDetector.restore(record, TextFeatures.restore(arrays), arrays)
