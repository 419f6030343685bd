"""The same seed gives the same detector, also when the training is killed again and again.

``python benchmarks/killed_training.py FOLDER`` runs ``evenhand train transformer --plan
benchmarks/proxy.toml`` twice from one seed, the second time killed (``kill -9``, with all its
processes) at random moments and gone on with by ``--resume``, and prints both as a table.
Needs ``EVENHAND_DATA`` and the extra ``[train]``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from evenhand.models.material import material
from evenhand.models.plan import find_plan
from evenhand.models.saving import load

PLAN = Path(__file__).with_name("proxy.toml")
KILLS = 3


def command(folder: Path, options: str) -> list[str]:
    recipe = f"transformer:{options}"
    train = ["train", recipe, "--plan", str(PLAN), "--save", str(folder)]
    return [sys.executable, "-m", "evenhand", *train]


def killed(folder: Path, options: str, seconds: float) -> int:
    """Train with kills at random moments of a run that takes so long; how many there were."""
    rng = random.Random(0)
    kills, words = 0, command(folder, options)
    while True:
        process = subprocess.Popen(words, start_new_session=True)
        try:
            wait = rng.uniform(0.2, 0.5) * seconds if kills < KILLS else None
            if process.wait(wait):
                raise SystemExit(f"the training failed: {' '.join(words)}")
            return kills
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            words = [*command(folder, options), "--resume"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--options", default="processes=2,int8=no")
    given = parser.parse_args()
    began = time.perf_counter()
    subprocess.run(command(given.folder / "once", given.options), check=True)
    seconds = time.perf_counter() - began
    kills = killed(given.folder / "killed", given.options, seconds)
    rows = material(find_plan(str(PLAN)), seed=0).held_out
    texts = rows["text"].to_list()
    ends = []
    for name in ("once", "killed"):
        about = json.loads((given.folder / name / "detector.json").read_text())
        judged = about["provenance"]["training"]["judgings"]
        ends.append((judged, load(given.folder / name).score(texts)[:, 0]))
    print(
        f"`{given.options}`: {seconds / 60:.1f} minutes at a stretch; the other run killed ", end=""
    )
    print(f"{kills} times.\n")
    print("| after step | corpus | area under the curve | killed and gone on |\n|---|---|---|---|")
    for one, other in zip(ends[0][0], ends[1][0], strict=True):
        for key in [key for key in one if key not in ("step", "score")]:
            print(f"| {one['step']:,} | {key} | {one[key]:.6f} | {other[key]:.6f} |")
    apart = np.abs(ends[0][1] - ends[1][1]).max()
    print(f"\nLargest difference of a score over {len(texts):,} held-out posts: {apart:.2g}.")


if __name__ == "__main__":
    main()
