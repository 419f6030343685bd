"""What a detector's margin means: a probability at a named base rate, and a Perspective-like score.

A *margin* is what a detector says before it is squeezed into [0, 1]. :func:`fitted` learns, on
labelled posts that were not trained on, ``expit(slope · margin + bend · bent(margin) +
intercept)``: Platt's logistic (1999, by maximum likelihood; the targets are not smoothed, a weak
ridge on the slope does for perfectly told classes what Platt's smoothing did) and, where it is
worth it, a line that is less steep around 0 (:func:`bent`). Slope and bend are not below 0, so the
order of scores stays, and three numbers cannot follow the noise of few positives.
docs/methods/calibration.md compares them with two and with isotonic regression.

A probability is one at a base rate: it is named, and :meth:`Calibration.at_base_rate` maps it to
that of a site. A calibration may also hold a map to Perspective-like scores
(:mod:`evenhand.models.perspective_like`).

>>> c = fitted([-2.0, -1.0, 1.0, -1.0, 1.0, 2.0], [0, 0, 0, 1, 1, 1], base_rate=0.5, corpus="a")
>>> c.probability(np.array([0.0])).round(3).tolist(), c.threshold
([0.5], 0.5)
>>> c.at_base_rate(np.array([0.5]), 0.01).round(3).tolist()
[0.01]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.models.protocol import Probabilities
from evenhand.stats.calibration import at_base_rate
from evenhand.stats.detection import f1_best

Floats = NDArray[np.float64]
Knots = tuple[tuple[float, float], ...]

_RIDGE = 1e-3
"""On the squares of slope and bend of margins of deviation 1; a post counts 1."""
_MORE = 6.63
"""A bend is taken where it lowers the deviance by more than chance does one time in a hundred."""
_MOST_STEPS, _STILL = 100, 1e-12
_BALANCED = 0.5


@dataclass(frozen=True)
class Calibration:
    """Of one attribute of one detector."""

    slope: float
    intercept: float
    base_rate: float
    """Share of yes in the rows it was fitted on, as weighted."""
    n: int
    positives: int
    corpus: str
    """Where those rows are from."""
    threshold: float
    """From which probability on a post is flagged."""
    bend: float = 0.0
    """How much less steep the line is around 0."""
    perspective: Knots | None = None
    """Probabilities and the Perspective-like score of each; straight lines between them."""

    def probability(self, margin: ArrayLike) -> Floats:
        """The probability of yes at the base rate."""
        x = np.asarray(margin, dtype=np.float64)
        p: Floats = expit(self.slope * x + self.bend * bent(x) + self.intercept)
        return p

    def at_base_rate(self, p: ArrayLike, rate: float) -> Floats:
        """Probabilities where the share of yes is another, and posts of each class are alike."""
        return at_base_rate(p, trained=self.base_rate, wanted=rate)

    def perspective_like(self, p: ArrayLike) -> Floats:
        """The mean score that Perspective published for texts of such a probability."""
        if self.perspective is None:
            raise BadInput(
                "no Perspective-like score: no published scores of this attribute were mapped; "
                "use the probability"
            )
        known, scores = zip(*self.perspective, strict=True)
        like: Floats = np.interp(np.asarray(p, dtype=np.float64), known, scores)
        return like

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        knots = self.perspective
        return asdict(self) | {"perspective": None if knots is None else [list(k) for k in knots]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """What :meth:`to_json` gave."""
        knots = document["perspective"]
        pairs = None if knots is None else tuple((float(p), float(score)) for p, score in knots)
        return cls(**{**document, "perspective": pairs})


def bent(margin: Floats) -> Floats:
    """The third power up to 1, and the tangent beyond, so that nothing far out becomes certain.

    >>> bent(np.array([-3.0, -1.0, 0.5, 2.0])).tolist()
    [-7.0, -1.0, 0.125, 4.0]
    """
    far = np.abs(margin) > 1
    near = np.where(far, 0.0, margin)
    return np.where(far, 3 * margin - 2 * np.sign(margin), near**3)


Calibrations = Mapping[str, Calibration]
"""By attribute; an attribute that is not there was not calibrated."""


def probabilities(
    margins: Floats, attributes: Sequence[str], calibrations: Calibrations
) -> Probabilities:
    """Probabilities of attributes from a column of margins each.

    An attribute that was not calibrated has the logistic of its margin.
    """
    columns = [
        calibrations[name].probability(column) if name in calibrations else expit(column)
        for name, column in zip(attributes, margins.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def packed(calibrations: Calibrations) -> NDArray[np.uint8]:
    """Calibrations as an array, for a saved detector."""
    about = {name: found.to_json() for name, found in calibrations.items()}
    return np.frombuffer(json.dumps(about, sort_keys=True).encode(), dtype=np.uint8)


def unpacked(array: NDArray[np.uint8]) -> dict[str, Calibration]:
    """The calibrations that gave this array."""
    about = json.loads(array.tobytes())
    return {name: Calibration.from_json(found) for name, found in about.items()}


def fitted(
    margins: ArrayLike,
    truth: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    base_rate: float | None = None,
    corpus: str,
) -> Calibration:
    """Learn what margins mean, from posts that were not trained on.

    The threshold is 0.5 where the classes were balanced by ``base_rate=0.5``: there both kinds of
    error cost the same. Elsewhere it is that of the best F1 on these rows, as weighted.

    Args:
        margins: What the detector says of each post.
        truth: 1 for yes, 0 for no.
        weights: What each post counts; without them each counts 1.
        base_rate: The classes are weighted so that yes has this share.
        corpus: Where the posts are from.
    """
    x, y, w = _checked(margins, truth, weights, corpus)
    if base_rate is not None:
        if not 0 < base_rate < 1:
            raise BadInput(f"base_rate: is {base_rate}; expected a share between 0 and 1")
        yes = w @ y
        w = w * w.sum() * np.where(y == 1, base_rate / yes, (1 - base_rate) / (w.sum() - yes))
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # sums over several threads depend on how many there are
        slope, bend, intercept = _curve(x, y, w)
    if slope <= 0:
        raise BadInput(
            f"{corpus}: posts with the attribute do not have higher margins than others (slope "
            f"{slope:.3g}); check that the labels are those of the attribute, or train again"
        )
    best = f1_best(y, expit(slope * x + bend * bent(x) + intercept), w)
    assert best is not None  # there are positives
    return Calibration(
        slope=slope,
        intercept=intercept,
        base_rate=float(w @ y / w.sum()) if base_rate is None else base_rate,
        n=len(y),
        positives=int(y.sum()),
        corpus=corpus,
        threshold=_BALANCED if base_rate == _BALANCED else best.threshold,
        bend=bend,
    )


def _checked(
    margins: ArrayLike, truth: ArrayLike, weights: ArrayLike | None, corpus: str
) -> tuple[Floats, Floats, Floats]:
    """Rows with weight, in an order that does not depend on the one they came in."""
    x, y = (np.asarray(values, dtype=np.float64) for values in (margins, truth))
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not x.shape == y.shape == w.shape == (len(x),):
        raise BadInput(f"{corpus}: {len(x)} margins, {len(y)} truths, {len(w)} weights; one each")
    if not np.isfinite(x).all() or not np.isin(y, (0, 1)).all():
        raise BadInput(f"{corpus}: margins must be numbers and truths 0 or 1")
    if not (np.isfinite(w) & (w >= 0)).all():
        raise BadInput(f"{corpus}: some weights are negative, infinite or NaN")
    x, y, w = (values[w > 0] for values in (x, y, w))
    if not 0 < y.sum() < len(y):
        which = "all" if len(y) and y.all() else "none"
        raise NotEnoughData(
            f"{corpus}: {len(y)} posts and {which} of them has the attribute; calibrating needs "
            "posts of both kinds"
        )
    order = np.lexsort((w, y, x))
    return x[order], y[order], w[order]


def _curve(x: Floats, y: Floats, w: Floats) -> tuple[float, float, float]:
    """Slope, bend and intercept; no bend where it says little more or would not rise everywhere."""
    mean = w @ x / w.sum()
    spread = float(np.sqrt(w @ (x - mean) ** 2 / w.sum())) or 1.0
    one = np.ones_like(x)
    line, cost = _likeliest(np.stack([(x - mean) / spread, one]), y, w)
    straight = line[0] / spread, 0.0, line[1] - line[0] * mean / spread
    try:
        curve, lower = _likeliest(np.stack([x / spread, bent(x) / spread, one]), y, w)
    except np.linalg.LinAlgError:  # margins so large that all lie beyond the bend
        return straight
    each = w.sum() / (w @ w)  # weights that sum to as many posts as they are worth
    if curve[0] > 0 and curve[1] > 0 and 2 * (cost - lower) * each > _MORE:
        return curve[0] / spread, curve[1] / spread, curve[2]
    return straight


def _likeliest(table: Floats, y: Floats, w: Floats) -> tuple[list[float], float]:
    """A logistic's number for each row of a table, the last without penalty, and what it costs.

    By Newton's steps, halved where they go too far.
    """
    penalty = np.full(len(table), _RIDGE)
    penalty[-1] = 0.0

    def loss(at: Floats) -> float:
        margin = at @ table
        return float(w @ (np.logaddexp(0, margin) - y * margin) + penalty @ at**2 / 2)

    at = np.zeros(len(table))
    cost = loss(at)
    for _ in range(_MOST_STEPS):
        p = expit(at @ table)
        slope = table @ (w * (p - y)) + penalty * at
        step = np.linalg.solve((table * (w * p * (1 - p))) @ table.T + np.diag(penalty), slope)
        while (new := loss(at - step)) > cost and np.abs(step).max() > _STILL:
            step = step / 2
        at, cost = at - step, min(new, cost)
        if np.abs(step).max() <= _STILL:
            break
    return at.tolist(), cost
