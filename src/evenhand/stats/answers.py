"""Answers as classes: which labels there are, what they are worth, how far apart they are.

- nominal: the labels of ``order``, or those found.
- ordinal, interval: with ``order`` the classes are worth 0, 1, 2 …; without it the answers must be
  numbers and are worth themselves (``1`` and ``1.0`` are one class).
- set (several labels in one answer): a class is a set of labels; sets are as far apart as the MASI
  distance says: 1 − J·M with J the Jaccard index and M 1 for equal sets, ⅔ where one holds the
  other, ⅓ where they overlap otherwise, 0 where they share nothing (Passonneau 2006).

An answer that ``order`` lacks is refused by name, and so is an answer of several labels on any
scale but ``set``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput
from evenhand.stats.numbering import Numbers, numbered

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale = Literal["nominal", "ordinal", "interval", "set"]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "set")

_BETWEEN = "\x1f"
_LISTED = 5


@dataclass(frozen=True)
class Classes:
    """The classes of a question, in the order of the columns of counts."""

    labels: tuple[str, ...]
    values: Floats | None = None
    """What each class is worth, on ordinal and interval scales."""
    options: tuple[str, ...] = ()
    """The labels sets are made of, sorted."""
    members: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """Which set (row) holds which option (column)."""
    distance: Floats | None = None
    """How far apart two sets are."""
    column: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The class of each number an answer may have."""

    def reordered(self, columns: Ints) -> Classes:
        """The same classes in another order."""
        labels = tuple(self.labels[column] for column in columns)
        moved = replace(self, labels=labels, column=np.argsort(columns)[self.column])
        if self.distance is None:
            return moved
        distance = self.distance[np.ix_(columns, columns)]
        return replace(moved, members=self.members[columns], distance=distance)


def classes_of(
    answers: pl.Series, question: str, *, scale: Scale, order: Sequence[str] | None
) -> tuple[Classes, Numbers]:
    """The classes, and a number for each answer (a column of lists of labels).

    The class of answer number i is ``column[i]`` of the classes: that keeps half a million answers
    as they are when classes change places.
    """
    check_scale(scale, order)
    texts = _joined(answers) if scale == "set" else _single(answers, question)
    numbers, rows = numbered(texts)
    found = texts.gather(rows).to_list()
    if scale == "set":
        names = sorted({name for text in found for name in text.split(_BETWEEN)})
        return _sets(found, _declared(names, question, order)), numbers
    return single_classes(found, question, scale=scale, order=order), numbers


def check_scale(scale: Scale, order: Sequence[str] | None) -> None:
    """Refuse a scale that does not exist and an order that holds a label twice."""
    if scale not in SCALES:
        raise BadInput(f"scale is {scale!r}; expected one of {', '.join(SCALES)}")
    if order is not None and len(set(order)) < len(order):
        raise BadInput(f"order holds a label twice: {', '.join(order)}")


def single_classes(
    found: list[str], question: str, *, scale: Scale, order: Sequence[str] | None
) -> Classes:
    """The classes of single answers; ``column`` says which class each of ``found`` is."""
    if scale == "nominal" or order is not None:
        labels = _declared(sorted(found), question, order)
        place = {label: column for column, label in enumerate(labels)}
        values = None if scale == "nominal" else np.arange(len(labels), dtype=np.float64)
        classes = Classes(labels, values)
    else:
        classes, place = _numbers(found, question, scale)
    return replace(classes, column=np.array([place[text] for text in found], dtype=np.int64))


def _single(answers: pl.Series, question: str) -> pl.Series:
    texts = answers.explode() if len(answers) else pl.Series(dtype=pl.String)
    if len(texts) != len(answers):
        several = int((answers.list.len() > 1).sum())
        raise BadInput(
            f"judgements: {several} answers to {question!r} hold several labels; expected one."
            " Use scale 'set' to compare sets of labels"
        )
    return texts


def _joined(answers: pl.Series) -> pl.Series:
    return answers.list.unique().list.sort().list.join(_BETWEEN)


def _declared(found: list[str], question: str, order: Sequence[str] | None) -> tuple[str, ...]:
    """The labels of ``order``, or those found; refuses an answer that ``order`` lacks."""
    if order is None:
        return tuple(found)
    outside = [label for label in found if label not in set(order)]
    if outside:
        named = ", ".join(repr(label) for label in outside[:_LISTED])
        more = f" and {len(outside) - _LISTED} more" if len(outside) > _LISTED else ""
        raise BadInput(
            f"judgements: answers to {question!r} that order lacks: {named}{more};"
            f" order is {', '.join(order)}"
        )
    return tuple(order)


def _numbers(found: list[str], question: str, scale: Scale) -> tuple[Classes, dict[str, int]]:
    worth = {text: _number(text) for text in found}
    wrong = sorted(text for text, value in worth.items() if value is None)
    if wrong:
        raise BadInput(
            f"judgements: the answer {wrong[0]!r} to {question!r} is no number;"
            f" scale {scale!r} needs numbers, or the labels from least to most as order"
        )
    values = sorted({value for value in worth.values() if value is not None})
    place = {value: column for column, value in enumerate(values)}
    at = {text: place[value] for text, value in worth.items() if value is not None}
    names = {column: text for text, column in sorted(at.items(), reverse=True)}
    labels = tuple(names[column] for column in range(len(values)))
    return Classes(labels, np.array(values)), at


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _sets(found: list[str], options: tuple[str, ...]) -> Classes:
    members = np.zeros((len(found), len(options)), dtype=bool)
    place = {option: column for column, option in enumerate(options)}
    for row, text in enumerate(found):
        members[row, [place[name] for name in text.split(_BETWEEN)]] = True
    labels = tuple(text.replace(_BETWEEN, " + ") for text in found)
    distance = masi_distance(members)
    return Classes(labels, None, options, members, distance, np.arange(len(found)))


def masi_distance(members: NDArray[np.bool_]) -> Floats:
    """MASI distance between sets, given as rows of which option they hold; none is empty.

    >>> sets = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)
    >>> masi_distance(sets).round(3)[0].tolist()  # itself; 1 − ½·⅔; 1 − ⅓·⅓
    [0.0, 0.667, 0.889]
    """
    table = members.astype(np.float64)
    both = table @ table.T
    size = table.sum(axis=1)
    either = size[:, None] + size - both
    smaller = np.minimum(size[:, None], size)
    alike = np.where(both == either, 3, np.where(both == smaller, 2, np.where(both > 0, 1, 0)))
    distance: Floats = 1 - both * alike / (3 * either)
    return distance
