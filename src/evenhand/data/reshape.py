"""A corpus made into another one: a post per published row, authors capped, corpora joined.

These are the steps by which Arango, Pérez and Poblete (2019) made their sets of the corpus of
Waseem and Hovy, and their three ways of parting its authors. Each step gives a new corpus that
has posts and gold and says in its notes what was done; judgements, draws and scores belong to the
corpus as published and stay behind. The order of the posts never matters, and a post without an
author is its own author.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.streams import stream
from evenhand.core.tables import gold_table, posts_table, tag
from evenhand.data.corpus import Corpus
from evenhand.data.splits import Bools
from evenhand.data.user_file import single_labels

_LABELS = ("racism", "sexism", "none")


def as_rows(corpus: Corpus) -> Corpus:
    """One post per published row, for corpora that list an id once for each of its labels.

    An id with several rows becomes several posts with the same text, author and tags: the first
    (labels in alphabetical order) keeps its id, the others are ``ID#2``, ``ID#3`` … and name the
    first as their ``twin``. Each has one label. Only labels that are rows of a file can be told
    apart like this: the gold must be published, without judgements, and rest on as many labels as
    the files have rows.
    """
    gold = _gold(corpus)
    _check_rows(corpus, gold)
    labelled = (
        gold.select("post", "n", "shares")
        .explode("shares")
        .unnest("shares")
        .with_columns(times=(pl.col("share") * pl.col("n")).round().cast(pl.Int64))
        .select("post", label=pl.col("label").repeat_by("times"))
        .explode("label")
        .sort("post", "label")
        .with_columns(row=pl.int_range(1, pl.len() + 1).over("post"))
    )
    posts = corpus.posts
    table = posts.join(
        labelled, left_on="id", right_on="post", how="left", maintain_order="left_right"
    )
    again = pl.col("row") > 1
    number = pl.when(again).then(pl.format("{}#{}", "id", "row")).otherwise("id")
    first = pl.when(again).then("id").otherwise(tag("twin", posts))
    others = [tag(name, posts) for name in _tags(posts) if name != "twin"]
    table = table.with_columns(id=number, tags=pl.struct(*others, first.alias("twin")))
    more = table.height - posts.height
    note = f"{more} posts were added: ids published with several labels are a post for each."
    return _reshaped(
        corpus,
        table.drop("label", "row"),
        single_labels(table.drop_nulls("label"), corpus.question),
        note,
    )


def _check_rows(corpus: Corpus, gold: pl.DataFrame) -> None:
    unlabelled = corpus.posts.height - gold["post"].n_unique()
    rows = int(gold["n"].sum()) + unlabelled
    origins = ", ".join(gold["origin"].unique().sort())
    if origins != "published" or corpus.judgements is not None or gold["multiple"].any():
        raise BadInput(
            f"{corpus.name}: the gold is {origins}"
            f"{' with judgements' if corpus.judgements is not None else ''}; a post per row can "
            "only be made of published single labels without judgements"
        )
    if rows != corpus.rows:
        raise BadInput(
            f"{corpus.name}: the files have {corpus.rows} rows, but the gold rests on {rows} "
            "labels; a post per row needs one label in every row"
        )


def cap(corpus: Corpus, most: int, *, seed: int) -> Corpus:
    """At most ``most`` posts of each author in each class (hateful or not), drawn by the seed.

    Posts without a single label are left out; the notes count them. With 250 the rows of Waseem
    and Hovy (:func:`as_rows`) come to 5,623, of which 1,508 are hateful. The published set has
    5,576 and 1,490, every one of them among our rows. The difference is 44 rows without an author
    that it leaves out (17 of them hateful; it has 52 others), and three posts (one of them
    hateful) by which two authors are below 250 there though they wrote more.
    """
    if most < 1:
        raise BadInput(f"at most {most} posts per author and class; expected 1 or more")
    gold = _gold(corpus)
    if not corpus.hateful:
        raise BadInput(f"{corpus.name}: no label is declared hateful, so there are no two classes")
    table = (
        gold.drop_nulls("label")
        .select(id="post", hateful=pl.col("label").is_in(list(corpus.hateful)))
        .join(corpus.posts.select("id", "author"), on="id")
        .sort("id")
    )
    table = table.with_columns(turn=pl.Series(stream(seed, "cap").permutation(table.height)))
    among = pl.col("turn").rank("ordinal").over("author", "hateful")
    kept = table.filter(pl.col("author").is_null() | (among <= most))["id"]
    note = (
        f"At most {most} posts of an author in each class, seed {seed}: "
        f"{table.height - len(kept)} posts were cut; {corpus.posts.height - table.height} "
        "without a single label were left out."
    )
    posts = corpus.posts.filter(pl.col("id").is_in(kept.implode()))
    return _reshaped(corpus, posts, gold.filter(pl.col("post").is_in(kept.implode())), note)


def add(corpus: Corpus, other: Corpus, label: str) -> Corpus:
    """The corpus and the posts of another one that have this label, which they keep.

    The label counts as hateful where the other corpus says so, or, if it declares nothing hateful,
    where this one does. Posts keep their source and get
    one label each, also where the other corpus gives votes.
    """
    chosen = _gold(other).filter(pl.col("label") == label)
    if not chosen.height:
        known = ", ".join(_gold(other)["label"].drop_nulls().unique().sort())
        raise BadInput(f"{other.name} has no post labelled {label!r}; its labels are {known}")
    gold = _gold(corpus)
    hateful = label in (other.hateful or corpus.hateful)
    if label in gold["label"] and hateful != (label in corpus.hateful):
        raise BadInput(
            f"{label!r} is hateful in {(other if hateful else corpus).name} and not in "
            f"{(corpus if hateful else other).name}; rename it in one of them"
        )
    new = single_labels(chosen.select(id="post", label="label"), corpus.question)
    posts = other.posts.filter(pl.col("id").is_in(chosen["post"].implode()))
    tags = [*_tags(corpus.posts), *(t for t in _tags(posts) if t not in _tags(corpus.posts))]
    both = [
        p.with_columns(tags=pl.struct([tag(t, p) for t in tags])) for p in (corpus.posts, posts)
    ]
    joined = _reshaped(
        corpus,
        pl.concat(both),
        pl.concat([gold, new]),
        f"{posts.height} posts labelled {label!r} of {other.name} were added.",
    )
    also = (label,) if hateful and label not in corpus.hateful else ()
    return replace(
        joined,
        name=f"{corpus.name}+{other.name}",
        hateful=(*corpus.hateful, *also),
        files=(*corpus.files, *other.files),
        origin=other.origin if corpus.origin == "data" else corpus.origin,
    )


@dataclass(frozen=True, kw_only=True)
class Partition:
    """One way to part the authors: who is trained on, and up to which counts others join them."""

    name: str
    top: Mapping[str, int]
    """Label → how many of its most prolific authors are trained on."""
    fill: Sequence[str]
    """Authors who wrote posts of these labels only fill the training side."""
    hateful: int
    """Hateful posts on the published training side."""
    none: int
    """The others on the published training side."""
    every: str | None = None
    """All authors of this label are trained on but its most prolific one."""


PARTITIONS = (
    Partition(
        name="partition 1",
        top={"racism": 1, "sexism": 2, "none": 1},
        fill=("none",),
        hateful=4_099,
        none=8_636,
    ),
    Partition(
        name="partition 2",
        top={"racism": 1, "sexism": 1, "none": 1},
        fill=("none", "sexism"),
        hateful=3_441,
        none=9_122,
    ),
    Partition(
        name="partition 3",
        top={"racism": 1},
        every="sexism",
        fill=("none",),
        hateful=3_504,
        none=9_408,
    ),
)
"""The partitions of appendix A.2 of Arango et al., with the counts of their table 7."""


def arango_partitions(
    corpus: Corpus, partitions: Sequence[Partition] = PARTITIONS
) -> list[tuple[str, Bools]]:
    """The test side, by authors, of each partition of Waseem and Hovy's rows (:func:`as_rows`).

    How far the training side was filled is not published, only its counts. Here the authors who
    may fill it come in order of their posts, most first, names settling ties, and each is taken
    unless a count would pass the published one. On the rows as listed by Arango et al. that
    gives 4,081/8,636, 3,441/9,122 and 3,506/9,366 hateful/other posts, where table 7 has
    4,099/8,636, 3,441/9,122 and 3,504/9,408. Posts without an author are tested on.
    """
    labels = set(_gold(corpus)["label"].drop_nulls())
    known = corpus.posts["author"].count()
    if labels != set(_LABELS) or not known:
        raise BadInput(
            f"{corpus.name}: has the labels {', '.join(sorted(labels))}, and the author of {known} "
            "posts is known; these partitions need racism, sexism and none, and posts with authors"
        )
    authors = (
        corpus.posts.join(_gold(corpus).select(id="post", label="label"), on="id")
        .drop_nulls(["author", "label"])
        .group_by("author")
        .agg(*((pl.col("label") == label).sum().cast(pl.Int64).alias(label) for label in _LABELS))
    )
    author = corpus.posts["author"]
    return [
        (part.name, ~author.is_in(_trained(authors, part)).fill_null(False).to_numpy())
        for part in partitions
    ]


def _trained(authors: pl.DataFrame, part: Partition) -> list[str]:
    chosen = {name for label, many in part.top.items() for name in _top(authors, label)[:many]}
    if part.every:
        chosen |= set(_top(authors, part.every)[1:])
    given = authors.filter(pl.col("author").is_in(chosen))
    hateful, none = int((given["racism"] + given["sexism"]).sum()), int(given["none"].sum())
    others = [label for label in _LABELS if label not in part.fill]
    # The two most prolific sexist authors are placed by name, never to fill a side.
    placed = chosen | set(_top(authors, "sexism")[:2])
    fillers = authors.filter(pl.sum_horizontal(others) == 0, ~pl.col("author").is_in(placed))
    fillers = fillers.select("author", "none", hateful=pl.col("racism") + pl.col("sexism"))
    by_posts = fillers.sort(
        [pl.col("none") + pl.col("hateful"), "author"], descending=[True, False]
    )
    for name, more_none, more_hateful in by_posts.iter_rows():
        fits = none + more_none <= part.none
        if fits and (not more_hateful or hateful + more_hateful <= part.hateful):
            chosen.add(name)
            hateful, none = hateful + more_hateful, none + more_none
    return sorted(chosen)


def _top(authors: pl.DataFrame, label: str) -> list[str]:
    """Authors with posts of a label, most prolific first, by name where equal."""
    wrote = authors.filter(pl.col(label) > 0)
    return wrote.sort([label, "author"], descending=[True, False])["author"].to_list()


def _gold(corpus: Corpus) -> pl.DataFrame:
    gold = corpus.main_gold()
    if gold is None:
        raise BadInput(f"{corpus.name} has no labels; expected gold for {corpus.question!r}")
    return gold


def _tags(posts: pl.DataFrame) -> list[str]:
    return posts["tags"].struct.fields


def _reshaped(corpus: Corpus, posts: pl.DataFrame, gold: pl.DataFrame, note: str) -> Corpus:
    """The corpus with other posts and gold, and nothing that belonged to the old ones."""
    return Corpus(
        name=corpus.name,
        rows=posts.height,
        posts=posts_table(posts, corpus.name),
        gold=gold_table(gold, corpus.name),
        hateful=corpus.hateful,
        question=corpus.question,
        files=corpus.files,
        notes=(*corpus.notes, note),
        origin=corpus.origin,
    )
