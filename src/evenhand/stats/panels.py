"""Which figures of agreement a question has, and what they are computed from.

A :class:`Panel` is a list of figures and one function from how often each kind of post counts to
their values, so that the data and every resample go the same way. There is one panel of figures
that only need the votes, and on ordinal and interval scales one of two-way correlations, which need
to know who voted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.alike import Alike
from evenhand.stats.answers import Scale
from evenhand.stats.ballots import Ballots, Tally
from evenhand.stats.fleiss import (
    disagreement_by_kind,
    fleiss_kappa,
    kappa_class,
    kappa_class_paper,
    percent_agreement,
    randolph_kappa,
)
from evenhand.stats.gwet import gwet_ac1
from evenhand.stats.icc import icc_1_1, icc_1_k, one_way
from evenhand.stats.icc_crossed import MEASURES as CROSSED
from evenhand.stats.icc_crossed import crossed, crossed_icc
from evenhand.stats.krippendorff import krippendorff_alpha

Floats = NDArray[np.float64]
Group = Mapping[str, str | int]
_Function = Callable[[Tally], Floats]

_CASES = 5
_ALIKE = "every vote is the same answer: agreement by chance is certain"
_ONE_CLASS = "only one class is known; give the labels of the questionnaire as order"
_NUMERIC: tuple[Scale, ...] = ("nominal", "ordinal", "interval")
_DISTANCES = {
    "nominal": "nominal",
    "ordinal": "ordinal: squared differences of midranks",
    "interval": "interval: squared differences",
    "set": "sets of labels, MASI distance",
}


@dataclass(frozen=True)
class Figure:
    """One figure: its name, how it was obtained, why it may not exist."""

    measure: str
    method: str
    why: str = _ALIKE
    group: Group = field(default_factory=dict)
    cases: tuple[str, ...] = ()
    size: Callable[[Floats], float] | None = None
    """The k of a mean of k votes, for the method's words."""

    def sized(self, many: Floats) -> Figure:
        """The same, with k in its method."""
        if self.size is None:
            return self
        return replace(self, method=f"{self.method}; k = {self.size(many):.3f}")


@dataclass(frozen=True)
class Panel:
    """Figures that are taken from the same resamples."""

    figures: Sequence[Figure]
    values: Callable[[Floats], Floats]
    """From how much each kind counts (resamples × kinds) to resamples × figures."""
    posts: Alike
    n: int
    """Posts with two votes or more."""
    n_effective: float | None
    """(Σw)²/Σw² of those; None where posts have no weights."""
    nothing: str | None
    """Why there is no figure at all."""


def panels(ballots: Ballots, scale: Scale, nothing: str | None) -> list[Panel]:
    """The panels of a question; ``nothing`` says why no figure exists, if so."""
    cases = _disputed(ballots)
    figures, functions = _options(ballots) if scale == "set" else _nominal(ballots, scale, cases)
    figures.append(Figure("krippendorff_alpha", _DISTANCES[scale], cases=cases))
    functions.append(partial(krippendorff_alpha, scale=scale))
    numbers = ballots.classes.values is not None
    for other in _NUMERIC if numbers else ():
        if other != scale:
            group = {"scale": other}
            figures.append(Figure("krippendorff_alpha", _DISTANCES[other], group=group))
            functions.append(partial(krippendorff_alpha, scale=other))
    if numbers:
        figures += _one_way(ballots)
        functions += [icc_1_1, icc_1_k]

    def values(many: Floats) -> Floats:
        tally = Tally(ballots, many)
        return np.column_stack([function(tally) for function in functions])

    effective = _n_effective(ballots)
    main = Panel(figures, values, ballots.alike, ballots.paired, effective, nothing)
    return [main, _crossed(ballots, nothing)] if numbers else [main]


