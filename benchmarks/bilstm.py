"""Training the two-way LSTM of ``agrawal``, beside a plain PyTorch loop of the same network.

Prints the table of docs/benchmarks/bilstm.md. Texts are those of waseem_hovy if EVENHAND_DATA names
a folder that has them, else made up with about the same lengths and number of words. The plain loop
is what one writes first: ``nn.LSTM(bidirectional=True)``, every text padded to the longest, random
batches of 128, ``torch.optim.Adam``. Both sides run in one process, in turn, three times; a time is
that of one epoch from fresh weights, after one epoch that is not counted. With two threads fewer
posts are timed, for on a busy machine they take long.
"""

from __future__ import annotations

import os
import platform
import time
from statistics import median

import numpy as np
import polars as pl
import torch
from torch import nn

from evenhand.core.errors import EvenhandError
from evenhand.core.streams import stream
from evenhand.data.find import find
from evenhand.models._cells import Network, start
from evenhand.models._encoding import Encoded, Encoding
from evenhand.models._epochs import Course, train
from evenhand.models.agrawal import Agrawal
from evenhand.models.words import words

ROUNDS, BATCH, CLASSES, SEED = 3, 128, 3, 1
FEWER = 20 * BATCH
"""Posts timed with two threads."""


def texts() -> tuple[str, pl.Series]:
    try:
        if os.environ.get("EVENHAND_DATA"):
            return "waseem_hovy", words(find("waseem_hovy").posts["text"].to_list())
    except EvenhandError as error:
        print(f"({error})")
    rng = stream(SEED, "texts")
    lengths = np.clip(rng.normal(15, 6, 15_000).round(), 1, 32).astype(int)
    ranks = np.minimum(rng.zipf(1.35, lengths.sum()), 15_700)
    lists = np.split(np.char.add("w", ranks.astype(str)), np.cumsum(lengths)[:-1])
    return "made-up texts", pl.Series([part.tolist() for part in lists])


class Plain(nn.Module):
    """The same network as one writes it first."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.words = nn.Embedding(count, 50, padding_idx=0)
        self.lstm = nn.LSTM(50, 50, batch_first=True, bidirectional=True)
        self.first, self.second = nn.Dropout(0.25), nn.Dropout(0.5)
        self.last = nn.Linear(100, CLASSES)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        """Scores of the classes."""
        _, (state, _) = self.lstm(self.first(self.words(numbers)))
        return self.last(self.second(torch.cat([state[0], state[1]], dim=1)))


def plain(known: int, data: Encoded, labels: np.ndarray, rows: np.ndarray) -> float:
    network = Plain(known + 2)
    adam = torch.optim.Adam(network.parameters())
    loss_of = nn.CrossEntropyLoss()
    every = np.arange(len(labels))
    numbers = torch.from_numpy(data.padded(every, int(data.lengths.max())))
    answers = torch.from_numpy(labels)
    begin = time.perf_counter()
    order = torch.from_numpy(rows)[torch.randperm(len(rows))]
    for some in order.split(BATCH):
        adam.zero_grad()
        loss_of(network(numbers[some]), answers[some]).backward()
        adam.step()
    return len(rows) / (time.perf_counter() - begin)


def ours(known: int, data: Encoded, labels: np.ndarray, rows: np.ndarray) -> float:
    network = Network(Agrawal().shape(), known, CLASSES)
    vectors = stream(SEED, "vectors").uniform(-0.05, 0.05, (known, 50)).astype(np.float32)
    start(network, vectors, seed=SEED, step="benchmark")
    course = Course(1, BATCH, "benchmark", lambda epoch: stream(SEED, epoch))
    begin = time.perf_counter()
    train(network, data, labels, rows, course)
    return len(rows) / (time.perf_counter() - begin)


def main() -> None:
    name, lists = texts()
    encoding = Encoding.learn(lists, min_df=1, length=100)
    data, known = encoding.encode(lists), len(encoding.vocabulary)
    rng = stream(SEED, "rows")
    every = np.arange(len(lists))
    labels = rng.integers(0, CLASSES, len(every))
    fewer = np.sort(rng.choice(every, FEWER, replace=False))
    sides = {
        "evenhand, one thread": (ours, 1, every),
        "plain PyTorch, one thread": (plain, 1, every),
        "evenhand, two threads": (ours, 2, fewer),
        "plain PyTorch, two threads": (plain, 2, fewer),
    }
    speeds: dict[str, list[float]] = {side: [] for side in sides}
    for round_number in range(ROUNDS + 1):
        for side, (run, threads, rows) in sides.items():
            torch.set_num_threads(threads)
            rows = rows if round_number else fewer
            speed = run(known, data, labels, rows)
            if round_number:
                speeds[side].append(speed)
    print(f"{name}: {len(every):,} texts of {data.lengths.mean():.1f} words on average, ", end="")
    print(f"{data.lengths.max()} at most, {known:,} different ones;")
    print(f"{os.cpu_count()} processors, Python {platform.python_version()}, ", end="")
    print(f"PyTorch {torch.__version__}, median of {ROUNDS} rounds\n")
    print("| way | posts/s (median) | slowest–fastest | posts timed |")
    print("|---|---|---|---|")
    for side, found in speeds.items():
        print(f"| {side} | {median(found):,.0f} | {min(found):,.0f}–{max(found):,.0f} ", end="")
        print(f"| {len(sides[side][2]):,} |")
    one, other = speeds["evenhand, one thread"], speeds["plain PyTorch, one thread"]
    ratios = [a / b for a, b in zip(one, other, strict=True)]
    print(f"\nevenhand ÷ plain, both on one thread (goal: 2): {median(ratios):.1f} ", end="")
    print(f"({min(ratios):.1f}–{max(ratios):.1f})")


if __name__ == "__main__":
    main()
