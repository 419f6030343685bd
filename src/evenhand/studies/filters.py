"""What flags posts before anybody has labelled them: a detector, or a recipe fitted elsewhere."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand.core import registry
from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.data.corpus import Corpus
from evenhand.data.find import find, used
from evenhand.models.find import detector, recipe
from evenhand.models.scoring import score_posts
from evenhand.models.training import for_corpus


def is_recipe(name: str) -> bool:
    """Whether a name is that of a recipe (with or without options)."""
    return name.partition(":")[0] in registry.names("recipes")


def fitted(name: str, corpus: Corpus, *, seed: int) -> Any:
    """A detector from a recipe, fitted on all labelled posts of a corpus."""
    if corpus.gold is None:
        raise BadInput(f"{corpus.name}: no labels to fit {name} on")
    return for_corpus(recipe(name), corpus).fit(corpus.posts, corpus.gold, seed=seed)


def scores_of(found: Any, posts: pl.DataFrame) -> pl.Series:
    """The first attribute's score of every post, in order."""
    table = score_posts(found, posts, subset=True)
    first = table["attribute"][0]
    mine = table.filter(pl.col("attribute") == first).select(id="post", p="p")
    return posts.select("id").join(mine, on="id", how="left", maintain_order="left")["p"]


def flags_of(run: Run, corpus: Corpus, name: str, *, train: str | None, cut: float) -> pl.Series:
    """Which posts the filter flags."""
    if is_recipe(name):
        if train is None:
            raise BadInput(f"--filter {name} is a recipe: say with --train what to fit it on")
        labelled = find(train)
        run.data.append(used(labelled))
        found = fitted(name, labelled, seed=run.seed)
    else:
        found = detector(name)
    return scores_of(found, corpus.posts) >= cut
