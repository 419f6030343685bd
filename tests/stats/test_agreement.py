"""Agreement: by hand, published, and equal to other people's packages."""

import warnings
from itertools import permutations

import krippendorff
import numpy as np
import polars as pl
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from agreement_factories import (
    by_post,
    from_counts,
    from_ratings,
    judgements,
    random_ratings,
    values,
)
from evenhand.core.errors import BadInput
from evenhand.stats.agreement import agreement
from evenhand.stats.fleiss import kappa_by_post

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pingouin

# The table of Wikipedia's article on Fleiss' kappa: 10 subjects, 14 raters, κ = .210.
TEN = np.array(
    [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]
)  # fmt: skip
# Gwet's twelve units by four raters, with missing ratings (irrCAC's cac.raw4raters).
GWET = [
    "1.11", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", ".555", "..11", "..3.",
]  # fmt: skip


def gwet():
    return by_post(*([None if c == "." else c for c in unit] for unit in GWET))


def test_by_hand_with_different_numbers_of_votes():
    # yy, ynn, y: two posts have pairs, agreeing 1 of 1 and 1 of 3, so P̄ = 2/3.
    # Their votes: 3 y, 2 n; Σp² = 9/25 + 4/25 = 13/25; κ = (2/3 − 13/25)/(12/25) = 11/36.
    found = values(by_post("yy", "ynn", "y"))
    assert found["percent_agreement"] == pytest.approx(2 / 3)
    assert found["fleiss_kappa"] == pytest.approx(11 / 36)
    assert found["randolph_kappa"] == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    # y: r̄ = (1 + 0)/2, p = 3/5. Paper: (1/2 − 9/25)/(12/25) = 7/24. Category: (5/6 − 3/5)/(2/5).
    assert found["kappa_class_paper y"] == pytest.approx(7 / 24)
    assert found["kappa_class y"] == pytest.approx((5 / 6 - 3 / 5) / (2 / 5))
    # AC1: π over all three posts: y (1 + 1/3 + 1)/3 = 7/9; e = 2·7/9·2/9 = 28/81.
    assert found["gwet_ac1"] == pytest.approx((2 / 3 - 28 / 81) / (53 / 81))
    # α: D_o = Σ pairs apart/(n − 1) = 4/2 = 2, D_e·(N − 1) = 2·3·2/4 = 3; α = 1 − 2/3.
    assert found["krippendorff_alpha"] == pytest.approx(1 / 3)
    assert (found["votes"], found["posts_judged"], found["posts_left_out"]) == (6, 2, 1)


def test_the_classes_add_up_to_kappa():
    found = values(from_ratings(random_ratings(3)))
    paper = sum(v for k, v in found.items() if k.startswith("kappa_class_paper"))
    assert paper == pytest.approx(found["fleiss_kappa"], abs=1e-12)


def test_the_kappas_of_posts_average_to_kappa():
    table = from_ratings(random_ratings(4))
    posts = kappa_by_post(table, "q")
    assert posts["kappa"].mean() == pytest.approx(values(table)["fleiss_kappa"], abs=1e-12)
    assert posts["post"].is_sorted() and posts["votes"].min() == 2


def test_fleiss_wikipedia_example():
    assert values(from_counts(TEN))["fleiss_kappa"] == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize("seed", range(4))
