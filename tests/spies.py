"""A recipe that remembers what it was shown, and a corpus to show it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from evenhand.core.errors import NotEnoughData
from evenhand.core.streams import stream
from factories import make_corpus


@dataclass(frozen=True)
class SpyDetector:
    classes: int

    def score(self, texts):
        """Hateful if the text has "fool"; with three classes racism counts as "vermin"."""
        if self.classes == 2:
            return np.array([[0.9 if "fool" in text else 0.1] for text in texts])
        kinds = [1 if "vermin" in text else 2 if "fool" in text else 0 for text in texts]
        return np.eye(self.classes)[kinds] * 0.8 + 0.2 / self.classes


@dataclass(frozen=True)
class Spy:
    """Fits nothing; ``shown`` lists the ids of every fit, posts and gold."""

    name = "spy"
    hateful: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    question: str = ""
    oversample: int = 1
    shown: list = field(default_factory=list, repr=False, compare=False)

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> SpyDetector:
        self.shown.append((set(posts["id"]), set(gold["post"]), seed))
        return SpyDetector(len(self.classes) or 2)


def written(posts: int = 120, seed: int = 0):
    """Posts by authors of different sizes; racism, sexism and none, each with its own words.

    Some authors write posts of one label only. A few texts stand twice, under other authors.
    """
    rng = stream(seed, "written")
    rows = []
    for number in range(posts):
        label = ("none", "none", "sexism", "none", "racism", "sexism")[number % 6]
        word = {"none": "tea", "sexism": "fool", "racism": "vermin"}[label]
        filler = " ".join(f"w{k}" for k in rng.integers(300, size=8))
        pool = "mixed" if rng.random() < 0.3 else label
        author = f"{pool} {int(6 * rng.random() ** 2)}"
        text = f"{word} {filler}"
        if number % 20 == 6:
            text = rows[-6]["text"]
        rows.append({"id": f"p{number:03d}", "text": text, "label": label, "author": author})
    return make_corpus(rows, hateful=("racism", "sexism"))


# What workers are asked to do: processes find these here, and not in a module of tests.


def doubled(number):
    return 2 * number


def refused(number):
    raise NotEnoughData(f"{number} posts")


def died(number):
    os._exit(7)


def threads(_):
    return os.environ["OMP_NUM_THREADS"]
