"""Small corpora in one line."""

from __future__ import annotations

import hashlib

import polars as pl

from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.user_file import single_labels


def make_corpus(rows, *, hateful=("bad",), **options):
    """A corpus from rows (dicts): id, text, and optionally label, author, split, twin, template."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if "text" not in frame.columns:
        unlike = [hashlib.sha256(str(i).encode()).hexdigest() for i in frame["id"]]
        frame = frame.with_columns(text=pl.Series(unlike))
    tags = [name for name in ("split", "twin", "template") if name in frame.columns]
    columns = [name for name in ("id", "text", "author") if name in frame.columns]
    table = frame.select(
        *columns,
        source=pl.lit("made up"),
        tags=pl.struct([pl.col(t).cast(pl.String) for t in tags] or [pl.lit(None).alias("split")]),
    )
    gold = None
    if "label" in frame.columns:
        gold = single_labels(frame.filter(pl.col("label").is_not_null()))
    return Corpus(
        name="made up",
        rows=len(rows),
        posts=posts_table(table),
        gold=gold,
        hateful=hateful,
        **options,
    )


def value(findings, measure, **group):
    """The value of the one finding with this measure and group."""
    return finding(findings, measure, **group).value


def finding(findings, measure, **group):
    """The one finding with this measure and group."""
    [found] = [f for f in findings if f.measure == measure and dict(f.group) == group]
    return found
