"""What can carry an answer from one side of a split to the other: duplicates, twins, templates.

Published splits are taken as they are: the measures count posts that have a copy, a twin, a
template or an author on another side. Without published splits nothing can be torn apart, and
the measures are null and say so.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from evenhand.core.records import Finding
from evenhand.core.tables import carried, tag
from evenhand.data.corpus import Corpus
from evenhand.data.duplicates import Duplicates

LEAKS = (
    "duplicates_across_splits",
    "twins_across_splits",
    "templates_across_splits",
    "authors_across_splits",
)
"""The measures that a gate looks at."""
_MOST = 20
_NO_SPLIT = "the corpus has no published split"


def duplicate_findings(corpus: Corpus, found: Duplicates) -> Iterator[Finding]:
    """Pairs, groups, and posts with a copy on another side of the published split."""
    posts = corpus.posts
    n = posts.height
    split = posts.select(tag("split", posts)).to_series()
    exact, near = found.pairs()
    table = posts.select("id", split=split).with_columns(
        group=pl.Series(found.group), key=pl.Series(found.keys)
    )
    grouped = table.with_columns(size=pl.len().over("group")).filter(pl.col("size") > 1)
    counts = {"duplicate_pairs": exact, "near_duplicate_pairs": near}
    for measure, value in counts.items():
        yield Finding(measure=measure, value=value, n=n, unit="posts", cases=_some(grouped))
    if split.count():
        across = dict(zip(counts, found.pairs(split), strict=True))
        for measure, value in across.items():
            for side, pairs in (("within", counts[measure] - value), ("across", value)):
                yield Finding(
                    measure=measure, value=pairs, n=n, group={"splits": side}, unit="posts"
                )
    yield Finding(measure="duplicate_groups", value=grouped["group"].n_unique(), n=n, unit="posts")
    largest = grouped["size"].max()
    yield Finding(
        measure="largest_duplicate_group",
        value=largest if isinstance(largest, int) else None,
        n=n,
        unit="posts",
        why=None if largest else "no duplicates",
        cases=_some(grouped.filter(pl.col("size") == largest)) if largest else (),
    )
    empty = table.filter(pl.col("key") == "")
    yield Finding(measure="empty_keys", value=empty.height, n=n, unit="posts", cases=_some(empty))
    yield _across(table, "group", "duplicates_across_splits", "no duplicates")


def tie_findings(corpus: Corpus) -> Iterator[Finding]:
    """Twins, templates and authors that a published split tears apart."""
    posts = corpus.posts
    table = posts.select(
        "id",
        "author",
        tag("split", posts),
        tag("template", posts),
        twin=pl.coalesce(tag("twin", posts), "edit_of"),
    )
    yield from _twins(table)
    yield _across(table, "template", "templates_across_splits", "no post names its template")
    # Author findings never give cases.
    yield _across(
        table, "author", "authors_across_splits", "the authors are not known", cases=False
    )


def _twins(table: pl.DataFrame) -> Iterator[Finding]:
    n = table.height
    paired = table.filter(pl.col("twin").is_not_null())
    other = table.select(twin="id", other="split", here=pl.lit(True))
    joined = paired.join(other, on="twin", how="left")
    missing = joined.filter(pl.col("here").is_null())
    why = "no post has a twin" if not paired.height else None
    yield Finding(
        measure="twins", value=paired.height if paired.height else None, n=n, unit="posts", why=why
    )
    yield Finding(
        measure="twins_missing",
        value=None if why else missing.height,
        n=paired.height,
        unit="posts with a twin",
        why=why,
        cases=_some(missing),
    )
    why = why or (None if table["split"].count() else _NO_SPLIT)
    # Both ends count, also where only one of them names the other.
    ends = pl.concat(
        [joined, joined.select(id="twin", twin="id", split="other", other="split", here="here")],
        how="diagonal",
    )
    torn = ends.filter(
        pl.col("here")
        & pl.col("split").is_not_null()
        & pl.col("other").is_not_null()
        & (pl.col("split") != pl.col("other"))
    ).unique("id")
    yield Finding(
        measure="twins_across_splits",
        value=None if why else torn.height,
        n=paired.height,
        unit="posts with a twin",
        why=why,
        cases=_some(torn) if not why else (),
    )


def _across(
    table: pl.DataFrame, tie: str, measure: str, untied: str, *, cases: bool = True
) -> Finding:
    """Posts that share ``tie`` with a post of another published split."""
    usable = table.filter(pl.col(tie).is_not_null() & pl.col("split").is_not_null())
    why = None
    if not table["split"].count():
        why = _NO_SPLIT
    elif not table[tie].count():
        why = untied
    torn = usable.filter(pl.col("split").n_unique().over(tie) > 1)
    return Finding(
        measure=measure,
        value=None if why else torn.height,
        n=usable.height,
        unit="posts in a published split",
        why=why,
        cases=_some(torn) if cases and not why else (),
    )


def conflict_findings(corpus: Corpus, found: Duplicates) -> Iterator[Finding]:
    """Texts that carry two labels: under one id, or as several posts."""
    gold = corpus.main_gold()
    if gold is None:
        why = "no post has a label"
        yield Finding(measure="conflicting_labels", value=None, n=0, why=why)
        return
    sets = carried(gold).group_by("post").agg(pl.col("label").sort().str.join("|"))
    twice = gold.filter(
        ~pl.col("multiple") & (pl.col("origin") == "published") & pl.col("label").is_null()
    )["post"]
    keys = corpus.posts.select(post="id", key=pl.Series(found.keys))
    table = sets.join(keys, on="post", how="left").with_columns(
        twice=pl.col("post").is_in(twice.implode())
    )
    named = table.filter(pl.col("key") != "")
    by_text = named.filter(pl.col("label").n_unique().over("key") > 1)
    texts = by_text["key"].n_unique()
    alone = table.filter(pl.col("twice") & ~pl.col("post").is_in(by_text["post"].implode()))
    total = pl.concat([by_text, alone]).rename({"post": "id"})
    n = table.height
    unit = "labelled posts"
    yield Finding(
        measure="conflicting_labels",
        value=texts + alone.height,
        n=n,
        unit=unit,
        cases=_some(total),
    )
    for by, value in (("id", len(twice)), ("text", texts)):
        yield Finding(measure="conflicting_labels", value=value, n=n, group={"same": by}, unit=unit)


def _some(table: pl.DataFrame) -> tuple[str, ...]:
    """A few ids to look at, the same whatever the row order."""
    return tuple(table["id"].unique().sort().head(_MOST))
