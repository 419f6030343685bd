"""evenhand-base beside other detectors, on posts held out of its training and on suites.

``python benchmarks/evenhand_base.py FOLDER --fast FOLDER --peer PEER/bin/python`` prints every
table; ``--out`` writes them to a page too, ``--keep`` keeps scores between runs. Corpora are those
of the plan, in ``EVENHAND_DATA``; :mod:`peers.alt_profanity_check` says how to make the peer's
environment. Without FOLDER the others are measured alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from peers.compared import (
    ALWAYS,
    Asked,
    Row,
    alt_profanity,
    always,
    frozen,
    linear,
    trained_rows,
)
from peers.on_posts import (
    ROUNDS,
    clustered,
    on_attributes,
    on_calibration,
    on_ordinary,
    on_rounds,
)
from peers.on_suites import Sat, aims, on_ours, on_published, our_cases, published_cases

from evenhand.core.provenance import sha256
from evenhand.models.encoder_detector import EncoderDetector
from evenhand.models.material import Material, material
from evenhand.models.plan import SYNTHETIC, Plan, find_plan
from evenhand.models.protocol import HATE, Trained
from evenhand.models.saving import load
from evenhand.reports.numbers import bracket, count, number
from evenhand.stats.intervals import wilson

PLAN, BASE, FAST, LINEAR = "evenhand-base", "evenhand-base", "evenhand-fast", "linear"
AIMS = {"hatemojibuild": ".76", "dynahate": ".80"}
FROZEN, PEER = "frozen embedding + LR", "alt-profanity-check 1.9.1"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="evenhand-base, as trained")
    parser.add_argument("--fast", type=Path, help="the folder of evenhand-fast")
    parser.add_argument("--fp32", type=Path, help="evenhand-base with int8 = false")
    parser.add_argument("--peer", help="the Python that has alt-profanity-check")
    parser.add_argument("--keep", type=Path, help="a folder to keep scores in")
    parser.add_argument("--out", type=Path, help="a page to write too")
    given = parser.parse_args()
    lines = []
    for part in page(given, material(labelled(find_plan(PLAN)), seed=0)):
        print(part, flush=True)
        lines.append(part)
    if given.out:
        given.out.write_text(_INTRODUCTION + "\n".join(lines) + "\n", encoding="utf-8")


def labelled(plan: Plan) -> Plan:
    """What people labelled, and no more: the others are not told that no label means no."""
    plan = plan.as_written()
    parts = (replace(part, none_means_no=[]) for part in plan.parts)
    return replace(plan, parts=tuple(parts))


def page(given: argparse.Namespace, rows: Material) -> Iterator[str]:
    """Every table, with its heading."""
    held_out = rows.held_out.filter(pl.col("source") != SYNTHETIC).sort("corpus", "id")
    attributes = [task.name for task in rows.train.tasks]
    six = [name for name in attributes if name != HATE]
    ours, theirs = our_cases(), published_cases()
    texts = [held_out["text"], *(cases.table["text"] for cases in (*ours, *theirs))]
    asked = Asked(pl.concat(texts).unique().sort().to_list(), given.keep)
    base = load(given.folder) if given.folder else None
    compared = list(_compared(asked, given, rows, base, attributes))
    for corpus, (title, _) in ROUNDS.items():
        yield f"\n## {title}: HATE (aim: accuracy of {AIMS[corpus]} on all dev posts)\n"
        yield from on_rounds(clustered(held_out, corpus), compared, corpus, LINEAR)
    test = held_out.filter((pl.col("corpus") == "jigsaw") & (pl.col("split") == "test"))
    yield "\n## `jigsaw`, a held-out tenth: six attributes (aim: mean ROC-AUC of .985)\n"
    means, each = on_attributes(test, compared, six, LINEAR)
    yield from means
    yield "\nROC-AUC of each attribute:\n"
    yield from each
    yield "\n## Ordinary comments that are called HATE, by what people said of them\n"
    yield from on_ordinary(test, compared, six)
    yield "\n## Our frozen suites and identity templates\n"
    sat = [
        Sat(cases, row) for cases in ours for row in compared if row.name in (BASE, FAST, LINEAR)
    ]
    yield from on_ours(sat)
    if base is not None:
        yield ""
        yield from aims(sat, BASE, LINEAR)
    yield "\n## Samples of the published suites\n"
    yield from on_published(theirs, compared)
    if base is None:
        return
    dev = pl.concat([clustered(held_out, corpus) for corpus in ROUNDS])
    dev = dev.with_columns(cluster=pl.format("{} {}", "corpus", "cluster"))
    yield "\n## Is the score a probability?\n"
    margins = None
    if isinstance(base, EncoderDetector):
        margins = base.margins(dev["text"].to_list())[:, attributes.index(HATE)]
    yield from on_calibration(dev, test, compared[0], six, margins)
    if given.fp32:
        yield "\n## Decisions of int8 and fp32 (aim: 99 % alike)\n"
        yield from _agreement(base, load(given.fp32), held_out)


def _compared(
    asked: Asked, given: argparse.Namespace, rows: Material, base: Trained | None,
    attributes: list[str],
) -> Iterator[Row]:  # fmt: skip
    if base is not None:
        yield _saved(asked, BASE, given.folder, base)
    if given.fast:
        yield _saved(asked, FAST, given.fast, load(given.fast))
    known = trained_rows(rows)
    yield asked.row(LINEAR, attributes, known, lambda: linear(rows))
    yield asked.row(FROZEN, attributes, known, lambda: frozen(rows))
    if given.peer:
        yield asked.row(PEER, attributes, PEER, lambda: alt_profanity(given.peer))
    yield asked.row(ALWAYS, attributes, ALWAYS, lambda: always)


def _saved(asked: Asked, name: str, folder: Path, detector: Trained) -> Row:
    found = getattr(detector, "calibrations", {}).get(HATE)
    return asked.row(
        name, detector.attributes, sha256(folder / "detector.json"), lambda: detector.score,
        found.threshold if found else 0.5,
    )  # fmt: skip


def _agreement(base: Trained, other: Trained, held_out: pl.DataFrame) -> Iterator[str]:
    """At the shipped calibration and threshold of each attribute."""
    if not (isinstance(base, EncoderDetector) and isinstance(other, EncoderDetector)):
        raise TypeError("int8 and fp32 are compared between two encoders")
    texts = held_out.filter(pl.col("split") == "dev")["text"].to_list()
    p = [detector.score(texts) for detector in (base, other.calibrated(base.calibrations))]
    yield "| attribute | dev posts | threshold | decisions alike | largest difference of p |"
    yield "|---|---|---|---|---|"
    for at, name in enumerate(base.attributes):
        cut = base.calibrations[name].threshold
        alike = int(((p[0][:, at] >= cut) == (p[1][:, at] >= cut)).sum())
        low, high = wilson(alike, len(texts))
        off = float(np.abs(p[0][:, at] - p[1][:, at]).max())
        yield (
            f"| {name} | {count(len(texts))} | {number(cut)} "
            f"| {number(alike / len(texts))} {bracket(low, high)} | {number(off)} |"
        )


_INTRODUCTION = """# evenhand-base beside other detectors

