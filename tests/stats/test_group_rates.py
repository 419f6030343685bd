import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_ratio,
    equalized_odds_ratio,
    false_negative_rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from scipy import stats
from sklearn.metrics import accuracy_score, precision_score

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.stats.group_rates import COMPARABLE, group_rates
from factories import finding, value

# Group a: negatives 1 of 2 flagged, positives 2 of 2; b: 0 of 2 and 1 of 2.
TRUTH = [0, 0, 1, 1, 0, 0, 1, 1]
FLAGGED = [1, 0, 1, 1, 0, 0, 1, 0]
GROUPS = ["a"] * 4 + ["b"] * 4
FRAMES = ["x", "y", "z", "w"] * 2

RATES = ("accuracy", "precision", "recall", "fpr", "fnr", "selection_rate")
GAPS = ("recall_gap", "fpr_gap", "selection_gap")
RATIOS = ("demographic_parity_ratio", "equalized_odds_ratio")
P_VALUES = ("recall_gap_p", "fpr_gap_p")


def measured(truth, flagged, groups, frames=None, **options):
    frames = frames or [str(n) for n in range(len(truth))]
    defaults = {"clusters": frames, "frames": frames, "unit": "templates", "seed": 0}
    return group_rates(truth, flagged, groups, **{**defaults, "resamples": 60, **options})


def test_rates_by_hand():
    found = measured(TRUTH, FLAGGED, GROUPS, FRAMES)
    a = {rate: finding(found, rate, identity="a") for rate in RATES}
    b = {rate: finding(found, rate, identity="b") for rate in RATES}
    # a: 3 of 4 right, 2 of 3 flagged are positive, 2 of 2 found, 1 of 2, 0 of 2, 3 of 4 flagged.
    assert [f.value for f in a.values()] == pytest.approx([3 / 4, 2 / 3, 1, 1 / 2, 0, 3 / 4])
    assert [f.n for f in a.values()] == [4, 3, 2, 2, 2, 4]
    # b: 3 of 4, 1 of 1, 1 of 2, 0 of 2, 1 of 2, 1 of 4.
    assert [f.value for f in b.values()] == pytest.approx([3 / 4, 1, 1 / 2, 0, 1 / 2, 1 / 4])
    assert [f.n for f in b.values()] == [4, 1, 2, 2, 2, 4]


def test_gaps_and_ratios_by_hand():
    found = measured(TRUTH, FLAGGED, GROUPS, FRAMES)
    # Recall 1 and 1/2; FPR 1/2 and 0; selection 3/4 and 1/4.
    assert [value(found, gap) for gap in GAPS] == pytest.approx([1 / 2, 1 / 2, 1 / 2])
    assert [finding(found, gap).n for gap in GAPS] == [4, 4, 8]
    # (1/4) / (3/4); the smaller of (1/2) / 1 and 0 / (1/2).
    assert [value(found, ratio) for ratio in RATIOS] == pytest.approx([1 / 3, 0])
    told = finding(found, "recall_gap").method
    assert told.startswith("highest recall 1.000 (a); lowest recall 0.500 (b)")


def test_permutations_by_hand():
    # Each frame has a post of either group. Positive frames: z both flagged, w only a's: whoever
    # is dealt it, recall is 1 and 1/2. Negative frames: x only a's, y none: FPR 1/2 and 0. So every
    # permutation has both gaps at 1/2, and p is 1. Selection: of x and w either both go to one
    # group (3 of 4 and 1 of 4) or not (2 and 2): a gap of 1/2 or 0, a ratio of 1/3 or 1.
    found = measured(TRUTH, FLAGGED, GROUPS, FRAMES, resamples=2000)
    assert [value(found, p, **COMPARABLE) for p in P_VALUES] == [1, 1]
    assert value(found, "recall_gap_shuffled") == value(found, "fpr_gap_shuffled") == 0.5
    assert value(found, "selection_gap_shuffled") == pytest.approx(1 / 4, abs=0.03)
    ratio = finding(found, "demographic_parity_ratio_shuffled")
    assert ratio.value == pytest.approx(2 / 3, abs=0.04)
    assert (ratio.low, ratio.high) == pytest.approx((1 / 3, 1))
    assert value(found, "equalized_odds_ratio_shuffled") == 0


