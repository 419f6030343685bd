"""Gradient-boosted trees, fitted by scikit-learn and kept as plain arrays.

Two kinds: histogram boosting (values are put into at most 255 bins; quick), and boosting with exact
splits (every value is tried; slow). Both have 100 rounds with a learning rate of 0.1 and otherwise
scikit-learn's defaults, without early stopping. They are fitted on one thread: sums in another
order would give other trees on a machine with other cores.

scikit-learn's own objects could only be saved by pickle. Here a node is a number: all trees stand
one after the other in the same arrays, and a leaf is a node that leads to itself. The log-odds of a
class are the log of its share in training plus the leaves of its trees, always summed in the same
order, so that the result of a row does not depend on the rows beside it. A class without training
rows has probability 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.core.streams import stream

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PREFIX = "trees_"
_ROUNDS = 100
_RATE = 0.1
_BATCH = 2_000
"""Rows scored at a time, to bound memory."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Boosted trees."""

    feature: Ints
    """Per node, the column of the features it looks at."""
    threshold: Floats
    """Per node, the largest value that goes left."""
    left: Ints
    right: Ints
    value: Floats
    """Per node, what a leaf adds to the log-odds."""
    root: Ints
    """Per tree, in order of training, its first node."""
    column: Ints
    """Per tree, the class whose log-odds it adds to."""
    baseline: Floats
    """Per class, the log of its share in training; minus infinity for none."""
    single: NDArray[np.bool_]
    """Whether features are rounded to single precision first, as in training; one value."""

    def probabilities(self, x: NDArray[np.floating]) -> Floats:
        """Probabilities of the classes, one row per row of finite features."""
        out = np.empty((len(x), len(self.baseline)))
        for start in range(0, len(x), _BATCH):
            rows = slice(start, start + _BATCH)
            out[rows] = self._batch(x[rows].astype(np.float32 if self.single else np.float64)).T
        return out

    def _batch(self, x: NDArray[np.floating]) -> Floats:
        """Probabilities of a few rows, one column per row."""
        raw = np.repeat(self.baseline[:, None], len(x), axis=1)
        for column, values in zip(self.column, self.value[self._leaves(x)], strict=True):
            raw[column] += values
        odds = np.exp(raw - raw.max(axis=0))
        # NumPy's own sum of many classes adds in another order for one row than for several.
        return np.asarray(odds / reduce(np.add, odds))

    def _leaves(self, x: NDArray[np.floating]) -> Ints:
        """The leaf that each row (column) reaches in each tree (row), going down level by level."""
        node = np.repeat(self.root, len(x))
        inner = np.flatnonzero(self.left[node] != node)
        while inner.size:
            at = node[inner]
            goes_left = x[inner % len(x), self.feature[at]] <= self.threshold[at]
            at = np.where(goes_left, self.left[at], self.right[at])
            node[inner] = at
            inner = inner[self.left[at] != at]
        return node.reshape(len(self.root), len(x))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays by name."""
        return {_PREFIX + field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The trees that gave these arrays; others may stand beside them."""
        return cls(**{field.name: arrays[_PREFIX + field.name] for field in fields(cls)})


@dataclass(frozen=True, eq=False)
class _Tree:
    """One tree, its nodes numbered from 0."""

    leaf: NDArray[np.bool_]
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats


def fit_trees(
    x: NDArray[np.floating],
    y: Ints,
    classes: int,
    *,
    seed: int,
    exact: bool = False,
) -> Trees:
    """Trees that tell the classes 0 … classes - 1 apart; two or more of them must have rows.

    Args:
        x: Finite features, one row per row of ``y``.
        y: The class of each row.
        classes: How many classes there are; one without rows gets probability 0.
        seed: Of the random numbers, which matter only where splits are equally good or where bins
            come from a sample (above 200,000 rows).
        exact: Whether to try every value as a threshold, with trees of depth 3.
    """
    # Loaded before threads are limited: only the thread pools that exist by then are.
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
    )
    from threadpoolctl import threadpool_limits

    state = int(stream(seed, "trees").integers(2**31))
    options: dict[str, Any] = {"learning_rate": _RATE, "random_state": state}
    if exact:
        model = GradientBoostingClassifier(n_estimators=_ROUNDS, **options)
    else:
        model = HistGradientBoostingClassifier(max_iter=_ROUNDS, early_stopping=False, **options)
    with threadpool_limits(1):
        model.fit(x, y)
    if exact:
        rounds = [[_of_tree(one.tree_) for one in trees] for trees in model.estimators_]
    else:
        rounds = [[_of_nodes(one.nodes) for one in trees] for trees in model._predictors]
    shares = np.bincount(y, minlength=classes) / len(y)
    found = np.flatnonzero(shares)
    with np.errstate(divide="ignore"):  # a class without rows has probability 0
        baseline = np.log(shares)
    # With two classes there is one tree a round, for the second.
    columns = found if len(rounds[0]) > 1 else found[1:]
    return _joined([tree for trees in rounds for tree in trees], columns, baseline, single=exact)


def _of_nodes(nodes: NDArray[np.void]) -> _Tree:
    return _Tree(
        leaf=nodes["is_leaf"].astype(bool),
        feature=nodes["feature_idx"],
        threshold=nodes["num_threshold"],
        left=nodes["left"],
        right=nodes["right"],
        value=nodes["value"],
    )


def _of_tree(tree: Any) -> _Tree:
    return _Tree(
        leaf=tree.children_left == tree.children_right,
        feature=tree.feature,
        threshold=tree.threshold,
        left=tree.children_left,
        right=tree.children_right,
        value=_RATE * tree.value[:, 0, 0],
    )


def _joined(trees: list[_Tree], columns: Ints, baseline: Floats, *, single: bool) -> Trees:
    """All trees in the same arrays."""
    sizes = [len(tree.leaf) for tree in trees]
    root = np.cumsum([0, *sizes[:-1]])
    leaf = np.concatenate([tree.leaf for tree in trees])
    own = np.arange(len(leaf))
    left, right = (
        np.concatenate([getattr(tree, side) + at for tree, at in zip(trees, root, strict=True)])
        for side in ("left", "right")
    )
    return Trees(
        feature=np.where(leaf, 0, np.concatenate([tree.feature for tree in trees])),
        threshold=np.where(leaf, 0.0, np.concatenate([tree.threshold for tree in trees])),
        left=np.where(leaf, own, left),
        right=np.where(leaf, own, right),
        value=np.where(leaf, np.concatenate([tree.value for tree in trees]), 0.0),
        root=root,
        column=np.tile(columns, len(trees) // len(columns)),
        baseline=baseline,
        single=np.array(single),
    )
