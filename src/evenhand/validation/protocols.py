"""Our protocols: ``kfold``, ``holdout``, ``author-disjoint``, ``arango-partitions``, ``transfer``.

Where authors are not promised, twins, templates and duplicates are tied and stay on one side. Where
they are, only authors are tied: duplicates chain authors together (three quarters of Waseem–Hovy
would be one group), so training posts with a twin, template or duplicate on the test side are left
out of training instead, and counted. Every split is checked once more before it is given out; a
promise that does not hold raises :class:`LeakFound` with the cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.records import Finding, Split
from evenhand.data.corpus import Corpus
from evenhand.data.find import find
from evenhand.data.labels import published_labels
from evenhand.data.reshape import arango_partitions
from evenhand.data.splits import Likeness, overlap, ties, verify
from evenhand.data.splits import holdout as deal_holdout
from evenhand.data.splits import kfold as deal_folds
from evenhand.validation.plan import WITHOUT_AUTHOR, Plan, Setting, Task, make_task

Mask = NDArray[np.bool_]
_IDS = {"post": pl.String}


def kfold(task: Task, setting: Setting) -> Plan:
    """``kfold:10``: every post is tested once."""
    folds = _whole(setting.argument, "kfold", 10)
    return _dealt(task, setting, f"kfold:{folds}", folds=folds, default=WITHOUT_AUTHOR)


def author_disjoint(task: Task, setting: Setting) -> Plan:
    """``author-disjoint:10``: every post is tested once, no author is on both sides."""
    folds = _whole(setting.argument, "author-disjoint", 10)
    _expect_authors(task, "author-disjoint")
    default = ("author", *WITHOUT_AUTHOR)
    others = default if setting.keep is None else setting.keep
    setting = replace(setting, keep=("author", *others))
    return _dealt(task, setting, f"author-disjoint:{folds}", folds=folds, default=default)


def holdout(task: Task, setting: Setting) -> Plan:
    """``holdout:0.15``: one split with that share of the posts for testing."""
    try:
        share = float(setting.argument or 0.15)
    except ValueError:
        raise BadInput(f"holdout:{setting.argument}; expected a share, e.g. holdout:0.15") from None
    return _dealt(task, setting, f"holdout:{share:g}", share=share, default=WITHOUT_AUTHOR)


def partitions(task: Task, setting: Setting) -> Plan:
    """``arango-partitions``: the three author partitions of Arango et al., appendix A.2."""
    if setting.argument:
        raise BadInput(f"arango-partitions takes no argument; found {setting.argument!r}")
    keep = _kept(setting, ("author", *WITHOUT_AUTHOR))
    ids = task.corpus.posts["id"]
    sides = arango_partitions(task.corpus)
    rule = _promise(keep)
    splits = [
        Split(
            name=name,
            train=ids.filter(pl.Series(~test)).to_list(),
            test=ids.filter(pl.Series(test)).to_list(),
            rule=rule,
        )
        for name, test in sides
    ]
    return _checked(task, splits, keep, "arango-partitions", authors=True)


def transfer(task: Task, setting: Setting) -> Plan:
    """``transfer:CORPUS`` or ``transfer:CORPUS@SPLIT``: train on one corpus, test on another."""
    name, _, split = setting.argument.partition("@")
    if not name:
        raise BadInput("transfer needs a corpus to test on, e.g. transfer:hateval")
    keep = _kept(setting, ("duplicate",))
    if set(keep) - {"duplicate"}:
        raise BadInput(
            f"--keep {', '.join(keep)}: between two corpora only duplicate (or none) can be kept "
            "apart; authors and twins are known within a corpus only"
        )
    corpus = find(name)
    if split:
        known = corpus.posts["tags"].struct.field("split")
        if split not in set(known):
            found = ", ".join(known.drop_nulls().unique().sort()) or "none"
            raise BadInput(f"transfer: {name} has no split {split!r}; found {found}")
        corpus = replace(corpus, posts=corpus.posts.filter(known == split))
    _expect_labels(task, corpus)
    hateful = corpus.hateful or task.hateful
    test = make_task(corpus, hateful=hateful, classes=task.classes)
    none = np.zeros(task.corpus.posts.height, dtype=np.bool_)
    out = overlap(task.corpus, test.corpus) if "duplicate" in keep else none
    ids = task.corpus.posts["id"]
    same = set(ids) & set(test.corpus.posts["id"])
    if same:
        raise BadInput(
            f"transfer: {len(same)} ids stand in both corpora, e.g. {min(same)}; give the posts of "
            "one of them other ids, or leave out --id so that they are named by file and line"
        )
    only = Split(
        name=setting.argument,
        train=ids.filter(pl.Series(~out)).to_list(),
        test=test.corpus.posts["id"].to_list(),
        rule=_promise(keep),
    )
    _expect_posts(task, [only], f"transfer:{setting.argument}")
    return Plan(
        protocol=f"transfer:{setting.argument}",
        task=task,
        test=test,
        splits=[only],
        keep=keep,
        facts=_left_out([int(out.sum())], ids.filter(pl.Series(out)).to_list(), task),
    )


def _expect_labels(task: Task, corpus: Corpus) -> None:
    """Refuse classes that the corpus to test on does not have."""
    if not task.classes or corpus.gold is None:
        return
    labels = published_labels(corpus.gold, corpus.question)
    missing = [name for name in task.classes if name not in labels]
    if missing:
        raise BadInput(
            f"transfer: {corpus.name} has the labels {', '.join(labels)}, not "
            f"{', '.join(missing)}. Leave out --classes to tell hateful posts from others, or "
            "rename labels in a file of your own with --label-map"
        )


def _whole(argument: str, name: str, default: int) -> int:
    if not argument:
        return default
    if not argument.isdecimal() or int(argument) < 2:
        raise BadInput(
            f"{name}:{argument}; expected a whole number of folds from 2, e.g. {name}:10"
        )
    return int(argument)


def _kept(setting: Setting, default: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(default if setting.keep is None else setting.keep))


def _promise(keep: Sequence[str]) -> str:
    return f"no {' or '.join(keep)} on two sides" if keep else "nothing is kept on one side"


def _expect_authors(task: Task, name: str) -> None:
    authors = task.corpus.posts["author"]
    if authors.null_count() == len(authors):
        raise BadInput(
            f"{name} needs to know who wrote the posts, and {task.corpus.name} does not say; name "
            "the column with --author, or use kfold"
        )
    if authors.n_unique() < 2:
        raise NotEnoughData(
            f"{name}: one author wrote all {len(authors)} posts of {task.corpus.name}; expected "
            "several. Use kfold, or add posts by others"
        )


def _dealt(
    task: Task,
    setting: Setting,
    protocol: str,
    *,
    default: Sequence[str],
    folds: int | None = None,
    share: float | None = None,
) -> Plan:
    """Splits dealt out at random, ties together, classes even."""
    keep = _kept(setting, default)
    posts = task.corpus.posts
    authors = "author" in keep
    tied = ties(task.corpus, ("author",) if authors else keep)
    rule = _promise(keep)
    if share is not None:
        splits = [
            deal_holdout(posts["id"], task.labels, tied, test=share, seed=setting.seed, rule=rule)
        ]
    else:
        assert folds is not None, "folds or a share"
        if posts.height < folds:
            raise NotEnoughData(
                f"{posts.height} labelled posts for {folds} folds; expected at least one each. "
                f"Use {protocol.partition(':')[0]}:2, or add posts"
            )
        splits = deal_folds(posts["id"], task.labels, tied, folds, seed=setting.seed, rule=rule)
    for split in splits:
        verify(split, posts["id"], tied)
    return _checked(task, splits, keep, protocol, authors=authors)


def _checked(
    task: Task, splits: Sequence[Split], keep: tuple[str, ...], protocol: str, *, authors: bool
) -> Plan:
    """The plan, with training posts that have their like on the test side left out."""
    made, counts, cases = list(splits), [], []
    others = tuple(name for name in keep if name != "author")
    if authors:
        ids = task.corpus.posts["id"]
        tied = ties(task.corpus, ("author",))
        for split in made:
            verify(split, ids, tied)
        if others:
            like = Likeness(task.corpus, others)
            made = []
            for split in splits:
                train, test = (_mask(ids, side) for side in (split.train, split.test))
                out = like.tangled(train, test)
                counts.append(int(out.sum()))
                cases += ids.filter(pl.Series(out)).to_list()
                kept = ids.filter(pl.Series(train & ~out)).to_list()
                made.append(replace(split, train=kept))
    _expect_posts(task, made, protocol)
    facts = [*_deviations(task, splits), *_left_out(counts, cases, task)]
    return Plan(
        protocol=protocol,
        task=task,
        test=task,
        splits=made,
        keep=keep,
        author_disjoint=authors,
        facts=facts,
    )


def _expect_posts(task: Task, splits: Sequence[Split], protocol: str) -> None:
    """Refuse a split that cannot be trained or tested on."""
    for split in splits:
        train = task.codes.join(
            pl.DataFrame({"post": split.train}, schema=_IDS), on="post", how="semi"
        )
        if not split.test or train["code"].n_unique() < 2:
            what = "no test posts" if not split.test else "training posts of one class only"
            raise NotEnoughData(
                f"{protocol}: {split.name} has {what}; too few posts or authors for it. Use fewer "
                "folds, or another protocol"
            )


def _mask(ids: pl.Series, wanted: Sequence[str]) -> Mask:
    return ids.is_in(pl.Series(wanted, dtype=pl.String).implode()).to_numpy()


def _left_out(counts: Sequence[int], cases: Sequence[str], task: Task) -> list[Finding]:
    if not counts:
        return []
    return [
        Finding(
            measure="left_out_of_training",
            value=sum(counts),
            n=task.corpus.posts.height,
            method="count over folds: training posts with a twin, template or duplicate on the "
            "test side",
            unit="posts",
            cases=sorted(set(cases))[:20],
        )
    ]


def _deviations(task: Task, splits: Sequence[Split]) -> list[Finding]:
    """How far sizes and class shares of the test sides are from even: the largest over folds."""
    if len(splits) < 2:
        return []
    placed = pl.concat(
        pl.DataFrame({"post": split.test, "fold": number}, schema_overrides={"post": pl.String})
        for number, split in enumerate(splits)
    ).join(task.codes, on="post")
    counts = np.zeros((len(splits), len(task.names)))
    np.add.at(counts, (placed["fold"].to_numpy(), placed["code"].to_numpy()), 1)
    sizes = counts.sum(axis=1)
    overall = np.bincount(task.codes["code"], minlength=len(task.names)) / task.codes.height
    shares = counts / sizes[:, None]
    found = [
        Finding(
            measure="fold_size_deviation",
            value=float(np.abs(sizes / sizes.mean() - 1).max()),
            n=len(splits),
            method="largest over folds of |test posts / mean test posts − 1|",
            unit="folds",
        )
    ]
    found += [
        Finding(
            measure="class_share_deviation",
            value=float(np.abs(shares[:, number] - overall[number]).max()),
            n=len(splits),
            group={"label": name},
            method="largest over folds of |share among test posts − share overall|",
            unit="folds",
        )
        for number, name in enumerate(task.names)
    ]
    return found