def test_a_p_value_by_hand():
    # Five frames, a's post always found and b's never: recall 1 and 0. Permuted, the gap is 1 only
    # where all five fall on one side: 2 of 32.
    frames = [f"f{n}" for n in range(5)] * 2
    found = measured([1] * 10, [1] * 5 + [0] * 5, ["a"] * 5 + ["b"] * 5, frames, resamples=4000)
    assert value(found, "recall_gap_p", **COMPARABLE) == pytest.approx(2 / 32, abs=0.015)


def made(seed, *, uneven=0.0, templates=20, frames=3, groups=5):
    """A suite: every frame with every group; the first group is flagged less by ``uneven``."""
    rng = np.random.default_rng(seed)
    template, frame, group = (x.ravel() for x in np.indices((templates, frames, groups)))
    chance = rng.random((templates, frames))[template, frame] * (1 - uneven * (group == 0))
    flagged = (rng.random(len(frame)) < chance).astype(int)
    return {
        "truth": (frame > 0).astype(int),
        "flagged": flagged,
        "groups": [f"g{n}" for n in group],
        "clusters": [f"t{n}" for n in template],
        "frames": [f"t{n}/{m}" for n, m in zip(template, frame, strict=True)],
        "unit": "templates",
        "seed": seed,
    }


def test_a_detector_that_does_not_see_groups_is_rarely_called_uneven():
    runs = 300
    ps = np.array(
        [
            [value(found, p, **COMPARABLE) for p in P_VALUES]
            for found in (group_rates(**made(seed), resamples=99) for seed in range(runs))
        ]
    )
    # p ≤ .05 has a chance of at most .05: Binomial(300, .05) is above 28 in one case of a thousand.
    bound = stats.binom.ppf(0.999, runs, 0.05)
    assert bound == 28
    assert ((ps <= 0.05).sum(axis=0) <= bound).all()


def test_lower_bounds_of_gaps_are_above_0_for_few_detectors_that_do_not_see_groups():
    runs = 150
    lows = np.array(
        [
            [finding(found, gap).low for gap in GAPS]
            for found in (group_rates(**made(seed), resamples=200) for seed in range(runs))
        ]
    )
    # Binomial(150, .05) is above 16 in one case of a thousand.
    assert ((lows > 0).sum(axis=0) <= stats.binom.ppf(0.999, runs, 0.05)).all()


def test_unevenness_that_is_there_is_found():
    case = made(1, uneven=0.5, templates=60)
    found = group_rates(**case, resamples=400)
    # The first group's chances are halved: mean recall .5 against .25, and the same for FPR.
    gap = finding(found, "recall_gap")
    assert gap.low < 0.25 < gap.high
    assert gap.low > 0
    assert "lowest recall" in gap.method
    assert "(g0)" in gap.method
    assert value(found, "recall_gap_p", **COMPARABLE) == 1 / 401
    assert value(found, "recall_gap_shuffled") < gap.low


@pytest.mark.parametrize("seed", range(4))
def test_equal_to_fairlearn(seed):
    rng = np.random.default_rng(seed)
    n = 300
    truth, flagged = rng.integers(2, size=(2, n))
    groups = [f"g{k}" for k in rng.integers(6, size=n)]
    found = measured(truth, flagged, groups, ["x"] * n, resamples=10)
    theirs = MetricFrame(
        metrics={
            "accuracy": accuracy_score,
            "precision": precision_score,
            "recall": true_positive_rate,
            "fpr": false_positive_rate,
            "fnr": false_negative_rate,
            "selection_rate": selection_rate,
        },
        y_true=truth,
        y_pred=flagged,
        sensitive_features=groups,
    )
    for rate in RATES:
        for group, expected in theirs.by_group[rate].items():
            assert value(found, rate, identity=group) == pytest.approx(expected, abs=1e-12)
    for gap, rate in zip(GAPS, ("recall", "fpr", "selection_rate"), strict=True):
        assert value(found, gap) == pytest.approx(theirs.difference()[rate], abs=1e-12)
    dpr = demographic_parity_ratio(truth, flagged, sensitive_features=groups)
    eor = equalized_odds_ratio(truth, flagged, sensitive_features=groups)
    assert [value(found, ratio) for ratio in RATIOS] == pytest.approx([dpr, eor], abs=1e-12)


