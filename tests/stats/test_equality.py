from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import permutation_test

from evenhand.core.errors import BadInput
from evenhand.stats._error_rates import differences
from evenhand.stats.equality import (
    Decided,
    Difference,
    equality,
    false_negative_equality_difference,
    false_positive_equality_difference,
)
from factories import finding, value

# Group a: negatives 1 of 2 flagged, positives 0 of 2 missed; b: 0 of 2 flagged, 1 of 2 missed.
TRUTH = [0, 0, 1, 1, 0, 0, 1, 1]
FLAGGED = [1, 0, 1, 1, 0, 0, 1, 0]
GROUPS = ["a"] * 4 + ["b"] * 4


def approx(total, mean, largest):
    return pytest.approx((total, mean, largest))


def parts(difference):
    return difference.total, difference.mean, difference.largest


def test_by_hand():
    # FPR 1/4, of a 1/2, of b 0: |1/4 − 1/2| + |1/4 − 0| = 1/2. FNR 1/4, of a 0, of b 1/2: 1/2.
    expected = Difference(total=0.5, mean=0.25, largest=0.25)
    assert false_positive_equality_difference(TRUTH, FLAGGED, GROUPS) == expected
    assert false_negative_equality_difference(TRUTH, FLAGGED, GROUPS) == expected


def test_three_groups_of_unequal_size():
    # Negatives: a 1 of 1 flagged, b 0 of 1, c 1 of 2; overall 2 of 4. |1/2 − 1| + |1/2 − 0| + 0.
    found = false_positive_equality_difference([0] * 4, [1, 0, 1, 0], ["a", "b", "c", "c"])
    assert parts(found) == approx(1, 1 / 3, 1 / 2)


def test_a_group_without_negatives_has_no_rate():
    truth, flagged, groups = [0, 1, 1], [0, 1, 0], ["a", "a", "b"]
    assert false_positive_equality_difference(truth, flagged, groups) is None
    # FNR 1/2, of a 0, of b 1.
    assert parts(false_negative_equality_difference(truth, flagged, groups)) == approx(1, 0.5, 0.5)


@pytest.mark.parametrize("said", [0, 1], ids=["never", "always"])
def test_the_same_answer_for_every_post_has_no_difference(said):
    nothing = Difference(0.0, 0.0, 0.0)
    assert false_positive_equality_difference(TRUTH, [said] * 8, GROUPS) == nothing
    assert false_negative_equality_difference(TRUTH, [said] * 8, GROUPS) == nothing


@pytest.mark.parametrize(
    ("truth", "flagged", "groups"),
    [([0, 1], [0], ["a", "b"]), ([0, 2], [0, 1], ["a", "b"]), ([], [], [])],
    ids=["lengths", "not-truth", "no-posts"],
)
def test_wrong_input_is_refused(truth, flagged, groups):
    with pytest.raises(BadInput):
        Decided.of(truth, flagged, groups)


def made(seed=0, runs=2, uneven=0.0, templates=12, words=8, terms=8):
    """Sentences of two groups; group b is flagged more often by ``uneven``."""
    rng = np.random.default_rng(seed)
    shape = (templates, words, terms)
    template, word, term = (axis.ravel() for axis in np.indices(shape))
    group = np.where(term % 2, "b", "a")
    chance = 0.3 + 0.4 * (word % 2) + uneven * (group == "b")
    flagged = rng.random((runs, len(word))) < chance
    return {
        "decided": Decided.of(word % 2, flagged, group.tolist()),
        "clusters": [f"t{n}" for n in template],
        "frames": [f"t{n}/{m}" for n, m in zip(template, word, strict=True)],
        "unit": "templates",
        "seed": 3,
    }


def test_figures_are_means_over_runs():
    both = Decided.of(TRUTH, [FLAGGED, [0] * 8], GROUPS)
    names = ["t"] * 4 + ["u"] * 4
    found = equality(both, clusters=names, frames=names, unit="templates", seed=0, resamples=50)
    # Of the first run 1/4 of the negatives are flagged, of the second none; FPED 1/2 and 0.
    assert value(found, "fpr") == 0.125
    assert value(found, "fpr", group="a") == 0.25
    assert value(found, "fpr", group="b") == 0
    assert value(found, "fped") == 0.25
    assert value(found, "fped_mean") == value(found, "fped_max") == 0.125
    assert value(found, "fnr", group="b") == (0.5 + 1) / 2
    assert finding(found, "fped").n == 4
    assert finding(found, "fpr", group="a").n == 2


