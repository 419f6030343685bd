import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from evenhand.core.errors import BadInput
from evenhand.stats.detection import (
    auc,
    average_precision,
    detection,
    f1,
    f1_best,
    pr_curve,
    precision,
    recall,
    roc_curve,
)
from evenhand.stats.intervals import wilson
from factories import finding, value

TRUTH, SCORE = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]


def random_rows(seed, n=200, ties=True):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    score = np.clip(rng.normal(0.4 + 0.2 * truth, 0.2), 0, 1)
    weights = rng.exponential(size=n) * (rng.random(n) > 0.1)
    return truth, np.round(score, 1) if ties else score, weights


def test_by_hand():
    # At .8 two are flagged, one rightly: precision 1/2, recall 1/2. At .7: 2/3, 1, F1 .8, the best.
    assert precision(TRUTH, SCORE, 0.8) == recall(TRUTH, SCORE, 0.8) == f1(TRUTH, SCORE, 0.8) == 0.5
    best = f1_best(TRUTH, SCORE)
    assert (best.f1, best.precision, best.recall) == pytest.approx((0.8, 2 / 3, 1))
    assert best.threshold == 0.7
    assert average_precision(TRUTH, SCORE) == pytest.approx((1 + 2 / 3) / 2)
    assert auc(TRUTH, SCORE) == 3 / 4  # of four pairs only (.7, .8) is the wrong way round


def test_a_weight_is_as_many_rows():
    # The negative at .8 counted three times: precision at .7 is 2/5.
    assert precision(TRUTH, SCORE, 0.7, [1, 3, 1, 1]) == pytest.approx(2 / 5)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_scikit_learn(seed, ties):
    truth, score, w = random_rows(seed, ties=ties)
    expected = metrics.average_precision_score(truth, score, sample_weight=w)
    assert average_precision(truth, score, w) == pytest.approx(expected, abs=1e-9)
    expected = metrics.roc_auc_score(truth, score, sample_weight=w)
    assert auc(truth, score, w) == pytest.approx(expected, abs=1e-9)
    flagged = score >= 0.5
    p, r, f, _ = metrics.precision_recall_fscore_support(
        truth, flagged, average="binary", sample_weight=w
    )
    ours = (precision(truth, score, 0.5, w), recall(truth, score, 0.5, w), f1(truth, score, 0.5, w))
    assert ours == pytest.approx((p, r, f), abs=1e-9)


@pytest.mark.parametrize("ties", [True, False])
def test_curves_equal_scikit_learn(ties):
    truth, score, w = random_rows(9, ties=ties)
    p, r, t = metrics.precision_recall_curve(truth, score, sample_weight=w)
    curve = pr_curve(truth, score, w)
    assert curve.x == pytest.approx(r[::-1], abs=1e-9)
    assert curve.y == pytest.approx(p[::-1], abs=1e-9)
    assert curve.threshold[1:] == pytest.approx(t[::-1])
    fpr, tpr, t = metrics.roc_curve(truth, score, sample_weight=w, drop_intermediate=False)
    curve = roc_curve(truth, score, w)
    assert curve.x == pytest.approx(fpr, abs=1e-9)
    assert curve.y == pytest.approx(tpr, abs=1e-9)
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = np.nanmax(2 * p * r / (p + r))
    assert f1_best(truth, score, w).f1 == pytest.approx(largest, abs=1e-9)


def test_all_tied():
    # One threshold: everything is flagged, so precision and average precision are the base rate.
    assert average_precision([1, 0, 0, 0], [0.3] * 4) == 0.25
    assert auc([1, 0, 0, 0], [0.3] * 4) == 0.5


def test_findings_and_their_intervals():
    truth, score, w = random_rows(1)
    found = detection(truth, score, weights=w, threshold=0.5, group={"detector": "d"}, seed=3)
    for f in found:
        assert f.low <= f.value <= f.high or f.measure == "threshold_best"
        assert (f.n, f.unit, f.weighted, f.level) == (200, "posts", True, 0.95)
        assert f.n_effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    expected = metrics.roc_auc_score(truth, score, sample_weight=w)
    assert value(found, "auc", detector="d") == pytest.approx(expected)
    assert found == detection(
        truth, score, weights=w, threshold=0.5, group={"detector": "d"}, seed=3
    )


