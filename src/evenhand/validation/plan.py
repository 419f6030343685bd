"""What a protocol is: from a labelled corpus to splits that keep a promise.

A protocol is named ``NAME`` or ``NAME:ARGUMENT`` and registered like every component. It gets the
corpus with only the posts that are in a class, and gives a :class:`Plan`: the splits, which corpus
the test posts come from, and what it promises about posts on two sides. What a promise covers is
named by ``keep``; posts that share an author, a twin, a template or a duplicate must not stand on
two sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import polars as pl

from evenhand.core import registry
from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding, Split
from evenhand.data.corpus import Corpus
from evenhand.data.labels import class_names, coded
from evenhand.data.splits import KEEP

WITHOUT_AUTHOR = tuple(name for name in KEEP if name != "author")
"""What is kept on one side where a protocol makes no promise about authors."""


COPY = "#copy"
"""Stands before the number of a copy in the id of a post that was repeated."""

Ids = TypeVar("Ids", pl.Series, pl.Expr)


def original(ids: Ids) -> Ids:
    """The ids of the posts that these are copies of, or their own."""
    return ids.str.replace(rf"{COPY}\d+$", "")


@dataclass(frozen=True, eq=False)
class Task:
    """A corpus and what is to be told apart in it: only posts that are in a class."""

    corpus: Corpus
    codes: pl.DataFrame
    """Columns post and code (the number of its class), in the order of the posts."""
    hateful: tuple[str, ...]
    classes: tuple[str, ...]
    """Named classes; empty means hateful posts from all others."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Posts that are in no class, by reason."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes, by number."""
        return class_names(self.classes)

    @property
    def question(self) -> str:
        """The question that is learned."""
        return self.corpus.question

    @property
    def labels(self) -> pl.Series:
        """The class of each post by name."""
        return self.codes["code"].replace_strict(
            dict(enumerate(self.names)), return_dtype=pl.String
        )

    def part(self, ids: Sequence[str] | pl.Series) -> pl.DataFrame:
        """The posts with these ids, in the corpus's order."""
        wanted = pl.DataFrame({"id": ids}, schema={"id": pl.String})
        return self.corpus.posts.join(wanted, on="id", how="semi", maintain_order="left")

    def gold_of(self, posts: pl.DataFrame) -> pl.DataFrame:
        """The gold of these posts and of no others."""
        gold = self.corpus.gold
        assert gold is not None, "a task has gold"
        return gold.join(posts.select(post="id"), on="post", how="semi")


def make_task(corpus: Corpus, *, hateful: Sequence[str] = (), classes: Sequence[str] = ()) -> Task:
    """The posts of a corpus that are in a class; the others are counted."""
    if corpus.gold is None:
        raise BadInput(f"{corpus.name}: no labels; validation needs a label for every post")
    hateful = tuple(hateful or corpus.hateful)
    known = coded(corpus.gold, corpus.question, hateful=hateful, classes=classes)
    table = corpus.posts.select(post="id").join(known, on="post", how="left", maintain_order="left")
    inside = table.filter(pl.col("code").is_not_null())
    if inside["code"].n_unique() < 2:
        only = class_names(classes)[inside["code"][0]] if inside.height else None
        raise NotEnoughData(
            f"{corpus.name}: "
            + (f"all {inside.height} labelled posts are {only}" if only else "no post is labelled")
            + "; validation needs at least two classes. Name other labels with --hateful or "
            "--classes, or add posts."
        )
    tied = table.filter(pl.col("code").is_null() & pl.col("post").is_in(known["post"].implode()))
    named = tied.filter(pl.col("label").is_not_null()).height
    reasons = {
        "gold is a tie": tied.height - named,
        "another label": named,
        "no gold": table.height - inside.height - tied.height,
    }
    keep = corpus.posts.join(inside.select(id="post"), on="id", how="semi", maintain_order="left")
    return Task(
        corpus=replace(corpus, posts=keep),
        codes=inside.select("post", "code"),
        hateful=hateful,
        classes=tuple(classes),
        left_out={reason: count for reason, count in reasons.items() if count},
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Splits that a protocol made."""

    protocol: str
    """As typed."""
    task: Task
    """Where training posts come from."""
    test: Task
    """Where test posts come from: the same, or another corpus."""
    splits: Sequence[Split]
    keep: tuple[str, ...]
    """What no two sides share."""
    author_disjoint: bool = False
    """Whether it is to be shown beside a random split with the same class counts."""
    facts: Sequence[Finding] = ()
    """How far the promise could be kept: deviations, posts left out of training."""


@dataclass(frozen=True)
class Setting:
    """How a protocol is asked to split."""

    argument: str = ""
    keep: tuple[str, ...] | None = None
    """What no two sides may share; None means the protocol's own."""
    seed: int = 0


Protocol = Callable[[Task, Setting], Plan]


def make_plan(name: str, task: Task, *, keep: tuple[str, ...] | None = None, seed: int = 0) -> Plan:
    """The plan of the protocol a user named."""
    plain, _, argument = name.partition(":")
    protocol: Protocol = registry.get("protocols", plain)
    unknown = [word for word in keep or () if word not in KEEP]
    if unknown:
        raise BadInput(f"--keep {', '.join(unknown)}; expected some of {', '.join(KEEP)}")
    return protocol(task, Setting(argument=argument, keep=keep, seed=seed))
