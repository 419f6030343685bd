"""Rows as a network reads them, their loss, and how well dev rows are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, log_softmax

from evenhand.models._encoder_network import EncoderNetwork
from evenhand.models._epochs import NOISE, bucketed
from evenhand.models.lessons import Floats, Ints, Lessons, columns
from evenhand.stats.detection import auc

_BATCH = 64
"""Rows answered at a time."""
_NONE: Ints = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Ragged:
    """Lists of numbers of different lengths."""

    numbers: NDArray[np.int32]
    ends: Ints

    @property
    def lengths(self) -> Ints:
        """How long each list is."""
        return np.diff(self.ends, prepend=0)

    def padded(self, some: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some lists as rows filled up with zeros, and a mask of what is no filling."""
        lengths = self.lengths[some]
        mask = np.arange(max(1, int(lengths.max())))[None, :] < lengths[:, None]
        table = np.zeros(mask.shape, dtype=np.int64)
        starts = self.ends[some] - lengths
        table[mask] = np.concatenate(
            [
                self.numbers[a : a + n]
                for a, n in zip(starts.tolist(), lengths.tolist(), strict=True)
            ]
        )
        return table, mask.astype(np.int64)

    @classmethod
    def of(cls, lists: list[list[int]]) -> Ragged:
        """From lists."""
        numbers = np.fromiter((n for part in lists for n in part), dtype=np.int32)
        return cls(numbers, np.cumsum([len(part) for part in lists]).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Rows:
    """Lessons with their texts as numbers."""

    lessons: Lessons
    tokens: Ragged
    words: Ragged | None = None
    """Numbers of the words that are in the vocabulary, where there is one."""

    def __len__(self) -> int:
        return len(self.lessons)

    @property
    def columns(self) -> int:
        """How many answers there are."""
        return int(self.lessons.shares.shape[1])

    @property
    def lengths(self) -> Ints:
        """How many tokens each row has."""
        return self.tokens.lengths

    def batches(self, read: Ints, size: int, rng: np.random.Generator) -> list[Ints]:
        """Rows in batches of about the same length, in random order, families together.

        A row that is read several times is with its family each time, in different batches.
        """
        families = self.lessons.families
        if families is None:
            return bucketed(self.lengths, read, size, rng)
        order = np.argsort(read, kind="stable")
        again = np.empty(len(read), dtype=np.int64)
        again[order] = np.arange(len(read)) - np.searchsorted(read[order], read[order])
        _, unit = np.unique(np.stack([families[read], again]), axis=1, return_inverse=True)
        mean = np.bincount(unit, self.lengths[read]) / np.bincount(unit)
        key = mean + rng.uniform(0, NOISE, len(mean))
        ordered = read[np.lexsort((read, unit, key[unit]))]
        cut = [ordered[start : start + size] for start in range(0, len(read), size)]
        return [cut[number] for number in rng.permutation(len(cut))]

    def said(self, network: nn.Module, some: Ints) -> Tensor:
        """What the network says of some rows."""
        return cast(Tensor, network(*self._inputs(some)))

    def _inputs(self, some: Ints) -> list[Tensor]:
        inputs = [torch.from_numpy(part) for part in self.tokens.padded(some)]
        if self.words is not None:
            inputs.append(torch.from_numpy(self.words.padded(some)[0]))
        return inputs

    def _guided(self, network: EncoderNetwork, some: Ints) -> tuple[Tensor, Tensor]:
        """What the network says of some rows, and how far its vectors are from the teacher's.

        How far is 1 less the cosine, and 0 for rows that the teacher was not asked about.
        """
        tokens, mask, *words = self._inputs(some)
        vectors = network.pooled(tokens, mask)
        if network.guide is None or self.lessons.vectors is None:
            raise ValueError("there is no teacher to be guided by")
        wanted = torch.from_numpy(self.lessons.vectors[some].astype(np.float32))
        apart = 1 - cosine_similarity(network.guide(vectors), wanted, dim=1)
        return network.answered(vectors, *words), apart * wanted.any(dim=1)

    def beside(self, some: Ints, share: float, rng: np.random.Generator) -> Ints:
        """The places of those of some rows that are read beside their mates this time."""
        mates = self.lessons.mates
        if mates is None or not share:
            return _NONE
        chosen = (mates[some] >= 0) & (rng.random(len(some)) < share)
        return np.flatnonzero(chosen)

    def loss(
        self,
        network: nn.Module,
        some: Ints,
        beside: Ints = _NONE,
        pull: float = 0.0,
        guide: float = 0.0,
    ) -> Tensor:
        """The cross entropy of some rows, summed over the tasks that they are labelled for.

        Rows at the places ``beside`` are read with their mates: each of the two counts half, and
        ``pull`` times the squared difference of their margins is added. So is ``guide`` times how
        far their vectors are from the teacher's.
        """
        n = len(some)
        if len(beside) and self.lessons.mates is not None:
            some = np.concatenate([some, self.lessons.mates[some[beside]]])
        each = torch.zeros(len(some))
        if guide:
            said, away = self._guided(cast(EncoderNetwork, network), some)
            each = each + guide * away
        else:
            said = self.said(network, some)
        shares = torch.from_numpy(self.lessons.shares[some])
        weights = torch.from_numpy(self.lessons.weights[some])
        weights[beside] /= 2
        weights[n:] /= 2
        apart = torch.zeros(len(beside))
        for place in columns(self.lessons.tasks):
            # The shares of a row that is not labelled are all 0, and so is its loss.
            each = each - (shares[:, place] * log_softmax(said[:, place], dim=1)).sum(1)
            if len(beside) and place.stop - place.start == 2:
                margin = said[:, place][:, 1] - said[:, place][:, 0]
                labelled = shares[n:, place].sum(1)
                apart = apart + labelled * (margin[beside] - margin[n:]) ** 2
        return (each * weights).sum() + pull * apart.sum()

    def answers(self, network: nn.Module, some: Ints) -> Tensor:
        """What the network says of many rows, without gradients."""
        found = torch.zeros((len(some), self.columns))
        order = np.argsort(self.lengths[some], kind="stable")
        with torch.inference_mode():
            for start in range(0, len(some), _BATCH):
                batch = order[start : start + _BATCH]
                found[batch] = self.said(network, some[batch])
        return found


def encoded(base: Path, texts: Sequence[str], length: int) -> Ragged:
    """Clean texts as the numbers of their tokens, cut to a length."""
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(length)
    return Ragged.of([found.ids for found in tokenizer.encode_batch(list(texts))])


def judged(lessons: Lessons, answers: Floats) -> dict[str, float]:
    """How well dev rows are answered: the mean over corpora and tasks of the area under the curve.

    A task of several answers has the mean area of each answer against the others. A task with only
    one kind of row in a corpus has no area there; with no area at all there is no score.
    """
    found: dict[str, float] = {}
    parts = np.asarray(lessons.parts)
    for part in sorted(set(lessons.parts)):
        for number, place in enumerate(columns(lessons.tasks)):
            rows = (parts == part) & lessons.labelled[:, number]
            true, said = lessons.shares[rows, place] >= 0.5, answers[rows, place]
            places = range(said.shape[1])
            areas = [
                _area(true[:, at], said, at) for at in (places[1:] if len(places) == 2 else places)
            ]
            known = [area for area in areas if area is not None]
            if known:
                found[f"{part} {lessons.tasks[number].name}"] = float(np.mean(known))
    return {"score": float(np.mean(list(found.values()))), **found} if found else {}


def _area(true: NDArray[np.bool_], said: Floats, place: int) -> float | None:
    """The area under the curve of one answer against the others."""
    if not len(true):
        return None
    margin = said[:, place] - np.delete(said, place, axis=1).max(axis=1)
    return auc(true, expit(margin.astype(np.float64)))
