import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import precision_score, recall_score

from evenhand.core.errors import BadInput
from evenhand.stats._points import Point
from evenhand.stats._ranking import rank
from evenhand.stats.operating import operating
from factories import finding, value

TRUTH, SCORE = [1, 0, 1, 0], [0.9, 0.8, 0.6, 0.1]
MEASURES = ("precision", "recall", "flagged_share")


def threshold_for_share(p, share, weights=None):
    found = operating(
        np.zeros(len(p)), p, thresholds=(), shares=(share,), weights=weights, resamples=0
    )
    return next(f.value for f in found if f.measure == "threshold")


def rows(seed, n=300, ties=False):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(int)
    p = np.clip(rng.normal(0.4 + 0.25 * truth, 0.2), 0, 1)
    return truth, np.round(p, 1) if ties else p, rng.exponential(size=n) + 0.1


def line(found, at, **group):
    return [value(found, measure, at=at, **group) for measure in MEASURES]


def test_thresholds_by_hand():
    found = operating(TRUTH, SCORE, resamples=10)
    # .5 flags three of four, two of them positive; .7 two, one positive; .9 the first alone.
    assert line(found, "0.5") == pytest.approx([2 / 3, 1, 3 / 4])
    assert line(found, "0.7") == pytest.approx([1 / 2, 1 / 2, 1 / 2])
    assert line(found, "0.9") == pytest.approx([1, 1 / 2, 1 / 4])
    assert [finding(found, m, at="0.5").n for m in MEASURES] == [3, 2, 4]
    assert value(found, "threshold", at="0.7") == 0.7


def test_a_share_by_hand():
    # Half of four: the two highest, down to .8. A quarter: the first. Of .6 · 4 = 2.4 two.
    found = operating(TRUTH, SCORE, thresholds=(), shares=(0.5, 0.25, 0.6), resamples=10)
    assert line(found, "50 % flagged") == pytest.approx([1 / 2, 1 / 2, 1 / 2])
    assert value(found, "threshold", at="50 % flagged") == 0.8
    assert line(found, "25 % flagged") == pytest.approx([1, 1 / 2, 1 / 4])
    assert value(found, "threshold", at="60 % flagged") == 0.8


def test_a_base_rate_by_hand():
    # At .7: recall 1/2, false-positive rate 1/2. One in five positive: .1 of all are hits and .4
    # false alarms: precision .1 / .5, recall as it was.
    found = operating(TRUTH, SCORE, base_rate=0.2, resamples=10)
    assert line(found, "0.7") == pytest.approx([0.2, 0.5, 0.5])
    # At .5: recall 1, false-positive rate 1/2: .2 and .4.
    assert line(found, "0.5") == pytest.approx([1 / 3, 1, 0.6])
    assert "base rate of 20 %" in finding(found, "precision", at="0.5").method


def test_the_share_is_that_of_the_site_with_the_base_rate():
    # One in five positive: each positive post stands for .1 of all, each negative for .4. The
    # first flags .1, the second adds .4.
    found = operating(TRUTH, SCORE, thresholds=(), shares=(0.3, 0.5), base_rate=0.2, resamples=10)
    assert value(found, "threshold", at="30 % flagged") == 0.9
    assert line(found, "50 % flagged") == pytest.approx([0.2, 0.5, 0.5])


def test_the_base_rate_that_is_there_changes_nothing():
    truth, p, w = rows(0)
    rate = float(w @ truth / w.sum())
    plain = operating(truth, p, weights=w, shares=(0.1,), resamples=0)
    again = operating(truth, p, weights=w, shares=(0.1,), base_rate=rate, resamples=0)
    assert [f.value for f in again] == pytest.approx([f.value for f in plain])


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
def test_recall_does_not_depend_on_the_base_rate(rate):
    truth, p, w = rows(1)
    plain, other = (operating(truth, p, weights=w, base_rate=b, resamples=0) for b in (None, rate))
    for at in ("0.5", "0.7", "0.9"):
        assert value(other, "recall", at=at) == pytest.approx(value(plain, "recall", at=at))


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_scikit_learn(seed):
    truth, p, w = rows(seed, ties=True)
    found = operating(truth, p, weights=w, thresholds=(0.3, 0.5, 0.7), resamples=0)
    for at in (0.3, 0.5, 0.7):
        said = p >= at
        expected = [
            precision_score(truth, said, sample_weight=w),
            recall_score(truth, said, sample_weight=w),
            w[said].sum() / w.sum(),
        ]
        assert line(found, f"{at}") == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5, 1.0])
