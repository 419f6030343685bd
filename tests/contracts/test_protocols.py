"""What every registered protocol promises, whoever wrote it."""

import dataclasses

import polars as pl
import pytest

from evenhand.core import registry
from evenhand.data.find import write_folder
from evenhand.validation.plan import make_plan, make_task
from evenhand.validation.run import Setting, cross_validate
from spies import Spy, written

NAMES = registry.names("protocols")
CORPUS = written()


@pytest.fixture
def typed(tmp_path):
    """A protocol's name with the argument these tests give it."""
    other = written(posts=40, seed=9)
    other = dataclasses.replace(
        other,
        posts=other.posts.with_columns(id="other " + pl.col("id")),
        gold=other.gold.with_columns(post="other " + pl.col("post")),
    )
    write_folder(other, tmp_path / "other")
    arguments = {"kfold": ":4", "author-disjoint": ":4", "transfer": f":{tmp_path / 'other'}"}
    return lambda name: name + arguments.get(name, "")


pytestmark = pytest.mark.parametrize("name", NAMES)


def test_the_recipe_sees_training_rows_and_nothing_else(name, typed):
    task = make_task(CORPUS)
    plan = make_plan(typed(name), task, seed=1)
    spy = Spy(hateful=CORPUS.hateful)
    outcome = cross_validate(spy, plan, Setting(seed=1))
    assert len(spy.shown) == len(plan.splits)
    for (posts, gold, _), split in zip(spy.shown, plan.splits, strict=True):
        assert posts == gold == set(split.train)
        assert not posts & set(split.test)
    assert outcome.rows.height == sum(len(split.test) for split in plan.splits)
    assert set(outcome.rows["post"]) == {post for split in plan.splits for post in split.test}


def test_what_is_kept_stands_on_one_side(name, typed):
    plan = make_plan(typed(name), make_task(CORPUS), seed=1)
    texts = dict(
        pl.concat([plan.task.corpus.posts, plan.test.corpus.posts]).select("id", "text").iter_rows()
    )
    authors = dict(CORPUS.posts.select("id", "author").iter_rows())
    for split in plan.splits:
        if "duplicate" in plan.keep:
            assert not {texts[p] for p in split.train} & {texts[p] for p in split.test}
        if "author" in plan.keep:
            assert not {authors[p] for p in split.train} & {authors[p] for p in split.test}
    assert plan.keep, "every protocol of ours keeps something apart by default"


def test_the_same_seed_gives_the_same_splits_whatever_the_order_of_posts(name, typed):
    first = make_plan(typed(name), make_task(CORPUS), seed=3)
    shuffled = dataclasses.replace(CORPUS, posts=CORPUS.posts.reverse(), gold=CORPUS.gold.reverse())
    second = make_plan(typed(name), make_task(shuffled), seed=3)
    for a, b in zip(first.splits, second.splits, strict=True):
        assert (a.name, set(a.train), set(a.test)) == (b.name, set(b.train), set(b.test))


def test_posts_without_a_class_are_nowhere(name, typed):
    tied = CORPUS.gold.with_columns(
        label=pl.when(pl.col("post") == "p001").then(None).otherwise("label")
    )
    task = make_task(dataclasses.replace(CORPUS, gold=tied))
    assert task.left_out == {"gold is a tie": 1}
    plan = make_plan(typed(name), task, seed=1)
    assert not any("p001" in {*split.train, *split.test} for split in plan.splits)
