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

POSTS, WORDS, TEXTS, TIMES = 5_000, 8_000, 400, 3
RECIPES: tuple[Recipe, ...] = (
    Linear(hateful=("bad",)),
    Svm(hateful=("bad",)),
    NaiveBayes(hateful=("bad",)),
)


def made_up(rng: np.random.Generator, posts: int) -> list[str]:
    """Posts of 5 to 30 words, of which a few are frequent (Zipf's law)."""
    letters = np.array(list("aeioubdfgklmnprstvw"))
    spelling = stream(0, "spelling")
    words = ["".join(spelling.choice(letters, spelling.integers(2, 10))) for _ in range(WORDS)]
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    return [" ".join(rng.choice(words, rng.integers(5, 31), p=shares)) for _ in range(posts)]


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
    texts = made_up(stream(0, "texts"), TEXTS)
    words = sum(len(text.split()) for text in texts) / TEXTS
    print(f"{TEXTS} texts of {words:.1f} words on average, median of {TIMES}, processor time.\n")
    print("| detector | asked, texts/s | closed form, texts/s | times | largest difference |")
    print("|---|---|---|---|---|")
    for recipe in RECIPES:
        detector = trained(recipe, posts)
        rates: dict[bool, list[float]] = {True: [], False: []}
        spans = {}
        for _ in range(TIMES):
            for closed in (False, True):
                rate, spans[closed] = timed(detector, texts, closed)
                rates[closed].append(rate)
        pairs = zip(*(np.concatenate([[s.weight for s in of] for of in spans[c]]) for c in rates),
                    strict=True)  # fmt: skip
        apart = max(abs(a - b) for a, b in pairs)
        asked, exact = np.median(rates[False]), np.median(rates[True])
        print(
            f"| {recipe.name} | {asked:,.0f} | {exact:,.0f} | {exact / asked:.1f} | {apart:.0e} |"
        )


if __name__ == "__main__":
    main()
