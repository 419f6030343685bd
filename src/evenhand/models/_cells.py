"""Networks from words to classes, in PyTorch.

Every network is: word vectors, dropout, a cell that turns the vectors of a text into one, dropout,
and a linear layer. Texts of a batch are filled up with padding behind, and padding never counts:
a recurrent cell is read at a text's last word, the direction that reads backwards reads each text's
own words in reverse, and the maximum and the attention look at words only. (Packed sequences would
do the same, but are slow on processors.)

Padding and unknown words have the vector zero, in training as in scoring. Random numbers come from
a NumPy generator that whoever trains hands over, never from PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from evenhand.core.streams import stream
from evenhand.models._encoding import FIRST
from evenhand.models._network import Shape

WIDTHS = (3, 4, 5)
"""How many words the filters of the convolution see."""
MAPS = 100
"""Filters of each width."""


_ALIGNED = 16
"""Numbers of 4 bytes that a row has a multiple of, so that every row begins at a boundary."""


class Network(nn.Module):
    """From numbers of words to one number per class."""

    def __init__(self, shape: Shape, words: int, classes: int) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Parameter(torch.zeros(words, shape.embedding))
        self.first = Dropout(shape.first)
        self.cell = Convolution(shape) if shape.kind == "cnn" else Recurrent(shape)
        self.second = Dropout(shape.second)
        self.last = nn.Linear(self.cell.size, classes)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Scores of the classes from numbers (step, text) and how many of them are words."""
        known = (numbers >= FIRST).unsqueeze(2)
        vectors = functional.embedding((numbers - FIRST).clamp(min=0), self.words) * known
        states = self.second(self.cell(self.first(vectors), lengths))
        # Rows that begin anywhere in memory are not all summed alike on some processors.
        spare = -states.shape[1] % _ALIGNED
        weight = functional.pad(self.last.weight, (0, spare))
        return functional.linear(functional.pad(states, (0, spare)), weight, self.last.bias)


class Dropout(nn.Module):
    """Dropout whose random numbers come from ``rng``."""

    p: ClassVar[float] = 0.0
    """What some encoders of transformers read to drop more by themselves: nothing."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.rng: np.random.Generator | None = None

    def forward(self, values: Tensor) -> Tensor:
        """The values, some set to zero and the rest enlarged, while training."""
        if not (self.training and self.share and self.rng):
            return values
        drawn = np.frombuffer(self.rng.bytes(2 * values.numel()), dtype=np.uint16)
        kept = (drawn >= round(self.share * 65536)) * np.float32(1 / (1 - self.share))
        return values * torch.from_numpy(kept).view(values.shape)


class Recurrent(nn.Module):
    """LSTM or GRU in one direction or both; the last state, or a weighted mean of all."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        kind = nn.LSTM if shape.kind == "lstm" else nn.GRU
        self.size = shape.units * (1 + shape.both)
        self.forwards = kind(shape.embedding, shape.units)
        self.backwards = kind(shape.embedding, shape.units) if shape.both else None
        self.hidden = nn.Linear(self.size, self.size) if shape.attention == "additive" else None
        self.weight = nn.Linear(self.size, 1, bias=False) if shape.attention else None

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """One vector a text, from vectors (step, text, value)."""
        back = _reversed(vectors.shape[0], lengths)
        every = [self.forwards(vectors)[0]]
        if self.backwards is not None:
            every.append(self.backwards(_rows(vectors, back))[0])
        if self.weight is None:
            last = (lengths - 1) * len(lengths) + torch.arange(len(lengths))
            return torch.cat([states.flatten(0, 1)[last] for states in every], dim=1)
        # State t of the reading backwards belongs to the word it has just read.
        states = torch.cat([every[0], *(_rows(s, back) for s in every[1:])], dim=2)
        hidden = states if self.hidden is None else torch.tanh(self.hidden(states))
        scores = self.weight(hidden).squeeze(2)
        scores = scores.masked_fill(~_inside(len(scores), lengths), -math.inf)
        mean: Tensor = (scores.softmax(dim=0).unsqueeze(2) * states).sum(dim=0)
        return mean


def _inside(steps: int, lengths: Tensor) -> Tensor:
    """Which steps of which text are words, (step, text)."""
    return torch.arange(steps).unsqueeze(1) < lengths


def _reversed(steps: int, lengths: Tensor) -> Tensor:
    """Where the step and text comes from that each becomes when every text is turned round."""
    step = torch.arange(steps).unsqueeze(1)
    other = torch.where(step < lengths, lengths - 1 - step, step)
    return (other * len(lengths) + torch.arange(len(lengths))).flatten()


def _rows(values: Tensor, which: Tensor) -> Tensor:
    return values.flatten(0, 1).index_select(0, which).view(values.shape)


class Convolution(nn.Module):
    """Filters over 3, 4 and 5 neighbouring words, each with the maximum over the text.

    A text shorter than a filter is seen with padding behind, once.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.size = MAPS * len(WIDTHS)
        self.filters = nn.ModuleList(nn.Conv1d(shape.embedding, MAPS, width) for width in WIDTHS)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """One vector a text, from vectors (step, text, value)."""
        short = max(0, max(WIDTHS) - vectors.shape[0])
        values = functional.pad(vectors.permute(1, 2, 0), (0, short))
        return torch.cat([self._most(f, values, lengths) for f in self.filters], dim=1)

    @staticmethod
    def _most(filters: nn.Module, values: Tensor, lengths: Tensor) -> Tensor:
        found = functional.relu(filters(values))
        width = values.shape[2] - found.shape[2] + 1
        inside = _inside(found.shape[2], (lengths - width + 1).clamp(min=1))
        # Nothing is below zero here, so a zero never is the maximum in place of another.
        most: Tensor = (found * inside.T.unsqueeze(1)).amax(dim=2)
        return most


def start(network: Network, vectors: NDArray[np.float32], *, seed: int, step: str) -> None:
    """Give a network the vectors of the known words to start from, and draw all other weights.

    Matrices are drawn after Glorot and Bengio, those from state to state are orthogonal, offsets
    are zero but for the gate by which an LSTM keeps its state, which starts open (one).
    """
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if weights is network.words:
                weights.copy_(torch.from_numpy(vectors))
            elif weights.dim() == 1:
                weights.zero_()
                if network.shape.kind == "lstm" and name.endswith("bias_ih_l0"):
                    weights.chunk(4)[1].fill_(1)
            else:
                rng = stream(seed, step, name)
                drawn = _orthogonal if "weight_hh" in name else _glorot
                weights.copy_(drawn(tuple(weights.shape), rng))


def _orthogonal(shape: tuple[int, ...], rng: np.random.Generator) -> Tensor:
    """One orthogonal matrix for each gate."""
    normal = torch.from_numpy(rng.normal(size=(shape[0] // shape[1], shape[1], shape[1])))
    square: Tensor = torch.linalg.qr(normal).Q
    return square.flatten(0, 1)


def _glorot(shape: tuple[int, ...], rng: np.random.Generator) -> Tensor:
    window = math.prod(shape[2:])
    limit = math.sqrt(6 / ((shape[0] + shape[1]) * window))
    return torch.from_numpy(rng.uniform(-limit, limit, shape))


def as_arrays(network: Network) -> dict[str, NDArray[Any]]:
    """The weights by name."""
    return {f"network.{name}": t.detach().numpy() for name, t in network.state_dict().items()}


def take(network: Network, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give a network the weights that :func:`as_arrays` gave."""
    names = network.state_dict()
    network.load_state_dict({name: torch.from_numpy(arrays[f"network.{name}"]) for name in names})
