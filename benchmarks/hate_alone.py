"""HATE of saved detectors, also of such as score nothing else, like a teacher.

``python benchmarks/hate_alone.py NAME=FOLDER …`` prints for each: accuracy on dev posts of both
rounds and on samples of the published suites, how sentences of our own held-out templates are
answered, and how many dev posts of DynaHate get another decision when the identity they name is
exchanged, or men and women change places. docs/methods/evenhand-base.md and synthetic.md have the
figures. Needs ``EVENHAND_DATA``. A teacher lies with the checkpoints of a training until it ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from beside_base import measured
from evenhand_base import PLAN
from peers.on_posts import ROUNDS
from peers.on_suites import published_cases

from evenhand.core.streams import stream
from evenhand.models.material import material
from evenhand.models.plan import find_plan
from evenhand.models.protocol import HATE, Trained
from evenhand.models.saving import load
from evenhand.models.synthetic import regendered, sentences, swapped
from evenhand.reports.numbers import bracket, count, number
from evenhand.stats.detection import auc
from evenhand.stats.intervals import cluster_bootstrap, wilson

SENTENCES = 2000
"""Of held-out templates."""


def hate(detector: Trained, texts: list[str]) -> np.ndarray:
    """The probability of HATE."""
    return detector.score(texts)[:, list(detector.attributes).index(HATE)]


def of_all(right: np.ndarray) -> str:
    """A share with its interval and its number."""
    many, yes = len(right), int(right.sum())
    return f"{number(yes / many)} {bracket(*wilson(yes, many))} of {count(many)}"


def over_templates(right: np.ndarray, template: pl.Series) -> str:
    """The same for cases of templates, which are drawn together."""
    table = pl.DataFrame({"right": right, "template": template}).group_by("template").agg(
        yes=pl.col("right").sum(), many=pl.len()
    )  # fmt: skip
    sums = table.sort("template").select("yes", "many").to_numpy().astype(np.float64)
    found = cluster_bootstrap(sums, lambda of: of[:, 0] / of[:, 1], stream(0, "templates"))
    shown = bracket(*found) if found else ""
    return f"{number(float(right.mean()))} {shown} of {count(len(right))}, {len(sums)} templates"


def said(detector: Trained, held_out: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """What is measured, and what came of it."""
    for corpus, (title, _) in ROUNDS.items():
        dev = held_out.filter((pl.col("corpus") == corpus) & (pl.col("split") == "dev"))
        flagged = hate(detector, dev["text"].to_list()) >= 0.5
        yield f"{title} dev, right", of_all(flagged == dev[HATE].to_numpy())
        if corpus == "dynahate":
            yield from flips(detector, dev["text"].to_list(), flagged)
    for cases in published_cases():
        flagged = hate(detector, cases.table["text"].to_list()) >= 0.5
        right = flagged == cases.table["hateful"].to_numpy()
        yield f"{cases.name}, installed, right", over_templates(right, cases.table["template"])
    made = sentences(9, many=SENTENCES, held_out=True)
    hateful, p = np.array([s.hateful for s in made]), hate(detector, [s.text for s in made])
    right, template = (p >= 0.5) == hateful, pl.Series([s.template for s in made])
    yield "held-out templates of ours, right", over_templates(right, template)
    for label, some in (("harmless", ~hateful), ("hateful", hateful)):
        yield f"– {label}", over_templates(right[some], template.filter(some))
    yield "– area under the curve", number(auc(hateful, p))


def flips(detector: Trained, texts: list[str], flagged: np.ndarray) -> Iterator[tuple[str, str]]:
    """Decisions that change with who is named."""
    rng = stream(0, "proxy", "flips")
    ways = {
        "identity exchanged": [swapped(text, rng) for text in texts],
        "men and women change places": [regendered(text) for text in texts],
    }
    for way, others in ways.items():
        named = [at for at, text in enumerate(others) if text is not None]
        again = hate(detector, [str(others[at]) for at in named]) >= 0.5
        yield f"– {way}, another decision", of_all(again != flagged[named])


def main() -> None:
    """Print a table for each detector."""
    held_out = material(measured(find_plan(PLAN)), seed=0).held_out
    for named in sys.argv[1:]:
        name, _, folder = named.partition("=")
        print(f"\n| {name} | |\n|---|---|")
        for what, found in said(load(Path(folder)), held_out):
            print(f"| {what} | {found} |", flush=True)


if __name__ == "__main__":
    main()
