"""The corpora of a plan, read and cut into training, dev and test rows.

Published splits are kept; a corpus without any is dealt out, with what is alike on one side. A
training post that shares with a held-out post of its corpus what the plan wants apart is left out,
and so is every training post that is an exact copy of a post of any corpus that is held out or left
out, and every text made of training posts that is one. Dev posts that
still have kin among the training posts (a twin, an author, a near-duplicate) are told from those
that have none: a training is judged by the latter. Of a corpus that has no label of the plan's and
is answered by teachers, the training split is read and the others are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core import registry
from evenhand.core.errors import BadInput
from evenhand.core.provenance import DataUsed
from evenhand.core.streams import stream
from evenhand.data.corpus import Corpus
from evenhand.data.duplicates import strict_key
from evenhand.data.find import expect_named, find, reader, used
from evenhand.data.splits import Likeness, holdout, ties
from evenhand.models._splicing import halved
from evenhand.models._varying import near_words, varied
from evenhand.models.lessons import Lessons, Task
from evenhand.models.plan import APART, SYNTHETIC, Part, Plan, Remade
from evenhand.models.protocol import Recipe, Record
from evenhand.models.seen import Seen
from evenhand.models.synthetic import regendered, sentences, swapped

Bools = NDArray[np.bool_]
_TOGETHER = ("twin", "duplicate")
"""What makes training posts a family, read in one batch."""


@dataclass(frozen=True, eq=False)
class Material:
    """What a plan trains on, is judged by and is measured on."""

    train: Lessons
    dev: Lessons
    """Without posts that have kin among the training posts."""
    held_out: pl.DataFrame
    """Posts of dev and test splits: corpus, split, id, source, text, kin, weight, and a column for
    each attribute (null where not labelled)."""
    posts: pl.DataFrame
    """The training posts, once each."""
    data: Sequence[DataUsed]
    counts: dict[str, dict[str, int]]
    plan: str
    """Its name."""

    def record(self, recipe: Recipe, *, seed: int) -> Record:
        """What a detector trained on this remembers of it."""
        seen = Seen.of(self.posts)
        return Record(
            recipe=recipe,
            name=recipe.name,
            attributes=tuple(task.name for task in self.train.tasks),
            provenance={
                "seed": seed,
                "plan": self.plan,
                "posts": self.posts.height,
                "corpora": self.counts,
                "training_sha256": seen.sha256(),
                "lessons_sha256": self.train.sha256(),
            },
            seen=seen,
        )


def material(plan: Plan, *, seed: int, held_out: pl.DataFrame | None = None) -> Material:
    """Read the corpora of a plan.

    Args:
        plan: What to read.
        seed: Of what chance decides.
        held_out: Rows that are dev and test where a corpus has no splits of its own, so that a
            teacher learns nothing its student holds out; dealt out by chance if None.
    """
    tables, data, counts = [], [], {}
    for part in plan.parts:
        _expect_allowed(plan, part)
        for named in (part.name, *part.not_in):
            expect_named(named)
    for part in plan.parts:
        corpus = find(part.name)
        table = _labelled(corpus, part, plan.attributes)
        table = _split(corpus, table, part, seed, held_out)
        data.append(used(corpus))
        tables.append(table.with_columns(corpus=pl.lit(part.name)))
    if plan.synthetic:
        tables.append(_own(plan, seed))
    rows = pl.concat(tables)
    rows = rows.with_columns(key=strict_key(rows["text"]))
    elsewhere = rows.filter((pl.col("split") != "train") & (pl.col("key") != ""))["key"]
    copied = (pl.col("split") == "train") & pl.col("key").is_in(elsewhere.implode())
    for name, some in rows.group_by("corpus", maintain_order=True):
        counts[str(name[0])] = {
            "left out, copies of held-out posts": int(some.select(copied.sum()).item()),
            **{split: some.filter((pl.col("split") == split) & ~copied).height
               for split in ("train", "dev", "test", "left out")},
        }  # fmt: skip
    rows = rows.filter(~copied)
    train = rows.filter(pl.col("split") == "train")
    dev = rows.filter((pl.col("split") == "dev") & ~pl.col("kin"))
    made = _made(train, plan, seed)
    made = made.filter(~strict_key(made["text"]).is_in(elsewhere.implode()))
    spread = _exchanged(pl.concat([train, made]), elsewhere, seed)
    return Material(
        train=_lessons(spread, plan.attributes),
        dev=_lessons(dev, plan.attributes),
        held_out=rows.filter(pl.col("split").is_in(["dev", "test"])),
        posts=train.filter(pl.col("corpus") != SYNTHETIC).select("id", "source", "text"),
        data=data,
        counts=counts,
        plan=plan.name,
    )


def _expect_allowed(plan: Plan, part: Part) -> None:
    if not plan.ships:
        return
    if part.name not in registry.names("readers"):
        raise BadInput(
            f"plan {plan.name}: {part.name} is no published corpus; ships = true wants one"
        )
    allowed = reader(part.name).may_train
    if not allowed.startswith("yes"):
        raise BadInput(
            f"plan {plan.name}: {part.name} may not train a detector that ships: {allowed}"
        )


def _labelled(corpus: Corpus, part: Part, attributes: Sequence[str]) -> pl.DataFrame:
    """Posts with a column for every attribute: true, false, or null where not labelled."""
    gold = corpus.main_gold()
    if not part.yes:
        null = pl.lit(None, dtype=pl.Boolean)
        table = corpus.posts.select("id", "source", "text", *(null.alias(a) for a in attributes))
        return table.with_columns(weight=pl.lit(1.0)).sort("id")
    if gold is None:
        raise BadInput(f"{part.name}: has no labels, so no attribute {', '.join(part.yes)}")
    shares = gold.select("post", "shares", "multiple").explode("shares").unnest("shares")
    known = set(shares["label"].unique())
    if part.name in registry.names("readers"):
        known |= set(reader(part.name).labels)
    absent = [
        f"{part.name}: {attribute} counts on label {label!r}; found {', '.join(sorted(known))}"
        for attribute, labels in part.yes.items()
        for label in labels
        if label not in known
    ]
    if absent:
        raise BadInput(*absent)
    several = pl.col("multiple").any()
    table = corpus.posts.select("id", "source", "text")
    for attribute in attributes:
        labels = part.yes.get(attribute)
        if labels is None:
            table = table.with_columns(pl.lit(None, dtype=pl.Boolean).alias(attribute))
            continue
        of_yes = pl.when(pl.col("label").is_in(labels)).then("share").otherwise(0.0)
        share = pl.when(several).then(of_yes.max()).otherwise(of_yes.sum())
        answers = shares.group_by("post").agg(share=share)
        answers = answers.select(
            id="post",
            answer=pl.when((pl.col("share") - 0.5).abs() > 1e-9).then(pl.col("share") > 0.5),
        )
        table = table.join(answers.rename({"answer": attribute}), on="id", how="left")
    nothing = ~pl.any_horizontal(pl.col(list(part.yes)))  # null where a label is in doubt
    table = table.with_columns(
        pl.when(nothing).then(pl.lit(False)).alias(attribute) for attribute in part.none_means_no
    )
    weights = pl.lit(1.0)
    if corpus.draws is not None:
        table = table.join(corpus.draws.select(id="post", weight="weight"), on="id", how="left")
        weights = pl.col("weight").fill_null(1.0)
    return table.with_columns(weight=weights).sort("id")


def _split(
    corpus: Corpus, table: pl.DataFrame, part: Part, seed: int, held_out: pl.DataFrame | None
) -> pl.DataFrame:
    """The rows with their split, whether they have kin on the other side, and how often read."""
    if part.yes:
        table = table.filter(pl.any_horizontal(pl.col(list(part.yes)).is_not_null()))
    posts = corpus.posts.join(table.select("id"), on="id", how="semi").sort("id")
    some = Corpus(name=corpus.name, rows=posts.height, posts=posts)
    tags = posts["tags"]
    split = (
        tags.struct.field("split") if "split" in _fields(tags) else pl.Series([None] * posts.height)
    )
    if part.yes and not split.is_in(["dev", "test"]).any():
        if held_out is None:
            true = pl.concat_str([pl.col(a).fill_null(False).cast(pl.Int8) for a in part.yes])
            dealt = holdout(
                posts["id"], table.select(true).to_series(), ties(some), test=part.held_out,
                dev=part.held_out, seed=seed, rule="alike together",
            )  # fmt: skip
            side = {post: "dev" for post in dealt.dev or ()} | {post: "test" for post in dealt.test}
        else:
            rows = held_out.filter(pl.col("corpus") == part.name)
            side = dict(rows.select("id", "split").iter_rows())
        split = posts["id"].replace_strict(side, default="train", return_dtype=pl.String)
    split = split.fill_null("train")
    train, held = (split == "train").to_numpy(), split.is_in(["dev", "test"]).to_numpy()
    gone = (
        Likeness(some, part.apart).tangled(train, held)
        if part.apart
        else np.zeros(len(train), bool)
    )
    if "twin" in part.apart:
        gone |= train & _twins_elsewhere(posts)
    if not part.yes:
        gone |= held
    for name in part.not_in:
        gone |= train & _copies(posts["text"], find(name).posts["text"])
    kin = Likeness(some, APART).tangled(held, train & ~gone)
    # A plan may say whole numbers: columns of all corpora are of one type.
    times = float(part.times)
    without = times if part.times_without is None else float(part.times_without)
    true = pl.any_horizontal(pl.col(list(part.yes)).fill_null(False)) if part.yes else pl.lit(True)
    family = ties(some, _TOGETHER)
    return table.with_columns(
        family=pl.Series([f"{part.name} {number}" for number in family.tolist()]),
        split=pl.when(pl.Series(gone)).then(pl.lit("left out")).otherwise(split),
        kin=pl.Series(kin),
        times=pl.when(true).then(times).otherwise(without),
        counts=pl.lit(float(part.weight)),
        swapped=pl.lit(float(part.swapped)),
        gendered=pl.lit(float(part.gendered)),
    )


def _twins_elsewhere(posts: pl.DataFrame) -> Bools:
    """Posts whose twin is not installed: it is in a split that is kept apart."""
    if "twin" not in _fields(posts["tags"]):
        return np.zeros(posts.height, bool)
    twin = posts["tags"].struct.field("twin")
    return (twin.is_not_null() & ~twin.is_in(posts["id"].implode())).to_numpy()


def _fields(tags: pl.Series) -> list[str]:
    return [f.name for f in tags.dtype.fields] if isinstance(tags.dtype, pl.Struct) else []


def _copies(texts: pl.Series, others: pl.Series) -> Bools:
    """Which texts are copies of one of the others."""
    keys, there = strict_key(texts), strict_key(others)
    return (keys.is_in(there.implode()) & (keys != "")).to_numpy()


def _own(plan: Plan, seed: int) -> pl.DataFrame:
    """Sentences of our own; those of held-out templates are dev rows."""
    if plan.synthetic is None:
        raise ValueError("the plan has no synthetic sentences")
    sides = {"train": plan.synthetic.sentences, "dev": max(200, plan.synthetic.sentences // 10)}
    parts = []
    for side, many in sides.items():
        made = sentences(seed, many=many, held_out=side == "dev")
        columns = {
            a: [s.hateful if a == plan.synthetic.attribute else None for s in made]
            for a in plan.attributes
        }
        parts.append(
            pl.DataFrame(
                {
                    "id": [f"{side}:{number} {s.template}" for number, s in enumerate(made)],
                    "source": SYNTHETIC,
                    "text": [s.text for s in made],
                    **{a: pl.Series(values, dtype=pl.Boolean) for a, values in columns.items()},
                    "weight": 1.0,
                    "family": [f"{SYNTHETIC} {side} {number}" for number in range(len(made))],
                    "split": side,
                    "kin": False,
                    "times": 1.0,
                    "counts": 1.0,
                    "swapped": 0.0,
                    "gendered": 0.0,
                    "corpus": SYNTHETIC,
                }
            )
        )
    return pl.concat(parts)


def _made(train: pl.DataFrame, plan: Plan, seed: int) -> pl.DataFrame:
    """Texts made of posts and of sentences of our own, of which nothing is known.

    The second half of one is that of another of its corpus, or some of its words are others.
    """
    made = [train.clear()]
    for name, how in _remade(plan):
        some = train.filter(pl.col("corpus") == name)
        texts = some["text"].to_list()
        used = _may_be_used(some, plan)
        halves = [halved(text) for text in texts] if how.spliced else []
        rng = stream(seed, "splice", name)
        for number in range(how.made(how.spliced)):
            pairs = enumerate(rng.permutation(len(texts)).tolist())
            new = [
                f"{halves[a][0]} {halves[b][1]}".strip() if used[a] and used[b] else None
                for a, b in pairs
            ]
            made.append(_unknown(some, plan, new, f"spliced {number}", how.spliced, how))
        rng = stream(seed, "vary", name)
        for number in range(how.made(how.varied)):
            new = [varied(text, near_words(), rng) for text in texts]
            new = [text if use else None for text, use in zip(new, used, strict=True)]
            made.append(_unknown(some, plan, new, f"varied {number}", how.varied, how))
    return pl.concat(made)


def _may_be_used(some: pl.DataFrame, plan: Plan) -> list[bool]:
    """Of which posts texts are made: all, but for sentences of templates that are left alone."""
    alone = plan.synthetic.left_alone if plan.synthetic else []
    template = some["id"].str.split(" ").list.last()
    return (~((some["source"] == SYNTHETIC) & template.is_in(alone))).to_list()


def _remade(plan: Plan) -> list[tuple[str, Remade]]:
    """What texts are made of: corpora, and sentences of our own."""
    own = [(SYNTHETIC, plan.synthetic)] if plan.synthetic else []
    return [*((part.name, part) for part in plan.parts), *own]


def _unknown(
    some: pl.DataFrame,
    plan: Plan,
    texts: Sequence[str | None],
    named: str,
    times: float,
    how: Remade,
) -> pl.DataFrame:
    """What was made of some posts: of each a text of which nothing is known, or none."""
    null = pl.lit(None, dtype=pl.Boolean)
    return some.with_columns(
        *(null.alias(attribute) for attribute in plan.attributes),
        text=pl.Series(texts, dtype=pl.String),
        times=pl.lit(times / how.made(times)),
        family=pl.lit(f"{named} ") + pl.col("corpus") + " " + pl.col("id"),
        swapped=pl.lit(0.0),
        gendered=pl.lit(0.0),
    ).filter(pl.col("text").is_not_null())


def _exchanged(train: pl.DataFrame, elsewhere: pl.Series, seed: int) -> pl.DataFrame:
    """The rows, and beside some of them a copy that names another identity: its mate.

    None is made that is a copy of a held-out post.
    """
    rng = stream(seed, "exchange")
    new, shares = list[str | None](), list[float]()
    for text, share, gendered in train.select("text", "swapped", "gendered").iter_rows():
        found = swapped(text, rng) if share else None
        shares.append(share if found is not None or not gendered else gendered)
        new.append(found if found is not None or not gendered else regendered(text))
    train = train.with_columns(swapped=pl.Series(shares, dtype=pl.Float64)).drop("gendered")
    copies_of = strict_key(pl.Series([text or "" for text in new], dtype=pl.String))
    given = pl.when(~copies_of.is_in(elsewhere.implode())).then(pl.Series(new, dtype=pl.String))
    table = train.with_columns(new=given).with_row_index("place")
    has = pl.col("new").is_not_null()
    kept = pl.when(has).then(pl.col("times") * (1 - pl.col("swapped"))).otherwise("times")
    mate = pl.when(has).then(train.height + has.cum_sum() - 1).otherwise(-1)
    copies = table.filter(has).with_columns(
        text="new", times=pl.col("times") * pl.col("swapped"), mate=pl.col("place").cast(pl.Int64)
    )
    both = [table.with_columns(times=kept, mate=mate.cast(pl.Int64)), copies]
    return pl.concat(both).drop("new", "place")


def _lessons(rows: pl.DataFrame, attributes: Sequence[str]) -> Lessons:
    labelled = rows.select(pl.col(attributes).is_not_null()).to_numpy()
    yes = rows.select(pl.col(attributes).fill_null(False)).to_numpy()
    shares = np.zeros((rows.height, 2 * len(attributes)), dtype=np.float32)
    shares[:, 0::2], shares[:, 1::2] = labelled & ~yes, labelled & yes
    return Lessons(
        texts=rows["text"].to_list(),
        tasks=tuple(Task(attribute) for attribute in attributes),
        shares=shares,
        labelled=labelled,
        weights=rows["counts"].to_numpy().astype(np.float32),
        times=rows["times"].to_numpy(),
        parts=rows["corpus"].to_list(),
        families=rows["family"].rank("dense").cast(pl.Int64).to_numpy(),
        mates=rows["mate"].to_numpy() if "mate" in rows.columns else None,
    )
