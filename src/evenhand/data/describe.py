"""What is in a corpus: rows, posts, labels, splits, judgements, lengths, emoji."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.core.tables import carried, tag
from evenhand.data.corpus import Corpus
from evenhand.stats.classification import Floats
from evenhand.stats.intervals import LEVEL, cluster_bootstrap, median_interval, wilson

EMOJI = r"\p{Emoji_Presentation}|\p{Extended_Pictographic}\x{FE0F}?|[0-9#*]\x{FE0F}?\x{20E3}"
"""An emoji (also one shown as text, a flag or a keycap); ©, ® and ™ alone are not emoji."""
_MARKS = "[©®™]"
_QUANTILES = (0.05, 0.95)


def describe(corpus: Corpus, seed: int = 0) -> list[Finding]:
    """Findings on what the corpus holds."""
    parts = (_sizes(corpus), _labels(corpus, seed), _people(corpus), _texts(corpus, seed))
    return [replace(finding, origin=corpus.origin) for part in parts for finding in part]


def _sizes(corpus: Corpus) -> Iterator[Finding]:
    posts = corpus.posts
    n = posts.height
    yield Finding(measure="rows", value=corpus.rows, n=corpus.rows, unit="rows")
    yield Finding(measure="posts", value=n, n=n, unit="posts")
    empty = posts.filter(pl.col("text").str.strip_chars() == "")
    yield Finding(
        measure="posts_empty", value=empty.height, n=n, unit="posts", cases=_some(empty["id"])
    )
    splits = posts.select(tag("split", posts)).to_series()
    for name, count in splits.drop_nulls().value_counts().sort("split").iter_rows():
        yield _plain_share("split_share", count, n, {"split": name})
    templates = posts.select(tag("template", posts)).to_series().drop_nulls()
    if len(templates):
        yield Finding(
            measure="templates", value=templates.n_unique(), n=len(templates), unit="posts"
        )


def _labels(corpus: Corpus, seed: int) -> Iterator[Finding]:
    n = corpus.posts.height
    gold = corpus.main_gold()
    labelled = gold["post"].n_unique() if gold is not None else 0
    yield Finding(measure="unlabelled", value=n - labelled, n=n, unit="posts")
    if gold is None:
        yield Finding(measure="label_share", value=None, n=n, why="no post has a label")
        return
    marks = carried(gold)
    posts = gold.select("post").join(
        corpus.posts.select(post="id", author="author"), on="post", how="left"
    )
    for label in sorted(marks["label"].unique()):
        holders = marks.filter(pl.col("label") == label)["post"]
        yield share_of_posts(posts, holders, "label_share", {"label": label}, seed)
    hateful = marks.filter(pl.col("label").is_in(list(corpus.hateful)))["post"].unique()
    if corpus.hateful and "hateful" not in set(marks["label"]):
        yield share_of_posts(posts, hateful, "label_share", {"label": "hateful"}, seed)


def _people(corpus: Corpus) -> Iterator[Finding]:
    judgements = corpus.judgements
    if judgements is not None:
        for question in sorted(judgements["question"].unique()):
            part = judgements.filter(pl.col("question") == question)
            group = {"question": question}
            yield Finding(
                measure="judgements",
                value=part.height,
                n=part["post"].n_unique(),
                group=group,
                unit="posts",
            )
            known = part.filter(~pl.col("anonymous"))
            yield Finding(
                measure="annotators",
                value=known["annotator"].n_unique() if known.height else None,
                n=known.height,
                group=group,
                unit="judgements with a known annotator",
                why=None if known.height else "the corpus does not say who answered",
            )
        marked = judgements.filter(pl.col("spans").list.len() > 0)
        if marked.height:
            yield Finding(
                measure="rationales",
                value=marked.height,
                n=marked["post"].n_unique(),
                unit="posts",
            )
    if corpus.scores is not None:
        counts = corpus.scores.group_by("detector", "attribute").len().sort(pl.all())
        for detector, attribute, count in counts.iter_rows():
            group = {"detector": detector, "attribute": attribute}
            yield Finding(measure="scores", value=count, n=count, group=group, unit="scores")


def _texts(corpus: Corpus, seed: int) -> Iterator[Finding]:
    posts = corpus.posts
    lengths = posts["text"].str.len_chars().to_numpy().astype(np.float64)
    if not len(lengths):
        return
    low, high = median_interval(lengths)
    yield Finding(
        measure="characters",
        value=float(np.median(lengths)),
        n=len(lengths),
        low=low,
        high=high,
        level=LEVEL,
        method="median; order-statistic interval",
        unit="posts",
    )
    for quantile in _QUANTILES:
        yield Finding(
            measure="characters",
            value=float(np.quantile(lengths, quantile)),
            n=len(lengths),
            group={"quantile": str(quantile)},
            method="quantile",
            unit="posts",
        )
    with_emoji = posts.filter(has_emoji(pl.col("text")))["id"]
    people = posts.select(post="id", author="author")
    yield share_of_posts(people, with_emoji, "emoji_share", {}, seed)


def has_emoji(text: pl.Expr) -> pl.Expr:
    """Whether a text has an emoji.

    >>> texts = pl.DataFrame({"text": ["so 😀", "© 2020", "1️⃣", "plain"]})
    >>> texts.select(has_emoji(pl.col("text"))).to_series().to_list()
    [True, False, True, False]
    """
    return text.str.replace_all(_MARKS, "").str.contains(EMOJI)


def share_of_posts(
    posts: pl.DataFrame, holders: pl.Series, measure: str, group: dict[str, str], seed: int
) -> Finding:
    """A share of posts (columns post, author), resampling authors where they are known."""
    n = posts.height
    flagged = posts.with_columns(hit=pl.col("post").is_in(holders.implode()))
    count = int(flagged["hit"].sum())
    if not posts["author"].count():
        return _plain_share(measure, count, n, group)
    cluster = pl.coalesce("author", pl.format("post {}", "post"))
    sums = flagged.group_by(cluster.alias("author")).agg(
        pl.col("hit").sum().cast(pl.Float64), pl.len().cast(pl.Float64)
    )
    rng = stream(seed, measure, *group.values())
    interval = cluster_bootstrap(sums.select("hit", "len").to_numpy(), _ratio, rng)
    low, high = interval or (None, None)
    return Finding(
        measure=measure,
        value=count / n,
        n=n,
        group=group,
        low=low,
        high=high,
        level=LEVEL if interval else None,
        method="share of posts; percentile bootstrap over authors",
        unit="authors",
        why=None if interval else "no interval: fewer than two authors",
    )


def _ratio(sums: Floats) -> Floats:
    result: Floats = sums[:, 0] / sums[:, 1]
    return result


def _plain_share(measure: str, count: int, n: int, group: dict[str, str]) -> Finding:
    if not n:
        return Finding(measure=measure, value=None, n=0, group=group, why="no posts")
    low, high = wilson(count, n)
    return Finding(
        measure=measure,
        value=count / n,
        n=n,
        group=group,
        low=low,
        high=high,
        level=LEVEL,
        method="share of posts; Wilson interval",
        unit="posts",
    )


def _some(ids: pl.Series, most: int = 20) -> tuple[str, ...]:
    """A few ids to look at, the same whatever the row order."""
    return tuple(ids.sort().head(most))