def test_intervals_hold_a_difference_that_is_there():
    found = equality(**made(uneven=0.2, runs=4), group={"model": "m"}, resamples=300)
    fped = finding(found, "fped", model="m")
    assert fped.low < 0.2 < fped.high
    assert (fped.level, fped.unit) == (0.95, "templates")
    chance = finding(found, "fped_shuffled", model="m")
    assert chance.high < fped.low
    assert chance.low <= chance.value <= chance.high


def test_without_unevenness_the_difference_is_what_chance_gives():
    values = np.array(
        [
            [value(found, name) for name in ("fped", "fped_shuffled")]
            for found in (equality(**made(seed, runs=1), resamples=60) for seed in range(40))
        ]
    )
    observed, chance = values.mean(axis=0)
    # Of 384 negatives half are in each group: |difference| of two rates has mean √(2/π)·s with
    # s = √(2 · .3 · .7 / 192) = .047, so .037.
    assert observed == pytest.approx(0.037, abs=0.008)
    assert chance == pytest.approx(0.037, abs=0.004)


def test_shuffling_stays_inside_frames():
    # In each frame both groups are treated alike, whatever the frame: nothing can come of it.
    truth, flagged = [0, 0, 0, 0], [1, 1, 0, 0]
    decided = Decided.of(truth, flagged, ["a", "b", "a", "b"])
    frames = ["x", "x", "y", "y"]
    found = equality(decided, clusters=frames, frames=frames, unit="u", seed=0, resamples=40)
    assert value(found, "fped_shuffled") == finding(found, "fped_shuffled").high == 0


def test_what_does_not_exist_says_why():
    decided = Decided.of([0, 1, 1], [0, 1, 0], ["a", "a", "b"])
    names = ["t", "u", "u"]
    found = equality(decided, clusters=names, frames=names, unit="templates", seed=0, resamples=40)
    for measure in ("fped", "fped_mean", "fped_max", "fped_shuffled", "fped_p"):
        nothing = finding(found, measure)
        assert (nothing.value, nothing.why) == (None, "no negative posts of b")
    assert finding(found, "fpr", group="b").why == "no negative posts of b"
    assert value(found, "fned") == 1


def test_one_cluster_has_no_interval():
    names = ["t"] * 8
    decided = Decided.of(TRUTH, FLAGGED, GROUPS)
    found = equality(decided, clusters=names, frames=names, unit="templates", seed=0, resamples=40)
    assert finding(found, "fped").low is None
    assert finding(found, "fped").why == "no interval: 1 templates, fewer than 10"


@pytest.mark.parametrize(("templates", "there"), [(9, False), (10, True)], ids=["nine", "ten"])
def test_fewer_than_ten_clusters_have_no_interval(templates, there):
    found = equality(**made(templates=templates), resamples=40)
    for measure in ("fped", "fned", "fped_mean", "fned_max"):
        assert (finding(found, measure).low is not None) == there


def test_intervals_of_differences_hold_0_where_groups_are_treated_alike():
    runs = 150
    names = ("fped", "fped_mean", "fped_max", "fned")
    cases = (equality(**made(seed, runs=1, templates=20), resamples=100) for seed in range(runs))
    lows = np.array([[finding(found, name).low for name in names] for found in cases])
    # Binomial(150, .05) is above 16 in one case of a thousand; percentiles never reach 0.
    assert ((lows > 0).sum(axis=0) <= 16).all()


def test_the_distance_of_resamples_is_that_of_the_differences():
    # FPR of a and b in the sample 1/2 and 0: overall less group −1/4 and 1/4. In the resample 0 and
    # 1: overall 1/2, so 1/2 and −1/2. They are 3/4 apart in both groups, FPED itself only 1/2.
    sample = np.array([[[2, 1, 1, 0], [2, 0, 1, 0]]], dtype=float)
    resample = np.array([[[2, 0, 1, 0], [2, 2, 1, 0]]], dtype=float)
    assert differences(resample)[0, 0] - differences(sample)[0, 0] == pytest.approx(0.5)
    assert differences(resample, sample)[:, 0] == pytest.approx([1.5, 0.75, 0.75])


