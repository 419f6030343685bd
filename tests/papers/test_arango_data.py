"""The sets and partitions of Arango et al. 2019, rebuilt from the real corpora. Counts only."""

from __future__ import annotations

import os

import numpy as np
import polars as pl
import pytest

from evenhand.core.tables import tag
from evenhand.data.find import find
from evenhand.data.reshape import add, arango_partitions, as_rows, cap
from evenhand.data.splits import KEEP, Likeness, make_folds, overlap, ties

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("EVENHAND_DATA"),
        reason="EVENHAND_DATA is not set: it names the folder of published corpora",
    ),
]


@pytest.fixture(scope="module")
def rows():
    return as_rows(find("waseem_hovy"))


@pytest.fixture(scope="module")
def extended():
    return as_rows(find("arango_extended"))


def posts_and_hateful(corpus):
    labels = corpus.main_gold()["label"]
    return len(labels), labels.is_in(list(corpus.hateful)).sum()


def labelled(corpus):
    gold = corpus.main_gold().select(id="post", label="label")
    return corpus.posts.join(gold, on="id", maintain_order="left")


def test_a_post_per_published_row(rows, extended):
    assert posts_and_hateful(rows) == (14_949, 4_839)
    assert posts_and_hateful(extended) == (7_006, 2_920)
    twins = rows.posts.select(tag("twin", rows.posts))["twin"]
    assert twins.count() == 41


def test_the_cap_and_the_hateful_posts_added(rows):
    capped = cap(rows, 250, seed=0)
    assert posts_and_hateful(capped) == (5_623, 1_508)  # the paper: 5,576 and 1,490
    davidson = find("davidson")
    joined = add(capped, davidson, "hate_speech")
    assert posts_and_hateful(joined) == (5_623 + 1_430, 1_508 + 1_430)  # the paper: 7,006, 2,920


def test_where_the_cap_differs_from_the_published_set(rows, extended):
    def bare(corpus):
        return labelled(corpus).with_columns(
            pl.col("id").str.replace("^[^:]*:", "").str.replace(r"#\d+$", "")
        )

    part = extended.posts.select(tag("part", extended.posts))["part"]
    theirs = bare(extended).filter(part != "davidson").select("id", "label", there=pl.lit(True))
    ours = bare(rows).join(theirs, on=["id", "label"], how="left")
    assert theirs.height == ours["there"].sum() == 5_576
    hateful = pl.col("label") != "none"
    lost = ours.filter(pl.col("author").is_null() & pl.col("there").is_null())
    assert (lost.height, lost.filter(hateful).height) == (44, 17)
    counts = (
        ours.drop_nulls("author")
        .group_by("author", hateful.alias("hateful"))
        .agg(there=pl.col("there").sum(), most=pl.len().clip(upper_bound=250))
        .filter(pl.col("there") != pl.col("most"))
        .sort("hateful")
    )
    assert counts.select("hateful", "there").rows() == [(False, 248), (True, 249)]
    assert 5_623 - 5_576 == 44 + 2 + 1
    assert 1_508 - 1_490 == 17 + 1


def test_the_three_partitions_of_table_7(rows):
    hateful = (labelled(rows)["label"] != "none").to_numpy()
    found = {
        name: tuple(int((side & ~test).sum()) for side in (hateful, ~hateful))
        for name, test in arango_partitions(rows)
    }
    assert found == {  # the paper: 4,099/8,636; 3,441/9,122; 3,504/9,408
        "partition 1": (4_081, 8_636),
        "partition 2": (3_441, 9_122),
        "partition 3": (3_506, 9_366),
    }


def test_authors_and_duplicates_together_chain_most_of_the_corpus():
    assert np.bincount(ties(find("waseem_hovy"), KEEP)).max() == 10_925


def test_few_posts_are_left_out_of_folds_by_author(rows):
    table = labelled(rows)
    folds = make_folds(
        table["id"], table["label"], ties(rows, ("author",)), 10, seed=0, rule="authors apart"
    )
    likeness = Likeness(rows)
    for fold in range(10):
        test = folds.side == fold
        assert 0 < likeness.tangled(~test, test).sum() < 200


def test_the_added_posts_are_found_in_the_corpus_they_came_from(extended):
    davidson = find("davidson")
    alike = davidson.posts.filter(pl.Series(overlap(davidson, extended)))
    hate = davidson.main_gold().filter(pl.col("label") == "hate_speech")["post"]
    assert set(hate) <= set(alike["id"])
