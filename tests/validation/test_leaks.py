from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.data.find import write_folder
from evenhand.validation.leaks import leaky, one_copy, repeated
from evenhand.validation.lookups import copy_lookup, oversampling_formula
from evenhand.validation.plan import make_plan, make_task, original
from evenhand.validation.run import Setting, cross_validate
from evenhand.validation.selection import OnDev, candidates
from factories import make_corpus
from spies import Spy, SpyDetector, written

CORPUS = written()
TASK = make_task(CORPUS)
PLAN = make_plan("kfold:3", TASK)


@dataclass(frozen=True)
class Representing(Spy):
    """A spy with a step of its own for features."""

    represented: list = field(default_factory=list, repr=False, compare=False)

    def represent(self, posts, gold, *, seed):
        self.represented.append((set(posts["id"]), set(gold["post"])))
        return "features"

    def fit(self, posts, gold, *, seed, representation=None):
        assert representation in (None, "features")
        return super().fit(posts, gold, seed=seed)


def test_features_are_learned_once_on_both_sides_and_fits_still_see_one():
    spy = Representing(hateful=CORPUS.hateful)
    plan, outcome = leaky("features", spy, PLAN, Setting(), choices={})
    everybody = set(CORPUS.posts["id"])
    assert spy.represented == [(everybody, everybody)]
    assert [posts for posts, _, _ in spy.shown] == [set(s.train) for s in PLAN.splits]
    assert plan is PLAN
    assert outcome.rows.height == 120


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("features", "spy learns no representation"),
        ("oversample", "spy does not oversample"),
        ("select-on-test", "spy has nothing to choose"),
        ("telepathy", "--leak telepathy; expected features, oversample, select-on-test"),
    ],
)
def test_a_recipe_without_the_step_refuses(kind, words):
    with pytest.raises(BadInput, match=words):
        leaky(kind, Spy(hateful=CORPUS.hateful), PLAN, Setting(), choices={})


def test_copies_cannot_leak_between_authors():
    spy = Spy(hateful=CORPUS.hateful, oversample=3)
    plan = make_plan("author-disjoint:3", TASK)
    with pytest.raises(
        BadInput, match=r"what is kept on one side \(author.*nothing can stand on two"
    ):
        leaky("oversample", spy, plan, Setting(), choices={})


def test_copies_of_the_rarer_classes_are_posts_of_their_own():
    task = make_task(CORPUS, classes=("none", "racism", "sexism"))
    many = repeated(task, 3)
    # 60 none once; 20 racism and 40 sexism three times over.
    assert np.bincount(many.codes["code"]).tolist() == [60, 60, 120]
    assert many.corpus.posts.height == many.codes.height == many.corpus.gold.height == 240
    assert many.corpus.posts["id"].n_unique() == 240
    assert set(original(many.corpus.posts["id"])) == set(CORPUS.posts["id"])


def test_the_leak_puts_copies_on_both_sides_and_fits_without_oversampling():
    spy = Spy(hateful=CORPUS.hateful, oversample=3)
    plan, outcome = leaky("oversample", spy, PLAN, Setting(), choices={})
    both = [
        set(original(pl.Series(split.train))) & set(original(pl.Series(split.test)))
        for split in plan.splits
    ]
    assert all(both)
    assert outcome.rows.height == 60 + 60 * 3
    # The clone that was fitted shares the list of what was shown.
    assert len(spy.shown) == 3


def test_one_copy_of_each_post_has_the_posts_and_classes_of_the_honest_run():
    spy = Spy(hateful=CORPUS.hateful, oversample=3)
    _, outcome = leaky("oversample", spy, PLAN, Setting(), choices={})
    honest = cross_validate(spy, PLAN, Setting())
    once = one_copy(outcome)
    assert sorted(once.rows["post"]) == sorted(honest.rows["post"])
    assert once.p.shape == (120, 1)
    both = [set(o.rows.select("post", "truth").iter_rows()) for o in (once, honest)]
    assert both[0] == both[1]


def test_copies_of_a_post_without_author_are_one_cluster():
    rows = [{"id": f"n{n}", "label": "bad" if n % 4 == 0 else "ok"} for n in range(40)]
    corpus = make_corpus(rows)
    plan = make_plan("kfold:2", make_task(corpus))
    spy = Spy(hateful=corpus.hateful, oversample=3)
    _, outcome = leaky("oversample", spy, plan, Setting(), choices={})
    assert outcome.rows.height == 60
    assert outcome.rows["cluster"].n_unique() == 40


def test_a_copy_is_looked_up_by_its_original():
    rows = [{"id": f"h{n}", "label": "bad"} for n in range(4)]
    rows += [{"id": f"n{n}", "label": "ok"} for n in range(12)]
    corpus = make_corpus(rows)
    spy = Spy(hateful=corpus.hateful, oversample=3)
    task = make_task(corpus)
    plan, outcome = leaky("oversample", spy, make_plan("kfold:4", task), Setting(), choices={})
    found = copy_lookup(plan, outcome)
    truth = outcome.rows["truth"].to_numpy()
    ids = original(outcome.rows["post"]).to_list()
    for row, (post, fold) in enumerate(zip(ids, outcome.rows["fold"], strict=True)):
        known = post in set(original(pl.Series(plan.splits[fold - 1].train)))
        assert found[row] == (truth[row] if known else 0)


