"""Saved detectors beside evenhand-base, each difference paired with it.

``python benchmarks/beside_base.py NAME=FOLDER …`` prints tables of docs/methods/evenhand-base.md:
evenhand-base and saved detectors, such as those of benchmarks/proxy.py, one trained ``--without`` a
corpus or one that was in the box before. Dev posts of both rounds, comments, our frozen suites and
samples of the published ones, as in benchmarks/evenhand_base.py. Needs ``EVENHAND_DATA``; about ten
minutes a detector.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
from evenhand_base import BASE, labelled
from peers.compared import Asked
from peers.on_posts import ROUNDS, clustered, on_attributes, on_ordinary, on_rounds
from peers.on_suites import Sat, on_ours, on_published, our_cases, published_cases

from evenhand.models.encoder_detector import EncoderDetector
from evenhand.models.find import detector
from evenhand.models.material import material
from evenhand.models.plan import Plan, find_plan
from evenhand.models.protocol import HATE
from evenhand.models.saving import load


def measured(plan: Plan) -> Plan:
    """The corpora whose held-out posts are scored; nothing is trained."""
    parts = [replace(part, taught=[], swapped=0.0) for part in labelled(plan).parts if part.yes]
    return replace(plan, parts=tuple(parts), synthetic=None, teachers=None)


def detectors() -> Iterator[tuple[str, EncoderDetector]]:
    """Those that are compared, by name."""
    base = detector(BASE)
    assert isinstance(base, EncoderDetector)
    yield BASE, base
    for named in sys.argv[1:]:
        name, _, folder = named.partition("=")
        found = load(Path(folder))
        assert isinstance(found, EncoderDetector)
        yield name, found


def page() -> Iterator[str]:
    """Every table."""
    held_out = material(measured(find_plan(BASE)), seed=0).held_out.sort("corpus", "id")
    ours, theirs = our_cases(), published_cases()
    texts = [held_out["text"], *(cases.table["text"] for cases in (*ours, *theirs))]
    asked = Asked(pl.concat(texts).unique().sort().to_list(), None)
    rows = [
        asked.row(name, found.attributes, name, lambda found=found: found.score)
        for name, found in detectors()
    ]
    for corpus in ROUNDS:
        yield from on_rounds(clustered(held_out, corpus), rows, corpus, BASE)
        yield ""
    test = held_out.filter((pl.col("corpus") == "jigsaw") & (pl.col("split") == "test"))
    six = [name for name in rows[0].p if name != HATE]
    means, each = on_attributes(test, rows, six, BASE)
    for part in (means, each, on_ordinary(test, rows, six)):
        yield from part
        yield ""
    yield from on_ours([Sat(cases, row) for cases in ours for row in rows])
    yield ""
    yield from on_published(theirs, rows)


if __name__ == "__main__":
    for line in page():
        print(line, flush=True)
