"""Recipe ``badjatiya``: boosted trees over word vectors that an LSTM learned (2017).

First a network learns word vectors: vectors of 200 values, dropout .25, an LSTM of 50 units,
dropout .5, a linear layer and softmax; Adam, 10 epochs, batches of 128. Of it only the vectors are
kept. A post is then the mean of the vectors of all its words, and gradient-boosted trees tell the
classes apart. An unknown word counts as a vector of zeros; a post without a word is zeros too.

The two are steps of their own: ``represent`` learns the vectors, ``fit`` takes them, or learns them
from its own rows. Learned from the test posts and their labels too they give the published .93 in
place of an honest .73 (Arango et al. 2019). A detector remembers the posts its vectors were learned
from as it does its training posts.

Source: Badjatiya et al. 2017 as described by Arango, Pérez and Poblete 2019. The paper
has 50 units, the code published beside it 200: ``units``. What trees is not said beyond "gradient
boosting": see :mod:`evenhand.models._trees`; ``exact`` tries every threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.models._network import NetworkRecipe, Shape, fit_network, merged
from evenhand.models._ngrams import Ngrams
from evenhand.models._trees import Trees, fit_trees
from evenhand.models.protocol import Arrays, Probabilities, Record, Trained
from evenhand.models.seen import Seen
from evenhand.models.training import record, shown, training_rows
from evenhand.models.words import words

_BATCH = 50_000
"""Texts scored at a time, to bound memory."""


@dataclass(frozen=True, eq=False)
class Representation:
    """Word vectors, and what they were learned from."""

    vocabulary: Ngrams
    matrix: NDArray[np.float32]
    """One row a word."""
    seen: Seen
    """Digests of the posts they were learned from."""
    provenance: Mapping[str, Any]
    handles: bool = False
    """Whether every handle is a word of its own."""

    def means(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The mean vector of each text's words, one row per text."""
        lists = words(texts, handles=self.handles)
        lengths = np.maximum(lists.list.len().to_numpy(), 1)
        sums = self.vocabulary.counts(lists) @ self.matrix.astype(np.float64)
        means: NDArray[np.float64] = sums / lengths[:, None]
        return means


@dataclass(frozen=True, kw_only=True)
class Badjatiya(NetworkRecipe):
    """Options of the recipe."""

    name: ClassVar[str] = "badjatiya"

    embedding: int = 200
    units: int = 50
    """Units of the LSTM that learns the vectors."""
    exact: bool = False
    """Whether the trees try every threshold, which is slow, and not those between 255 bins."""

    def shape(self) -> Shape:
        """What the network that learns the vectors looks like."""
        return Shape(
            kind="lstm",
            embedding=self.embedding,
            units=self.units,
            first=self.dropout_first,
            second=self.dropout_second,
        )

    def represent(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> Representation:
        """Learn word vectors from posts and their labels."""
        learned = fit_network(self, posts, gold, seed=seed, step="represent")
        about = learned.provenance
        return Representation(
            vocabulary=learned.encoding.vocabulary,
            matrix=learned.network.words.detach().numpy(),
            seen=learned.record.seen,
            provenance={key: about[key] for key in about if key in _KEPT},
            handles=self.handles,
        )

    def fit(
        self,
        posts: pl.DataFrame,
        gold: pl.DataFrame,
        *,
        seed: int,
        representation: Representation | None = None,
    ) -> BadjatiyaDetector:
        """Train the trees, on vectors learned elsewhere or from the same rows."""
        rows = training_rows(posts, gold, self)
        if representation is None:
            representation = self.represent(posts, gold, seed=seed)
        trees = fit_trees(
            representation.means(rows.texts), rows.labels, rows.classes, seed=seed, exact=self.exact
        )
        known = record(self, rows, seed=seed)
        known = replace(
            known,
            provenance={**known.provenance, "representation": dict(representation.provenance)},
            seen=merged(known.seen, representation.seen),
        )
        return BadjatiyaDetector(known, representation, trees)

    def restore(self, record: Record, arrays: Arrays) -> BadjatiyaDetector:
        """The detector that gave these arrays."""
        vocabulary = Ngrams.restore(arrays, "words")
        if len(vocabulary) != len(arrays["matrix"]):
            raise ValueError(f"{len(vocabulary)} words with {len(arrays['matrix'])} vectors")
        about = record.provenance.get("representation", {})
        representation = Representation(
            vocabulary, arrays["matrix"], record.seen, about, self.handles
        )
        return BadjatiyaDetector(record, representation, Trees.restore(arrays))


_KEPT = ("seed", "posts", "classes", "training_sha256", "vectors", "unlabelled")
"""What a representation remembers of its training."""


@dataclass(frozen=True, eq=False)
class BadjatiyaDetector(Trained):
    """Word vectors and trees."""

    representation: Representation
    trees: Trees

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        # Without a text there is one part too, of no rows but as many columns as ever.
        parts = [
            self.trees.probabilities(self.representation.means(texts[start : start + _BATCH]))
            for start in range(0, max(len(texts), 1), _BATCH)
        ]
        return shown(np.concatenate(parts), self.attributes)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {
            **self.representation.vocabulary.arrays("words"),
            "matrix": self.representation.matrix,
            **self.trees.arrays(),
        }