def test_a_base_rate_equals_weights_by_class(share):
    truth, p, _ = rows(2)
    # Positive posts weighted so that they make 5 %.
    w = np.where(truth == 1, 0.05 / truth.sum(), 0.95 / (1 - truth).sum())
    one = operating(truth, p, weights=w, shares=(share,), resamples=0)
    two = operating(truth, p, base_rate=0.05, shares=(share,), resamples=0)
    assert [f.value for f in one] == pytest.approx([f.value for f in two])
    assert [f.n_effective for f in one] == pytest.approx([f.n_effective for f in two])


def test_posts_with_the_same_score_are_flagged_together():
    p = [0.9, 0.8, 0.8, 0.1]
    # At most half: the two at .8 would make three of four, so the first alone.
    assert threshold_for_share(p, 0.5) == 0.9
    assert threshold_for_share(p, 0.75) == 0.8
    assert threshold_for_share(p, 0.74) == 0.9
    assert threshold_for_share(p, 1) == 0.1
    # The highest score alone is more than a fifth.
    assert threshold_for_share(p, 0.2) is None
    assert threshold_for_share([0.3] * 5, 0.99) is None
    assert threshold_for_share([], 0.5) is None


def test_a_share_that_no_threshold_flags_says_why():
    found = operating([1, 0, 1], [0.9, 0.9, 0.1], thresholds=(), shares=(0.5,), resamples=10)
    assert {f.value for f in found} == {None}
    assert {f.why for f in found} == {
        "more posts than that have the highest score, and are flagged together"
    }


def test_weights_count_in_a_share():
    # Of a weight of 6 the first post is half.
    assert threshold_for_share([0.9, 0.8, 0.7, 0.1], 0.5, [3, 1, 1, 1]) == 0.9
    assert threshold_for_share([0.9, 0.8, 0.7, 0.1], 0.49, [3, 1, 1, 1]) is None
    # A post without weight neither counts nor is a threshold.
    assert threshold_for_share([0.9, 0.8, 0.1], 0.5, [1, 0, 1]) == 0.9


@pytest.mark.parametrize(
    ("flagged", "place"),
    [
        ([0.2, 0.2, 0.7, 1], 0),  # the second score was not drawn: it flags no more than the first
        ([0, 0.2, 0.7, 1], 1),
        ([0, 0, 0.7, 1], -1),  # the first that was drawn flags too many
        ([0.7, 0.7, 0.7, 1], -1),
    ],
    ids=["second", "first", "both", "tied"],
)
def test_scores_that_a_resample_leaves_out_are_no_thresholds(flagged, place):
    ranked = rank([1, 0, 1, 0], [0.9, 0.8, 0.6, 0.1])
    assert Point(0.5, is_share=True).place(ranked, np.array(flagged)) == place


def test_thirds_are_not_lost_to_rounding():
    for n in range(3, 40):
        p = np.linspace(0.01, 0.99, n)
        for k in range(1, n):
            assert (p >= threshold_for_share(p, k / n)).sum() == k


def test_nothing_flagged_has_no_precision():
    found = operating([1] * 6 + [0] * 6, [0.2] * 12, thresholds=(0.5,), resamples=30)
    none = finding(found, "precision", at="0.5")
    assert (none.value, none.n, none.why) == (None, 0, "nothing is flagged")
    assert line(found, "0.5")[1:] == [0, 0]


def test_without_positives_there_is_no_recall():
    found = operating([0] * 12, [0.9] * 6 + [0.1] * 6, thresholds=(0.5,), resamples=30)
    assert finding(found, "recall", at="0.5").why == "no positive posts"
    assert value(found, "precision", at="0.5") == 0
    assert value(found, "flagged_share", at="0.5") == 0.5


@pytest.mark.parametrize(
    ("truth", "missing"), [(0, "positive"), (1, "negative")], ids=["negatives", "positives"]
)
def test_a_base_rate_needs_both_classes(truth, missing):
    found = operating([truth] * 4, SCORE, thresholds=(0.5,), shares=(0.5,), base_rate=0.1)
    why = f"no {missing} posts: they cannot be weighted to a base rate"
    for at in ("0.5", "50 % flagged"):
        assert finding(found, "precision", at=at).why == why
        assert finding(found, "flagged_share", at=at).why == why
    recall = finding(found, "recall", at="0.5")
    assert recall.why == "no positive posts" if truth == 0 else recall.value == 3 / 4