def test_a_group_without_negatives_is_null_where_fairlearn_says_0():
    truth, flagged, groups = [0, 0, 1, 0, 0, 1, 1, 1], [1, 0, 1, 1, 1, 0, 1, 1], list("aaabbbcc")
    theirs = MetricFrame(
        metrics=false_positive_rate, y_true=truth, y_pred=flagged, sensitive_features=groups
    )
    assert theirs.by_group["c"] == 0
    assert theirs.difference() == 1  # of b's 1 and c's made-up 0
    found = measured(truth, flagged, groups, ["x"] * 8)
    missing = finding(found, "fpr", identity="c")
    assert (missing.value, missing.n, missing.why) == (None, 0, "no negative posts of c")
    gap = finding(found, "fpr_gap")
    assert gap.value == 0.5  # of b's 1 and a's 1/2
    assert gap.n == 4
    assert "without c" in gap.method
    odds = finding(found, "equalized_odds_ratio")
    assert (odds.value, odds.why) == (None, "no negative posts of c")
    assert finding(found, "equalized_odds_ratio_shuffled").why == "no negative posts of c"


def test_a_group_without_positives_or_flags_says_so():
    found = measured([0, 0, 1, 1], [0, 0, 1, 0], list("aabb"))
    assert finding(found, "recall", identity="a").why == "no positive posts of a"
    assert finding(found, "fnr", identity="a").why == "no positive posts of a"
    assert finding(found, "precision", identity="a").why == "no flagged posts of a"
    assert finding(found, "recall_gap").why == "fewer than two groups have positive posts"
    assert (
        finding(found, "recall_gap_p", **COMPARABLE).why
        == "fewer than two groups have positive posts"
    )


def constant(said):
    case = made(0)
    return group_rates(**{**case, "flagged": [said] * len(case["truth"])}, resamples=40)


def test_always_flagging_has_both_ratios_at_1():
    found = constant(1)
    assert [value(found, name) for name in (*GAPS, *RATIOS)] == [0, 0, 0, 1, 1]
    shuffled = [value(found, f"{name}_shuffled") for name in (*GAPS, *RATIOS)]
    assert shuffled == [0, 0, 0, 1, 1]
    assert [value(found, p, **COMPARABLE) for p in P_VALUES] == [1, 1]


def test_never_flagging_has_neither_ratio():
    found = constant(0)
    assert [value(found, name) for name in GAPS] == [0, 0, 0]
    dpr, eor = (finding(found, ratio) for ratio in RATIOS)
    assert (dpr.value, dpr.why) == (None, "no posts are flagged")
    assert (eor.value, eor.why) == (None, "no positive posts are flagged")
    assert [value(found, p, **COMPARABLE) for p in P_VALUES] == [1, 1]


def test_all_alike_is_not_certain():
    # 20 templates, all flagged: Wilson's interval for 20 of 20 ends at 1 − 3.84 / 23.84 = .839.
    found = constant(1)
    assert finding(found, "recall", identity="g0").low == pytest.approx(0.839, abs=1e-3)
    assert finding(found, "recall_gap").high == pytest.approx(0.161, abs=1e-3)
    # (1 − .161) / (1 + .161)
    low = finding(found, "demographic_parity_ratio").low
    assert low == pytest.approx(0.839 / 1.161, abs=1e-3)


def test_posts_of_no_group_are_left_out_and_counted():
    found = measured([*TRUTH, 1, 0], [*FLAGGED, 0, 1], [*GROUPS, None, None], [*FRAMES, "z", "x"])
    count = finding(found, "ungrouped")
    assert (count.value, count.n) == (2, 10)
    assert found[1:] == measured(TRUTH, FLAGGED, GROUPS, FRAMES)[1:]


def test_a_frame_with_one_group_is_left_out():
    # a's own sentences are all flagged, b's never: nothing can be compared.
    truth, flagged, groups = [1] * 4, [1, 1, 0, 0], list("aabb")
    found = measured(truth, flagged, groups, ["x", "x", "y", "y"])
    why = "no frame has positive posts of two groups: nothing to compare"
    for measure in ("recall_gap", "recall_gap_shuffled", "recall_gap_p"):
        nothing = finding(found, measure, **COMPARABLE)
        assert (nothing.value, nothing.n, nothing.why) == (None, 0, why)
    assert [value(found, "recall", identity=name) for name in "ab"] == [1, 0]
    # With one more frame that both share, and where both are found, 2 of 6 posts are compared; the
    # rates of groups stay those of all posts.
    found = measured([1] * 6, [*flagged, 1, 1], [*groups, "a", "b"], list("xxyyzz"))
    gap = finding(found, "recall_gap", **COMPARABLE)
    assert (gap.value, gap.n) == (0, 2)
    assert "4 of 6 posts left out: their frame has one group only" in gap.method
    assert [value(found, "recall", identity=name) for name in "ab"] == pytest.approx([1, 1 / 3])


