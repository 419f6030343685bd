import json
import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.streams import stream
from evenhand.models.calibration import (
    Calibration,
    bent,
    fitted,
    packed,
    probabilities,
    unpacked,
)
from evenhand.stats.calibration import calibration


def made_up(n=4000, slope=1.7, intercept=-0.6, seed=1, bend=0.0):
    """Margins, and truths drawn with probability expit(slope · m + bend · bent(m) + intercept)."""
    rng = stream(seed, "margins")
    margins = rng.normal(0.3, 2.0, n)
    p = expit(slope * margins + bend * bent(margins) + intercept)
    return margins, (rng.random(n) < p).astype(int)


def balanced(**options):
    fields = {
        "slope": 2.0, "intercept": -1.0, "base_rate": 0.5, "n": 10, "positives": 5,
        "corpus": "made up", "threshold": 0.5,
    }  # fmt: skip
    return Calibration(**{**fields, **options})


def test_a_probability_by_hand():
    # 2 · 0.5 - 1 = 0, whose logistic is one half; 2 · 1 - 1 = 1: 1 / (1 + 1/e).
    assert balanced().probability([0.5, 1.0]).tolist() == [0.5, 1 / (1 + math.exp(-1))]


def test_a_bend_by_hand():
    # 2 · 0.5 + 4 · 0.125 - 1 = 0.5; beyond 1 it is 3 · 2 - 2 = 4, and 2 · 2 + 4 · 4 - 1 = 19.
    expected = [1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(-19))]
    assert balanced(bend=4.0).probability([0.5, 2.0]) == pytest.approx(expected)


def test_the_bend_is_smooth_and_the_same_on_both_sides():
    at, step = np.array([-1.0, 1.0]), 1e-6
    assert bent(at).tolist() == [-1.0, 1.0]
    np.testing.assert_allclose((bent(at + step) - bent(at - step)) / (2 * step), 3.0, atol=1e-5)
    some = np.linspace(0, 5, 21)
    assert (bent(-some) == -bent(some)).all()


def test_another_base_rate_by_hand():
    # The odds 3 of .75 at one half are 3 · (.1 / .9) = 1/3 where one in ten is: 1/4.
    c = balanced()
    assert c.at_base_rate([0.75], 0.1) == pytest.approx([0.25])
    logit = math.log(0.75 / 0.25) + math.log(0.1 / 0.9) - math.log(0.5 / 0.5)
    assert c.at_base_rate([0.75], 0.1) == pytest.approx([expit(logit)])


def test_another_base_rate_keeps_0_and_1_and_comes_back():
    c, p = balanced(base_rate=0.2), np.linspace(0, 1, 11)
    assert c.at_base_rate([0.0, 1.0], 0.001).tolist() == [0.0, 1.0]
    there = balanced(base_rate=0.01).at_base_rate(c.at_base_rate(p, 0.01), 0.2)
    np.testing.assert_allclose(there, p, atol=1e-12)


def test_slope_and_intercept_are_found_again():
    found = fitted(*made_up(200_000), corpus="made up")
    assert found.slope == pytest.approx(1.7, abs=0.03)
    assert found.intercept == pytest.approx(-0.6, abs=0.03)
    assert (found.n, found.corpus) == (200_000, "made up")


def test_margins_that_say_less_around_0_have_a_bend():
    found = fitted(*made_up(200_000, slope=0.3, bend=0.2), corpus="made up")
    assert found.slope == pytest.approx(0.3, abs=0.03)
    assert found.bend == pytest.approx(0.2, abs=0.02)
    assert found.intercept == pytest.approx(-0.6, abs=0.03)
    some = np.linspace(-3, 3, 13)
    truth = expit(0.3 * some + 0.2 * bent(some) - 0.6)
    np.testing.assert_allclose(found.probability(some), truth, atol=0.01)


def test_the_threshold_is_a_probability_of_the_curve():
    margins, truth = made_up(20_000, slope=0.3, bend=0.2)
    found = fitted(margins, truth, corpus="made up")
    assert found.bend > 0 and found.threshold in found.probability(margins)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_line_is_a_line(weighted):
    # By chance a bend would lower the deviance so far once in a hundred, above 0 half of the time.
    # Weights that are large for all posts, or differ, make no bend likelier.
    bends = []
    for seed in range(60):
        weights = stream(seed, "weights").choice([1.0, 9.0], 2000) if weighted else None
        found = fitted(*made_up(2000, seed=seed), weights=weights, corpus="made up")
        bends.append(found.bend)
    assert sum(bend > 0 for bend in bends) <= 2