def test_a_detector_that_gives_classes_has_one_threshold():
    found = operating([1, 0, 1, 0], [1, 1, 0, 0], shares=(0.1,), classes_only=True, resamples=10)
    assert line(found, "0.5") == [0.5, 0.5, 0.5]
    for at in ("0.7", "0.9", "10 % flagged"):
        for measure in MEASURES:
            none = finding(found, measure, at=at)
            assert none.value is None
            assert "classes only" in none.why
    with pytest.raises(BadInput, match="expected 0 or 1"):
        operating([1, 0], [0.5, 1], classes_only=True)


def test_intervals_are_near_the_normal_ones():
    # 1,000 posts, half flagged, of these 300 positive: precision .6 ± 1.96 · √(.24 / 500) = ± .043;
    # flagged share .5 ± .031.
    truth = np.array([1] * 300 + [0] * 200 + [0] * 500)
    p = np.array([0.8] * 500 + [0.2] * 500)
    found = operating(truth, p, thresholds=(0.5,), resamples=2000)
    precision, share = (finding(found, m, at="0.5") for m in ("precision", "flagged_share"))
    assert (precision.low, precision.high) == pytest.approx((0.557, 0.643), abs=0.005)
    assert (share.low, share.high) == pytest.approx((0.469, 0.531), abs=0.004)
    assert (precision.level, precision.unit) == (0.95, "posts")


def test_the_interval_with_a_base_rate_holds_the_true_precision():
    # Positives ~ flagged with .8, negatives with .1; one in twenty positive: .04 / (.04 + .095).
    true, held = 0.04 / 0.135, 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        truth = np.repeat([1, 0], 150)
        p = np.where(rng.random(300) < np.where(truth == 1, 0.8, 0.1), 0.9, 0.1)
        found = operating(truth, p, thresholds=(0.5,), base_rate=0.05, seed=seed, resamples=150)
        precision = finding(found, "precision", at="0.5")
        held += precision.low <= true <= precision.high
    # Binomial(80, .95) is below 68 in one case of a thousand.
    assert held >= stats.binom.ppf(0.001, 80, 0.95)


def test_all_alike_is_not_certain():
    # 20 flagged and all positive, 20 others all negative: Wilson's interval of 20 of 20 starts at
    # 1 − 3.84 / 23.84 = .839.
    truth, p = [1] * 20 + [0] * 20, [0.9] * 20 + [0.1] * 20
    found = operating(truth, p, thresholds=(0.5,), resamples=30)
    for measure in ("precision", "recall"):
        alike = finding(found, measure, at="0.5")
        assert (alike.value, alike.high) == (1, 1)
        assert alike.low == pytest.approx(0.839, abs=1e-3)
    # With one in a hundred positive: recall at least .839, false-positive rate at most .161, so
    # precision at least .00839 / (.00839 + .99 · .161) = .05.
    rare = operating(truth, p, thresholds=(0.5,), base_rate=0.01, resamples=30)
    precision = finding(rare, "precision", at="0.5")
    assert (precision.value, precision.high) == (1, 1)
    assert precision.low == pytest.approx(0.05, abs=1e-3)


def test_nothing_flagged_is_not_certain():
    # None of 40 flagged: at most 3.84 / 43.84 = .088. With a base rate of 1/2, 20 of each class:
    # half of 3.84 / 23.84 twice.
    truth, p = [1] * 20 + [0] * 20, [0.1] * 40
    plain, half = (
        finding(operating(truth, p, base_rate=b, resamples=20), "flagged_share", at="0.5")
        for b in (None, 0.5)
    )
    assert (plain.value, plain.low) == (0, 0)
    assert plain.high == pytest.approx(0.0876, abs=1e-3)
    assert half.high == pytest.approx(0.161, abs=1e-3)


def test_a_share_is_found_anew_in_every_resample():
    truth, p, _ = rows(3, n=1000)
    found = operating(truth, p, thresholds=(), shares=(0.1,), resamples=200)
    share = finding(found, "flagged_share", at="10 % flagged")
    # With one fixed threshold it would vary by ± 1.96 · √(.09 / 1000) = ± .019.
    assert share.high - share.low < 0.005
    assert share.high <= 0.1 + 1e-9
    threshold = finding(found, "threshold", at="10 % flagged")
    assert threshold.low < threshold.value < threshold.high


