"""What the recipes that train a network have in common: options, word vectors, the detector.

Words are those of :mod:`evenhand.models.words`; the vocabulary holds those of the training rows and
no others. Their vectors start at random, or from a file of vectors, or from vectors learned from
posts without labels, and are trained further. An unknown word has the vector zero, in training
(where ``min_df`` leaves words out) as in scoring. A class without training rows has probability 0.

PyTorch is imported when something is trained or loaded, never before.
"""

from __future__ import annotations

import importlib.util
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput, MissingExtra, NotEnoughData
from evenhand.core.provenance import VERSION, sha256
from evenhand.core.streams import stream
from evenhand.data.find import find
from evenhand.models._encoding import Encoding
from evenhand.models._ngrams import Ngrams
from evenhand.models._vectors import Vectors, learn_vectors, read_vectors
from evenhand.models.options import as_json
from evenhand.models.protocol import Arrays, Probabilities, Record, Trained
from evenhand.models.seen import Seen
from evenhand.models.training import Codes, oversampled, record, shown, training_rows
from evenhand.models.words import words

if TYPE_CHECKING:
    from evenhand.models._cells import Network

_WIDEST = 0.05
"""Values of random word vectors lie between minus this and this."""

_COUNTS = ("embedding", "epochs", "batch", "oversample", "min_df", "length")
"""Options that are at least 1."""


@dataclass(frozen=True)
class Shape:
    """What a network looks like."""

    kind: Literal["lstm", "gru", "cnn"]
    embedding: int
    """Values of a word vector."""
    units: int = 0
    """Of a recurrent cell, in each direction."""
    both: bool = False
    """Whether a second recurrent cell reads backwards."""
    attention: Literal["", "additive", "plain"] = ""
    """How the states of all steps are weighted; empty means the last state alone is used."""
    first: float = 0.0
    """Share of the values of word vectors dropped in training."""
    second: float = 0.0
    """Share of the values dropped before the last layer."""


@dataclass(frozen=True, kw_only=True)
class NetworkRecipe(ABC):
    """A recipe that trains a network, with the options all of them have."""

    name: ClassVar[str]

    question: str = ""
    """Which question's gold to learn; empty means the corpus's main one."""
    hateful: tuple[str, ...] = ()
    """Which labels count as hateful; empty means those the corpus declares."""
    classes: tuple[str, ...] = ()
    """Labels to tell apart; empty means hateful posts from all others."""
    embedding: int = 50
    """Values of a word vector."""
    vectors: str = ""
    """A text file of word vectors to start from; words it does not have start at random."""
    unlabelled: str = ""
    """A corpus or file from whose posts, without labels, vectors to start from are learned."""
    epochs: int = 10
    """How often every training row is seen."""
    batch: int = 128
    """Posts between two changes of the weights."""
    dropout_first: float = 0.25
    """Share of the values of word vectors set to zero in training."""
    dropout_second: float = 0.5
    """Share of the values set to zero in training before the last layer."""
    oversample: int = 1
    """How often rows of every class but the largest are put into training."""
    min_df: int = 1
    """In how many training posts a word must stand."""
    length: int = 100
    """How many words of a text are read."""
    handles: bool = False
    """Whether every handle is a word of its own, so that who is mentioned can be learned."""

    def __post_init__(self) -> None:
        shape = self.shape()
        counts = {name: getattr(self, name) for name in _COUNTS}
        if shape.kind != "cnn":
            counts["units"] = shape.units
        faults = [
            f"{self.name}: {name} is {count}; expected at least 1"
            for name, count in counts.items()
            if count < 1
        ]
        shares = {"dropout_first": shape.first, "dropout_second": shape.second}
        faults += [
            f"{self.name}: {name} is {share}; expected at least 0 and below 1"
            for name, share in shares.items()
            if not 0 <= share < 1
        ]
        if self.vectors and self.unlabelled:
            faults.append(f"{self.name}: both vectors and unlabelled are given; leave one out")
        if faults:
            raise BadInput(*faults)

    @abstractmethod
    def shape(self) -> Shape:
        """What the network looks like."""

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> Trained:
        """Train the network."""
        return fit_network(self, posts, gold, seed=seed, step="network")

    def restore(self, record: Record, arrays: Arrays) -> Trained:
        """The detector that gave these arrays."""
        return restore_network(self, record, arrays)


@dataclass(frozen=True, eq=False)
class NetworkDetector(Trained):
    """A network and the words it knows."""

    encoding: Encoding
    network: Network
    present: Codes
    """The classes that had training rows, which the network tells apart."""
    classes: int
    """How many classes there are in all."""
    handles: bool
    """Whether every handle is a word of its own."""

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        from evenhand.models._epochs import probabilities

        p = np.zeros((len(texts), self.classes))
        lists = words(texts, handles=self.handles)
        p[:, self.present] = probabilities(self.network, self.encoding.encode(lists))
        return shown(p, self.attributes)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        from evenhand.models._cells import as_arrays

        return {
            **self.encoding.vocabulary.arrays("words"),
            "present": self.present,
            **as_arrays(self.network),
        }


