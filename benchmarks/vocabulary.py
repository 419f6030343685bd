"""An encoder with and without a vocabulary of abusive words, by two optimisers, on real posts.

``python benchmarks/vocabulary.py --keep FOLDER`` validates recipe ``transformer-vocabulary``
(Delisle et al.) on a fifth of ``guest``, held out with its authors' posts and copies on one side,
and prints a table. The list of words is Wiegand's base lexicon. Needs
``EVENHAND_DATA`` and the extra ``[train]``; about half an hour of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from proxy import half

from evenhand.audits.index import Index, figure
from evenhand.core.provenance import Run
from evenhand.data.find import find
from evenhand.reports.numbers import count
from evenhand.studies.validation import Asked, validate

CORPUS, PROTOCOL = "guest", "holdout:0.2"
COURSES = {
    "AdamW, rate 1e-4, 3 epochs": "rate=1e-4,epochs=3",
    "SGD, rate 1e-4, momentum .9, 11 epochs (the paper's)": (
        "optimiser=sgd,rate=1e-4,epochs=11,patience=0"
    ),
    "SGD, rate 1e-2, momentum .9, 11 epochs": "optimiser=sgd,rate=1e-2,epochs=11,patience=0",
}
WITH = {"with": "vocabulary=yes", "without": "vocabulary=no"}


def row(course: str, words: str, folder: Path) -> str:
    """A row of the table."""
    kept = folder / f"{list(COURSES).index(course)}-{words}.json"
    if kept.exists():
        return str(json.loads(kept.read_text()))
    lexicon = Path(os.environ["EVENHAND_DATA"]) / "lexicons" / "wiegand_baseLexicon.txt"
    options = [f"half={half()},length=64,words={lexicon}", WITH[words], COURSES[course]]
    run = Run(["benchmarks/vocabulary.py"], 0)
    recipe = f"transformer-vocabulary:{','.join(options)}"
    validate(run, find(CORPUS), recipe, Asked(protocol=PROTOCOL))
    found = Index(run.findings)
    main = found.get("macro_f1")
    cells = [figure(found.get(name)) for name in ("macro_f1", "auc")]
    n = count(main.n) if main else ""
    line = f"| {words} | {course} | {n} | {' | '.join(cells)} |"
    kept.write_text(json.dumps(line))
    return line


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    every = [(course, words) for course in COURSES for words in WITH]
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(row, *one, given.keep) for one in every]
        print(
            f"| vocabulary | training | posts of {CORPUS} | macro-F1 | AUC |\n|---|---|---|---|---|"
        )
        for one in waiting:
            print(one.result(), flush=True)


if __name__ == "__main__":
    main()
