import dataclasses

import numpy as np
import polars as pl
import pytest

from evenhand.core.records import Split
from evenhand.validation.beside import same_counts
from evenhand.validation.figures import (
    baseline_findings,
    compared,
    fold_findings,
    main_findings,
    run_findings,
)
from evenhand.validation.plan import Plan, make_plan, make_task
from evenhand.validation.run import Outcome, Setting, cross_validate
from evenhand.validation.verdict import verdict
from factories import finding, make_corpus, value
from spies import Spy, written

CORPUS = written()
LABELS = ("none", "racism", "sexism")


def outcome_of(corpus=CORPUS, protocol="kfold:4", classes=(), **options):
    task = make_task(corpus, classes=classes)
    plan = make_plan(protocol, task, **options)
    spy = Spy(hateful=corpus.hateful, classes=tuple(classes))
    return plan, cross_validate(spy, plan, Setting())


def by_hand(rows, folds, *, labels=("ok", "bad"), parts=None):
    """An outcome from (post, author, truth, predicted, fold), each fold trained on the others."""
    table = [{"id": p, "author": a, "label": labels[t]} for p, a, t, _, _ in rows]
    corpus = make_corpus(table)
    if parts:
        tags = corpus.posts["tags"].struct.unnest().with_columns(part=pl.Series(parts))
        corpus = dataclasses.replace(
            corpus, posts=corpus.posts.with_columns(tags=tags.to_struct("tags"))
        )
    task = make_task(corpus)
    splits = [
        Split(
            name=f"fold {f}",
            train=[r[0] for r in rows if r[4] != f],
            test=[r[0] for r in rows if r[4] == f],
            rule="by hand",
        )
        for f in range(1, folds + 1)
    ]
    plan = Plan(protocol="by hand", task=task, test=task, splits=splits, keep=())
    ordered = sorted(rows, key=lambda r: r[4])
    outcome = Outcome(
        task=task,
        rows=pl.DataFrame(
            [(p, f, a, t, g) for p, a, t, g, f in ordered],
            schema=["post", "fold", "cluster", "truth", "predicted"],
            orient="row",
        ),
        p=np.array([[0.9 if r[3] else 0.1] for r in ordered]),
        attributes=("HATE",),
        folds=tuple(split.name for split in splits),
    )
    return plan, outcome


ROWS = [
    # post, author, truth, predicted, fold
    ("a1", "a", 1, 1, 1),
    ("a2", "a", 1, 0, 2),
    ("b1", "b", 0, 0, 1),
    ("b2", "b", 0, 0, 2),
    ("c1", "c", 0, 1, 1),
    ("d1", "d", 1, 1, 2),
    ("d2", "d", 0, 0, 1),
]


def test_pooled_and_fold_means_differ_and_stand_side_by_side():
    # Pooled: hateful 3 true, 2 found, 3 called: F1 2/3; others 4 true, 3 found, 4 called: 3/4.
    # Fold 1: hateful 1 true, 1 found, 2 called: 2/3; others 3 true, 2 found, 2 called: 4/5.
    # Fold 2: hateful 2 true, 1 found, 1 called: 2/3; others 1 true, 1 found, 2 called: 2/3.
    _, outcome = by_hand(ROWS, 2)
    main = main_findings([outcome], seed=0, group={})
    assert value(main, "macro_f1") == pytest.approx((2 / 3 + 3 / 4) / 2)
    folds = fold_findings(outcome, group={})
    assert value(folds, "macro_f1", fold=1) == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert value(folds, "macro_f1", fold=2) == pytest.approx(2 / 3)
    assert value(folds, "f1", average="fold", label="not hateful") == pytest.approx(
        (4 / 5 + 2 / 3) / 2
    )
    mean = finding(folds, "macro_f1", average="fold")
    assert mean.value == pytest.approx(((2 / 3 + 4 / 5) / 2 + 2 / 3) / 2)
    assert (mean.low, mean.n) == (None, 2)


def test_a_class_absent_from_a_fold_has_no_figure_there():
    rows = [*ROWS, ("e1", "e", 0, 0, 3), ("e2", "e", 0, 1, 3)]
    _, outcome = by_hand(rows, 3)
    folds = fold_findings(outcome, group={})
    missing = finding(folds, "macro_f1", fold=3)
    assert (missing.value, missing.why) == (None, "no test post of the fold is hateful")
    mean = finding(folds, "f1", average="fold", label="hateful")
    assert mean.n == 2
    assert "of the 2 in which it exists" in mean.method


def test_constants_and_look_ups_by_hand():
    # Fold 1 is trained on a2 (1), b2 (0), d1 (1): the majority is 1; fold 2 on a1 (1), b1, c1, d2
    # (0): the majority is 0. Author look-up: fold 1 a1 -> 1, b1 -> 0, c1 unknown -> 1, d2 -> 1;
    # fold 2 a2 -> 1, b2 -> 0, d1 -> 0.
    plan, outcome = by_hand(ROWS, 2)
    found = baseline_findings(plan, outcome, seed=0)
    truth = outcome.rows["truth"].to_numpy()  # a1 b1 c1 d2 | a2 b2 d1
    assert truth.tolist() == [1, 0, 0, 0, 1, 0, 1]
    # Majority calls 1 1 1 1 | 0 0 0: hateful 1 of 4, 3 true: 2/7; others 1 of 3, 4 true: 2/7.
    assert value(found, "macro_f1", baseline="majority") == pytest.approx(2 / 7)
    # Always hateful: 3 of 7 called: F1 6/10; others none: 0.
    assert value(found, "f1", baseline="always-positive", label="hateful") == pytest.approx(0.6)
    assert value(found, "macro_f1", baseline="always-positive") == pytest.approx(0.3)
    # Author look-up calls 1 0 1 1 | 1 0 0: hateful 2 of 4, 3 true: 4/7; others 2 of 3, 4 true: 4/7.
    assert value(found, "macro_f1", baseline="author-lookup") == pytest.approx(4 / 7)
    # As stated: a wrote most hateful posts, so a1 and a2 are called: F1 4/5; others 4 of 5: 8/9.
    stated = value(found, "macro_f1", baseline="author-lookup stated")
    assert stated == pytest.approx((4 / 5 + 8 / 9) / 2)
    missing = finding(found, "macro_f1", baseline="source-lookup")
    assert (missing.value, missing.why) == (None, "all posts come from one source")


