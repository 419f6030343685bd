import numpy as np
import polars as pl
import pytest

from evenhand.audits.against import Pair, _Difference, compared, verdicts
from evenhand.audits.answers import answered
from evenhand.core.errors import BadInput
from factories import finding, value


def suite(templates=12, each=4):
    rows = [
        {
            "id": f"c{t:02d}{k}",
            "text": "x",
            "functionality": "f1" if t < templates // 2 else "f2",
            "section": "s",
            "set": "orig",
            "identity": "sailors" if k % 2 else "archers",
            "template": f"t{t:02d}",
            "frame": f"t{t:02d}",
            "hateful": True,
        }
        for t in range(templates)
        for k in range(each)
    ]
    return pl.DataFrame(rows)


def said(cases, p):
    return answered(cases, pl.DataFrame({"post": cases["id"], "p": np.asarray(p, dtype=float)}))


def against(p, q, cases=None, **options):
    table = suite() if cases is None else cases
    pair = Pair("weather", said(table, p), said(table, q))
    return compared([pair], "old", seed=0, resamples=300, **options)


def test_the_difference_is_by_case():
    # 48 cases: the new one gets the first 12 wrong, the old one the last 24.
    new, old = np.ones(48), np.ones(48)
    new[:12], old[24:] = 0, 0
    found = against(new, old)
    group = {"suite": "weather", "against": "old"}
    assert value(found, "accuracy_difference", **group) == pytest.approx(36 / 48 - 24 / 48)
    here = {**group, "functionality": "f1", "set": "orig"}
    lost = finding(found, "accuracy_difference", **here)
    # All cases only the old one got right are in f1, which has six templates: no interval.
    assert lost.value == pytest.approx(-12 / 24) and lost.cases[0] == "c000"
    assert lost.low is None and "fewer than 10" in lost.why


def test_a_detector_is_level_with_itself():
    p = np.random.default_rng(1).random(48)
    found = against(p, p)
    assert verdicts(found) == ([], [])
    assert all(f.value == 0 for f in found if f.measure == "accuracy_difference")


def test_swapping_the_two_turns_the_sign():
    rng = np.random.default_rng(2)
    p, q = rng.random(48), rng.random(48)
    one, other = against(p, q), against(q, p)
    for mine, theirs in zip(one, other, strict=True):
        sign = -1 if mine.measure == "accuracy_difference" else 1
        assert mine.value == pytest.approx(sign * theirs.value)


def test_worse_everywhere_is_called_worse():
    found = against(np.zeros(48), np.ones(48))
    worse, better = verdicts(found)
    assert better == [] and worse[0].value == -1
    # Twelve templates, four comparisons: the sign test has 2 / 2¹², times 4.
    group = {"suite": "weather", "against": "old"}
    assert value(found, "accuracy_difference_p", **group) == pytest.approx(8 / 4096)
    # z² of 1 − .05 / 8 is 6.24: Wilson's interval of 12 of 12 starts at 12 / (12 + 6.24) = .658.
    assert (worse[0].low, worse[0].high) == pytest.approx((-1, -0.658), abs=1e-3)
    assert "sign test" in worse[0].method


def test_equal_decisions_are_not_certain():
    p = np.random.default_rng(1).random(48)
    found = against(p, p)
    same = finding(found, "accuracy_difference", suite="weather", against="old")
    # None of twelve templates differs: 6.24 / 18.24 = .342.
    assert same.value == 0
    assert (same.low, same.high) == pytest.approx((-0.342, 0.342), abs=1e-3)
    assert all(f.low < f.high for f in found if f.low is not None)


@pytest.mark.parametrize("each", [3, 7, 10], ids=["thirds", "sevenths", "tenths"])
def test_templates_that_differ_alike_have_no_spread_but_a_width(each):
    # One case of each template is lost. In resamples 12 / (12 · 3) and the like differ in the last
    # bits only, which is no spread: the sign test it is, and a width.
    cases = suite(12, each)
    found = against(np.arange(12 * each) % each > 0, np.ones(12 * each), cases)
    group = {"suite": "weather", "against": "old"}
    lost = finding(found, "accuracy_difference", **group)
    assert lost.value == pytest.approx(-1 / each)
    assert lost.high - lost.low > 0.1
    assert lost.low < lost.value < lost.high < 0
    assert "sign test" in lost.method
    assert value(found, "accuracy_difference_p", **group) < 0.01


def test_where_the_sign_test_does_not_exclude_0_nor_does_the_interval():
    # 10 templates and 32 comparisons: 2 / 2¹⁰ · 32 = .0625 is above .05.
    alike = _Difference(group={}, n=40, value=-0.25, spread=0.0, templates=10, broken=())
    assert alike.p * 32 > 0.05
    low, high = alike.interval(32)
    assert low < -0.25 < 0 < high
    near = alike.interval(25)  # 2 / 2¹⁰ · 25 = .049
    assert near[0] < -0.25 < near[1] < 0


def test_two_equal_detectors_are_rarely_called_different():
    """Coins against coins: a false verdict anywhere in at most 5 % of audits, here 9 of 100."""
    rng = np.random.default_rng(5)
    cases = suite(24, 4)
    wrong = 0
    for _ in range(100):
        found = against(rng.random(96), rng.random(96), cases)
        wrong += any(verdicts(found))
    assert wrong <= 9  # Binomial(100, .05): more than 9 has probability .03


def test_different_cases_are_refused():
    cases = suite()
    with pytest.raises(BadInput, match="different cases"):
        compared(
            [Pair("w", said(cases, np.ones(48)), said(cases.head(40), np.ones(40)))],
            "old",
            seed=0,
        )
