"""Recipe ``davidson``: the classifier of Davidson et al. 2017 of hateful and offensive tweets.

Theirs has, of a tweet with links and handles replaced: Porter-stemmed words, pairs and triples by
tf-idf; Penn part-of-speech tags, alone, in pairs and in triples; the Flesch-Kincaid grade and the
Flesch reading ease with the number of sentences set to one; VADER's sentiment; the numbers of
hashtags, handles, links and of characters, words and syllables; and whether it is a retweet. A
logistic regression with an L1 penalty chooses among these features, and one with an L2 penalty
learns from those chosen, each class against the rest, with more weight for rare classes.

Ours differs where theirs needs downloads or depends on the scale of the numbers. The tags are
Pattern's (:mod:`evenhand.models._tagging`), not those of NLTK's tagger. Stop words stay in; no
share of posts is too large for a feature, and their number has no upper bound. Tf-idf is smoothed.
Syllables are counted by a rule. Readability, counts and sentiment are scaled to mean 0 and variance
1 over the training posts. The scores of several classes are the softmax of the margins of each
class against the rest; theirs are the logistics, scaled to sum to one, which rank the classes of a
text alike. If the L1 penalty leaves no feature, as with few posts, all are kept.

Needs the extra ``train``. A class without training posts has probability 0. The order of the rows
does not matter; the seed decides the order in which the choice of features looks at them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from evenhand.core.errors import BadInput
from evenhand.core.streams import stream
from evenhand.models._ngrams import Ngrams
from evenhand.models._sentiment import sentiment
from evenhand.models._tagging import stems, tags
from evenhand.models._tfidf import idf, pieces
from evenhand.models.linear import LinearDetector, expect_usable, learned
from evenhand.models.protocol import Arrays, Record
from evenhand.models.training import Codes, record, training_rows
from evenhand.models.words import words

_SILENT = re.compile(r"(?<![^aeiouy]l)e$")
_VOWELS = re.compile(r"[aeiouy]+")
_LISTS = pl.List(pl.String)
_LEAST_WEIGHT = 1e-5
"""A weight of the first regression below this is none."""
_LEAST_SPREAD = 1e-9
"""A standard deviation below this is an error of rounding."""

COUNTS = (
    "grade",
    "ease",
    "syllables",
    "syllables_per_word",
    "characters",
    "words",
    "distinct_words",
    "hashtags",
    "handles",
    "links",
    "retweet",
)
"""What :func:`counts` gives, in order."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Davidson:
    """Options of the recipe."""

    name: ClassVar[str] = "davidson"

    question: str = ""
    """Which question's gold to learn; empty means the corpus's main one."""
    hateful: tuple[str, ...] = ()
    """Which labels count as hateful; empty means those the corpus declares."""
    classes: tuple[str, ...] = ()
    """Labels to tell apart; empty means hateful posts from all others."""
    words: int = 3
    """How many neighbouring stems, and how many neighbouring tags, a feature has at most."""
    min_df: int = 5
    """In how many training posts a run of stems or tags must stand."""
    choice: float = 0.01
    """How little weights cost where features are chosen: the inverse of the L1 penalty."""
    c: float = 0.01
    """How little large weights cost where classes are learned: the inverse of the L2 penalty."""
    balanced: bool = True
    """Whether posts of rare classes weigh more in training."""

    def __post_init__(self) -> None:
        expect_usable(self.name, words=self.words, min_df=self.min_df, c=self.c)
        if not 0 < self.choice < np.inf:
            raise BadInput(f"davidson: choice is {self.choice}; expected more than 0")

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> LinearDetector:
        """Learn the features, choose among them, then learn their weights."""
        from sklearn.linear_model import LogisticRegression

        rows = training_rows(posts, gold, self)
        features, table = DavidsonFeatures.learn(rows.texts, longest=self.words, min_df=self.min_df)
        problems = list(_problems(rows.labels, balanced=self.balanced))
        kept = np.zeros(table.shape[1], dtype=bool)
        order = int(stream(seed, "davidson", "choice").integers(2**31))
        for _, target, costs in problems:
            chooser = LogisticRegression(
                solver="liblinear",
                l1_ratio=1,
                C=self.choice,
                class_weight=costs,
                max_iter=1000,
                random_state=order,
            )
            chosen, _ = learned(chooser, table, target, 2)
            kept |= np.abs(chosen[:, 1]) >= _LEAST_WEIGHT
        if not kept.any():
            kept[:] = True
        weights, bias = np.zeros((len(kept), rows.classes)), np.full(rows.classes, -np.inf)
        bias[rows.labels] = 0
        for code, target, costs in problems:
            classifier = LogisticRegression(C=self.c, class_weight=costs, max_iter=10_000)
            found, intercepts = learned(classifier, table[:, kept], target, 2)
            weights[kept, code], bias[code] = found[:, 1], intercepts[1]
        return LinearDetector(record(self, rows, seed=seed), features, weights, bias)

    def restore(self, record: Record, arrays: Arrays) -> LinearDetector:
        """The detector that gave these arrays."""
        return LinearDetector.restore(record, DavidsonFeatures.restore(arrays), arrays)