def test_clusters_make_intervals_wider():
    truth, p, _ = rows(4, n=200)
    truth, p, authors = np.tile(truth, 9), np.tile(p, 9), np.tile(np.arange(200), 9)
    alone, tied = (
        finding(operating(truth, p, clusters=c, unit=u, resamples=150), "recall", at="0.5")
        for c, u in ((None, None), (authors, "authors"))
    )
    assert tied.high - tied.low > 2 * (alone.high - alone.low)  # √9 = 3
    assert tied.unit == "authors"


def test_few_posts_and_given_thresholds_have_no_interval():
    found = operating(TRUTH, SCORE, resamples=10)
    assert finding(found, "precision", at="0.5").why == "no interval: 4 posts, fewer than 10"
    assert finding(found, "threshold", at="0.5").why == "no interval: given"


def test_resamples_stay_inside_strata():
    # Strata of flagged and of other posts: the flagged share cannot move. Precision can, as before.
    truth = np.array([1] * 60 + [0] * 40 + [0] * 100)
    p = np.array([0.8] * 100 + [0.2] * 100)
    free, held = (
        operating(truth, p, thresholds=(0.5,), strata=s, resamples=400) for s in (None, p)
    )
    share = finding(held, "flagged_share", at="0.5")
    assert (share.low, share.high) == pytest.approx((0.5, 0.5))
    assert "over posts within strata (Rao–Wu)" in share.method
    # .6 ± 1.96 · √(.24 / 100) = ± .096
    for found in (free, held):
        precision = finding(found, "precision", at="0.5")
        assert (precision.low, precision.high) == pytest.approx((0.504, 0.696), abs=0.02)


def test_thresholds_that_print_alike_have_names_of_their_own():
    close = (0.5, 0.5000001, 0.1)
    found = operating(TRUTH, SCORE, thresholds=close, shares=(0.5, 0.50000001), resamples=10)
    names = [str(f.group["at"]) for f in found if f.measure == "threshold"]
    # The seventh and eighth digit tell them apart; the others stay as short as they are.
    assert names == ["0.5", "0.5000001", "0.1", "50 % flagged", "50.000001 % flagged"]
    assert [value(found, "threshold", at=name) for name in names[:3]] == list(close)
    nothing = operating([], [], thresholds=close)
    assert len({(f.measure, f.group["at"]) for f in nothing}) == 12


def test_neighbouring_floats_have_names_of_their_own():
    close = (0.3, float(np.nextafter(0.3, 1)))
    found = operating(TRUTH, SCORE, thresholds=close, resamples=10)
    assert len({f.group["at"] for f in found}) == 2


def test_the_order_of_rows_changes_nothing():
    truth, p, w = rows(5, ties=True)
    authors = np.array([f"a{n % 31}" for n in range(300)])
    turned = np.random.default_rng(1).permutation(300)
    options = {"shares": (0.2,), "base_rate": 0.1, "resamples": 30, "group": {"corpus": "c"}}
    one = operating(truth, p, weights=w, clusters=authors, **options)
    two = operating(
        truth[turned], p[turned], weights=w[turned], clusters=authors[turned], **options
    )
    for a, b in zip(one, two, strict=True):
        assert (a.measure, a.group, a.n, a.why) == (b.measure, b.group, b.n, b.why)
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-12)


def test_no_posts_no_figures():
    found = operating([], [], shares=(0.1,))
    assert len(found) == 16
    assert {(f.value, f.why) for f in found} == {(None, "no posts")}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"base_rate": 0}, "base rate: is 0"),
        ({"base_rate": float("nan")}, "base rate: is nan"),
        ({"thresholds": (1.5,)}, "threshold: is 1.5"),
        ({"thresholds": (float("nan"),)}, "threshold: is nan"),
        ({"shares": (0,)}, "share: is 0"),
        ({"shares": (2,)}, "share: is 2"),
        ({"weights": [1, 1, 1, -1]}, "weights: 1 of 4"),
        ({"clusters": ["a"]}, "clusters: 1 for 4"),
        ({"strata": ["a"]}, "strata: 1 for 4"),
        ({"strata": ["a", "b", "b", "b"]}, "strata: 1 of 2 have one unit"),
        ({"thresholds": (0.5, 0.7, 0.5)}, "threshold: 0.5 is there 2 times"),
        ({"shares": (0.1, 0.1)}, "share: 0.1 is there 2 times"),
    ],
)
def test_wrong_input_is_refused(options, match):
    with pytest.raises(BadInput, match=match):
        operating(TRUTH, SCORE, **options)
