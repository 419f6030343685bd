import numpy as np
import polars as pl
import pytest

from evenhand.audits.against import Pair, compared, verdicts
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
