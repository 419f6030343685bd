"""What handles in posts do to HATE, and what dropping them does.

``python benchmarks/handles.py DETECTOR …`` (one in the box, or a saved folder of the recipe
``transformer`` or ``fast``) prints, for each, decisions on posts of two corpora of tweets that name
somebody by a handle, with handles read as ``@user`` and with handles dropped (intervals resample
posts), and how many ordinary comments of 20 to 280 characters are called HATE when made-up handles
are put before or behind them. docs/methods/evenhand-base.md has the tables. Needs
``EVENHAND_DATA``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from beside_base import measured
from numpy.typing import NDArray

from evenhand.core.streams import stream
from evenhand.data.find import find, reader
from evenhand.models._posts import Handles
from evenhand.models.encoder_detector import EncoderDetector
from evenhand.models.fast import FastDetector
from evenhand.models.find import detector
from evenhand.models.material import material
from evenhand.models.plan import find_plan
from evenhand.models.protocol import HATE
from evenhand.reports.numbers import bracket, count, number
from evenhand.stats.detection import auc
from evenhand.stats.intervals import wilson

TWEETS = ("hateval", "waseem_hovy")
"""Never trained on."""
POSTS, COMMENTS, RESAMPLES = 3000, 1000, 1000
HANDLES: tuple[Handles, ...] = ("kept", "dropped")
PLACES = {
    "as they are": "{}", "a handle before": "@ann {}", "a handle behind": "{} @ann",
    "two handles behind": "{} @ann @bob99",
}  # fmt: skip


def ways(name: str) -> dict[str, EncoderDetector | FastDetector]:
    """A detector that reads handles, and the same without."""
    found = detector(name)
    assert isinstance(found, EncoderDetector | FastDetector)
    return {way: replace(found, front_end=replace(found.front_end, handles=way)) for way in HANDLES}


def hate(found: EncoderDetector | FastDetector, texts: list[str]) -> NDArray[np.float64]:
    """The probability of HATE."""
    return found.score(texts)[:, found.attributes.index(HATE)]


def figures(yes: NDArray[np.bool_], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Accuracy, share of hateful and of other posts called HATE, area under the curve."""
    flagged = p >= 0.5
    area = auc(yes, p)
    assert area is not None
    return np.array([(flagged == yes).mean(), flagged[yes].mean(), flagged[~yes].mean(), area])


def on_tweets(compared: dict[str, EncoderDetector | FastDetector]) -> Iterator[str]:
    """Both ways on posts with handles, and their difference on the same posts."""
    yield "| with a handle | handles | accuracy | hateful called HATE | others called HATE | AUC |"
    yield "|---|---|---|---|---|---|"
    for name in TWEETS:
        corpus, hateful = find(name), list(reader(name).hateful)
        gold = corpus.main_gold().filter(pl.col("label").is_not_null())
        posts = corpus.posts.join(gold.select(id="post", label="label"), on="id").sort("id")
        posts = posts.filter(pl.col("text").str.contains(r"(^|\W)@\w"))
        posts = posts.sample(min(POSTS, posts.height), seed=1)
        yes = posts["label"].is_in(hateful).to_numpy()
        p = [hate(found, posts["text"].to_list()) for found in compared.values()]
        many = f"{name}, {count(len(yes))}, {count(int(yes.sum()))} of them hateful"
        for way, one in zip(compared, p, strict=True):
            yield f"| {many} | {way} | {' | '.join(map(number, figures(yes, one)))} |"
        rng = stream(0, "handles", name)
        drawn = (rng.integers(0, len(yes), len(yes)) for _ in range(RESAMPLES))
        apart = [figures(yes[at], p[1][at]) - figures(yes[at], p[0][at]) for at in drawn]
        low, high = np.percentile(apart, [2.5, 97.5], axis=0)
        cells = [
            f"{number(value)} {bracket(a, b)}"
            for value, a, b in zip(figures(yes, p[1]) - figures(yes, p[0]), low, high, strict=True)
        ]
        yield f"| | difference | {' | '.join(cells)} |"


def on_comments(compared: dict[str, EncoderDetector | FastDetector]) -> Iterator[str]:
    """How many comments without any label are called HATE."""
    rows = material(measured(find_plan("evenhand-base")), seed=0).held_out
    six = [column for column in rows.columns if column.isupper() and column != HATE]
    none = ~pl.any_horizontal(pl.col(six).fill_null(False))
    rows = rows.filter((pl.col("corpus") == "jigsaw") & (pl.col("split") == "test") & none)
    rows = rows.filter(pl.col("text").str.len_chars().is_between(20, 280)).sort("id")
    texts = rows.sample(min(COMMENTS, rows.height), seed=1)["text"].to_list()
    yield f"| {count(len(texts))} comments called HATE | {' | '.join(compared)} |"
    yield f"|---|{'---|' * len(compared)}"
    for place, around in PLACES.items():
        put = [around.replace("{}", text) for text in texts]
        cells = []
        for found in compared.values():
            flagged = int((hate(found, put) >= 0.5).sum())
            low, high = wilson(flagged, len(put))
            cells.append(f"{number(flagged / len(put))} {bracket(low, high)}")
        yield f"| {place} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        compared = ways(name)
        print(f"\n{name}\n")
        for line in (*on_tweets(compared), "", *on_comments(compared)):
            print(line, flush=True)
