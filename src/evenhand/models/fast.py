"""Recipe ``fast``: logistic regression over hashed runs of words and characters, in a few bytes.

Texts go through the front end (:mod:`evenhand.models.front_end`) and become rows of hashed runs
(:mod:`evenhand.models._hashed`); every attribute has a weight for each of ``buckets`` buckets, kept
as a whole number of 8 bits. It is the small detector that looks at every post so that a large one
need only look at some; many texts are scored by a compiled loop where Numba is installed, with the
same numbers. ``fit`` learns one corpus, like every recipe; ``fit_material`` learns several
attributes at once, each from the rows that are labelled for it, and chooses ``c`` for each on dev
rows. Rows count as much as weight times readings. The seed changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, softmax

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.models._hashed import Hashed, compiled
from evenhand.models._posts import Handles
from evenhand.models._regression import Learned, regression
from evenhand.models.calibration import Calibration, packed, probabilities, unpacked
from evenhand.models.front_end import UNCHANGED, FrontEnd, expect_front_end
from evenhand.models.front_end import VERSION as FRONT_END
from evenhand.models.lessons import Lessons, Task, columns
from evenhand.models.protocol import HATE, Arrays, Probabilities, Record, Trained
from evenhand.models.training import record, training_rows
from evenhand.stats.detection import auc

if TYPE_CHECKING:
    from evenhand.models._hashed_compiled import Compiled
    from evenhand.models._pieces_compiled import Pieces
    from evenhand.models.material import Material

Floats = NDArray[np.float64]

_BATCH = 5000
"""Texts scored at a time, to bound memory."""
_COMPILED = "evenhand.models._hashed_compiled"
_MANY = 2000
"""Texts for which Numba is loaded, which takes as long as scoring so many."""
_MOST = 127


@dataclass(frozen=True, kw_only=True)
class Fast:
    """Options of the recipe."""

    name: ClassVar[str] = "fast"
    choices: ClassVar[Mapping[str, tuple[float, ...]]] = {"c": (0.3, 1.0, 3.0, 10.0)}
    """The options, and their values, among which a selection on training posts chooses."""

    question: str = ""
    """Which question's gold to learn; empty means the corpus's main one."""
    hateful: tuple[str, ...] = ()
    """Which labels count as hateful; empty means those the corpus declares."""
    classes: tuple[str, ...] = ()
    """Labels to tell apart; empty means hateful posts from all others."""
    buckets: int = 1 << 17
    """How many buckets have weights at most."""
    c: float = 1.0
    """How little large weights cost: the inverse of the penalty on their squares."""
    handles: Handles = "kept"
    """Whether handles are read as ``@user``, or not at all."""

    def __post_init__(self) -> None:
        _ = self.front_end  # which refuses what it does not know
        for name in ("buckets", "c"):
            if not 0 < getattr(self, name) < np.inf:
                raise BadInput(f"fast: {name} is {getattr(self, name)}; expected more than 0")

    @property
    def front_end(self) -> FrontEnd:
        """How texts are cleaned."""
        return FrontEnd(handles=self.handles)

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> FastDetector:
        """Learn one corpus."""
        rows = training_rows(posts, gold, self)
        task = Task(HATE, self.classes or ("no", "yes"))
        lessons = Lessons.of_classes(rows.texts, rows.labels, task)
        return self._fitted(lessons, None, record(self, rows, seed=seed))

    def fit_material(self, given: Material, *, seed: int) -> FastDetector:
        """Learn the corpora of a plan.

        For each attribute that has dev rows of both answers, ``c`` is the one of ``choices`` with
        the largest area under the ROC curve on them.
        """
        return self._fitted(given.train, given.dev, given.record(self, seed=seed))

    def restore(self, record: Record, arrays: Arrays) -> FastDetector:
        """The detector that gave these arrays."""
        return FastDetector.restore(record, arrays, self.front_end)

    def _fitted(self, train: Lessons, dev: Lessons | None, known: Record) -> FastDetector:
        texts = self.front_end.texts(train.texts)
        answers = columns(train.tasks)
        counts = (train.weights * train.times)[:, None]
        hashed = Hashed.learn(
            texts, (train.shares * counts).astype(np.float64), answers, self.buckets
        )
        table = hashed.rows(texts)
        judged = None if dev is None else hashed.rows(self.front_end.texts(dev.texts))
        found: list[Learned] = []
        chosen: dict[str, float] = {}
        for number, task in enumerate(train.tasks):
            lesson = _Lesson.of(train, number, table)
            on = None if dev is None or judged is None else _Lesson.of(dev, number, judged)
            learned, chosen[task.name] = self._learned(lesson, on, task)
            found.append(learned)
        provenance = {**known.provenance, "front_end": FRONT_END, "c": chosen}
        weights = np.concatenate([learned.weights for learned in found], axis=1)
        scale = np.abs(weights).max(axis=0) / _MOST
        scale[scale == 0] = 1
        return FastDetector(
            record=replace(known, provenance=provenance),
            hashed=hashed,
            front_end=self.front_end,
            weights=np.rint(weights / scale).astype(np.int8),
            scale=scale,
            bias=np.concatenate([learned.bias for learned in found]),
            calibrations={},
        )

    def _learned(self, rows: _Lesson, on: _Lesson | None, task: Task) -> tuple[Learned, float]:
        """The weights of one task, and the ``c`` they were learned with."""
        if (rows.counts @ rows.shares > 0).sum() < 2:
            raise NotEnoughData(
                f"{task.name}: {len(rows.counts)} training rows, all with one answer; learning "
                "needs two or more. Add rows, or leave the attribute out"
            )
        single = not self.classes
        if on is None or on.area(None) is None:
            return regression(rows.table, rows.shares, rows.counts, self.c, single=single), self.c
        best, found, start = -1.0, None, None
        for c in sorted(self.choices["c"]):
            start = regression(rows.table, rows.shares, rows.counts, c, single=single, start=start)
            area = on.area(start)
            if area is None or area <= best:
                break
            best, found = area, (start, c)
        assert found is not None
        return found


@dataclass(frozen=True, eq=False)
class _Lesson:
    """The rows that are labelled for one task."""

    table: csr_array
    shares: Floats
    counts: Floats

    @classmethod
    def of(cls, lessons: Lessons, task: int, table: csr_array) -> Self:
        known = np.flatnonzero(lessons.labelled[:, task])
        shares = lessons.shares[known, columns(lessons.tasks)[task]].astype(np.float64)
        return cls(table[known], shares, (lessons.weights * lessons.times)[known])

    def area(self, learned: Learned | None) -> float | None:
        """The area under the ROC curve of yes; None where there is one class only."""
        yes = self.shares[:, -1] > 0.5
        if learned is None:
            return None if yes.all() or not yes.any() else 0.0
        return auc(yes, expit(learned.margins(self.table)[:, -1]), self.counts)


@dataclass(frozen=True, eq=False)
class FastDetector(Trained):
    """A weight of each bucket for each attribute."""

    hashed: Hashed
    front_end: FrontEnd
    weights: NDArray[np.int8]
    """One row a bucket, one column an attribute, in steps of ``scale``."""
    scale: Floats
    bias: Floats
    """What each attribute has without any feature; minus infinity for a class without posts."""
    calibrations: Mapping[str, Calibration]
    """By attribute; empty where nothing was calibrated."""

    def margins(self, texts: Sequence[str]) -> Floats:
        """How far yes is above no for each attribute, or a number for each class."""
        quick = self._pieces if len(texts) >= _MANY or _COMPILED in sys.modules else None
        starts = range(0, len(texts), _BATCH)
        parts = [self._sums(texts[at : at + _BATCH], quick) for at in starts]
        return np.concatenate([np.empty((0, len(self.bias))), *parts]) + self.bias

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        margins = self.margins(texts)
        if self.record.recipe.classes:
            p: Probabilities = softmax(margins, axis=1)
            return p
        return probabilities(margins, self.attributes, self.calibrations)

    def calibrated(self, found: Mapping[str, Calibration]) -> Self:
        """The same detector, calibrated."""
        return replace(self, calibrations=dict(found))

    def _sums(self, texts: Sequence[str], quick: Pieces | None) -> Floats:
        """Margins without bias, the same to the last bit either way."""
        if quick is None:
            return self._sums_of_clean(self.front_end.texts(texts), None)
        sums, left = quick.margins(texts)
        if len(left):
            clean = self.front_end.texts([texts[n] for n in left.tolist()])
            sums[left] = self._sums_of_clean(clean, quick.compiled)
        return sums

    def _sums_of_clean(self, texts: Sequence[str], quick: Compiled | None) -> Floats:
        if quick is not None and max(map(len, texts)) <= quick.longest:
            return quick.margins(texts)
        sums: Floats = self.hashed.rows(texts) @ self._steps
        return sums

    @cached_property
    def _pieces(self) -> Pieces | None:
        if self._compiled is None:
            return None
        from evenhand.models._pieces_compiled import Pieces

        return Pieces(self._compiled, UNCHANGED, self.front_end.handles)

    @cached_property
    def _compiled(self) -> Compiled | None:
        return compiled(self.hashed, self.weights, self.scale)

    @cached_property
    def _steps(self) -> Floats:
        return self.weights * self.scale

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        return {
            **self.hashed.arrays(),
            "weights": self.weights,
            "scale": self.scale,
            "bias": self.bias,
            "calibrations": packed(self.calibrations),
        }

    @classmethod
    def restore(cls, record: Record, arrays: Arrays, front_end: FrontEnd) -> Self:
        """The detector that gave these arrays."""
        expect_front_end(record.name, record.provenance.get("front_end"))
        hashed = Hashed.restore(arrays)
        weights, scale, bias = arrays["weights"], arrays["scale"], arrays["bias"]
        if not weights.shape == (len(hashed), len(bias)) or len(scale) != len(bias):
            raise ValueError(f"{len(hashed)} buckets with weights of shape {weights.shape}")
        known = unpacked(arrays["calibrations"])
        return cls(record, hashed, front_end, weights, scale, bias, known)