def test_formula_by_hand():
    # t = 3, p = .15: 3p(1-p)² + 3p²(1-p) = 3·.15·.7225 + 3·.0225·.85 = .3251 + .0574 = .3825.
    # The paper's recall .3825 gives F1 2·.3825/1.3825 = .5533; the other class has precision
    # .5/(.5 + .5·.6175) = .6182, F1 .7641; mean .6587. Among test rows 1 - .15² = .9775.
    found = oversampling_formula(3, 0.15)
    assert found["both_sides"] == pytest.approx(0.3825)
    assert found["macro_f1_paper"] == pytest.approx((0.55335 + 0.76407) / 2, abs=1e-4)
    assert found["recall"] == pytest.approx(0.9775)
    # F1 2·.9775/1.9775 = .98862; precision .5/(.5 + .5·.0225) = .97800, F1 .98888.
    assert found["macro_f1"] == pytest.approx((0.98862 + 0.98888) / 2, abs=1e-4)


def test_the_measured_look_up_agrees_with_the_formula():
    """A balanced set after oversampling, as in the appendix: recall near 1 − p^(t−1)."""
    rows = [{"id": f"h{n}", "label": "bad"} for n in range(400)]
    rows += [{"id": f"n{n}", "label": "ok"} for n in range(1200)]
    corpus = make_corpus(rows)
    plan = make_plan("kfold:4", make_task(corpus), keep=())
    spy = Spy(hateful=corpus.hateful, oversample=3)
    again, outcome = leaky("oversample", spy, plan, Setting(), choices={})
    found, truth = copy_lookup(again, outcome), outcome.rows["truth"].to_numpy()
    assert found[truth == 0].max() == 0 or found[truth == 0].mean() < 0.5
    recall = found[truth == 1].mean()
    assert recall == pytest.approx(1 - 0.25**2, abs=0.03)


@dataclass(frozen=True)
class Choosing(Spy):
    """Right only where ``level`` is 2."""

    level: int = 1

    def fit(self, posts, gold, *, seed):
        super().fit(posts, gold, seed=seed)
        return SpyDetector(2) if self.level == 2 else Constant()


class Constant:
    def score(self, texts):
        return np.full((len(texts), 1), 0.2)


def test_options_are_chosen_on_a_part_of_the_training_posts():
    spy = Choosing(hateful=CORPUS.hateful)
    recipes = candidates(spy, {"level": [1, 2, 3]})
    assert [recipe.level for recipe in recipes] == [1, 2, 3]
    outcome = cross_validate(spy, PLAN, Setting(), choose=OnDev(recipes))
    assert outcome.chosen == ("level=2",) * 3
    tests = [set(split.test) for split in PLAN.splits]
    # Per fold: three candidates on the training posts without the dev posts, one fit on all.
    for fold, test in enumerate(tests):
        fits = [posts for posts, _, _ in spy.shown[4 * fold : 4 * fold + 4]]
        assert all(not posts & test for posts in fits)
        assert fits[0] == fits[1] == fits[2] < fits[3] == set(PLAN.splits[fold].train)


def test_options_chosen_on_the_test_posts_are_fitted_on_all_training_posts():
    spy = Choosing(hateful=CORPUS.hateful)
    _, outcome = leaky("select-on-test", spy, PLAN, Setting(), choices={"level": [1, 2]})
    assert outcome.chosen == ("level=2",) * 3
    train = set(PLAN.splits[0].train)
    assert [posts for posts, _, _ in spy.shown[:3]] == [train] * 3


def test_dev_splits_keep_authors_together():
    plan = make_plan("author-disjoint:3", TASK)
    spy = Choosing(hateful=CORPUS.hateful)
    cross_validate(spy, plan, Setting(), choose=OnDev(candidates(spy, {"level": [1, 2]})))
    authors = dict(CORPUS.posts.select("id", "author").iter_rows())
    inside, everything = spy.shown[0][0], spy.shown[2][0]
    dev = {authors[post] for post in everything - inside}
    assert dev
    assert not dev & {authors[post] for post in inside}
    assert replace(spy, level=2) == replace(spy, level=2)


def test_a_dev_split_without_two_classes_says_what_to_change():
    rows = [
        {"id": f"{author}{n}", "author": author, "label": "bad" if n == 0 else "ok"}
        for author in "abc"
        for n in range(20)
    ]
    corpus = make_corpus(rows)
    plan = make_plan("author-disjoint:3", make_task(corpus), keep=("author",))
    spy = Choosing(hateful=corpus.hateful)
    with pytest.raises(NotEnoughData, match="--select: the dev split of spy: fold 1 leaves"):
        cross_validate(spy, plan, Setting(), choose=OnDev(candidates(spy, {"level": [1, 2]})))


def test_a_choice_works_between_corpora_with_other_tags(tmp_path):
    other = make_corpus(
        [{"id": f"o{n}", "label": "sexism" if n % 2 else "none", "split": "x"} for n in range(20)],
        hateful=("sexism",),
    )
    posts = other.posts.with_columns(
        pl.col("tags").struct.with_fields(part=pl.lit("y")), author=pl.lit(None, dtype=pl.String)
    )
    write_folder(replace(other, posts=posts), tmp_path / "other")
    plan = make_plan(f"transfer:{tmp_path / 'other'}", TASK)
    spy = Choosing(hateful=CORPUS.hateful)
    recipes = candidates(spy, {"level": [1, 2]})
    assert cross_validate(spy, plan, Setting(), choose=OnDev(recipes)).chosen == ("level=2",)
    assert leaky("select-on-test", spy, plan, Setting(), choices={"level": [1, 2]})[1].chosen
