import numpy as np
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.stats.prediction_powered import Flags, prediction_powered


def data(n=400, many=20_000, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    truth = (rng.random(many) < 0.1).astype(float)
    scores = np.clip(truth * 0.7 + 0.1 + noise * rng.normal(size=many), 0, 1)
    return truth[:n], scores[:n], scores


def powered(truth, scores, everything, **options):
    n = len(truth)
    defaults = {
        "weights": np.ones(n),
        "cells": np.zeros(n, int),
        "all_scores": everything,
        "all_strata": np.zeros(len(everything), int),
        "volumes": np.ones(1),
    }
    return prediction_powered(truth, scores, **(defaults | options))


@pytest.mark.parametrize("lam", [0.0, 0.4, 1.0])
def test_equal_to_ppi_python_with_equal_weights(lam):
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    truth, scores, everything = data()
    found = powered(truth, scores, everything, lam=lam)
    point = ppi_mean_pointestimate(truth, scores, everything, lam=lam)
    low, high = ppi_mean_ci(truth, scores, everything, alpha=0.05, lam=lam)
    assert found.value == pytest.approx(float(point[0]), abs=1e-12)
    # Its variances divide by n, ours by n − 1.
    assert (found.low, found.high) == pytest.approx((float(low[0]), float(high[0])), rel=2e-3)


def test_a_good_detector_narrows_the_interval_and_a_useless_one_does_no_harm():
    truth, scores, everything = data(noise=0.1)
    plain = powered(truth, scores, everything, lam=0.0)
    good = powered(truth, scores, everything)
    assert good.error < 0.5 * plain.error
    rng = np.random.default_rng(1)
    useless = rng.random(len(everything))
    bad = powered(truth, useless[: len(truth)], useless)
    assert bad.error <= plain.error * 1.001
    untuned = powered(truth, useless[: len(truth)], useless, lam=1.0)
    assert untuned.error > 1.3 * plain.error


def test_by_hand():
    # λ = 1: mean of all scores .5, plus mean residual (1 − .6 + 0 − .2)/2 = .1 → .6.
    found = powered(np.array([1.0, 0.0]), np.array([0.6, 0.2]), np.array([0.4, 0.6]), lam=1.0)
    assert found.value == pytest.approx(0.6)


def test_strata_of_everything_are_weighed_by_their_volumes():
    # Scores .2 on a day with 9 posts in the population and .8 on one with 1: .9·.2 + .1·.8 = .26.
    everything, strata = np.array([0.2, 0.2, 0.8, 0.8]), np.array([0, 0, 1, 1])
    same = np.array([0.5, 0.5])
    found = powered(
        same, same, everything, all_strata=strata, volumes=np.array([9.0, 1.0]), lam=1.0
    )
    assert found.value == pytest.approx(0.26)


def test_coverage_with_unequal_weights():
    # 400 samples, half of them enriched and weighted back: the interval covers the truth.
    hits = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        flagged = rng.random(4000) < 0.2
        truth = (rng.random(4000) < np.where(flagged, 0.5, 0.05)).astype(float)
        scores = np.clip(0.6 * truth + 0.2 * rng.random(4000), 0, 1)
        take = np.r_[
            rng.choice(np.flatnonzero(flagged), 100), rng.choice(np.flatnonzero(~flagged), 100)
        ]
        found = powered(
            truth[take],
            scores[take],
            scores,
            weights=np.repeat([flagged.mean(), 1 - flagged.mean()], 100),
            cells=np.repeat([0, 1], 100),
        )
        hits.append(found.low <= 0.2 * 0.5 + 0.8 * 0.05 <= found.high)
    assert 0.91 <= np.mean(hits) <= 0.98


def test_bad_input_is_named():
    truth, scores, everything = data()
    with pytest.raises(BadInput, match="not numbers"):
        powered(truth, scores * np.nan, everything)
    with pytest.raises(NotEnoughData, match="1 strata have a volume but no scored post"):
        powered(truth, scores, everything, volumes=np.ones(2))


def test_flagged_shares_counted_on_few_posts_widen_the_interval():
    # As if half the population were flagged, counted on 40 posts, flagged hateful and others not.
    truth = np.repeat([1.0, 0.0], 50)
    flags = Flags(np.array([0.5]), np.array([0]), np.array([1]))
    found = powered(
        truth,
        truth * 0,
        np.zeros(40),
        cells=np.repeat([0, 1], 50),
        all_strata=np.zeros(40, int),
        flags=flags,
    )
    assert found.error == pytest.approx(np.sqrt(0.25 / 40))