def fit_network(
    recipe: NetworkRecipe, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int, step: str
) -> NetworkDetector:
    """Train a network; ``step`` is what this training is called within the recipe."""
    expect_torch(recipe.name)
    from evenhand.models import _cells, _epochs

    rows = training_rows(posts, gold, recipe)
    lists = words(rows.texts, handles=recipe.handles)
    encoding = Encoding.learn(lists, min_df=recipe.min_df, length=recipe.length)
    if not len(encoding.vocabulary):
        raise NotEnoughData(
            f"{recipe.name}: no word stands in {recipe.min_df} or more of the "
            f"{len(rows.labels)} training posts; add posts, or lower min_df"
        )
    known = record(recipe, rows, seed=seed)
    outside = _outside(recipe, seed)
    vectors = _vectors(recipe, encoding.vocabulary.symbols, outside, stream(seed, step, "words"))
    present, labels = np.unique(rows.labels, return_inverse=True)
    course = _epochs.Course(
        epochs=recipe.epochs,
        batch=recipe.batch,
        named=f"{recipe.name}-{step} {_named(recipe, known)}",
        random=lambda epoch: stream(seed, step, "epoch", epoch),
    )
    with _epochs.one_thread():
        network = _cells.Network(recipe.shape(), len(encoding.vocabulary), len(present))
        _cells.start(network, vectors, seed=seed, step=step)
        which = oversampled(labels, recipe.oversample)
        _epochs.train(network, encoding.encode(lists), labels, which, course)
    return NetworkDetector(
        outside.added_to(known), encoding, network, present, rows.classes, recipe.handles
    )


def restore_network(recipe: NetworkRecipe, record: Record, arrays: Arrays) -> NetworkDetector:
    """The detector that gave these arrays."""
    expect_torch(recipe.name)
    from evenhand.models import _cells, _epochs

    encoding = Encoding(Ngrams.restore(arrays, "words"), recipe.length)
    with _epochs.one_thread():
        network = _cells.Network(recipe.shape(), len(encoding.vocabulary), len(arrays["present"]))
        try:
            _cells.take(network, arrays)
        except RuntimeError as error:  # PyTorch's way to say that sizes differ
            raise ValueError(str(error)) from error
    return NetworkDetector(
        record,
        encoding,
        network.eval(),
        arrays["present"],
        len(recipe.classes) or 2,
        recipe.handles,
    )


def expect_torch(name: str) -> None:
    """Refuse to go on without PyTorch."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra(
            f"{name} needs PyTorch, which is not installed: pip install 'evenhand[train]'"
        )


@dataclass(frozen=True)
class _Outside:
    """Word vectors from elsewhere, and what a detector remembers of them."""

    vectors: Vectors | None
    seen: Seen | None
    provenance: Mapping[str, Any]

    def added_to(self, known: Record) -> Record:
        return replace(
            known,
            provenance={**known.provenance, **self.provenance},
            seen=merged(known.seen, self.seen) if self.seen else known.seen,
        )


def merged(one: Seen, other: Seen) -> Seen:
    """The digests of both."""
    return Seen(np.union1d(one.ids, other.ids), np.union1d(one.keys, other.keys))


def _outside(recipe: NetworkRecipe, seed: int) -> _Outside:
    if recipe.unlabelled:
        posts = find(recipe.unlabelled).posts.sort("id")
        return _Outside(
            learn_vectors(posts["text"].to_list(), recipe.embedding, seed=seed),
            Seen.of(posts),
            {"unlabelled": {"name": recipe.unlabelled, "posts": posts.height}},
        )
    if not recipe.vectors:
        return _Outside(None, None, {})
    path = Path(recipe.vectors)
    vectors = read_vectors(path)
    size = vectors.matrix.shape[1]
    if size != recipe.embedding:
        raise BadInput(
            f"{recipe.name}: embedding is {recipe.embedding}, but the vectors of {path} have "
            f"{size} values; give embedding={size}"
        )
    return _Outside(vectors, None, {"vectors": {"file": path.name, "sha256": sha256(path)}})


def _vectors(
    recipe: NetworkRecipe, known: pl.Series, outside: _Outside, rng: np.random.Generator
) -> NDArray[np.float32]:
    """The vectors that the known words start from."""
    matrix = rng.uniform(-_WIDEST, _WIDEST, (len(known), recipe.embedding)).astype(np.float32)
    if outside.vectors is not None:
        theirs, found = outside.vectors.rows(known)
        matrix[found] = theirs[found]
    return matrix


def _named(recipe: NetworkRecipe, known: Record) -> str:
    """All that the result of a training depends on, but for the arrays it starts from."""
    what = {
        "evenhand": VERSION,
        "options": as_json(recipe),
        "seed": known.provenance["seed"],
        "training_sha256": known.provenance["training_sha256"],
    }
    return json.dumps(what, sort_keys=True)
