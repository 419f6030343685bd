"""Who wrote the posts: authors per label, their share, and how far an author look-up gets.

Authors are counted among posts whose author is known. In every resampling a post without an
author is its own author. Authors appear as ranks, never by name and never with cases.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.core.tables import carried
from evenhand.data.corpus import Corpus
from evenhand.stats.classification import Codes, Floats, macro_f1, weighted_f1
from evenhand.stats.intervals import LEVEL, cluster_bootstrap, wilson

TOPS = (1, 2, 5)
FOLDS = 10
_AVERAGES = {"macro": macro_f1, "weighted": weighted_f1}


def author_findings(corpus: Corpus, seed: int) -> Iterator[Finding]:
    """`authors`, `author_known_share`, `top_author_share`, `author_lookup_f1`."""
    posts = corpus.posts.select("id", "author")
    known = posts.filter(pl.col("author").is_not_null())
    n = posts.height
    if not known.height:
        why = "the corpus does not say who wrote its posts"
        for measure in ("authors", "top_author_share", "author_lookup_f1"):
            yield Finding(measure=measure, value=None, n=n, why=why)
        return
    yield Finding(
        measure="authors",
        value=known["author"].n_unique(),
        n=known.height,
        unit="posts with a known author",
    )
    low, high = wilson(known.height, n)
    yield Finding(
        measure="author_known_share",
        value=known.height / n,
        n=n,
        low=low,
        high=high,
        level=LEVEL,
        method="share of posts; Wilson interval",
        unit="posts",
    )
    gold = corpus.main_gold()
    if gold is None:
        why = "no labels"
        for measure in ("top_author_share", "author_lookup_f1"):
            yield Finding(measure=measure, value=None, n=n, why=why)
        return
    labelled = carried(gold).join(known, left_on="post", right_on="id")
    yield from _per_label(corpus, labelled)
    yield from _lookups(corpus, gold, posts, seed)


def _per_label(corpus: Corpus, labelled: pl.DataFrame) -> Iterator[Finding]:
    groups = [(label, [label]) for label in sorted(labelled["label"].unique())]
    if corpus.hateful and "hateful" not in dict(groups):
        groups.append(("hateful", list(corpus.hateful)))
    for name, labels in groups:
        part = labelled.filter(pl.col("label").is_in(labels)).unique(["post", "author"])
        counts = part["author"].value_counts(sort=True)["count"]
        group = {"label": name}
        unit = "posts of the label with a known author"
        yield Finding(
            measure="authors",
            value=len(counts),
            n=part.height,
            group=group,
            unit=unit,
        )
        for top in TOPS:
            if not part.height:
                why = f"no post with a known author carries {name}"
                yield Finding(
                    measure="top_author_share",
                    value=None,
                    n=0,
                    group=group | {"top": top},
                    why=why,
                )
                continue
            written = int(counts.head(top).sum())
            low, high = wilson(written, part.height)
            yield Finding(
                measure="top_author_share",
                value=written / part.height,
                n=part.height,
                group=group | {"top": top},
                low=low,
                high=high,
                level=LEVEL,
                method="share of posts; Wilson interval with these authors fixed",
                unit=unit,
            )


def _lookups(
    corpus: Corpus, gold: pl.DataFrame, posts: pl.DataFrame, seed: int
) -> Iterator[Finding]:
    """F1 of three classifiers that see nothing but the author."""
    table = (
        gold.filter(pl.col("label").is_not_null())
        .select(id="post", label="label")
        .join(posts, on="id")
        .sort("id")
        .with_columns(author=pl.coalesce("author", pl.format("post {}", "id")))
    )
    labels = sorted(table["label"].unique())
    hateful = [label for label in corpus.hateful if label in labels]
    others = [label for label in labels if label not in hateful]
    if not hateful or not others:
        why = "no label is declared hateful" if not hateful else "every post has a hateful label"
        yield Finding(measure="author_lookup_f1", value=None, n=table.height, why=why)
        return
    code = {label: number for number, label in enumerate(labels)}
    truth = table["label"].replace_strict(code, return_dtype=pl.Int64).to_numpy()
    author = table["author"].rank("dense").to_numpy().astype(np.int64) - 1
    classes = len(labels)
    codes = [code[label] for label in hateful], [code[label] for label in others]
    stated = stated_classes(truth, author, classes, *codes)
    rest = _commonest(truth, codes[1])
    forms = {
        "stated": (stated, "every post of a hateful label's top author gets that label"),
        "ideal": (
            np.where(stated == truth, truth, rest),
            "as stated, but only where it is right: perfect precision",
        ),
        "majority": (
            _majority(truth, author, classes, seed),
            f"each author's commonest label in the training part of {FOLDS} random folds",
        ),
    }
    for form, (predicted, how) in forms.items():
        yield from _form(form, how, truth, predicted, author, classes, seed)


def _commonest(truth: Codes, among: list[int]) -> int:
    return max(among, key=lambda number: (int((truth == number).sum()), -number))


def stated_classes(
    truth: Codes, author: Codes, classes: int, hateful: list[int], others: list[int]
) -> Codes:
    """Prediction per post: the class of which its author is the most prolific, else the rest.

    The rest is the commonest class that is not hateful.
    """
    counts = np.zeros((int(author.max()) + 1, classes), dtype=np.int64)
    np.add.at(counts, (author, truth), 1)
    predicted = np.full(len(counts), _commonest(truth, others))
    written = np.zeros(len(counts))
    for label in hateful:
        top = int(np.argmax(counts[:, label]))
        if counts[top, label] > written[top]:
            predicted[top], written[top] = label, counts[top, label]
    return predicted[author]


def _majority(truth: Codes, author: Codes, classes: int, seed: int) -> Codes:
    """Out-of-fold prediction of each author's commonest label in the other folds."""
    rng = stream(seed, "author-majority")
    fold = rng.permutation(len(truth)) % FOLDS
    predicted = np.empty_like(truth)
    for held in range(FOLDS):
        train, test = fold != held, fold == held
        counts = np.zeros((int(author.max()) + 1, classes))
        np.add.at(counts, (author[train], truth[train]), 1)
        # Overall frequency decides for unknown authors and breaks an author's ties.
        counts += counts.sum(axis=0) / (1 + counts.sum())
        predicted[test] = np.argmax(counts, axis=1)[author[test]]
    return predicted


def _form(
    form: str,
    how: str,
    truth: Codes,
    predicted: Codes,
    author: Codes,
    classes: int,
    seed: int,
) -> Iterator[Finding]:
    cells = np.zeros((int(author.max()) + 1, classes * classes))
    np.add.at(cells, (author, truth * classes + predicted), 1)
    for average, measure in _AVERAGES.items():

        def statistic(sums: Floats, measure=measure) -> Floats:  # type: ignore[no-untyped-def]
            return measure(sums.reshape(*sums.shape[:-1], classes, classes))  # type: ignore[no-any-return]

        interval = cluster_bootstrap(cells, statistic, stream(seed, "lookup", form, average))
        low, high = interval or (None, None)
        yield Finding(
            measure="author_lookup_f1",
            value=float(statistic(cells.sum(axis=0))),
            n=len(truth),
            group={"form": form, "average": average},
            low=low,
            high=high,
            level=LEVEL if interval else None,
            method=f"{how}; percentile bootstrap over authors",
            unit="authors",
            why=None if interval else "no interval: fewer than two authors, or a class is too rare",
        )