`python benchmarks/evenhand_base.py FOLDER --fast FOLDER --fp32 FOLDER --peer PYTHON --out PAGE` printed what follows, with `EVENHAND_DATA` set.

- No post below was trained on. *Without kin*: dev posts that have no twin, author or near-duplicate among the training posts; the published splits of both rounds share twins. HatemojiBuild's training posts whose twin is in another split were left out, so that none of its dev posts has a twin there.
- `linear` and the *frozen embedding* (mean state of all-MiniLM-L6-v2 in 8 bits over the first 80 tokens of the cleaned text, standardised, logistic regression) learn the posts that evenhand-base has labels of, each once, without its sentences of our own, exchanged identities and teacher; HATE from both rounds alone, not from comments without labels; one classifier per attribute. alt-profanity-check has one score, which stands for every attribute; it was trained on Davidson's tweets and on the published training rows of `jigsaw`, so that on `jigsaw` it has most likely seen these very posts. A post is flagged as HATE from .5 on.
- Intervals are bootstraps at 95 %, 1,000 resamples: of posts with twins together, of posts, of templates in suites. Differences are paired.
- Published rows are the papers', on their test splits and whole suites, which are not in this table's corpora: they are near, not the same posts.
- `jigsaw` is weighted to the base rate of the full corpus. Flip rate: pairs of cases that differ in the identity alone and get different decisions. Gaps: highest minus lowest identity over comparable cases, and what exchanging identities at random gives. Nobody looked at which cases fail. AUC of templates without an interval here has one in `evenhand audit` (evenhand-base: in its card). *Reached* is of the value; where nothing flips, or few templates are hateful, the upper end of the interval may lie above the aim. The fp32 detector holds the same trained weights, before they were rounded.
"""  # noqa: E501


if __name__ == "__main__":
    main()
