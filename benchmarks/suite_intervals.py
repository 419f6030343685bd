"""Do the intervals of suite figures hold, and what does it cost to resample templates?

Prints the tables of docs/benchmarks/suite_intervals.md. Two simulations: the share of right answers
in one functionality of a made-up suite (twelve templates of seven cases, templates more or less
alike), with percentiles of resampled templates alone and with the floor that audits use; and the
gap in recall between six identities, with percentiles and with the distance that audits use. Then,
for folders of trained detectors given as arguments, the half-width of the interval of accuracy over
templates beside that over single cases.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from evenhand.audits.suites import find_suite
from evenhand.models.saving import load
from evenhand.stats.group_rates import group_rates
from evenhand.stats.ratios import Clusters, Ratio, ratio_finding
from evenhand.studies.suites import Judged

FUNCTIONALITIES, TEMPLATES, CASES = 20, 12, 7
SHARES = ((0.01, 20), (0.02, 0.5), (0.05, 1), (0.05, 5), (0.2, 1), (0.5, 1))
"""Mean share of right answers, and the concentration of the Beta distribution of templates."""
RUNS, RESAMPLES = 80, 300
GAPS = (0.0, 0.1, 0.2)
IDENTITIES, GAP_TEMPLATES, GAP_RUNS = 6, 30, 300


def shares() -> None:
    print("| true share | alike | resamples alone: upper end | lower | with floor: upper | lower |")
    print("|---|---|---|---|---|---|")
    places = [
        (f, t) for f in range(FUNCTIONALITIES) for t in range(TEMPLATES) for _ in range(CASES)
    ]
    names, kinds = [f"{f}/{t}" for f, t in places], [str(f) for f, _ in places]
    asked = [np.array([kind == str(f) for kind in kinds]) for f in range(0, FUNCTIONALITIES, 4)]
    for mean, strength in SHARES:
        rng = np.random.default_rng(0)
        held, alike = np.zeros((2, 2)), []
        for run in range(RUNS):
            size = (FUNCTIONALITIES * TEMPLATES,)
            chance = rng.beta(mean * strength, (1 - mean) * strength, size=size)
            right = rng.random(len(names)) < np.repeat(chance, CASES)
            for told, known in enumerate(({}, {"outcome": right, "within": kinds})):
                clusters = Clusters.of(names, seed=run, resamples=RESAMPLES, **known)
                if told:
                    alike.append(clusters.alike)
                for inside in asked:
                    ratio = Ratio.share(right, inside)
                    if told:
                        found = ratio_finding("s", ratio, clusters, unit="templates", group={})
                        low, high = found.low, found.high
                    else:
                        low, high = np.quantile(clusters.draws(ratio), [0.025, 0.975])
                    held[told] += (high >= mean, low <= mean)
        rates = (100 * held / (RUNS * len(asked))).ravel()
        cells = " | ".join(f"{rate:.0f} %" for rate in rates)
        print(f"| {mean} | {np.mean(alike):.2f} | {cells} |")


def gaps() -> None:
    print("| true gap in recall | percentiles hold it | value ± distance holds it |")
    print("|---|---|---|")
    template, group = (x.ravel() for x in np.indices((GAP_TEMPLATES, IDENTITIES)))
    names, people = [f"t{t}" for t in template], [f"g{g}" for g in group]
    for gap in GAPS:
        rng, held = np.random.default_rng(1), np.zeros(2)
        for run in range(GAP_RUNS):
            easy = rng.uniform(0.4, 0.9, GAP_TEMPLATES)[template]
            said = rng.random(len(template)) < easy - gap * (group == 0)
            truth = np.ones(len(template), dtype=int)
            found = group_rates(
                truth,
                said.astype(int),
                people,
                clusters=names,
                frames=names,
                unit="templates",
                seed=run,
                resamples=RESAMPLES,
            )
            one = next(f for f in found if f.measure == "recall_gap")
            clusters = Clusters.of(names, seed=run, resamples=RESAMPLES)
            drawn = np.stack(
                [clusters.draws(Ratio.share(said, group == g)) for g in range(IDENTITIES)]
            )
            low, high = np.quantile(drawn.max(axis=0) - drawn.min(axis=0), [0.025, 0.975])
            held += (low <= gap <= high, one.low <= gap <= one.high)
        print(f"| {gap} | " + " | ".join(f"{100 * rate:.0f} %" for rate in held / GAP_RUNS) + " |")


def widths(folders: list[str]) -> None:
    print("| detector | suite | accuracy | ± over templates | ± over cases |")
    print("|---|---|---|---|---|")
    for folder in folders:
        for name in ("emoji-hate", "hate-functions"):
            answers, _ = Judged(load(Path(folder))).answers(find_suite(name))
            right = answers.table["right"].to_numpy()
            ratio, halves = Ratio.share(right, np.ones(len(right))), []
            for column in ("template", "id"):
                clusters = Clusters.of(answers.table[column].to_list(), seed=0)
                found = ratio_finding("a", ratio, clusters, unit=column, group={})
                halves.append(f"{(found.high - found.low) / 2:.3f}")
            print(f"| {Path(folder).name} | {name} | {right.mean():.3f} | {' | '.join(halves)} |")


def main() -> None:
    """Print the tables."""
    shares()
    print()
    gaps()
    if sys.argv[1:]:
        print()
        widths(sys.argv[1:])


if __name__ == "__main__":
    main()
