import numpy as np
import pytest
from sklearn.metrics import roc_curve

from evenhand.core.errors import BadInput
from evenhand.stats.thresholds import EqualError, equal_error


def test_rates_that_meet_at_a_score():
    # From .8 on: one of two negatives is flagged, one of two positives is missed.
    assert equal_error([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]) == EqualError(0.8, 0.5)


def test_classes_apart():
    # From .6 on: no negative flagged, no positive missed.
    assert equal_error([1, 1, 0], [0.9, 0.6, 0.2]) == EqualError(0.6, 0.0)


def test_interpolated_between_two_scores():
    # Positives .9, .5; negatives .8, .3, .1. At .8: FPR 1/3, FNR 1/2, gap −1/6; at .5: FPR 1/3,
    # FNR 0, gap 1/3. They meet a third of the way from .8 to .5, where FPR is 1/3 at both ends.
    found = equal_error([1, 0, 1, 0, 0], [0.9, 0.8, 0.5, 0.3, 0.1])
    assert found.threshold == pytest.approx(0.7)
    assert found.rate == pytest.approx(1 / 3)


def test_a_tie_is_one_step():
    # At .9: FPR 0, FNR 1/2, gap −1/2; at .5 both of the other classes: FPR 1, FNR 0, gap 1. They
    # meet a third of the way: threshold .9 − .4/3, rate 1/3.
    found = equal_error([1, 1, 0], [0.9, 0.5, 0.5])
    assert found.threshold == pytest.approx(0.9 - 0.4 / 3)
    assert found.rate == pytest.approx(1 / 3)


def test_the_same_score_for_every_post():
    assert equal_error([1, 0, 0], [0.4, 0.4, 0.4]) == EqualError(0.4, 0.5)


def test_a_meeting_above_the_highest_score():
    # Only the negative is flagged at .9: FPR 1, FNR 1. Half way from nothing flagged to there.
    found = equal_error([0, 1], [0.9, 0.1])
    assert found == EqualError(0.9, 1.0)


@pytest.mark.parametrize("truth", [[1, 1], [0, 0], []], ids=["positive", "negative", "none"])
def test_one_class_has_no_threshold(truth):
    assert equal_error(truth, [0.5] * len(truth)) is None


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(BadInput, match="score: 1 of 2 values"):
        equal_error([0, 1], [0.5, float("nan")])


def rows(seed, ties):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=300)
    score = np.clip(rng.normal(0.4 + 0.2 * truth, 0.2), 0, 1)
    return truth, np.round(score, 1) if ties else score


@pytest.mark.parametrize("ties", [True, False], ids=["ties", "no-ties"])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_roc_curve_of_scikit_learn(seed, ties):
    truth, score = rows(seed, ties)
    fpr, tpr, thresholds = roc_curve(truth, score, drop_intermediate=False)
    gap = fpr - (1 - tpr)  # climbs; np.interp finds where it is 0
    found = equal_error(truth, score)
    assert found.rate == pytest.approx(np.interp(0, gap, fpr))
    assert found.threshold == pytest.approx(np.interp(0, gap[1:], thresholds[1:]))


def test_the_order_of_rows_changes_nothing():
    truth, score = rows(5, True)
    turned = np.random.default_rng(1).permutation(len(truth))
    assert equal_error(truth[turned], score[turned]) == equal_error(truth, score)


def test_turning_classes_and_scores_round_keeps_the_rate():
    truth, score = rows(6, False)
    turned = equal_error(1 - truth, 1 - score)
    assert turned.rate == pytest.approx(equal_error(truth, score).rate)
