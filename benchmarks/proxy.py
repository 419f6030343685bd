"""What lifts evenhand-base: one change at a time, ranked on a small training of HATE.

``python benchmarks/proxy.py --keep FOLDER [NAME …]`` trains by benchmarks/proxy.toml with each
change (all of them, or those that are named), two at a time, and prints the table of
docs/methods/evenhand-base.md. Figures are of the dev posts of both rounds: none has a twin among
the training posts, and no suite is looked at. What was finished is kept in FOLDER and not run
again. Needs ``EVENHAND_DATA`` and the extra ``[train]``; about seven minutes a change on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evenhand.core.streams import stream
from evenhand.models._processor import multiplies_half
from evenhand.models.material import material
from evenhand.models.plan import Plan, Synthetic, find_plan
from evenhand.models.saving import save
from evenhand.models.synthetic import swapped
from evenhand.stats.detection import auc
from evenhand.studies.plans import planned, ready_to_score

PLAN = Path(__file__).with_name("proxy.toml")
READINGS = 18_000
"""Of real posts, in both epochs."""
SMALL, LARGE = ("hatemojibuild", 3808), ("dynahate", 32901)
"""The corpora and how many posts of each are trained on."""

ORDINARY = "jigsaw"
"""The corpus of ordinary comments."""


def upsampled(plan: Plan, times: float) -> Plan:
    """A post of the small corpus is read so many times as often as one of the large one."""
    once = READINGS / 2 / (times * SMALL[1] + LARGE[1])
    often = {SMALL[0]: times * once, LARGE[0]: once}
    return replace(plan, parts=tuple(replace(p, times=often[p.name]) for p in plan.parts))


def with_comments(plan: Plan, *, none_means_no: bool) -> Plan:
    """Ordinary comments beside the rounds: what they label, and of those without any label HATE."""
    six = next(part for part in find_plan("evenhand-base").parts if part.name == ORDINARY)
    comments = replace(
        six, taught=[], times=0.25, times_without=0.1,
        none_means_no=["HATE"] if none_means_no else [],
    )  # fmt: skip
    return replace(
        plan,
        attributes=(*plan.attributes, *six.yes),
        parts=(*plan.parts, comments),
    )


def not_exchanged(plan: Plan) -> Plan:
    """No post is read with another identity."""
    return replace(plan, parts=tuple(replace(p, swapped=0.0) for p in plan.parts))


@dataclass(frozen=True)
class Change:
    """One thing that is done otherwise."""

    words: str
    options: str = ""
    plan: Callable[[Plan], Plan] = lambda plan: plan
    seed: int = 0


CHANGES = {
    "none": Change("none (HatemojiBuild ×5)"),
    "seed": Change("none, another seed", seed=1),
    "x1": Change("HatemojiBuild ×1", plan=lambda plan: upsampled(plan, 1)),
    "x10": Change("HatemojiBuild ×10", plan=lambda plan: upsampled(plan, 10)),
    "x100": Change("HatemojiBuild ×100", plan=lambda plan: upsampled(plan, 100)),
    "emoji-kept": Change("emoji as tokens", "emoji=kept"),
    "emoji-dropped": Change("emoji left out", "emoji=dropped"),
    "as-written": Change("disguised words as they are written", "undo=no"),
    "no-synthetic": Change(
        "no sentences of our own", plan=lambda plan: replace(plan, synthetic=None)
    ),
    "no-exchange": Change(
        "no exchanged identities", "beside=0,pull=0", plan=not_exchanged
    ),
    "one-identity": Change("one word for all identities", "identities=one"),
    "one-none": Change(
        "the same, no sentences of our own", "identities=one",
        plan=lambda plan: replace(plan, synthetic=None),
    ),
    "one-2500": Change(
        "the same, 2,500 sentences of our own", "identities=one",
        plan=lambda plan: replace(plan, synthetic=Synthetic(sentences=2500, attribute="HATE")),
    ),
    "comments": Change(
        "comments of jigsaw beside them", plan=lambda plan: with_comments(plan, none_means_no=False)
    ),
    "no-label": Change(
        "the same, HATE being no where nothing is true",
        plan=lambda plan: with_comments(plan, none_means_no=True),
    ),
    "dropout": Change("dropout .2 for .1", "dropout=0.2"),
    "rate": Change("rate 6e-5 for 1.2e-4", "rate=6e-5"),
    "no-mean": Change("the last weights, no running mean", "average=0"),
}  # fmt: skip


def trained(name: str, folder: Path) -> dict[str, Any]:
    """Train with a change and say what came of it; what is known already is only read."""
    kept = folder / f"{name}.json"
    if kept.exists():
        found: dict[str, Any] = json.loads(kept.read_text())
        return found
    change = CHANGES[name]
    plan = change.plan(find_plan(str(PLAN)))
    options = ",".join(filter(None, ["int8=no", f"half={half()}", change.options]))
    recipe = planned(f"transformer:{options}", plan)
    given = material(plan, seed=0)
    began = time.process_time()
    detector = recipe.fit_material(given, seed=change.seed)
    seconds = time.process_time() - began
    detector, _ = ready_to_score(detector, plan, given, 0)
    save(detector, folder / name, data=given.data)
    found = {"seconds": seconds, **figures(detector, given.held_out)}
    kept.write_text(json.dumps(found))
    return found


def half() -> str:
    """Whether this machine trains in 16 bits."""
    return "yes" if multiplies_half() else "no"


def figures(detector: Any, held_out: pl.DataFrame) -> dict[str, Any]:
    """Accuracy and area under the curve on dev posts, and flips of the large corpus."""
    found: dict[str, Any] = {}
    for corpus in (SMALL[0], LARGE[0]):
        dev = held_out.filter((pl.col("corpus") == corpus) & (pl.col("split") == "dev"))
        p, truth = detector.score(dev["text"].to_list())[:, 0], dev["HATE"].to_numpy()
        found[corpus] = [float(((p >= 0.5) == truth).mean()), auc(truth, p), len(truth)]
        if corpus == LARGE[0]:
            rng = stream(0, "proxy", "flips")
            other = [swapped(text, rng) for text in dev["text"]]
            named = [at for at, text in enumerate(other) if text is not None]
            q = detector.score([str(other[at]) for at in named])[:, 0]
            found["flips"] = [float(((p[named] >= 0.5) != (q >= 0.5)).mean()), len(named)]
    some = held_out.filter((pl.col("corpus") == ORDINARY) & (pl.col("split") == "dev"))
    if some.height:
        none = some.filter(~pl.any_horizontal(pl.col(detector.attributes[1:])))
        p = detector.score(none["text"].to_list())[:, 0]
        found["ordinary"] = [float((p >= 0.5).mean()), none.height]
    return found


def table(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A row for each change; standard errors of one figure in the head."""
    first = next(iter(results.values()))
    sizes = [first[corpus][2] for corpus in (SMALL[0], LARGE[0])] + [first["flips"][1]]
    yield (
        f"| change | HatemojiBuild dev, {sizes[0]}: accuracy, area | DynaHate dev, {sizes[1]:,}: "
        f"accuracy, area | flips of {sizes[2]:,} | processor minutes |"
    )
    yield "|---|---|---|---|---|"
    for name, found in results.items():
        cells = [f"{a:.3f}, {b:.3f}" for a, b, _ in (found[SMALL[0]], found[LARGE[0]])]
        yield (
            f"| {CHANGES[name].words} | {' | '.join(cells)} | {found['flips'][0]:.3f} "
            f"| {found['seconds'] / 60:.1f} |"
        )
    errors = [np.sqrt(0.25 * 0.75 / n) for n in sizes[:2]]
    yield (
        f"\nThe standard error of one accuracy is about {errors[0]:.3f} and {errors[1]:.3f}; of a "
        "difference on the same posts it is a little less than 1.4 times that."
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*CHANGES, []], help="default: all")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    names = given.names or list(CHANGES)
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(trained, names, [given.keep] * len(names)))
    for line in table(dict(zip(names, found, strict=True))):
        print(line)


if __name__ == "__main__":
    main()
