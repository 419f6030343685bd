"""Recipe ``park``: the networks of Park, Shin and Fung 2018, whose identity bias they measured.

- ``cnn``: convolutions over 3, 4 and 5 words with 100 filters each, the maximum over the text,
  dropout .5;
- ``gru``: a GRU of 512 units, of which the last state is used, dropout .3;
- ``alpha-gru``: GRUs of 256 units in each direction and a mean of all states, weighted by one
  learned vector of 512 values (the simple attention of Felbo et al. 2017), dropout .3.

All have word vectors of 300 values and read 100 words at most; Adam. Dropout stands before the last
layer; the paper does not say where. Nor does it print epochs and batch size: 5 epochs in batches of
50 here, options both.

Source: Park, Shin and Fung 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from evenhand.models._network import NetworkRecipe, Shape

_DROPOUT = {"cnn": 0.5, "gru": 0.3, "alpha-gru": 0.3}
_UNITS = {"cnn": 0, "gru": 512, "alpha-gru": 256}


@dataclass(frozen=True, kw_only=True)
class Park(NetworkRecipe):
    """Options of the recipe."""

    name: ClassVar[str] = "park"

    model: Literal["cnn", "gru", "alpha-gru"] = "cnn"
    """Which of the three networks."""
    embedding: int = 300
    units: int = 0
    """Units of the GRU, in each direction; 0 means the paper's."""
    epochs: int = 5
    batch: int = 50
    dropout_first: float = 0.0
    dropout_second: float = -1.0
    """Share of the values set to zero in training before the last layer; -1 means the paper's."""

    def shape(self) -> Shape:
        """What the network looks like."""
        return Shape(
            kind="cnn" if self.model == "cnn" else "gru",
            embedding=self.embedding,
            units=self.units or _UNITS[self.model],
            both=self.model == "alpha-gru",
            attention="plain" if self.model == "alpha-gru" else "",
            first=self.dropout_first,
            second=_DROPOUT[self.model] if self.dropout_second == -1 else self.dropout_second,
        )
