import dataclasses

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BrokenComponent, LeakFound
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.validation.plan import make_plan, make_task
from evenhand.validation.run import Setting, cross_validate, cross_validate_all, decisions
from spies import Spy, written

CORPUS = written()
TASK = make_task(CORPUS)
PLAN = make_plan("kfold:3", TASK, seed=0)
BAYES = NaiveBayes(hateful=CORPUS.hateful)


def test_predictions_are_of_the_test_posts_with_their_truth():
    outcome = cross_validate(Spy(hateful=CORPUS.hateful), PLAN, Setting())
    rows = outcome.rows.join(CORPUS.gold.select("post", "label"), on="post")
    assert rows.filter((pl.col("truth") == 1) != (pl.col("label") != "none")).is_empty()
    # The spy calls "fool" hateful: sexism is found, racism is not.
    called = dict(rows.group_by("label").agg(pl.col("predicted").mean()).iter_rows())
    assert called == {"none": 0, "sexism": 1, "racism": 0}
    assert outcome.p.shape == (120, 1)


def test_a_post_without_an_author_is_its_own_cluster():
    some = CORPUS.posts.with_columns(
        author=pl.when(pl.col("id") == "p000").then(None).otherwise("author")
    )
    task = make_task(dataclasses.replace(CORPUS, posts=some))
    outcome = cross_validate(Spy(), make_plan("kfold:3", task), Setting())
    clusters = dict(outcome.rows.select("post", "cluster").iter_rows())
    assert clusters["p000"] == "post p000"
    assert clusters["p001"] == some.filter(id="p001")["author"][0]


def test_classes_and_the_score_of_hateful_posts():
    task = make_task(CORPUS, classes=("none", "racism", "sexism"))
    spy = Spy(hateful=CORPUS.hateful, classes=task.classes)
    outcome = cross_validate(spy, make_plan("kfold:3", task), Setting())
    assert (outcome.rows["truth"] == outcome.rows["predicted"]).all()
    [run] = decisions([outcome]).runs
    # racism and sexism together: .8 + 2 · .2/3 where one is called, 2 · .2/3 where none is.
    assert sorted(set(run.score.round(3))) == [0.133, 0.933]
    assert (run.positive == (run.truth > 0)).all()


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_predictions():
    alone = cross_validate(BAYES, PLAN, Setting(seed=2, workers=1))
    together = cross_validate(BAYES, PLAN, Setting(seed=2, workers=2))
    assert np.array_equal(alone.p, together.p)
    assert alone.rows.equals(together.rows)


def test_finished_folds_are_taken_up_and_only_if_everything_is_the_same(tmp_path):
    spy = Spy(hateful=CORPUS.hateful)
    first = cross_validate(spy, PLAN, Setting(finished=tmp_path / "folds"))
    assert len(spy.shown) == 3
    again = cross_validate(spy, PLAN, Setting(finished=tmp_path / "folds"))
    assert len(spy.shown) == 3
    assert np.array_equal(first.p, again.p)
    for changed in (
        lambda: cross_validate(spy, PLAN, Setting(seed=1, finished=tmp_path / "folds")),
        lambda: cross_validate(
            dataclasses.replace(spy, question="label"), PLAN, Setting(finished=tmp_path / "folds")
        ),
    ):
        before = len(spy.shown)
        changed()
        assert len(spy.shown) == before + 3
    next(iter((tmp_path / "folds").iterdir())).write_bytes(b"cut off")
    cross_validate(spy, PLAN, Setting(finished=tmp_path / "folds"))


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    class Stop(Exception):
        pass

    spy = Spy(hateful=CORPUS.hateful)

    def stop(what, done, total):
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        cross_validate(spy, PLAN, Setting(finished=tmp_path, step=stop))
    assert len(spy.shown) == 2
    outcome = cross_validate(spy, PLAN, Setting(finished=tmp_path))
    assert len(spy.shown) == 3
    assert outcome.rows.height == 120


def test_a_detector_that_says_it_has_seen_a_test_post_is_refused():
    class Peeking(NaiveBayes):
        def fit(self, posts, gold, *, seed):
            return super().fit(CORPUS.posts, CORPUS.gold, seed=seed)

    with pytest.raises(LeakFound, match="fold 1: the detector has seen 40 of the 40 test posts"):
        cross_validate(Peeking(hateful=CORPUS.hateful), PLAN, Setting())


@pytest.mark.parametrize("p", [np.full((40, 3), 0.1), np.full((40, 1), 1.5), np.full((39, 1), 0.5)])
def test_scores_that_are_none_are_refused(p, monkeypatch):
    class Broken(Spy):
        def fit(self, posts, gold, *, seed):
            detector = super().fit(posts, gold, seed=seed)
            return type("D", (), {"score": lambda self, texts: p})() if detector else None

    with pytest.raises(BrokenComponent, match="fold 1: scores of shape"):
        cross_validate(Broken(hateful=CORPUS.hateful), PLAN, Setting())


def test_fold_seeds_differ_and_repeat():
    spy = Spy(hateful=CORPUS.hateful)
    for _ in range(2):
        cross_validate(spy, PLAN, Setting(seed=5))
    seeds = [seed for _, _, seed in spy.shown]
    assert seeds[:3] == seeds[3:]
    assert len(set(seeds)) == 3


def test_a_changed_file_of_vectors_is_another_recipe(tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("a 1")
    spy = Spy(hateful=CORPUS.hateful, question=str(vectors))
    finished = Setting(finished=tmp_path / "folds")
    cross_validate(spy, PLAN, finished)
    cross_validate(spy, PLAN, finished)
    assert len(spy.shown) == 3
    vectors.write_text("a 2")
    cross_validate(spy, PLAN, finished)
    assert len(spy.shown) == 6


def test_two_columns_for_hateful_or_not_are_refused():
    class Two(Spy):
        def fit(self, posts, gold, *, seed):
            return type("D", (), {"score": lambda self, texts: np.full((len(texts), 2), 0.5)})()

    with pytest.raises(BrokenComponent, match="expected 40 rows of 1 probabilities"):
        cross_validate(Two(hateful=CORPUS.hateful), PLAN, Setting())


def test_several_recipes_and_plans_side_by_side_give_what_each_gives_alone():
    other = make_plan("holdout:0.3", TASK, seed=4)
    cases = [(BAYES, PLAN), (Spy(hateful=CORPUS.hateful), other), (BAYES, other)]
    together = cross_validate_all(cases, Setting(seed=3))
    for (recipe, plan), outcome in zip(cases, together, strict=True):
        alone = cross_validate(recipe, plan, Setting(seed=3))
        assert np.array_equal(alone.p, outcome.p)
        assert alone.rows.equals(outcome.rows)
