"""Chooses the bands of the cascade and writes them: src/evenhand/models/in_the_box/cascade.json.

Run ``python tools/cascade.py`` with ``EVENHAND_DATA`` set whenever a detector in the box has
changed: the cascade refuses bands that were chosen for others. Both score the dev posts of the
plan. On half of the posts of ordinary text (``jigsaw``, weighted to the share of abusive comments
it was drawn from) a line from fast to base log odds is fitted, and bands are chosen: for all
attributes together such that ``--asked`` of characters are asked for again and as few decisions as
possible differ, and for each attribute alone such that ``--differ`` of decisions do and as few
characters as possible are asked for. Agreement is measured on the other half and on the dev posts
of the rounds of adversarial hate, speed on posts of the other half.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit

from evenhand.core.streams import stream
from evenhand.models.cascade import BANDS, FORMAT, Band, Cascade, detectors, log_odds
from evenhand.models.material import material
from evenhand.models.plan import SYNTHETIC, find_plan
from evenhand.models.protocol import Trained
from evenhand.models.shipped import BASE, BOX, FAST, shipped

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ORDINARY = "jigsaw"
_BATCH, _RIDGE = 256, 1e-4
_SPECIAL = 10
"""Characters that the special tokens of a text cost."""


@dataclass(frozen=True, eq=False)
class Posts:
    """What bands are chosen by, a row for each post."""

    scores: Floats
    """Estimates of what the base detector says."""
    yes: Bools
    """What it decides."""
    weights: Floats
    costs: Floats
    """What it costs to ask, weight included."""

    def only(self, attribute: int) -> Posts:
        """With one attribute."""
        column = slice(attribute, attribute + 1)
        return Posts(self.scores[:, column], self.yes[:, column], self.weights, self.costs)

    def unclear(self, found: Floats) -> Bools:
        """Which posts are asked for."""
        unclear: Bools = ((self.scores >= found[0]) & (self.scores < found[1])).any(axis=1)
        return unclear


def bands(posts: Posts, thresholds: Floats, price: float) -> Floats:
    """A band around each threshold, as two rows: the lowest score asked for, the first that is not.

    What differs outside the bands and ``price`` times the cost of asking are together as little as
    can be, attribute by attribute, in turn until nothing changes.
    """
    scores, yes = posts.scores, posts.yes
    found = np.stack([thresholds, thresholds])
    for _ in range(20):
        before = found.copy()
        for at in range(len(thresholds)):
            asked = (scores >= found[0]) & (scores < found[1])
            free = ~np.delete(asked, at, axis=1).any(axis=1)
            column, cut = scores[free, at], thresholds[at]
            differs = yes[free, at] != (column >= cut)
            worth = posts.weights[free] * differs - price * posts.costs[free]
            low, high = column < cut, column >= cut
            found[0, at] = -_edge(-column[low], worth[low], -cut)
            found[1, at] = np.nextafter(_edge(column[high], worth[high], cut), np.inf)
        if (found == before).all():
            break
    return found


def _edge(away: Floats, worth: Floats, none: float) -> float:
    """How far from the threshold it is worth asking."""
    order = np.argsort(away, kind="stable")
    total = np.cumsum(worth[order])
    if not len(total) or total.max() <= 0:
        return float(none)
    return float(away[order][total.argmax()])


def asked_at_most(posts: Posts, thresholds: Floats, share: float) -> Floats:
    """Bands that ask for this share of the cost of asking for all, and no more.

    At some price a band opens wide at once; between both sides of it edges move evenly.
    """

    def too_much(found: Floats) -> bool:
        return bool(posts.costs @ posts.unclear(found) > share * posts.costs.sum())

    low, high = 1e-8, 1.0
    for _ in range(40):
        price = float(np.sqrt(low * high))
        low, high = (price, high) if too_much(bands(posts, thresholds, price)) else (low, price)
    wide, narrow = bands(posts, thresholds, low), bands(posts, thresholds, high)
    near, far = 0.0, 1.0
    for _ in range(20):
        middle = (near + far) / 2
        near, far = (near, middle) if too_much(_between(narrow, wide, middle)) else (middle, far)
    return _between(narrow, wide, near)


def _between(narrow: Floats, wide: Floats, far: float) -> Floats:
    return narrow + far * (wide - narrow)


def differing_at_most(posts: Posts, threshold: float, share: float) -> Floats:
    """The narrowest band of one attribute outside which at most this share differs."""
    cut = np.array([threshold])
    low, high = 1e-8, 1.0
    for _ in range(40):
        price = float(np.sqrt(low * high))
        wrong = ((posts.scores >= cut) != posts.yes)[:, 0]
        wrong &= ~posts.unclear(bands(posts, cut, price))
        much = posts.weights @ wrong / posts.weights.sum() > share
        low, high = (low, price) if much else (price, high)
    return bands(posts, cut, low)


def line(fast: Floats, base: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weights and bias from fast to base log odds, by least squares with a weak ridge."""
    w = weights / weights.sum()
    means = w @ fast, w @ base
    x, y = fast - means[0], base - means[1]
    found = np.linalg.solve((x.T * w) @ x + _RIDGE * np.eye(x.shape[1]), (x.T * w) @ y)
    return found, means[1] - means[0] @ found


