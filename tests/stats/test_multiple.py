import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from evenhand.core.errors import BadInput
from evenhand.stats.multiple import holm


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
