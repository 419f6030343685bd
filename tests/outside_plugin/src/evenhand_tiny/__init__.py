"""A reader from outside: three made-up posts."""

from pathlib import Path

import polars as pl

from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus, Reader

NOT_A_READER = 7


def _read(data: Path) -> Corpus:
    posts = pl.DataFrame({"id": ["tiny:1", "tiny:2"], "text": ["a bus", "a tram"]})
    return Corpus(name="tiny", rows=2, posts=posts_table(posts.with_columns(source=pl.lit("tiny"))))


READER = Reader(
    name="tiny",
    title="Two made-up posts",
    citation="nobody",
    licence="CC0",
    may_train="no",
    folder="tiny",
    labels={},
    hateful=(),
    read=_read,
)
