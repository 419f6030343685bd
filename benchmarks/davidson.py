"""Davidson's three classes in 5-fold cross-validation that keeps duplicates on one side.

The same as ``evenhand validate transformer:epochs=2,balanced=0.5,int8=true --data davidson
--classes published --protocol kfold:5 --against linear``, as one table. Needs ``EVENHAND_DATA``
and the extra ``[train]``; five trainings on 20,000 tweets, about 30 minutes on two cores. With
``--keep`` a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from evenhand.audits.index import Index, figure
from evenhand.core.provenance import Run
from evenhand.data.find import find
from evenhand.reports.numbers import NOTHING, count
from evenhand.studies.validation import Asked, validate

GOAL = 0.77
CLASSES = ("hate_speech", "offensive_language", "neither")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="transformer:epochs=2,balanced=0.5,int8=true")
    parser.add_argument("--against", default="linear")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a folder to keep finished folds in")
    given = parser.parse_args()
    run = Run(["benchmarks/davidson.py"], 0)
    asked = Asked(
        protocol="kfold:5",
        classes="published",
        against=given.against,
        workers=given.workers,
        finished=given.keep,
    )
    validate(run, find("davidson"), given.recipe, asked)
    found = Index(run.findings)
    print(f"Goal: macro-F1 of {GOAL} or more.\n")
    print("| recipe | posts | macro-F1 | " + " | ".join(f"F1 {name}" for name in CLASSES) + " |")
    print("|---|---|---|" + "---|" * len(CLASSES))
    rows = {f"`{given.recipe}`": {}, f"`{given.against}`": {"recipe": given.against}}
    known = [f for f in found.all("macro_f1") if f.value is not None]
    names = sorted({str(f.group["baseline"]) for f in known if "baseline" in f.group})
    rows |= {name: {"baseline": name} for name in names}
    for name, group in rows.items():
        main = found.get("macro_f1", **group)
        by_class = [figure(found.get("f1", **group, label=label)) for label in CLASSES]
        n = NOTHING if main is None else count(main.n)
        print(f"| {name} | {n} | {figure(main)} | {' | '.join(by_class)} |")
    apart = found.get("macro_f1_difference", recipe=given.against)
    print(f"\nmacro-F1 minus that of `{given.against}`, paired: {figure(apart)}")


if __name__ == "__main__":
    main()