def _problems(
    labels: Codes, *, balanced: bool
) -> Iterator[tuple[int, Codes, dict[int, float] | None]]:
    """Each class against the rest: its number, whether each post is of it, and what posts cost.

    Of two classes there is one problem, of which both are evened out. With more, the class's own
    posts cost as if it had the mean size, and the rest cost 1: what liblinear does with a weight a
    class.
    """
    codes, sizes = np.unique(labels, return_counts=True)
    evenly = (len(labels) / (len(codes) * sizes)).tolist()
    two = len(codes) == 2
    for code, own in list(zip(codes.tolist(), evenly, strict=True))[1 if two else 0 :]:
        costs = {0: evenly[0] if two else 1.0, 1: own}
        yield code, (labels == code).astype(np.int64), costs if balanced else None


@dataclass(frozen=True, eq=False)
class DavidsonFeatures:
    """Runs of stems and of tags, and how numbers are scaled."""

    stems: Ngrams
    tags: Ngrams
    idf: Floats
    """The weight of each run of stems."""
    centre: Floats
    """The mean of each number over the training posts."""
    spread: Floats
    """Its standard deviation, 1 for a number that never changes."""

    def __len__(self) -> int:
        return len(self.stems) + len(self.tags) + len(self.centre)

    @classmethod
    def learn(cls, texts: Sequence[str], *, longest: int, min_df: int) -> tuple[Self, csr_array]:
        """What stands in at least ``min_df`` of the texts, and the texts as rows."""
        stemmed, tagged, values = _parts(texts)
        runs = Ngrams.learn(stemmed, longest=longest, min_df=min_df)
        spread = values.std(axis=0)
        made = cls(
            stems=runs,
            tags=Ngrams.learn(tagged, longest=longest, min_df=min_df),
            idf=idf(runs.counts(stemmed)),
            centre=values.mean(axis=0),
            spread=np.where(spread > _LEAST_SPREAD, spread, 1.0),
        )
        return made, made._joined(stemmed, tagged, values)

    def rows(self, texts: Sequence[str]) -> csr_array:
        """The texts as rows."""
        return self._joined(*_parts(texts))

    def _joined(self, stemmed: pl.Series, tagged: pl.Series, values: Floats) -> csr_array:
        counts = self.stems.counts(stemmed)
        counts.data *= self.idf[counts.indices]
        scaled = csr_array((values - self.centre) / self.spread)
        return hstack([counts, self.tags.counts(tagged), scaled], format="csr")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned, as plain arrays."""
        scale = {"idf": self.idf, "centre": self.centre, "spread": self.spread}
        return {**self.stems.arrays("stems"), **self.tags.arrays("tags"), **scale}

    @classmethod
    def restore(cls, arrays: Arrays) -> Self:
        """The features that gave these arrays."""
        return cls(
            stems=Ngrams.restore(arrays, "stems"),
            tags=Ngrams.restore(arrays, "tags"),
            idf=arrays["idf"],
            centre=arrays["centre"],
            spread=arrays["spread"],
        )


def _parts(texts: Sequence[str]) -> tuple[pl.Series, pl.Series, Floats]:
    """The stems, tags and numbers of each text."""
    lists = words(texts)
    tagged = tags(pieces(texts).list.join(" ").to_list())
    return _stemmed(lists), tagged, np.hstack([counts(texts, lists), sentiment(texts)])


def _stemmed(lists: pl.Series) -> pl.Series:
    distinct = lists.explode().drop_nulls().unique()
    known = dict(zip(distinct, stems(distinct.to_list()), strict=True))
    return pl.Series([[known[word] for word in text] for text in lists.to_list()], dtype=_LISTS)


def counts(texts: Sequence[str], lists: pl.Series) -> Floats:
    """Readability and counts of texts with these words: one column for each of ``COUNTS``.

    Handles, links and pictographs are no words here, and a hashtag is one.
    """
    found = []
    for text, every in zip(texts, lists.to_list(), strict=True):
        plain = [word.lstrip("#") for word in every if word.lstrip("#")[:1].isalnum()]
        spoken = sum(map(syllables, plain))
        per_word = spoken / max(len(plain), 1)
        found.append(
            (
                0.39 * len(plain) + 11.8 * per_word - 15.59,
                206.835 - 1.015 * len(plain) - 84.6 * per_word,
                spoken,
                per_word,
                len(text),
                len(plain),
                len(set(plain)),
                sum(word.startswith("#") for word in every),
                sum(word == "@user" for word in every),
                sum(word == "@link" for word in every),
                every[:1] == ["rt"],
            )
        )
    return np.array(found, dtype=np.float64).reshape(-1, len(COUNTS))


def syllables(word: str) -> int:
    """How many groups of vowels a word has, without a silent e at its end; at least one.

    >>> [syllables(word) for word in ("late", "table", "the", "movie", "42")]
    [1, 2, 1, 2, 1]
    """
    return max(len(_VOWELS.findall(_SILENT.sub("", word))), 1)
