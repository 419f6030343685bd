"""Recipe ``agrawal``: the networks of Agrawal and Awekar 2018, among them a two-way LSTM.

Word vectors of 50 values, dropout .25, an LSTM of 50 units in each direction whose last states are
joined, dropout .5, a linear layer and softmax; Adam, 10 epochs, batches of 128. Rows of every class
but the largest are put into training three times. That is done inside ``fit``: done before posts
are split it puts copies of the same post on both sides (Arango et al. 2019).

``cell`` has the siblings of the same paper: an LSTM that reads forwards only, convolutions over 3,
4 and 5 words with 100 filters each and the maximum over the text, and the two-way LSTM with a
weighted mean of all its states, weights learned by a layer of their own (additive attention).

Source: Agrawal and Awekar 2018 as described by Arango, Pérez and Poblete 2019. Where
weights start is not printed there: here from Glorot's distribution, word vectors between -.05 and
.05.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from evenhand.models._network import NetworkRecipe, Shape


@dataclass(frozen=True, kw_only=True)
class Agrawal(NetworkRecipe):
    """Options of the recipe."""

    name: ClassVar[str] = "agrawal"

    cell: Literal["bilstm", "lstm", "cnn", "attention"] = "bilstm"
    """What turns the vectors of a text's words into one."""
    units: int = 50
    """Units of the LSTM, in each direction."""
    oversample: int = 3

    def shape(self) -> Shape:
        """What the network looks like."""
        return Shape(
            kind="cnn" if self.cell == "cnn" else "lstm",
            embedding=self.embedding,
            units=self.units,
            both=self.cell in ("bilstm", "attention"),
            attention="additive" if self.cell == "attention" else "",
            first=self.dropout_first,
            second=self.dropout_second,
        )