@pytest.mark.parametrize(("slope", "bend"), [(2.0, -0.4), (-0.3, 0.3)])
def test_neither_slope_nor_bend_is_below_0(slope, bend):
    # Steepest around 0: the likeliest bend is below 0. Or falling around 0, and rising further out.
    found = fitted(*made_up(20_000, slope=slope, bend=bend), corpus="made up")
    assert found.bend == 0
    assert (np.diff(found.probability(np.linspace(-9, 9, 50))) > 0).all()


def test_far_out_nothing_is_certain_and_the_order_stays():
    # Three positive posts far out, as a list of words gives: their scores stay apart and below 1.
    margins, truth = made_up(20_000, slope=0.3, bend=0.2)
    found = fitted(margins, truth, corpus="made up")
    far = found.probability([6.0, 9.0, 12.0])
    assert found.bend > 0 and far[0] < far[1] < far[2] < 1


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(weighted):
    margins, truth = made_up()
    weights = stream(2, "weights").random(len(truth)) * 3 if weighted else None
    theirs = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000)
    theirs.fit(margins[:, None], truth, sample_weight=weights)
    found = fitted(margins, truth, weights=weights, corpus="made up")
    assert found.slope == pytest.approx(theirs.coef_[0, 0], abs=1e-4)
    assert found.intercept == pytest.approx(theirs.intercept_[0], abs=1e-4)


def test_a_base_rate_gives_the_classes_that_share():
    # Of 4 posts 1 is yes. At one half it must count 4 · .5 / 1 = 2, and each no 4 · .5 / 3.
    margins, truth = [3.0, 1.0, -1.0, 2.5], [1, 0, 0, 0]
    asked = fitted(margins, truth, base_rate=0.5, corpus="a")
    by_hand = fitted(margins, truth, weights=[2, 2 / 3, 2 / 3, 2 / 3], corpus="a")
    assert (asked.slope, asked.intercept) == pytest.approx((by_hand.slope, by_hand.intercept))
    assert (asked.base_rate, by_hand.base_rate) == (0.5, pytest.approx(0.5))
    assert (asked.n, asked.positives) == (4, 1)


def test_the_mean_probability_is_the_base_rate():
    margins, truth = made_up()
    weights = 1 + 3 * truth
    found = fitted(margins, truth, weights=weights, corpus="a")
    mean = np.average(found.probability(margins), weights=weights)
    assert mean == pytest.approx(found.base_rate, abs=1e-9)
    assert found.base_rate == pytest.approx(weights @ truth / weights.sum())


def test_a_prior_shift_is_what_another_base_rate_asked_for_gives():
    # If classes are logistic in the margin, the base rate moves the intercept and nothing else.
    margins, truth = made_up(100_000)
    at_half, at_tenth = (fitted(margins, truth, base_rate=r, corpus="a") for r in (0.5, 0.1))
    some = np.linspace(-2, 2, 9)
    moved = at_half.at_base_rate(at_half.probability(some), 0.1)
    np.testing.assert_allclose(moved, at_tenth.probability(some), atol=0.01)


def test_the_order_of_rows_changes_no_bit():
    margins, truth = made_up(500)
    weights = stream(3, "weights").random(500)
    order = stream(4, "order").permutation(500)
    first = fitted(margins, truth, weights=weights, base_rate=0.3, corpus="a")
    other = (margins[order], truth[order])
    assert fitted(*other, weights=weights[order], base_rate=0.3, corpus="a") == first


def test_a_weight_of_two_is_a_row_twice_and_of_none_no_row():
    margins, truth = made_up(300)
    times = np.arange(300) % 3
    heavy = fitted(margins, truth, weights=times, corpus="a")
    often = fitted(np.repeat(margins, times), np.repeat(truth, times), corpus="a")
    for name in ("slope", "bend", "intercept", "base_rate", "threshold"):
        assert getattr(heavy, name) == pytest.approx(getattr(often, name), abs=1e-9), name
    assert (heavy.n, often.n) == (200, 300)


def test_the_calibration_error_falls():
    margins, truth = made_up(6000, slope=0.4, intercept=-2.0)
    found = fitted(margins[:3000], truth[:3000], corpus="a")
    errors = [
        next(f.value for f in calibration(truth[3000:], p, resamples=0)
             if f.measure == "calibration_error")
        for p in (expit(margins[3000:]), found.probability(margins[3000:]))
    ]  # fmt: skip
    assert errors[1] < 0.03 < 0.2 < errors[0]