def test_the_same_answer_for_every_post_is_not_certain():
    case = made(runs=1, templates=20)
    decided = replace(case["decided"], flagged=np.zeros_like(case["decided"].flagged))
    found = equality(**{**case, "decided": decided}, resamples=40)
    # 20 templates without any false alarm: at most 3.84 / 23.84 = .161.
    for measure in ("fped", "fped_mean", "fned_max", "fpr"):
        alike = finding(found, measure)
        assert (alike.value, alike.low) == (0, 0)
        assert alike.high == pytest.approx(0.161, abs=1e-3)


def test_a_sum_over_many_groups_may_be_above_1():
    # Six groups, three always flagged and three never: FPR 1/2, the sum 6 / 2 = 3.
    groups = [f"g{n % 6}" for n in range(120)]
    flagged = [int(n % 6 < 3) for n in range(120)]
    names = [f"t{n // 6}" for n in range(120)]
    decided = Decided.of([0] * 120, flagged, groups)
    found = equality(decided, clusters=names, frames=names, unit="templates", seed=0, resamples=40)
    fped = finding(found, "fped")
    assert fped.value == 3
    assert fped.low < 3 < fped.high <= 5


def test_p_does_not_exist_where_permutations_have_no_difference():
    # One frame, one negative post of either group: shuffled, one group may have both.
    decided = Decided.of([0, 1, 0, 1, 1], [1, 1, 0, 0, 1], ["a", "a", "b", "b", "b"])
    names = ["t"] * 5
    found = equality(decided, clusters=names, frames=names, unit="templates", seed=0, resamples=60)
    assert value(found, "fped") is not None
    for measure in ("fped_shuffled", "fped_p"):
        nothing = finding(found, measure)
        why = "some permutations leave a group without negative posts"
        assert (nothing.value, nothing.why) == (None, why)


def test_the_order_of_rows_changes_nothing():
    case = made(uneven=0.1)
    decided = case["decided"]
    turned = np.random.default_rng(8).permutation(len(decided.truth))
    other = {
        **case,
        "decided": Decided.of(
            decided.truth[turned],
            decided.flagged[:, turned],
            [decided.groups[c] for c in decided.code[turned]],
        ),
        "clusters": [case["clusters"][n] for n in turned],
        "frames": [case["frames"][n] for n in turned],
    }
    assert equality(**other, resamples=30) == equality(**case, resamples=30)


def test_terms_swapped_by_hand():
    # Two pairs, neutral sentences: the term a1 is flagged and b1 is not, b2 is flagged and a2 is
    # not. FPR 1/2 in both groups: FPED 0. Swapped or not, each pair says ±1: half of the four ways
    # agree (FPR 1 against 0, FPED 1), half cancel.
    names = {"a1": 1, "b1": 0, "a2": 0, "b2": 1}
    terms = list(names) * 2
    decided = Decided.of([0] * 8, [names[term] for term in terms], [term[0] for term in terms])
    found = equality(
        decided,
        clusters=["t"] * 4 + ["u"] * 4,
        frames=["t"] * 4 + ["u"] * 4,
        pairs=[term[1] for term in terms],
        unit="templates",
        seed=0,
        resamples=1000,
    )
    assert value(found, "fped") == 0
    swapped = finding(found, "fped_swapped")
    assert swapped.value == pytest.approx(0.5, abs=0.05)
    assert (swapped.low, swapped.high) == (0, 1)
    # Shuffled anew in every sentence, of 4 terms 2 flagged: less often all on one side.
    assert value(found, "fped_shuffled") < 0.4
    assert finding(found, "fned_swapped").why == "no positive posts"


def shuffled_p(flagged, groups, frames, permutations=4000):
    decided = Decided.of([0] * len(flagged), flagged, groups)
    found = equality(
        decided, clusters=frames, frames=frames, unit="u", seed=0, resamples=permutations
    )
    return finding(found, "fped_p")


