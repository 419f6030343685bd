import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from evenhand.core.errors import BadInput
from evenhand.stats.calibration import at_base_rate, calibration, reliability
from factories import finding, value

TRUTH, SCORE = [0, 0, 1, 1], [0.1, 0.3, 0.5, 0.9]


def calibration_error(truth, p, **options):
    return value(calibration(truth, p, resamples=0, **options), "calibration_error")


def brier(truth, p, **options):
    return value(calibration(truth, p, resamples=0, **options), "brier")


def rows(seed, n=400, bend=1.0, ties=False):
    """Scores, truths with chance score ** bend, weights."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 2, size=n)
    p = np.round(p, 1) if ties else p
    return (rng.random(n) < p**bend).astype(int), p, rng.exponential(size=n) + 0.1


def test_bins_by_hand():
    # Two bins of two: mean score .2 with none positive, .7 with both.
    low, high = reliability(TRUTH, SCORE, bins=2)
    assert (low.lowest, low.highest, low.n, low.share) == (0.1, 0.3, 2, 0)
    assert (high.lowest, high.highest, high.n, high.share) == (0.5, 0.9, 2, 1)
    assert (low.mean, high.mean) == pytest.approx((0.2, 0.7))
    # Half of the posts are .2 off, half .3.
    assert calibration_error(TRUTH, SCORE, bins=2) == pytest.approx(0.25)
    # (.01 + .09 + .25 + .01) / 4
    assert brier(TRUTH, SCORE) == pytest.approx(0.09)


def test_a_weight_is_as_many_posts():
    # The post at .9 counted three times: mean (.5 + 2.7) / 4 = .8, the bins are the same.
    [_, high] = reliability(TRUTH, SCORE, weights=[1, 1, 1, 3], bins=2)
    assert (high.mean, high.share, high.n) == (pytest.approx(0.8), 1, 2)
    assert high.n_effective == pytest.approx(4**2 / (1 + 9))
    # Of 6 the lower 2 are .2 off, the upper 4 .2.
    weighted = calibration_error(TRUTH, SCORE, weights=[1, 1, 1, 3], bins=2)
    assert weighted == pytest.approx(0.2)
    assert brier(TRUTH, SCORE, weights=[1, 1, 1, 3]) == pytest.approx(
        (0.01 + 0.09 + 0.25 + 0.03) / 6
    )


def test_the_interval_of_a_bin_is_wilsons():
    truth, p, _ = rows(0)
    expected = [
        stats.binomtest(round(b.share * b.n), b.n).proportion_ci(method="wilson")
        for b in reliability(truth, p)
    ]
    found = reliability(truth, p)
    assert [b.low for b in found] == pytest.approx([e.low for e in expected])
    assert [b.high for b in found] == pytest.approx([e.high for e in expected])


def test_posts_that_are_alike_count_as_one():
    # Four posts of one author and four of another: two units.
    [only] = reliability([1, 0] * 4, [0.5] * 8, clusters=["a"] * 4 + ["b"] * 4)
    assert (only.n, only.n_effective) == (8, 2)


@pytest.mark.parametrize("seed", range(3))
def test_bins_equal_those_of_scikit_learn(seed):
    truth, p, _ = rows(seed)
    share, mean = calibration_curve(truth, p, n_bins=10, strategy="quantile")
    found = reliability(truth, p)
    assert [b.n for b in found] == [40] * 10
    assert [b.share for b in found] == pytest.approx(share.tolist())
    assert [b.mean for b in found] == pytest.approx(mean.tolist())
    assert calibration_error(truth, p) == pytest.approx(np.abs(share - mean).mean())


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_brier_equals_scikit_learn(weighted):
    truth, p, w = rows(1)
    w = w if weighted else None
    assert brier(truth, p, weights=w) == pytest.approx(brier_score_loss(truth, p, sample_weight=w))


def test_posts_with_the_same_score_are_in_one_bin():
    # Ranks: .1 takes 1 to 6 (middle 3 of 8: the first of two bins), .2 one, .9 one.
    low, high = reliability([0, 0, 0, 0, 0, 1, 0, 1], [0.1] * 6 + [0.2, 0.9], bins=2)
    assert (low.n, high.n) == (6, 2)
    # With all at one score there is one bin.
    assert [b.n for b in reliability([0, 1, 1], [0.4] * 3)] == [3]
    # Middle of a large tie in the second half: both bins are there, of 2 and 6.
    low, high = reliability([0] * 8, [0.1, 0.2] + [0.3] * 6, bins=2)
    assert (low.n, high.n) == (2, 6)


def test_scores_that_differ_by_bin_only_cancel_inside_one():
    # One bin: mean score .5, share .5. Two bins: both .5 off.
    assert calibration_error([1, 0], [0.0, 1.0], bins=1) == 0
    assert calibration_error([1, 0], [0.0, 1.0], bins=2) == 1


def test_posts_without_weight_are_left_out():
    truth, p, w = rows(2)
    w[:100] = 0
    kept = reliability(truth[100:], p[100:], weights=w[100:])
    found = reliability(truth, p, weights=w)
    assert [b.n for b in found] == [b.n for b in kept] == [30] * 10
    assert [b.share for b in found] == pytest.approx([b.share for b in kept])


def test_odds_are_mapped_by_hand():
    # Odds 1 at .5 become 1/99 at .01; odds 99 become 1; the same rate changes nothing.
    assert at_base_rate([0.5, 0.99], 0.5, 0.01).tolist() == pytest.approx([0.01, 0.5])
    assert at_base_rate([0.0, 0.3, 1.0], 0.2, 0.2).tolist() == pytest.approx([0, 0.3, 1])
    assert at_base_rate([0.0, 1.0], 0.5, 0.01).tolist() == [0, 1]


def test_there_and_back_is_where_it_was():
    p = np.linspace(0, 1, 11)
    assert at_base_rate(at_base_rate(p, 0.4, 0.03), 0.03, 0.4) == pytest.approx(p)


def test_a_mapped_score_is_calibrated_where_positives_are_rarer():
    # Calibrated scores at 1/2; then only one positive in nine is kept: base rate 1/10.
    rng = np.random.default_rng(0)
    p = rng.random(60_000)
    truth = rng.random(60_000) < p
    kept = ~truth | (rng.random(60_000) < 1 / 9)
    truth, p = truth[kept], p[kept]
    assert calibration_error(truth, p) > 0.2
    assert calibration_error(truth, at_base_rate(p, 0.5, 0.1)) < 0.01


@pytest.mark.parametrize(
    ("p", "trained", "wanted", "match"),
    [
        ([0.5], 0, 0.1, "trained: base rate is 0"),
        ([0.5], 0.1, 1, "wanted: base rate is 1"),
        ([0.5], float("nan"), 0.1, "trained"),
        ([float("nan")], 0.5, 0.1, "outside"),
        ([1.5], 0.5, 0.1, "outside"),
    ],
)
def test_what_is_no_base_rate_or_score_is_refused(p, trained, wanted, match):
    with pytest.raises(BadInput, match=match):
        at_base_rate(p, trained, wanted)


def test_findings():
    truth, p, w = rows(3)
    found = calibration(truth, p, weights=w, group={"corpus": "c"}, resamples=100)
    error = finding(found, "calibration_error", corpus="c")
    assert error.value == pytest.approx(calibration_error(truth, p, weights=w))
    assert error.low <= error.value <= error.high
    assert error.n_effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert (error.weighted, error.n, error.unit) == (True, 400, "posts")
    assert value(found, "brier", corpus="c") == pytest.approx(brier(truth, p, weights=w))
    assert value(found, "base_rate", corpus="c") == pytest.approx(w @ truth / w.sum())
    for number, expected in enumerate(reliability(truth, p, weights=w), start=1):
        share = finding(found, "reliability", corpus="c", bin=number)
        assert (share.value, share.low, share.high) == (expected.share, expected.low, expected.high)
        assert value(found, "score_mean", corpus="c", bin=number) == expected.mean


def test_the_error_of_a_calibrated_detector_is_what_chance_gives():
    errors, chances, lows = [], [], []
    for seed in range(60):
        truth, p, _ = rows(seed, n=300)
        found = calibration(truth, p, seed=seed, resamples=60)
        errors.append(value(found, "calibration_error"))
        chances.append(value(found, "calibration_error_chance"))
        lows.append(finding(found, "calibration_error").low)
    # In each of 10 bins of 30 the share is off by N(0, p(1 − p) / 30): for p(1 − p) about .17 the
    # mean distance is √(2/π) · √(.17 / 30) = .06.
    assert np.mean(chances) == pytest.approx(0.06, abs=0.01)
    assert np.mean(errors) == pytest.approx(np.mean(chances), abs=0.006)
    # Lower ends above 0 in about 5 %; Binomial(60, .07) is above 12 in one case of a thousand.
    assert np.count_nonzero(lows) <= 12


def test_an_error_that_is_there_is_found():
    # Chances p² for scores p: mean of p − p² for Beta(1, 2), 1/3 − 1/6 = 1/6.
    truth, p, _ = rows(4, n=3000, bend=2.0)
    found = calibration(truth, p, resamples=200)
    error, chance = (finding(found, f"calibration_error{end}") for end in ("", "_chance"))
    assert error.low < 1 / 6 < error.high
    assert chance.low <= chance.value <= chance.high < error.low


def test_clusters_make_the_intervals_wider():
    truth, p, _ = rows(5, n=200)
    # Ten copies of every post by one author.
    truth, p, authors = np.tile(truth, 10), np.tile(p, 10), np.tile(np.arange(200), 10)
    alone, tied = (
        finding(calibration(truth, p, clusters=c, unit=u, resamples=100), "brier")
        for c, u in ((None, None), (authors, "authors"))
    )
    assert tied.high - tied.low > 2 * (alone.high - alone.low)  # √10 = 3.2
    assert tied.unit == "authors"
    assert tied.n_effective == pytest.approx(200)


def test_the_order_of_rows_changes_nothing():
    truth, p, w = rows(6, ties=True)
    authors = np.array([f"a{n % 37}" for n in range(400)])
    turned = np.random.default_rng(1).permutation(400)
    one = calibration(truth, p, weights=w, clusters=authors, resamples=30)
    two = calibration(
        truth[turned], p[turned], weights=w[turned], clusters=authors[turned], resamples=30
    )
    assert [f.measure for f in one] == [f.measure for f in two]
    for a, b in zip(one, two, strict=True):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-12)


def test_doubling_the_posts_or_the_weights_changes_no_value():
    truth, p, w = rows(7, ties=True)
    one = calibration_error(truth, p, weights=w)
    assert calibration_error(truth, p, weights=2 * w) == pytest.approx(one)
    twice = [np.tile(part, 2) for part in (truth, p, w)]
    assert calibration_error(*twice[:2], weights=twice[2]) == pytest.approx(one)


def test_turning_truth_and_score_round_changes_nothing():
    truth, p, _ = rows(8)
    assert calibration_error(1 - truth, 1 - p) == pytest.approx(calibration_error(truth, p))


def test_no_posts_no_figures():
    assert reliability([], []) == []
    assert calibration_error([], []) is brier([], []) is None
    assert {(f.value, f.why) for f in calibration([], [])} == {(None, "no posts")}


@pytest.mark.parametrize("truth", [0, 1], ids=["negatives", "positives"])
def test_one_class_has_all_figures_and_is_not_certain(truth):
    found = calibration([truth] * 20, [0.5] * 20, resamples=20)
    assert value(found, "calibration_error") == 0.5
    rate = finding(found, "base_rate")
    # Wilson's interval of 20 of 20 starts at 1 − 3.84 / 23.84 = .839.
    expected = (0.839, 1) if truth else (0, 0.161)
    assert (rate.value, rate.level) == (truth, 0.95)
    assert (rate.low, rate.high) == pytest.approx(expected, abs=1e-3)
    assert "Wilson" in rate.method
    assert finding(calibration([truth] * 9, [0.5] * 9), "base_rate").low is None


def test_one_class_counts_effective_units():
    # Weights 1 and 3 in turn: of 40 posts 80² / (20 + 180) = 32 count; 3.84 / 35.84 = .107.
    found = calibration([0] * 40, [0.5] * 40, weights=[1, 3] * 20, resamples=20)
    assert finding(found, "base_rate").high == pytest.approx(0.107, abs=1e-3)


def test_only_weights_are_called_weighted():
    truth, p, w = rows(10)
    for weights, told in ((None, "mean;"), (w, "weighted mean;")):
        found = calibration(truth, p, weights=weights, resamples=20)
        for measure in ("base_rate", "brier"):
            assert finding(found, measure).method.startswith(told)


def test_resamples_stay_inside_strata():
    # Two strata, of positives and of negatives: each resample has 100 of either, so that the base
    # rate cannot move; without strata it is .5 ± 1.96 · √(.25 / 200) = ± .069.
    truth, p = np.repeat([1, 0], 100), np.tile(np.linspace(0.01, 0.99, 100), 2)
    free, held = (
        finding(calibration(truth, p, strata=s, resamples=400), "base_rate") for s in (None, truth)
    )
    assert (free.low, free.high) == pytest.approx((0.431, 0.569), abs=0.012)
    assert (held.low, held.high) == pytest.approx((0.5, 0.5))
    assert "over posts within strata (Rao–Wu), 400 resamples" in held.method
    assert "strata" not in free.method


def test_strata_of_one_unit_are_refused():
    with pytest.raises(BadInput, match="strata: 1 of 2 have one unit"):
        calibration([0, 1, 1], [0.1, 0.2, 0.3], strata=["a", "b", "b"])
    with pytest.raises(BadInput, match="a cluster lies in two strata"):
        calibration([0, 1] * 2, SCORE, strata=list("aabb"), clusters=list("xyxy"))


def test_classes_are_no_probabilities():
    found = calibration([0, 1] * 10, [0, 1] * 10, classes_only=True, resamples=20)
    assert value(found, "base_rate") == 0.5
    for measure in ("calibration_error", "calibration_error_chance", "brier"):
        assert "classes only" in finding(found, measure).why
    assert len(found) == 4


def test_few_posts_or_no_resamples_have_no_interval():
    found = calibration(TRUTH, SCORE, resamples=20)
    assert finding(found, "calibration_error").why == "no interval: 4 posts, fewer than 10"
    truth, p, _ = rows(9)
    found = calibration(truth, p, resamples=0)
    assert finding(found, "brier").why == "no interval: no resamples asked for"
    assert finding(found, "calibration_error_chance").why == "no resamples asked for"


@pytest.mark.parametrize(
    ("case", "match"),
    [
        (([0, 1], [0.5, float("nan")], {}), "score: 1 of 2"),
        (([0, 2], [0.5, 0.5], {}), "truth: 1 of 2"),
        (([0, 1], [0.5, 0.5], {"bins": 0}), "bins: is 0"),
        (([0, 1], [0.5, 0.5], {"weights": [1, -1]}), "weights: 1 of 2"),
        (([0, 1], [0.5, 0.5], {"clusters": ["a"]}), "clusters: 1 for 2"),
        (([0, 1], [0.5, 0.5], {"strata": ["a"]}), "strata: 1 for 2"),
    ],
    ids=["score", "truth", "bins", "weights", "clusters", "strata"],
)
def test_wrong_input_is_refused(case, match):
    truth, p, options = case
    with pytest.raises(BadInput, match=match):
        calibration(truth, p, **options)
