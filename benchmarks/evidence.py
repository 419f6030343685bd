"""How fast evidence is: the closed form of linear detectors against leaving words out one by one.

Both sides in one run, on the same made-up posts and the same detectors, one process, one thread.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import polars as pl

from evenhand.core.streams import stream
from evenhand.core.tables import posts_table
from evenhand.data.user_file import single_labels
from evenhand.models import evidence as leaving_out
from evenhand.models.evidence import Span, evidence
from evenhand.models.linear import Linear
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.protocol import Detector, Recipe
from evenhand.models.svm import Svm

POSTS, WORDS, TIMES = 5_000, 8_000, 3
LENGTHS = {(5, 30): 400, (80, 120): 60}
"""Words a text, and how many texts."""
RECIPES: tuple[Recipe, ...] = (
    Linear(hateful=("bad",)),
    Svm(hateful=("bad",)),
    NaiveBayes(hateful=("bad",)),
)


def made_up(rng: np.random.Generator, posts: int, least: int = 5, most: int = 30) -> list[str]:
    """Posts of words of which a few are frequent (Zipf's law)."""
    letters = np.array(list("aeioubdfgklmnprstvw"))
    spelling = stream(0, "spelling")
    words = ["".join(spelling.choice(letters, spelling.integers(2, 10))) for _ in range(WORDS)]
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    return [
        " ".join(rng.choice(words, rng.integers(least, most + 1), p=shares)) for _ in range(posts)
    ]


def trained(recipe: Recipe, texts: Sequence[str]) -> Detector:
    labels = ["bad" if number % 3 == 0 else "ok" for number in range(len(texts))]
    ids = [f"p{number}" for number in range(len(texts))]
    frame = pl.DataFrame({"id": ids, "text": texts, "label": labels})
    posts = posts_table(frame.select("id", "text", source=pl.lit("made up")))
    return recipe.fit(posts, single_labels(frame), seed=0)


def timed(detector: Detector, texts: Sequence[str], closed: bool) -> tuple[float, list[list[Span]]]:
    """Texts a second, and what was found; without the closed form the detector is asked."""
    known = leaving_out.closed_form
    if not closed:
        leaving_out.closed_form = lambda _: None
    try:
        began = time.process_time()
        found = evidence(detector, texts)
        return len(texts) / (time.process_time() - began), found
    finally:
        leaving_out.closed_form = known


def main() -> None:
    """Print the table."""
    posts = made_up(stream(0, "train"), POSTS)
    print(f"Median of {TIMES}, processor time, both sides in turn.\n")
    print("| detector | words a text | asked, texts/s | closed form, texts/s | times | apart |")
    print("|---|---|---|---|---|---|")
    for recipe in RECIPES:
        detector = trained(recipe, posts)
        for (least, most), many in LENGTHS.items():
            texts = made_up(stream(0, "texts", least), many, least, most)
            asked, closed, apart = compared(detector, texts)
            print(
                f"| {recipe.name} | {least}–{most} | {asked:,.0f} | {closed:,.0f} | "
                f"{closed / asked:.1f} | {apart:.0e} |"
            )


def compared(detector: Detector, texts: Sequence[str]) -> tuple[float, float, float]:
    """Texts a second of both sides, and the largest difference between their weights."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    weights = {}
    for _ in range(TIMES):
        for closed in rates:
            rate, found = timed(detector, texts, closed)
            rates[closed].append(rate)
            weights[closed] = np.array([span.weight for spans in found for span in spans])
    apart = float(np.abs(weights[True] - weights[False]).max())
    return float(np.median(rates[False])), float(np.median(rates[True])), apart


if __name__ == "__main__":
    main()