def test_p_by_hand():
    # In each of four sentences a is flagged and b is not: FPED 1. Shuffled, the sum is 1 where a is
    # on the same side in all four: in 2 of 16 ways.
    p = shuffled_p([1, 0] * 4, ["a", "b"] * 4, [f"s{n // 2}" for n in range(8)])
    assert p.value == pytest.approx(2 / 16, abs=0.015)
    assert (p.n, p.unit, p.low) == (4000, "permutations", None)
    assert "(1 + permutations of the groups within frames with a sum at least as large)" in p.method


def test_p_counts_the_observed_among_the_permutations():
    # Of 20 sentences 2 ways of a million are as uneven: none of 99 permutations, so 1 of 100.
    p = shuffled_p([1, 0] * 20, ["a", "b"] * 20, [f"s{n // 2}" for n in range(40)], 99)
    assert p.value == 0.01


@pytest.mark.parametrize("seed", range(4))
def test_p_equals_a_paired_permutation_test(seed):
    rng = np.random.default_rng(seed)
    sides = rng.random((2, 9)) < [[0.8], [0.4]]
    exact = permutation_test(
        sides.astype(float),
        lambda a, b, axis: np.abs(a.mean(axis=axis) - b.mean(axis=axis)),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        n_resamples=np.inf,
    )
    groups = ["a"] * 9 + ["b"] * 9
    p = shuffled_p(sides.ravel(), groups, [f"s{n}" for n in [*range(9), *range(9)]])
    assert p.value == pytest.approx(exact.pvalue, abs=0.03)


@pytest.mark.parametrize("said", [0, 1], ids=["never", "always"])
def test_a_detector_that_cannot_differ_has_p_1(said):
    assert shuffled_p([said] * 8, ["a", "b"] * 4, [f"s{n // 2}" for n in range(8)]).value == 1


def test_a_detector_blind_to_identity_is_seldom_called_uneven():
    # Every sentence has a chance of its own to be flagged, the same for all terms.
    rng, runs = np.random.default_rng(5), 300
    template, word, term = (axis.ravel() for axis in np.indices((6, 4, 6)))
    frame = template * 4 + word
    low = {"fped_p": 0, "fned_p": 0}
    for _ in range(runs):
        flagged = rng.random(len(frame)) < rng.random(24)[frame]
        found = equality(
            Decided.of(word % 2, flagged, [f"g{n % 3}" for n in term]),
            clusters=[f"t{n}" for n in template],
            frames=[f"f{n}" for n in frame],
            unit="templates",
            seed=int(rng.integers(1000)),
            resamples=99,
        )
        for measure in low:
            low[measure] += value(found, measure) <= 0.05
    assert max(low.values()) <= 0.05 * runs


def test_what_differs_between_groups_has_a_small_p():
    found = equality(**made(uneven=0.2, runs=2), resamples=199)
    assert value(found, "fped_p") == value(found, "fned_p") == 1 / 200


def test_several_thresholds_are_the_same_as_one_by_one():
    case = made(runs=2, uneven=0.1)
    loose = case.pop("decided")
    strict = replace(loose, flagged=loose.flagged & (np.arange(len(loose.truth)) % 3 > 0))
    pairs = [f"p{n % 8 // 2}" for n in range(len(loose.truth))]
    kept = {**case, "pairs": pairs, "resamples": 60}
    both = equality({"loose": loose, "strict": strict}, **kept, group={"model": "m"})
    each = [
        found
        for name, decided in (("loose", loose), ("strict", strict))
        for found in equality(decided, **kept, group={"model": "m", "threshold": name})
    ]
    assert both == each


def test_thresholds_are_about_the_same_posts():
    one, other = Decided.of([0, 1], [0, 1], ["a", "b"]), Decided.of([0, 1], [0, 1], ["b", "a"])
    names = {"clusters": ["t", "u"], "frames": ["t", "u"], "unit": "templates", "seed": 0}
    with pytest.raises(BadInput, match="different posts"):
        equality({"one": one, "other": other}, **names)
    with pytest.raises(BadInput, match="no decisions"):
        equality({}, **names)