def test_posts_with_another_truth_are_not_exchangeable():
    # In one frame a's posts are negative and b's positive: permuting would give a positives.
    found = measured([0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 1, 0], list("aabbab"), list("xxxxyy"))
    for measure in ("recall_gap", "recall_gap_p"):
        assert (
            "no frame has positive posts of two groups" in finding(found, measure, **COMPARABLE).why
        )


def test_a_group_that_shares_no_frame_is_not_compared():
    # a and b share x (recall 1 and 0), z (FPR 0 and 1); c stands alone (recall 0, FPR 0).
    truth, said = [1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 0]
    found = measured(truth, said, list("ababcc"), list("xxzzyy"))
    gap = finding(found, "selection_gap", **COMPARABLE)
    assert (gap.value, gap.n) == (0, 4)  # 1 of 2 and 1 of 2
    assert "without c" in gap.method
    assert value(found, "selection_gap") == 1 / 2  # and c's 0 of 2
    # Ratios are those of all posts, as fairlearn has them.
    assert value(found, "demographic_parity_ratio") == value(found, "equalized_odds_ratio") == 0


def with_own_frames(seed, *, templates, own, less=0.0, blind=False):
    """Templates that all seven groups share, and as many posts of the first group in its own.

    The first group is found less often by ``less`` in shared frames; ``own`` is its recall in the
    others.
    """
    rng = np.random.default_rng(seed)
    template, frame, group = (x.ravel() for x in np.indices((templates, 3, 7)))
    easy = rng.random((templates, 3))[template, frame]
    chance = easy < 0.8 if blind else 0.8 - less * (group == 0)
    alone = np.arange(3 * templates)
    names = np.concatenate([template, templates + alone // 3])
    frames = np.concatenate([frame, alone % 3])
    flagged = np.concatenate([rng.random(len(group)) < chance, rng.random(len(alone)) < own])
    return {
        "truth": np.ones(len(names), dtype=int),
        "flagged": flagged.astype(int),
        "groups": [f"g{n}" for n in group] + ["g0"] * len(alone),
        "clusters": [f"t{n}" for n in names],
        "frames": [f"t{n}/{m}" for n, m in zip(names, frames, strict=True)],
        "unit": "templates",
        "seed": seed,
    }


@pytest.mark.parametrize("seed", range(3))
def test_hard_frames_of_one_group_make_no_gap_for_a_blind_detector(seed):
    # The decision is the frame's; slurs, which only the first group's frames have, are found less.
    case = with_own_frames(seed, templates=40, own=0.2, blind=True)
    found = group_rates(**case, resamples=200)
    assert value(found, "recall", identity="g0") < value(found, "recall", identity="g1") - 0.2
    gap = finding(found, "recall_gap", **COMPARABLE)
    # 40 templates without any difference: at most 3.84 / 43.84 = .088.
    assert (gap.value, gap.low, gap.n) == (0, 0, 840)
    assert gap.high == pytest.approx(0.0876, abs=1e-3)
    assert "120 of 960 posts left out" in gap.method
    assert value(found, "recall_gap_p", **COMPARABLE) == 1


@pytest.mark.parametrize("seed", range(3))
def test_easy_frames_of_one_group_mask_nothing(seed):
    # Recall .67 against .80 in shared frames, .93 in its own: .80 of all.
    case = with_own_frames(seed, templates=150, own=0.93, less=0.13)
    found = group_rates(**case, resamples=400)
    assert value(found, "recall", identity="g0") == pytest.approx(0.8, abs=0.04)
    gap = finding(found, "recall_gap", **COMPARABLE)
    assert "lowest recall" in gap.method
    assert "(g0)" in gap.method
    assert gap.low < 0.13 < gap.high
    assert value(found, "recall_gap_p", **COMPARABLE) <= 0.01


def test_one_group_has_nothing_to_be_compared_with():
    found = measured([0, 1], [0, 1], ["a", "a"])
    for measure in (*GAPS, *RATIOS):
        assert finding(found, measure).why == "one group only: nothing to compare"
    for measure in (*GAPS, *P_VALUES):
        why = finding(found, measure, **COMPARABLE).why
        assert why == "one group only: nothing to compare"


def test_few_clusters_have_no_interval():
    found = measured(TRUTH, FLAGGED, GROUPS, FRAMES)
    assert finding(found, "recall_gap").why == "no interval: 2 templates, fewer than 10"
    assert finding(found, "recall", identity="a").low is None
    assert finding(found, "equalized_odds_ratio").low is None


def test_a_group_in_few_clusters_gives_the_gap_no_interval():
    # Thirty templates, but the group c stands in three of them.
    case = made(0, templates=30, groups=3)
    late = np.array([int(name[1:]) for name in case["clusters"]]) >= 3
    groups = np.where(late & (np.array(case["groups"]) == "g2"), "g1", case["groups"])
    found = group_rates(**{**case, "groups": groups.tolist()}, resamples=50)
    assert finding(found, "recall_gap").why == "no interval: 3 templates, fewer than 10"


def test_the_key_and_the_group_are_added():
    found = measured(TRUTH, FLAGGED, GROUPS, FRAMES, key="dialect", group={"suite": "s"})
    assert value(found, "recall", suite="s", dialect="a") == 1
    assert value(found, "recall_gap", suite="s") == 0.5


def test_the_order_of_rows_changes_nothing():
    case = made(3, uneven=0.2)
    turned = np.random.default_rng(1).permutation(len(case["truth"]))
    other = case | {
        name: [case[name][n] for n in turned]
        for name in ("truth", "flagged", "groups", "clusters", "frames")
    }
    assert group_rates(**other, resamples=50) == group_rates(**case, resamples=50)


def test_other_names_for_groups_change_no_figure():
    case = made(4, uneven=0.2, templates=40)
    other = case | {"groups": [f"{9 - int(name[1:])}" for name in case["groups"]]}
    one, two = (group_rates(**each, resamples=300) for each in (case, other))
    for name in (*GAPS, *RATIOS):
        assert value(one, name) == pytest.approx(value(two, name), abs=1e-12)
        assert finding(one, name).high == pytest.approx(finding(two, name).high, abs=1e-12)
    assert value(one, "recall", identity="g0") == value(two, "recall", identity="9")
    assert value(one, "fpr_gap_p", **COMPARABLE) == pytest.approx(
        value(two, "fpr_gap_p", **COMPARABLE), abs=0.08
    )


def test_turning_truth_and_decisions_round_swaps_the_gaps():
    case = made(5)
    other = case | {"truth": 1 - case["truth"], "flagged": 1 - case["flagged"]}
    one, two = (group_rates(**each, resamples=20) for each in (case, other))
    # Recall of the others is 1 − FPR.
    assert value(one, "recall_gap") == pytest.approx(value(two, "fpr_gap"), abs=1e-12)
    assert value(one, "fpr_gap") == pytest.approx(value(two, "recall_gap"), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"flagged": [1]}, "8 truths, 1 decisions, 8 groups, 8 clusters and 8 frames"),
        ({"truth": [2] * 8}, "truth: expected 0 or 1"),
        ({"flagged": [[0] * 8, [1] * 8]}, "expected one of each"),
        ({"frames": [None, *FRAMES[1:]]}, "frames: missing in 1 rows"),
        ({"clusters": [*FRAMES[1:], None]}, "clusters: missing in 1 rows"),
    ],
    ids=["length", "truth", "runs", "frame", "cluster"],
)
def test_wrong_input_is_refused(change, match):
    case = {"truth": TRUTH, "flagged": FLAGGED, "groups": GROUPS, "clusters": FRAMES}
    with pytest.raises(BadInput, match=match):
        group_rates(**{**case, "frames": FRAMES, **change}, unit="templates", seed=0)


def test_no_group_at_all_is_said():
    with pytest.raises(NotEnoughData, match="none of 2 posts has a group"):
        measured([0, 1], [0, 1], [None, None])


def test_no_resamples_no_interval_no_permutations():
    found = group_rates(**made(0), resamples=0)
    assert finding(found, "recall_gap").why == "no interval: no resamples asked for"
    assert finding(found, "recall_gap_p", **COMPARABLE).why == "no permutations asked for"