def test_the_source_is_looked_up_by_part():
    # Part x has the hateful posts of both folds but one: fold 1 learns x -> 1, y -> 0 and so on.
    plan, outcome = by_hand(ROWS, 2, parts=["x", "x", "y", "y", "y", "x", "y"])
    found = baseline_findings(plan, outcome, seed=0)
    assert value(found, "macro_f1", baseline="source-lookup") == 1


def test_always_positive_does_not_exist_between_several_classes():
    plan, outcome = outcome_of(classes=LABELS)
    found = baseline_findings(plan, outcome, seed=0)
    assert value(found, "macro_f1", baseline="always-positive") is None
    assert value(found, "macro_f1", baseline="majority") is not None


def test_named_classes_also_give_hateful_against_the_rest():
    _, outcome = outcome_of(classes=LABELS)
    main = main_findings([outcome], seed=0, group={})
    assert value(main, "f1", label="hateful") == 1
    assert value(main, "f1", label="racism") == 1
    assert value(main, "auc") == 1


def test_runs_are_points_with_a_range():
    plan, outcome = outcome_of()
    wrong = outcome.rows.with_columns(predicted=1 - pl.col("predicted"))
    other = dataclasses.replace(outcome, rows=wrong)
    found = run_findings([outcome, other], group={})
    points = [value(found, "macro_f1", run=n) for n in (1, 2)]
    spread = finding(found, "macro_f1", run="range")
    assert (spread.low, spread.high) == (min(points), max(points))
    assert spread.value == pytest.approx(sum(points) / 2)
    assert spread.level is None
    assert run_findings([outcome], group={}) == []


def test_a_random_split_has_the_same_class_counts_and_mixes_authors():
    task = make_task(CORPUS)
    plan = make_plan("author-disjoint:4", task, keep=("author",))
    beside = same_counts(plan, 0)
    codes = dict(task.codes.iter_rows())
    tested = []
    for a, b in zip(plan.splits, beside.splits, strict=True):
        assert sorted(codes[p] for p in a.test) == sorted(codes[p] for p in b.test)
        assert sorted(codes[p] for p in a.train) == sorted(codes[p] for p in b.train)
        assert not set(b.train) & set(b.test)
        tested += b.test
    assert sorted(tested) == sorted(codes)
    authors = dict(CORPUS.posts.select("id", "author").iter_rows())
    split = beside.splits[0]
    assert {authors[p] for p in split.train} & {authors[p] for p in split.test}
    assert not beside.author_disjoint
    again = same_counts(plan, 0)
    assert [s.test for s in again.splits] == [s.test for s in beside.splits]


def test_overlapping_partitions_get_random_splits_of_their_own():
    task = make_task(CORPUS)
    plan = make_plan("arango-partitions", task, keep=("author",))
    beside = same_counts(plan, 0)
    assert [len(s.test) for s in beside.splits] == [len(s.test) for s in plan.splits]
    assert [len(s.train) for s in beside.splits] == [len(s.train) for s in plan.splits]


def words(findings, plan):
    return " ".join(verdict(findings, plan, "spy"))


def test_the_verdict_claims_no_more_than_the_interval_allows():
    plan, outcome = outcome_of(classes=LABELS)
    main = main_findings([outcome], seed=0, group={})
    found = [*main, *baseline_findings(plan, outcome, seed=0)]
    assert "above everything here that reads no text" in words(found, plan)
    wrong = outcome.rows.with_columns(predicted=(pl.col("predicted") + 1) % 3)
    bad = main_findings([dataclasses.replace(outcome, rows=wrong)], seed=0, group={})
    found = [*bad, *baseline_findings(plan, outcome, seed=0)]
    assert "not shown to be better than reading no text at all" in words(found, plan)


def test_the_verdict_blames_no_author():
    plan, outcome = outcome_of(protocol="author-disjoint:4")
    found = main_findings([outcome], seed=0, group={})
    found += main_findings([outcome], seed=0, group={"baseline": "random-split"})
    same = compared([outcome], [outcome], seed=0, group={"against": "random-split"})
    assert "No fall is shown" in words([*found, same], plan)
    wrong = outcome.rows.with_columns(predicted=1 - pl.col("predicted"))
    fallen = compared(
        [dataclasses.replace(outcome, rows=wrong)],
        [outcome],
        seed=0,
        group={"against": "random-split"},
    )
    text = words([*found, fallen], plan)
    assert "Authors, their topics and the period of collection change together" in text
    for claim in ("proves", "because of authors", "debiased", "fair ", "solved"):
        assert claim not in text


@pytest.mark.parametrize(
    ("swap", "expected"), [(False, "spy and other are level"), (True, "spy is better than other")]
)
def test_two_recipes_are_level_unless_the_interval_excludes_zero(swap, expected):
    plan, outcome = outcome_of()
    wrong = outcome.rows.with_columns(predicted=1 - pl.col("predicted"))
    second = dataclasses.replace(outcome, rows=wrong) if swap else outcome
    found = main_findings([outcome], seed=0, group={})
    found.append(compared([outcome], [second], seed=0, group={"recipe": "other"}))
    assert expected in words(found, plan)