def test_each_resample_is_what_scikit_learn_gives_for_its_weights():
    from evenhand.stats._ranking import FIGURES, rank
    from evenhand.stats._units import make_units

    truth, score, w = random_rows(2)
    ranked = rank(truth, score, w)
    units, rng = make_units(ranked.kinds(), None, None), np.random.default_rng(0)
    for _ in range(5):
        weight = ranked.weight * units.draw(rng)
        ours = dict(zip(FIGURES, ranked.figures(weight, 0.5), strict=True))
        rows = (ranked.truth, ranked.score)
        expected = metrics.average_precision_score(*rows, sample_weight=weight)
        assert ours["average_precision"] == pytest.approx(expected, abs=1e-9)
        assert ours["auc"] == pytest.approx(metrics.roc_auc_score(*rows, sample_weight=weight))


def test_f1_best_is_found_anew_in_every_resample():
    # With scores that say nothing F1* of a resample is at least F1 of flagging all of it, so its
    # lower end is above that of F1 at the threshold that was best on all rows.
    rng = np.random.default_rng(5)
    truth, score = rng.integers(2, size=60), rng.random(60)
    cut = f1_best(truth, score).threshold
    found = detection(truth, score, threshold=cut)
    assert value(found, "f1") == value(found, "f1_best")
    assert finding(found, "f1_best").low > finding(found, "f1").low


def test_classes_only():
    # Flagged: rows 1 and 2, one rightly; F1* is not reached by flagging everything (.67).
    found = detection([1, 0, 1, 0], [1, 1, 0, 0], classes_only=True)
    assert value(found, "f1") == value(found, "f1_best") == 0.5
    for measure in ("average_precision", "auc", "threshold_best"):
        assert "classes only" in finding(found, measure).why


@pytest.mark.parametrize(
    ("truth", "score", "missing"),
    [
        ([0, 0], [0.9, 0.1], {"recall", "f1", "f1_best", "precision_best", "recall_best",
                              "threshold_best", "average_precision", "auc"}),
        ([1, 1], [0.9, 0.1], {"auc"}),
        ([1, 0], [0.2, 0.1], {"precision"}),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_null_with_a_reason(truth, score, missing):
    found = detection(truth, score, threshold=0.5)
    assert {f.measure for f in found if f.value is None} == missing
    assert all(f.why for f in found if f.value is None or f.low is None)


def test_no_rows_no_threshold_one_row():
    assert {f.why for f in detection([], [])} >= {"no posts"}
    assert finding(detection([1, 0], [1, 0]), "f1").why == "no threshold was chosen on other posts"
    assert "fewer than two posts" in finding(detection([1], [0.5]), "average_precision").why
    assert average_precision([], []) is None


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (([1, 2], [0, 1]), "truth: 1 of 2 values are neither 0 nor 1"),
        (([1, 0], [0.5, float("nan")]), "score: 1 of 2 values are outside"),
        (([1, 0], [0.5, 1.5]), "score: 1 of 2 values are outside"),
        (([1, 0], [0.5, None]), "score"),
        (([1, 0], [0.5, 0.5], [1, -1]), "weights: 1 of 2 values are negative"),
        (([1, 0], [0.5, 0.5], [1, float("nan")]), "weights: 1 of 2 values"),
        (([1, 0], [0.5, 0.5], [0, 0]), "weights: all are 0"),
        (([1, 0], [0.5]), "expected one each"),
        ((["x", "y"], [0.5, 0.5]), "truth: not numbers"),
    ],
)
def test_bad_rows_are_refused(rows, match):
    with pytest.raises(BadInput, match=match):
        auc(*rows)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"classes_only": True}, "expected 0 or 1"),
        ({"threshold": float("nan")}, "threshold: is nan"),
        ({"strata": [1, 1, 1, 2]}, "1 of 2 have one unit"),
        ({"strata": [1, 1, 2, 2], "clusters": [1, 2, 2, 3]}, "lies in two strata"),
        ({"clusters": ["a", None, "b", "c"]}, "missing in 1 rows"),
        ({"clusters": ["a"]}, "1 for 4 rows"),
        ({"posts": ["a"]}, "1 ids for 4 rows"),
    ],
)
def test_bad_options_are_refused(options, match):
    with pytest.raises(BadInput, match=match):
        detection(TRUTH, SCORE, **options)


