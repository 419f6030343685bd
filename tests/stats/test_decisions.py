import numpy as np
import polars as pl
import pytest
from sklearn import metrics

from evenhand.core.streams import stream
from evenhand.stats.decisions import Decisions, Predicted, auc, difference, figures
from factories import finding, value


def predicted(truth, guess, clusters=None, score=None):
    clusters = clusters or [str(n) for n in range(len(truth))]
    positive = None if score is None else np.array(truth) == 1
    return Predicted(
        np.array(truth),
        np.array(guess),
        pl.Series(clusters),
        None if score is None else np.array(score),
        positive,
    )


def test_by_hand():
    # a: 2 true, 1 found, 1 wrongly called a: P = R = F1 = 1/2. b: 3 true, 2 found of 3 called.
    run = predicted([0, 0, 1, 1, 1], [0, 1, 0, 1, 1])
    found = figures(Decisions(("a", "b"), (run,)), unit="posts", seed=0, resamples=50)
    assert value(found, "f1", label="a") == pytest.approx(1 / 2)
    assert value(found, "f1", label="b") == pytest.approx(2 / 3)
    assert value(found, "macro_f1") == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert value(found, "weighted_f1") == pytest.approx((2 * 1 / 2 + 3 * 2 / 3) / 5)
    assert value(found, "micro_f1") == pytest.approx(3 / 5)
    assert finding(found, "auc").why.startswith("AUC needs scores")


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_equals_scikit_learn(classes):
    rng = stream(classes, "decisions")
    truth, guess = rng.integers(classes, size=(2, 200))
    names = tuple("abcde"[:classes])
    run = predicted(truth.tolist(), guess.tolist())
    found = figures(Decisions(names, (run,)), unit="posts", seed=0, resamples=2)
    for average in ("macro", "weighted"):
        p, r, f, _ = metrics.precision_recall_fscore_support(truth, guess, average=average)
        for measure, expected in (("precision", p), ("recall", r), ("f1", f)):
            assert value(found, f"{average}_{measure}") == pytest.approx(expected, abs=1e-12)
    assert value(found, "micro_f1") == pytest.approx(metrics.accuracy_score(truth, guess))
    by_class = metrics.f1_score(truth, guess, average=None)
    assert [value(found, "f1", label=n) for n in names] == pytest.approx(by_class.tolist())


def test_auc_equals_scikit_learn_and_its_interval_holds_it():
    rng = stream(0, "auc")
    truth = rng.integers(2, size=300)
    score = np.clip(truth * 0.2 + rng.random(300) * 0.8, 0, 1).round(2)
    run = predicted(truth.tolist(), (score > 0.5).astype(int).tolist(), score=score)
    found = auc(Decisions(("no", "yes"), (run,)), unit="posts", seed=0, resamples=200)
    assert found.value == pytest.approx(metrics.roc_auc_score(truth, score), abs=1e-12)
    assert found.low < found.value < found.high


def test_whole_clusters_are_drawn():
    """One author with half of all posts widens the interval."""
    rng = stream(1, "clusters")
    truth = rng.integers(2, size=400)
    guess = np.where(np.arange(400) < 200, truth, 1 - truth)  # right on the first half only
    alone = predicted(truth.tolist(), guess.tolist())
    tied = predicted(truth.tolist(), guess.tolist(), ["big"] * 200 + [f"s{n}" for n in range(200)])
    widths = []
    for run in (alone, tied):
        found = figures(Decisions(("n", "y"), (run,)), unit="authors", seed=0, resamples=300)
        main = finding(found, "macro_f1")
        widths.append(main.high - main.low)
    assert widths[1] > 3 * widths[0]


def test_the_order_of_rows_and_the_names_of_classes_change_no_interval():
    rng = stream(2, "order")
    truth, guess = rng.integers(3, size=(2, 120))
    clusters = [f"a{k}" for k in rng.integers(15, size=120)]
    order = rng.permutation(120)
    first = predicted(truth, guess, clusters)
    second = predicted(truth[order], guess[order], [clusters[n] for n in order])
    pair = [
        figures(Decisions(("a", "b", "c"), (run,)), unit="authors", seed=4, resamples=100)
        for run in (first, second)
    ]
    assert pair[0] == pair[1]


def test_several_runs_are_averaged_and_drawn_together():
    # Two runs with macro-F1 1 and 1/3 (all called b: F1 0 and 2/3): the mean is 2/3.
    truth = [0, 1] * 20
    right, constant = predicted(truth, truth), predicted(truth, [1] * 40)
    every = Decisions(("a", "b"), (right, constant))
    main = finding(figures(every, unit="posts", seed=0, resamples=200), "macro_f1")
    assert main.value == pytest.approx((1 + 1 / 3) / 2)
    assert "mean over 2 runs" in main.method
    assert main.low < main.value < main.high


def test_few_clusters_have_no_interval_and_say_so():
    run = predicted([0, 1] * 9, [0, 1] * 9, [f"a{n}" for n in range(9)] * 2)
    main = finding(figures(Decisions(("n", "y"), (run,)), unit="authors", seed=0), "macro_f1")
    assert (main.low, main.why) == (None, "no interval: fewer than 10 authors")


def test_precision_of_a_class_nobody_predicts_is_null():
    run = predicted([0, 1, 1], [0, 0, 0])
    found = figures(Decisions(("n", "y"), (run,)), unit="posts", seed=0, resamples=20)
    missing = finding(found, "precision", label="y")
    assert (missing.value, missing.why) == (None, "nothing is predicted to be y")


def test_a_difference_between_equal_decisions_is_exactly_zero():
    rng = stream(3, "same")
    truth, guess = rng.integers(2, size=(2, 90))
    clusters = [f"a{k}" for k in rng.integers(12, size=90)]
    every = Decisions(("n", "y"), (predicted(truth, guess, clusters),))
    found = difference(every, every, unit="authors", seed=0, group={"recipe": "same"})
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_paired_differences_are_narrower_than_unpaired_ones():
    rng = stream(4, "paired")
    truth = rng.integers(2, size=500)
    first = np.where(rng.random(500) < 0.7, truth, 1 - truth)
    second = np.where(rng.random(500) < 0.04, 1 - first, first)  # nearly the same mistakes
    pair = [Decisions(("n", "y"), (predicted(truth, guess),)) for guess in (first, second)]
    found = difference(*pair, unit="posts", seed=0, group={})
    alone = finding(figures(pair[0], unit="posts", seed=0), "macro_f1")
    assert found.high - found.low < 0.6 * (alone.high - alone.low)
