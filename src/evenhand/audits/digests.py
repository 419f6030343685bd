"""One checksum for a set of cases, whatever their order and whatever the version of Python."""

from __future__ import annotations

import hashlib
import json

import polars as pl

from evenhand.data.corpus import Corpus


def rows_sha256(table: pl.DataFrame) -> str:
    """SHA-256 over the rows of a table, sorted by id, as lines of JSON."""
    lines = (json.dumps(row, ensure_ascii=True) for row in table.sort("id").iter_rows())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def corpus_sha256(corpus: Corpus) -> str:
    """Of every post with its tags and its label."""
    posts = corpus.posts.select("id", "text", "tags").unnest("tags")
    if corpus.gold is None:
        return rows_sha256(posts)
    return rows_sha256(posts.join(corpus.gold.select(id="post", label="label"), on="id"))