def test_curves_need_both_classes():
    with pytest.raises(BadInput, match="one class only"):
        roc_curve([1, 1], [0.1, 0.2])
    with pytest.raises(BadInput, match="no positive rows"):
        pr_curve([0, 0], [0.1, 0.2])


def test_cases_are_the_worst_first():
    found = detection(TRUTH, SCORE, threshold=0.75, posts=["a", "b", "c", "d"])
    assert finding(found, "precision").cases == ("b",)  # flagged and negative
    assert finding(found, "recall").cases == ("c",)  # positive and not flagged


def test_strata_have_the_textbook_variance():
    # Two strata of 10 with shares .5 and .2, half the population each: the variance of the mean is
    # Σ ¼ s²/n with s² = 10/9·p(1−p), so (.2778 + .1778) / 40 and a standard error of .1067.
    truth = np.array([1] * 5 + [0] * 5 + [1] * 2 + [0] * 8)
    found = detection(truth, np.full(20, 0.5), strata=["x"] * 10 + ["y"] * 10, resamples=4000,
                      level=0.6827)  # fmt: skip
    share = finding(found, "base_rate")
    assert "Rao–Wu" in share.method
    assert (share.high - share.low) / 2 == pytest.approx(0.1067, abs=0.012)


def test_strata_keep_their_size_in_every_resample():
    # Two positives in one stratum, eight negatives in the other: 1 and 7 are drawn, counted 2/1 and
    # 8/7 times, so the share is 2/10 in every resample.
    found = detection([1] * 2 + [0] * 8, [0.5] * 10, strata=[1] * 2 + [2] * 8, resamples=50)
    share = finding(found, "base_rate")
    assert (share.low, share.high) == pytest.approx((0.2, 0.2))


def test_what_is_often_missing_has_no_interval():
    # A resample of four has no positive in (3/4)^4 = .32 of cases.
    found = finding(detection([1, 0, 0, 0], [0.9, 0.5, 0.4, 0.1]), "average_precision")
    assert (found.value, found.low) == (1, None)
    assert "one resample of twenty" in found.why


def test_clusters_make_intervals_wider():
    truth = np.repeat([1, 0] * 10, 20)
    one = finding(detection(truth, truth * 0.5), "base_rate")
    two = finding(detection(truth, truth * 0.5, clusters=np.repeat(range(20), 20)), "base_rate")
    assert two.high - two.low > 3 * (one.high - one.low)  # sqrt(20) = 4.5
    assert two.unit == "clusters"


ROWS = st.lists(
    st.tuples(
        st.integers(0, 1), st.integers(0, 5), st.integers(1, 3), st.integers(0, 2)
    ),
    min_size=2,
    max_size=12,
)  # fmt: skip


def run(rows, names="abc"):
    truth, score, weights, cluster = zip(*rows, strict=True)
    found = detection(
        truth,
        np.array(score) / 5,
        weights=weights,
        threshold=0.4,
        clusters=[names[c] for c in cluster],
        resamples=20,
    )
    return {(f.measure, name): getattr(f, name) for f in found for name in ("value", "low", "high")}


@settings(max_examples=60, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_clusters_change_nothing(rows, random):
    one = run(rows)
    random.shuffle(rows)
    assert run(rows) == pytest.approx(one)
    assert run(rows, names=random.sample("abc", 3)) == pytest.approx(one)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.floats(1e-200, 1e200))
def test_doubling_the_rows_or_scaling_the_weights_changes_no_value(rows, scale):
    truth, score, weights, _ = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    one = [f.value for f in detection(truth, score / 5, weights=weights, resamples=0)]
    twice = [np.tile(part, 2) for part in (truth, score / 5, weights)]
    two = [f.value for f in detection(*twice[:2], weights=twice[2], resamples=0)]
    three = [f.value for f in detection(truth, score / 5, weights=weights * scale, resamples=0)]
    assert two == pytest.approx(one) == three


def test_a_share_of_all_is_not_certain():
    # Ten positive posts, all found; ten negative, none flagged: Wilson's interval for 10 of 10.
    truth = [1] * 10 + [0] * 10
    found = detection(truth, [0.9] * 10 + [0.1] * 10, threshold=0.5, resamples=50)
    for measure in ("recall", "precision"):
        [share] = [f for f in found if f.measure == measure]
        assert (share.value, share.high) == (1, 1)
        assert share.low == pytest.approx(wilson(10, 10)[0])
