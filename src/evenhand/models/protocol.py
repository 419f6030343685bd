"""What a recipe and a detector are.

A *recipe* is a frozen dataclass of options with one verb, ``fit``: it sees its training rows and
nothing else, and everything that is learned (vocabulary, features, oversampling, thresholds) is
learned inside. A *detector* has one verb, ``score``: from texts to probabilities, one column per
attribute; the score of a text never depends on the texts beside it.

A recipe that learns a representation of texts before it learns the classes does that in a step of
its own, ``represent(posts, gold, *, seed)``, whose result ``fit`` takes as ``representation=…``;
called without one, ``fit`` makes it from its own rows. That is the only way to show what happens
when a representation has seen the test rows. A recipe without such a step has no ``represent``.

What a recipe fits is a :class:`Trained` detector, which can be saved: it gives its arrays by name,
and its recipe's ``restore`` makes it again from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.models.seen import Seen

HATE = "HATE"
"""The attribute of a detector that tells hateful posts from all others."""

Probabilities = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]


class Detector(Protocol):
    """Anything that scores texts."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """What the columns of its scores mean, in order."""

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Where it comes from, as JSON."""

    def score(self, texts: Sequence[str]) -> Probabilities:
        """Probabilities, one row per text and one column per attribute."""


class Recipe(Protocol):
    """A way to train a detector: a frozen dataclass of options."""

    name: ClassVar[str]
    """The name it is registered by."""

    @property
    def question(self) -> str:
        """Which question's gold to learn; empty means the only one there is."""

    @property
    def hateful(self) -> tuple[str, ...]:
        """Which labels count as hateful; ``for_corpus`` fills it from a corpus."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels to tell apart; empty means hateful posts from all others."""

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> Trained:
        """Train on checked tables of posts and gold; gold of other posts is not looked at."""

    def restore(self, record: Record, arrays: Arrays) -> Trained:
        """The detector that gave these arrays."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """What a trained detector remembers of its training."""

    recipe: Recipe
    name: str
    attributes: tuple[str, ...]
    provenance: Mapping[str, Any]
    """The seed, how many posts of which kind, from where, what was left out; data used if saved."""
    seen: Seen
    """Digests of the training posts."""


@dataclass(frozen=True, eq=False)
class Trained(ABC):
    """A detector made by a recipe; subclasses hold what was learned."""

    record: Record

    @property
    def name(self) -> str:
        """The recipe's name, or that of the folder it was loaded from."""
        return self.record.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """What the columns of its scores mean, in order."""
        return self.record.attributes

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Where it comes from, as JSON."""
        return self.record.provenance

    @abstractmethod
    def score(self, texts: Sequence[str]) -> Probabilities:
        """Probabilities, one row per text and one column per attribute."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned, as plain arrays by name; never an array of objects."""
