"""What it costs, and what it brings, if no answer depends on which group of people is named.

``python benchmarks/one_identity.py [NAME=FOLDER …]`` prints the tables of docs/methods/
evenhand-base.md: evenhand-base as it is, evenhand-base whose front end puts one word for every
identity when it scores (it was trained without), and saved detectors, such as those of
benchmarks/proxy.py with and without ``identities=one``. Dev posts of both rounds, of which some
name an identity, then our frozen suites. Needs ``EVENHAND_DATA``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
from peers.compared import Asked, Row
from peers.on_posts import ROUNDS
from peers.on_suites import Sat, on_ours, on_published, our_cases, published_cases

from evenhand.models.encoder_detector import EncoderDetector
from evenhand.models.find import detector
from evenhand.models.front_end import FrontEnd
from evenhand.models.material import material
from evenhand.models.plan import find_plan
from evenhand.models.protocol import HATE
from evenhand.models.saving import load
from evenhand.stats.detection import auc

PLAN = Path(__file__).with_name("proxy.toml")
ONE = FrontEnd(identities="one")


def detectors() -> Iterator[tuple[str, EncoderDetector]]:
    """Those that are compared, by name."""
    base = detector("evenhand-base")
    assert isinstance(base, EncoderDetector)
    yield "evenhand-base", base
    yield "evenhand-base, one word when it scores", replace(base, front_end=ONE)
    for named in sys.argv[1:]:
        name, _, folder = named.partition("=")
        found = load(Path(folder))
        assert isinstance(found, EncoderDetector)
        yield name, found


def on_dev(held_out: pl.DataFrame, rows: list[Row]) -> Iterator[str]:
    """Accuracy and area under the curve, of all dev posts and of those that name an identity."""
    yield "| detector | dev posts | n | accuracy | area |"
    yield "|---|---|---|---|---|"
    for corpus, (title, _) in ROUNDS.items():
        dev = held_out.filter((pl.col("corpus") == corpus) & (pl.col("split") == "dev"))
        plain = FrontEnd().texts(dev["text"].to_list())
        named = pl.Series([a != b for a, b in zip(plain, ONE.texts(plain), strict=True)])
        for what, some in ((title, dev), (f"{title}, naming an identity", dev.filter(named))):
            truth = some[HATE].to_numpy()
            for row in rows:
                p = row.of(HATE, some["text"])
                right = ((p >= row.threshold) == truth).mean()
                cells = row.name, what, f"{len(truth):,}", f"{right:.3f}", f"{auc(truth, p):.3f}"
                yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    held_out = material(find_plan(str(PLAN)), seed=0).held_out
    ours, theirs = our_cases(), published_cases()
    texts = [held_out["text"], *(cases.table["text"] for cases in (*ours, *theirs))]
    asked = Asked(pl.concat(texts).unique().sort().to_list(), None)
    rows = [
        asked.row(name, found.attributes, name, lambda found=found: found.score)
        for name, found in detectors()
    ]
    for line in on_dev(held_out, rows):
        print(line)
    print()
    for line in on_ours([Sat(cases, row) for cases in ours for row in rows]):
        print(line)
    print()
    for line in on_published(theirs, rows):
        print(line)


if __name__ == "__main__":
    main()
