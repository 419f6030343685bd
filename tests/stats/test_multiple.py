import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.stats.multiple import bootstrap_p, holm


def test_holm_by_hand():
    # In order: .01 · 3 = .03; .03 · 2 = .06; .04 · 1 = .04, but not below .06.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


@pytest.mark.parametrize("seed", range(5))
def test_holm_equals_statsmodels(seed):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(40) ** 3, 2)  # with ties
    assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_holm_of_none_one_and_ones():
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([1.0, 1.0]) == [1.0, 1.0]


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong):
    with pytest.raises(BadInput, match="1 of 2 values"):
        holm([0.5, wrong])


def test_bootstrap_p_by_hand():
    # Of 99 draws 4 are at or below 0: 2 · (1 + 4) / 100.
    assert bootstrap_p([1.0] * 95 + [-1.0] * 3 + [0.0]) == pytest.approx(0.1)
    assert bootstrap_p([1.0] * 99) == pytest.approx(0.02)  # never 0
    assert bootstrap_p([0.0] * 99) == 1  # equal decisions


def test_bootstrap_p_does_not_know_which_is_first():
    draws = np.random.default_rng(0).normal(0.3, 1, 500)
    assert bootstrap_p(draws) == bootstrap_p(-draws) == bootstrap_p(draws[::-1])


def test_bootstrap_p_is_small_at_most_as_often_as_it_says():
    # 400 true nulls, a mean of 60: p ≤ .05 in at most about 5 %; Binomial(400, .055) is above 37
    # in one case of a thousand (percentiles of 60 posts are a little too narrow).
    rng = np.random.default_rng(1)
    small = 0
    for _ in range(400):
        posts = rng.normal(size=60)
        times = rng.multinomial(60, np.full(60, 1 / 60), size=199)
        small += bootstrap_p(times @ posts / 60) <= 0.05
    assert small <= 37


def test_draws_that_are_missing_are_refused():
    with pytest.raises(BadInput, match="1 of 2 are no number"):
        bootstrap_p([0.1, float("nan")])
    with pytest.raises(NotEnoughData):
        bootstrap_p([])