def test_classes_told_apart_perfectly_have_a_finite_slope():
    found = fitted([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], corpus="a")
    assert 1 < found.slope < 100
    assert found.probability([-1.0])[0] < 0.05 < 0.95 < found.probability([1.0])[0]


def test_large_margins_are_no_trouble():
    found = fitted([-1e6, -5e5, 2e5, 1e6, -3e5], [0, 0, 0, 1, 1], corpus="a")
    assert np.isfinite(found.probability([-1e9, 1e9])).all()


def test_the_threshold_is_one_half_where_classes_are_balanced():
    margins, truth = made_up(300)
    assert fitted(margins, truth, base_rate=0.5, corpus="a").threshold == 0.5


def test_the_threshold_is_elsewhere_that_of_the_best_f1():
    # In order of margin yes, yes, no, yes, no. F1 when 1, 2 … 5 are flagged: 2·1 / (1 + 3),
    # 4 / (2 + 3), 4 / (3 + 3), 6 / (4 + 3), 6 / (5 + 3): the best, 6/7, flags the margin of 1.
    margins, truth = [5.0, 4.0, 3.0, 1.0, 0.0], [1, 1, 0, 1, 0]
    found = fitted(margins, truth, corpus="a")
    assert found.threshold == found.probability([1.0])[0]


def test_weights_move_the_threshold():
    # The first no counts 5: flagging two yes gives 4 / (2 + 3), flagging on 6 / (3 + 5 + 3).
    margins, truth = [5.0, 4.0, 3.0, 1.0, 0.0], [1, 1, 0, 1, 0]
    found = fitted(margins, truth, weights=[1, 1, 5, 1, 1], corpus="a")
    assert found.threshold == found.probability([4.0])[0]


@pytest.mark.parametrize("perspective", [None, ((0.1, 0.05), (0.7, 1 / 3))])
def test_comes_back_from_json(perspective):
    c = balanced(slope=1 / 3, bend=0.1, perspective=perspective)
    assert Calibration.from_json(json.loads(json.dumps(c.to_json()))) == c
    assert unpacked(packed({"HATE": c, "THREAT": balanced()})) == {"HATE": c, "THREAT": balanced()}


def test_no_calibrations_come_back_too():
    assert unpacked(packed({})) == {}


def test_a_map_is_followed_on_straight_lines_and_ends_flat():
    # Halfway from .2 to .6 is halfway from .1 to .5.
    c = balanced(perspective=((0.2, 0.1), (0.6, 0.5)))
    assert c.perspective_like([0.0, 0.4, 1.0]) == pytest.approx([0.1, 0.3, 0.5])


def test_without_a_map_there_is_no_perspective_like_score():
    with pytest.raises(BadInput, match="no published scores .* use the probability"):
        balanced().perspective_like([0.5])


def test_an_attribute_that_was_not_calibrated_has_the_logistic():
    margins = np.array([[0.5, 0.5], [1.0, 1.0]])
    p = probabilities(margins, ("HATE", "THREAT"), {"HATE": balanced()})
    assert p[:, 0].tolist() == balanced().probability([0.5, 1.0]).tolist()
    assert p[:, 1].tolist() == expit([0.5, 1.0]).tolist()


@pytest.mark.parametrize(
    ("truth", "options", "error", "message"),
    [
        ([1, 1, 1], {}, NotEnoughData, "3 posts and all of them .* both kinds"),
        ([0, 0, 0], {}, NotEnoughData, "3 posts and none of them"),
        ([0, 0, 1], {"weights": [1, 1, 0]}, NotEnoughData, "2 posts and none"),
        ([1, 0, 0], {}, BadInput, "do not have higher margins"),
        ([0, 0, 1], {"base_rate": 1.0}, BadInput, "between 0 and 1"),
        ([0, 0, 1], {"weights": [1, -1, 1]}, BadInput, "weights are negative"),
        ([0, 2, 1], {}, BadInput, "0 or 1"),
        ([0, 1], {}, BadInput, "3 margins, 2 truths"),
    ],
)
def test_refused_in_words(truth, options, error, message):
    with pytest.raises(error, match=message):
        fitted([-1.0, 0.0, 1.0], truth, corpus="a", **options)


def test_margins_that_are_no_numbers_are_refused():
    with pytest.raises(BadInput, match="margins must be numbers"):
        fitted([0.0, math.nan], [0, 1], corpus="a")


def test_the_number_of_threads_changes_nothing():
    rng = stream(0, "threads")
    margins = rng.normal(size=20_001)
    truth = rng.random(20_001) < expit(margins)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(fitted(margins, truth, corpus="a"))
    assert found[0] == found[1]