def _nominal(
    ballots: Ballots, scale: Scale, cases: tuple[str, ...]
) -> tuple[list[Figure], list[_Function]]:
    """Measures that only ask whether two answers are the same."""
    classes = ballots.classes.labels
    offered = f"chance from {len(classes)} classes"
    figures = [
        Figure("percent_agreement", "mean over posts of agreeing pairs of votes", cases=cases),
        Figure("fleiss_kappa", "mean over posts; chance from pooled votes", cases=cases),
        Figure("randolph_kappa", offered, _ONE_CLASS),
        Figure("gwet_ac1", f"{offered} and all posts' shares", _ONE_CLASS),
    ]
    functions: list[_Function] = [percent_agreement, fleiss_kappa, randolph_kappa, gwet_ac1]
    if scale == "interval":
        return figures, functions
    for measure, function, method in (
        ("kappa_class", kappa_class, "Fleiss's category kappa"),
        ("kappa_class_paper", kappa_class_paper, "the label's contribution to Fleiss's kappa"),
    ):
        why = f"{_ALIKE}, or nobody gave this label"
        figures += [Figure(measure, method, why, {"label": label}) for label in classes]
        functions.append(function)
    return figures, functions


def _options(ballots: Ballots) -> tuple[list[Figure], list[_Function]]:
    """Chosen or not, option by option, among those who answered."""
    figures: list[Figure] = []
    functions: list[_Function] = []
    for column, option in enumerate(ballots.classes.options):
        part, group = ballots.of_option(column), {"option": option}
        chosen = "the option chosen or not, among those who answered"
        figures.append(Figure("percent_agreement", f"agreeing pairs of votes; {chosen}", "", group))
        why = "everybody or nobody chose this option: agreement by chance is certain"
        figures.append(Figure("fleiss_kappa", f"mean over posts; {chosen}", why, group))
        functions += [partial(_of_part, part, f) for f in (percent_agreement, fleiss_kappa)]
    return figures, functions


def _of_part(part: Ballots, function: _Function, tally: Tally) -> Floats:
    return function(Tally(part, tally.many))


def _one_way(ballots: Ballots) -> list[Figure]:
    method = "one-way analysis of variance, any number of votes per post"
    why = "every answer is the same, or only one post has two votes: there is no variance"

    def size(many: Floats) -> float:
        return float(one_way(Tally(ballots, many)).k0[0])

    means = "the posts' means are all the same, or there is only one post"
    return [
        Figure("icc_1_1", f"{method}; reliability of one vote", why),
        Figure("icc_1_k", f"{method}; reliability of the mean of k votes", means, size=size),
    ]


def _crossed(ballots: Ballots, nothing: str | None) -> Panel:
    table = nothing or crossed(ballots)
    why = "there is no variance between posts, or only one post"
    method = "two-way analysis of variance, annotators crossed with posts"
    effective = _n_effective(ballots)
    if isinstance(table, str):
        figures = [Figure(measure, method) for measure in CROSSED]
        return Panel(figures, _no_values, ballots.alike, ballots.paired, effective, table)
    k = table.worth.shape[1]
    figures = [Figure(measure, f"{method}; k = {k}", why) for measure in CROSSED]
    values = partial(crossed_icc, table)
    return Panel(figures, values, table.posts, ballots.paired, effective, None)


def _no_values(many: Floats) -> Floats:
    return np.full((len(many), len(CROSSED)), np.nan)


def _n_effective(ballots: Ballots) -> float | None:
    """(Σw)²/Σw² over posts with two votes or more."""
    if ballots.weight is None:
        return None
    weight = np.sort(ballots.weight[(ballots.size >= 2)[ballots.kind]])
    return float(weight.sum() ** 2 / (weight**2).sum()) if len(weight) else 0.0


def _disputed(ballots: Ballots) -> tuple[str, ...]:
    """A few posts to look at: the least agreement, then the most votes, then by id."""
    if "post" not in ballots.votes.columns:
        return ()
    kinds = np.flatnonzero(ballots.size >= 2)
    size, dispute = ballots.size[kinds], disagreement_by_kind(ballots)[kinds]
    found: list[str] = []
    for least, most in sorted(set(zip((-dispute).tolist(), (-size).tolist(), strict=True))):
        if len(found) >= _CASES or least == 0:
            break
        worst = np.zeros(len(ballots.size), dtype=bool)
        worst[kinds[(dispute == -least) & (size == -most)]] = True
        starts = ballots.starts[np.take(worst, ballots.kind)]
        posts = ballots.votes["post"].gather(ballots.rows[starts])
        found += posts.bottom_k(_CASES).sort().to_list()
    return tuple(found[:_CASES])