def test_equal_to_statsmodels_at_fixed_n(seed):
    counts = np.random.default_rng(seed).multinomial(5, [0.5, 0.2, 0.2, 0.1], size=30)
    found = values(from_counts(counts))
    assert found["fleiss_kappa"] == pytest.approx(statsmodels_kappa(counts), abs=1e-9)
    expected = statsmodels_kappa(counts, method="randolph")
    assert found["randolph_kappa"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_category_kappa_is_that_of_the_class_against_the_rest_at_fixed_n(seed):
    counts = np.random.default_rng(seed).multinomial(4, [0.5, 0.3, 0.2], size=30)
    found = values(from_counts(counts))
    for c in range(3):
        two = np.column_stack([counts[:, c], 4 - counts[:, c]])
        assert found[f"kappa_class {c}"] == pytest.approx(statsmodels_kappa(two), abs=1e-9)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_krippendorff_with_missing_votes(seed, scale):
    ratings = random_ratings(seed)
    expected = krippendorff.alpha(ratings, level_of_measurement=scale)
    found = values(from_ratings(ratings), scale=scale)["krippendorff_alpha"]
    assert found == pytest.approx(expected, abs=1e-9)
    other = "interval" if scale == "ordinal" else "ordinal"  # stands beside it, in a group
    found = values(from_ratings(ratings), scale=other).get(f"krippendorff_alpha {scale}")
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore")  # pingouin's own, about pandas and zero variances
@pytest.mark.parametrize("seed", range(3))
def test_equal_to_pingouin_where_raters_are_crossed(seed):
    ratings = random_ratings(seed, posts=25, people=4, missing=0)
    long = pl.DataFrame(
        {"y": ratings.ravel(), "r": np.repeat(range(4), 25), "p": np.tile(range(25), 4)}
    )
    table = pingouin.intraclass_corr(_pandas(long), targets="p", raters="r", ratings="y")
    found = values(from_ratings(ratings), scale="interval")
    theirs = {"1": "1", "A": "2", "C": "3"}  # ICC(A,1) is absolute agreement, ICC(C,1) consistency
    for name, value in zip(table["Type"], table["ICC"], strict=True):
        assert found[f"icc_{theirs[name[4]]}_{name[6]}"] == pytest.approx(value, abs=1e-9), name


def _pandas(table):
    import pandas

    return pandas.DataFrame(table.to_dict(as_series=False))


def test_gwet_published():
    # irrCAC prints for these ratings: percent agreement .81818, AC1 .77544, α .74342.
    found = values(gwet(), scale="nominal", order="12345")
    assert found["percent_agreement"] == pytest.approx(0.81818, abs=5e-6)
    assert found["gwet_ac1"] == pytest.approx(0.77544, abs=5e-6)
    assert found["krippendorff_alpha"] == pytest.approx(0.74342, abs=5e-6)


def test_one_way_icc_unbalanced_by_hand():
    # Votes 0 0, 2 2, 0 1 2: T = 3, N = 7, mean 1. Between: 2·1 + 2·1 + 3·0 = 4 over 2 = 2;
    # within: 0 + 0 + 2 = 2 over 4 = ½. k₀ = (7 − (4 + 4 + 9)/7)/2 = 16/7.
    # ICC(1,1) = (2 − ½)/(2 + (9/7)·½) = 1.5/(37/14) = 21/37; ICC(1,k) = 1.5/2.
    found = agreement(by_post("00", "22", "012", "1"), question="q", scale="interval", resamples=0)
    found = {f.measure: f for f in found}
    assert found["icc_1_1"].value == pytest.approx(21 / 37)
    assert found["icc_1_k"].value == pytest.approx(3 / 4)
    assert "k = 2.286" in found["icc_1_k"].method
    assert found["icc_2_1"].value is None and "every annotator" in found["icc_2_1"].why


def masi(a, b):
    jaccard = len(a & b) / len(a | b)
    shape = 1 if a == b else 2 / 3 if a <= b or b <= a else 1 / 3 if a & b else 0
    return 1 - jaccard * shape


def brute_force(posts):
    posts = [[set(answer) for answer in post] for post in posts if len(post) > 1]
    votes = [answer for post in posts for answer in post]
    within = [sum(masi(*p) for p in permutations(post, 2)) / (len(post) - 1) for post in posts]
    overall = sum(masi(*p) for p in permutations(votes, 2)) / (len(votes) - 1)
    return 1 - sum(within) / overall


def test_masi_alpha_by_hand():
    # {x}, {x, y} on one post: distance 1 − ½·⅔ = ⅔, twice, over n − 1 = 1: 4/3.
    # {y}, {y} on the other: 0. All 12 ordered pairs: x–xy ⅔, x–y 1 (two), xy–y ⅔ (two), y–y 0:
    # 2·(⅔ + 2 + 4/3 + 0) = 8, over N − 1 = 3. α = 1 − (4/3)/(8/3) = ½.
    found = values(by_post([["x"], ["x", "y"]], [["y"], ["y"]]), scale="set")
    assert found["krippendorff_alpha"] == pytest.approx(1 / 2)
    # Option x: chosen by both of two on the first post, by none on the second: κ = 1.
    assert found["percent_agreement x"] == 1 and found["fleiss_kappa x"] == 1
    # Option y: agreement 0 and 1; p = 3/4, chance apart 2·3/16 = 3/8; κ = 1 − (1/2)/(3/8).
    assert found["fleiss_kappa y"] == pytest.approx(-1 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_masi_alpha_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    options = np.array(list("abcd"))
    posts = [
        [rng.permutation(options)[: rng.integers(1, 4)].tolist() for _ in range(rng.integers(1, 5))]
        for _ in range(12)
    ]
    found = values(by_post(*posts), scale="set")["krippendorff_alpha"]
    assert found == pytest.approx(brute_force(posts), abs=1e-12)


def test_exactly_keeps_posts_with_that_many_votes():
    table = by_post("yy", "nnn", "yyn", "n")
    found = values(table, exactly=3)
    assert found["fleiss_kappa"] == values(by_post("nnn", "yyn"))["fleiss_kappa"]
    assert (found["posts_judged"], found["posts_left_out"]) == (2, 2)


def test_second_attempts_are_counted_not_used():
    table = judgements([("p", "a", "y"), ("p", "b", "y"), ("r", "a", "n"), ("r", "b", "y")])
    again = judgements([("r", "b", "n")], attempt=pl.lit(2))
    found = values(pl.concat([table, again]))
    assert found["repeated_votes"] == 1
    assert found["percent_agreement"] == 1 / 2


def test_labels_nobody_used_count_where_order_names_them():
    # Free-marginal chance is 1/4 with four classes on offer: κ = (2/3 − 1/4)/(3/4).
    found = values(by_post("yy", "ynn"), order=["y", "n", "m", "o"])
    assert found["randolph_kappa"] == pytest.approx((2 / 3 - 1 / 4) / (3 / 4))
    assert found["kappa_class m"] is None


def test_an_order_without_an_answer_found_names_it():
    with pytest.raises(BadInput, match="order lacks: 'maybe'"):
        values(judgements([("p", "a", "maybe")]), order=["no", "yes"])


def test_several_labels_need_the_scale_for_them():
    with pytest.raises(BadInput, match="1 answers to 'q' hold several labels.*'set'"):
        values(judgements([("p", "a", ["x", "y"]), ("p", "b", "x")]))


def test_words_need_an_order_on_an_ordinal_scale():
    with pytest.raises(BadInput, match="'a little' to 'q' is no number"):
        values(judgements([("p", "a", "a little"), ("p", "b", "1")]), scale="ordinal")


def test_equal_numbers_written_differently_are_one_answer():
    assert values(by_post(["1", "1.0"], ["2", "2"]), scale="ordinal")["fleiss_kappa"] == 1


@pytest.mark.parametrize("option", [{"scale": "ratio"}, {"order": ["y", "y", "n"]}, {"exactly": 0}])
def test_bad_options_are_refused(option):
    with pytest.raises(BadInput):
        values(by_post("yn"), **option)
