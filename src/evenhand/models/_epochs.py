"""Training a network in epochs, and scoring with it, in PyTorch.

Texts of about the same length are batched together, which saves most of the padding: rows are
sorted by length plus a little noise, cut into batches, and the batches shuffled, anew in every
epoch. The loss is cross entropy, the optimiser Adam at its default rate.

Everything runs on one thread, so that a result does not depend on the machine's number of
processors and several trainings can run beside each other. All random numbers of an epoch come from
a stream named after it: a training that goes on from a checkpoint ends where it would have ended
without a break, to the last bit. PyTorch's own generator is not used and its settings are put back.

A text is scored in a batch whose size depends on that text alone, filled up with padding, so that
its score is the same to the last bit whatever texts are beside it.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import nn

from evenhand.core.provenance import file_at_once
from evenhand.models._cells import Dropout, Network, as_arrays, take
from evenhand.models._encoding import Encoded
from evenhand.models._ngrams import Ints
from evenhand.models.protocol import Probabilities
from evenhand.models.watching import watch

ROWS = 32
"""Texts in a batch when scoring."""
STEP = 8
"""When scoring, a text is filled up to a multiple of this."""
NOISE = 2.0
"""How many words shorter a text can be than another and still come behind it."""
OFTEN = 20
"""After so many batches whoever watches is told."""


@dataclass(frozen=True)
class Course:
    """How a network is trained."""

    epochs: int
    batch: int
    named: str
    """What the checkpoint is called and says of itself: anything that changes the result."""
    random: Callable[[int], np.random.Generator]
    """The random numbers of an epoch."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Run PyTorch on one thread, and leave its threads and random numbers as they were."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def train(network: Network, texts: Encoded, labels: Ints, rows: Ints, course: Course) -> None:
    """Train on some rows of the texts (a row may stand there several times)."""
    adam = torch.optim.Adam(network.parameters(), fused=True)
    checkpoint = Checkpoint.of(network, texts, labels, rows, course)
    done = checkpoint.taken_up(network, adam) if checkpoint else 0
    loss_of = nn.CrossEntropyLoss()
    network.train()
    for epoch in range(done, course.epochs):
        rng = course.random(epoch)
        for module in network.modules():
            if isinstance(module, Dropout):
                module.rng = rng
        batches = bucketed(texts.lengths, rows, course.batch, rng)
        total = 0.0
        for number, some in enumerate(batches, 1):
            lengths = texts.lengths[some]
            numbers = torch.from_numpy(texts.padded(some, int(lengths.max())).T)
            adam.zero_grad()
            loss = loss_of(
                network(numbers, torch.from_numpy(lengths)), torch.from_numpy(labels[some])
            )
            loss.backward()
            adam.step()
            total += loss.item()
            if number == len(batches) and checkpoint:
                checkpoint.write(network, adam, epoch + 1)
            if number % OFTEN == 0 or number == len(batches):
                watch().step(
                    f"epoch {epoch + 1} of {course.epochs}, loss {total / number:.3f}",
                    epoch + number / len(batches),
                    course.epochs,
                )
    network.eval()


def bucketed(lengths: Ints, rows: Ints, batch: int, rng: np.random.Generator) -> list[Ints]:
    """Rows in batches of about the same length, in random order."""
    key = lengths[rows] + rng.uniform(0, NOISE, len(rows))
    ordered = rows[np.argsort(key, kind="stable")]
    batches = [ordered[start : start + batch] for start in range(0, len(rows), batch)]
    return [batches[number] for number in rng.permutation(len(batches))]


def probabilities(network: Network, texts: Encoded) -> Probabilities:
    """The probability of each class, one row per text."""
    widths = -(-texts.lengths // STEP) * STEP
    scores = np.zeros((len(widths), network.last.out_features))
    with one_thread(), torch.inference_mode():
        for width in np.unique(widths).tolist():
            same = np.flatnonzero(widths == width)
            for start in range(0, len(same), ROWS):
                some = same[start : start + ROWS]
                scores[some] = _scores(network, texts, some, width)
    p: Probabilities = softmax(scores, axis=1)
    return p


def _scores(network: Network, texts: Encoded, some: Ints, width: int) -> NDArray[np.float32]:
    numbers = np.zeros((width, ROWS), dtype=np.int64)
    lengths = np.ones(ROWS, dtype=np.int64)
    numbers[:, : len(some)] = texts.padded(some, width).T
    lengths[: len(some)] = texts.lengths[some]
    scores = network(torch.from_numpy(numbers), torch.from_numpy(lengths))
    return cast(NDArray[np.float32], scores.numpy()[: len(some)])


@dataclass(frozen=True)
class Checkpoint:
    """A file that holds a training after its last whole epoch."""

    path: Path
    digest: NDArray[np.uint8]
    """Of everything that the result depends on; a file with another one is not taken up."""

    @classmethod
    def of(
        cls, network: Network, texts: Encoded, labels: Ints, rows: Ints, course: Course
    ) -> Checkpoint | None:
        """The checkpoint of a training that is about to start, if whoever watches keeps any."""
        folder = watch().checkpoints
        if folder is None:
            return None
        digest = hashlib.sha256(f"{course.named} {torch.__version__}".encode())
        for array in (texts.numbers, texts.lengths, labels, rows, *as_arrays(network).values()):
            digest.update(array.tobytes())
        name = course.named.partition(" ")[0]
        path = folder / f"{name}-{digest.hexdigest()[:16]}.npz"
        return cls(path, np.frombuffer(digest.digest(), dtype=np.uint8))

    def write(self, network: Network, adam: torch.optim.Adam, epoch: int) -> None:
        """Put this in place of the file, at once."""
        states = {
            f"adam.{name}.{key}": value.numpy()
            for name, weights in network.named_parameters()
            for key, value in adam.state[weights].items()
        }
        arrays = {**as_arrays(network), **states, "epoch": np.array(epoch), "digest": self.digest}
        with file_at_once(self.path) as part, part.open("wb") as file:
            np.savez(file, **cast(Any, arrays))

    def taken_up(self, network: Network, adam: torch.optim.Adam) -> int:
        """Go on from the file if it fits; how many epochs are done."""
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                arrays = dict(found)
            if not np.array_equal(arrays["digest"], self.digest):
                return 0
            states: dict[torch.Tensor, dict[str, torch.Tensor]] = {
                weights: {
                    key: torch.from_numpy(arrays[f"adam.{name}.{key}"]).clone()
                    for key in ("step", "exp_avg", "exp_avg_sq")
                }
                for name, weights in network.named_parameters()
            }
            epoch = int(arrays["epoch"])
            take(network, arrays)
        except (OSError, EOFError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile):
            return 0
        adam.state.update(states)
        return epoch
