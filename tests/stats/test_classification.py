import numpy as np
import pytest
from sklearn.metrics import f1_score

from evenhand.stats.classification import confusion, f1_by_class, macro_f1, weighted_f1


def test_f1_by_hand():
    # truth 0 0 1 1 1, predicted 0 1 1 1 0: class 0 has P ½, R ½, F1 ½; class 1 P ⅔, R ⅔, F1 ⅔.
    counts = confusion(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0]), 2)
    assert f1_by_class(counts) == pytest.approx([1 / 2, 2 / 3])
    assert macro_f1(counts) == pytest.approx(7 / 12)
    assert weighted_f1(counts) == pytest.approx((2 * 1 / 2 + 3 * 2 / 3) / 5)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(4, size=(2, 60))
    counts = confusion(truth, predicted, 4)
    assert macro_f1(counts) == pytest.approx(f1_score(truth, predicted, average="macro"))
    assert weighted_f1(counts) == pytest.approx(f1_score(truth, predicted, average="weighted"))


def test_a_class_that_is_nowhere_has_no_f1_and_does_not_count():
    counts = confusion(np.array([0, 0]), np.array([0, 0]), 2)
    assert np.isnan(f1_by_class(counts)[1])
    assert macro_f1(counts) == 1


def test_resamples_come_as_a_leading_axis():
    counts = confusion(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    assert macro_f1(np.stack([counts, counts])).shape == (2,)
