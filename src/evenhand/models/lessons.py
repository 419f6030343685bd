"""What a network learns from: texts, what is known of each, and how much each counts.

A *task* is a question with two or more answers, such as one attribute (no, yes) or the classes of a
corpus. A row gives a share to every answer of the tasks it is labelled for, and nothing where its
corpus does not label it: such a row teaches that task nothing. ``times`` says how often a row is
read in an epoch; a fraction reads a part of such rows, other ones in every epoch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenhand.core.streams import stream

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """A question and its answers."""

    name: str
    answers: tuple[str, ...] = ("no", "yes")


@dataclass(frozen=True, eq=False)
class Lessons:
    """Rows to learn from, or to be judged by."""

    texts: Sequence[str]
    tasks: tuple[Task, ...]
    shares: Floats
    """A column for every answer of every task, in order; 0 in all of them where not labelled."""
    labelled: NDArray[np.bool_]
    """A column for every task."""
    weights: Floats
    """How much a row counts in the loss."""
    times: NDArray[np.float64]
    """How often a row is read in an epoch."""
    parts: Sequence[str]
    """Which corpus a row is from."""
    families: Ints | None = None
    """Rows of one number are read in one batch where its border allows, such as a post and its
    edited twin: what they share then teaches nothing, and what sets them apart does. None for rows
    on their own."""
    vectors: NDArray[np.float16] | None = None
    """What a teacher's last layer is given of each row; noughts where nobody was asked."""
    mates: Ints | None = None
    """For each row the one that names another identity in place of its own, -1 where there is none;
    the two should be answered alike."""

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of_classes(cls, texts: Sequence[str], codes: Ints, task: Task, *, part: str = "") -> Self:
        """Rows that are each in one class of one task."""
        n = len(texts)
        return cls(
            texts=texts,
            tasks=(task,),
            shares=np.eye(len(task.answers), dtype=np.float32)[codes],
            labelled=np.ones((n, 1), dtype=np.bool_),
            weights=np.ones(n, dtype=np.float32),
            times=np.ones(n),
            parts=[part] * n,
        )

    def balanced(self, share: float) -> Self:
        """Rows of one task, those of rarer answers counting more, and all together as before.

        An answer given n times counts in proportion to n to the power of minus ``share``: at 1 all
        answers count alike.
        """
        many = self.shares.sum(axis=0)
        each = (self.shares @ np.where(many > 0, many, 1) ** -share) * self.weights
        return replace(self, weights=(each * self.weights.sum() / each.sum()).astype(np.float32))

    def sha256(self) -> str:
        """One checksum for the rows, what is known of each and how much it counts."""
        digest = hashlib.sha256(json.dumps([list(self.texts), list(self.parts)]).encode())
        for array in (self.shares, self.weights, self.times, self.families, self.mates):
            digest.update(b"-" if array is None else array.tobytes())
        return digest.hexdigest()

    def read_in(self, epoch: int, seed: int) -> Ints:
        """The rows of an epoch, a row standing there as often as it is read."""
        rng = stream(seed, "times", epoch)
        whole = np.floor(self.times)
        many = whole + (rng.random(len(self)) < self.times - whole)
        return np.repeat(np.arange(len(self)), many.astype(np.int64))


def taught(
    lessons: Lessons,
    names: Sequence[str],
    answers: NDArray[np.float64],
    *,
    shares: NDArray[np.float64],
) -> Lessons:
    """The rows with the answers of teachers beside their labels, or in place of missing ones.

    A row and its mate say the same of different people: both get the mean of their answers.

    Args:
        lessons: Rows of tasks of two answers.
        names: The tasks that were answered.
        answers: The probability of yes, a column for each of them; anything where nobody was asked.
        shares: How much of what is learned is the teachers' answer, a column for each of them; 0
            where nobody was asked, 1 where a row is left to the teachers.
    """
    if lessons.mates is not None:
        has = lessons.mates >= 0
        answers = np.where(has[:, None], (answers + answers[lessons.mates]) / 2, answers)
    answers = np.where(shares > 0, answers, 0.0)
    learned, labelled = lessons.shares.copy(), lessons.labelled.copy()
    numbers = {task.name: number for number, task in enumerate(lessons.tasks)}
    for column, name in enumerate(names):
        at = numbers[name]
        place = columns(lessons.tasks)[at]
        said = np.stack([1 - answers[:, column], answers[:, column]], axis=1)
        share = shares[:, [column]]
        learned[:, place] = (1 - share) * learned[:, place] + share * said
        labelled[:, at] |= shares[:, column] > 0
    return replace(lessons, shares=learned, labelled=labelled)


def columns(tasks: Sequence[Task]) -> list[slice]:
    """Where the answers of each task stand.

    >>> columns([Task("a"), Task("b", ("x", "y", "z"))])
    [slice(0, 2, None), slice(2, 5, None)]
    """
    ends = np.cumsum([len(task.answers) for task in tasks]).tolist()
    return [slice(end - len(task.answers), end) for end, task in zip(ends, tasks, strict=True)]