def measured(
    cascade: Cascade, fast: Floats, base: Floats, weights: Floats, thresholds: Floats,
    names: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """How often decisions agree, weighted; together: of all decisions."""
    p = cascade.estimated(fast)
    unclear = cascade.unclear(p)
    w = weights / weights.sum()
    columns = [list(cascade.attributes).index(name) for name in names]
    same = ((p >= thresholds) == (base >= thresholds)) | unclear[:, None]
    return {
        "posts": len(p),
        "asked": round(float(w @ unclear), 4),
        "agree": {
            name: round(float(w @ same[:, at]), 4) for name, at in zip(names, columns, strict=True)
        },
        "agree_together": round(float(w @ same[:, columns].mean(axis=1)), 4),
        "agree_in_all": round(float(w @ same[:, columns].all(axis=1)), 4),
    }


def _scored(detector: Trained, texts: Sequence[str]) -> Floats:
    parts = []
    for at in range(0, len(texts), _BATCH):
        parts.append(detector.score(texts[at : at + _BATCH]))
        print(f"\r{detector.name}: {at:,} of {len(texts):,}", end="", flush=True)
    print()
    return np.concatenate(parts)


def _kept(path: Path | None, fast: Trained, base: Trained, texts: Sequence[str]) -> list[Floats]:
    """The scores of both, from a file if it has those of these detectors and texts."""
    made_by = json.dumps([detectors(), len(texts)])
    if path and path.is_file():
        with np.load(path) as kept:
            if str(kept["made_by"]) == made_by:
                return [kept["fast"], kept["base"]]
    p = [_scored(fast, texts), _scored(base, texts)]
    if path:
        np.savez(path, fast=p[0], base=p[1], made_by=np.array(made_by))
    return p


def _quicker(cascade: Cascade, texts: Sequence[str]) -> float:
    """Processor time of the base detector over that of the cascade."""
    taken = []
    cascade.fast.score(texts)  # what it remembers of words, it remembers for long
    for detector in (cascade.base, cascade):
        began = time.process_time()
        detector.score(texts)
        taken.append(time.process_time() - began)
    return round(taken[0] / taken[1], 2)


def chosen(given: argparse.Namespace) -> dict[str, Any]:
    """The document, from dev posts."""
    rows = material(find_plan(BASE).as_written(), seed=0).held_out
    rows = rows.filter((pl.col("split") == "dev") & (pl.col("source") != SYNTHETIC))
    rows = rows.sort("corpus", "id")
    texts = rows["text"].to_list()
    fast, base = shipped(FAST), shipped(BASE)
    p_fast, p_base = _kept(given.keep, fast, base, texts)
    names = base.attributes
    thresholds = np.array([base.calibrations[name].threshold for name in names])  # type: ignore[attr-defined]
    weights = rows["weight"].to_numpy()
    ordinary = (rows["corpus"] == ORDINARY).to_numpy()
    first = stream(0, "cascade").random(len(texts)) < 0.5
    choose, rest, adversarial = ordinary & first, ordinary & ~first, ~ordinary
    slopes, bias = line(log_odds(p_fast[choose]), log_odds(p_base[choose]), weights[choose])
    p = expit(log_odds(p_fast) @ slopes + bias)
    costs = weights * np.array([_SPECIAL + len(text) for text in texts], dtype=np.float64)
    own = Posts(p[choose], p_base[choose] >= thresholds, weights[choose], costs[choose])
    together = asked_at_most(own, thresholds, given.asked)
    edges = [(low, high) for low, high in together.T.tolist()]
    every: dict[str, dict[str, Band]] = {"": dict(zip(names, edges, strict=True))}
    for at, name in enumerate(names):
        alone = differing_at_most(own.only(at), thresholds[at], given.differ)
        every[name] = {name: (float(alone[0, 0]), float(alone[1, 0]))}
    sample = _drawn(texts, rest, weights, given.timed)
    found: dict[str, Any] = {}
    for name, of_name in every.items():
        cascade = Cascade(fast, base, of_name, slopes, bias)
        on = {
            where: measured(
                cascade, p_fast[rows], p_base[rows], weights[rows], thresholds,
                [name] if name else list(names),
            )
            for where, rows in ((ORDINARY, rest), ("rounds", adversarial))
        }  # fmt: skip
        quicker = _quicker(cascade, sample) if name in ("", "TOXICITY") else None
        found[name or "together"] = {"bands": of_name, **on, "times_as_fast": quicker}
    return {
        "format": FORMAT,
        "detectors": detectors(),
        "slopes": slopes.tolist(),
        "bias": bias.tolist(),
        "together": found.pop("together"),
        "alone": found,
    }


def _drawn(texts: Sequence[str], among: Bools, weights: Floats, many: int) -> list[str]:
    p = np.where(among, weights, 0)
    rng = stream(0, "cascade", "timed")
    return [texts[at] for at in rng.choice(len(texts), size=many, p=p / p.sum())]


def main() -> None:
    """Write the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asked", type=float, default=0.12)
    parser.add_argument("--differ", type=float, default=0.007)
    parser.add_argument("--timed", type=int, default=2500, help="posts on which speed is measured")
    parser.add_argument("--keep", type=Path, help="a file that keeps scores between runs")
    parser.add_argument("--out", type=Path, default=BOX / BANDS)
    given = parser.parse_args()
    document = chosen(given)
    given.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
