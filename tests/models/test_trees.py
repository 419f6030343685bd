import math

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import threadpool_limits

from evenhand.core.streams import stream
from evenhand.models import _trees
from evenhand.models._trees import Trees, fit_trees

EXACT = pytest.mark.parametrize("exact", [False, True], ids=["binned", "exact"])


def rows(classes, n=150, columns=5):
    """Features with ties, and a class that depends on a product of two of them."""
    rng = stream(3, "features", classes)
    x = rng.normal(size=(n, columns)).round(1)
    noisy = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=n)
    return x, noisy.argsort().argsort() * classes // n


def theirs(x, y, new, exact):
    """Probabilities of new rows by scikit-learn, on one thread: waiting for others is slow."""
    state = int(stream(7, "trees").integers(2**31))
    if exact:
        model = GradientBoostingClassifier(random_state=state)
    else:
        model = HistGradientBoostingClassifier(early_stopping=False, random_state=state)
    with threadpool_limits(1):
        return model.fit(x, y).predict_proba(new)


def stump():
    """Feature 1 up to 0.5: leaf -1, above: leaf 2; for the second of two even classes."""
    return Trees(
        feature=np.array([1, 0, 0]),
        threshold=np.array([0.5, 0.0, 0.0]),
        left=np.array([1, 1, 2]),
        right=np.array([2, 1, 2]),
        value=np.array([0.0, -1.0, 2.0]),
        root=np.array([0]),
        column=np.array([1]),
        baseline=np.log([0.5, 0.5]),
        single=np.array(False),
    )


def test_a_stump_by_hand():
    # Even shares cancel, so the odds of the second class are e^-1 on the left, e^2 on the right.
    found = stump().probabilities(np.array([[9.0, 0.5], [-9.0, 0.6]]))[:, 1]
    expected = [math.exp(-1) / (1 + math.exp(-1)), math.exp(2) / (1 + math.exp(2))]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


@EXACT
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_scikit_learn(classes, exact, dtype):
    x, y = rows(classes)
    x = x.astype(dtype)
    new = stream(4, "new").normal(size=(300, 5)).astype(dtype)
    expected = theirs(x, y, new, exact)
    found = fit_trees(x, y, classes, seed=7, exact=exact).probabilities(new)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@EXACT
def test_values_a_hair_beside_a_threshold(exact):
    # The binned kind compares in double precision; the exact one rounds to single precision first.
    x, y = rows(2)
    trees = fit_trees(x, y, 2, seed=7, exact=exact)
    inner = np.flatnonzero(trees.left != np.arange(len(trees.left)))
    new = x[np.arange(len(inner)) % len(x)].copy()
    new[np.arange(len(inner)), trees.feature[inner]] = trees.threshold[inner]
    beside = np.concatenate([new, np.nextafter(new, np.inf), np.nextafter(new, -np.inf)])
    found = trees.probabilities(beside)
    expected = theirs(x, y, beside, exact)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    other = Trees(**{**vars(trees), "single": np.array(not exact)})
    assert (other.probabilities(beside) != found).any()


@EXACT
def test_arrays_make_the_same_trees(exact):
    x, y = rows(3)
    trees = fit_trees(x, y, 3, seed=7, exact=exact)
    arrays = trees.arrays()
    assert all(name.startswith("trees_") for name in arrays)
    assert {array.dtype.kind for array in arrays.values()} <= set("bif")
    again = Trees.restore({**arrays, "another": np.zeros(1)})
    np.testing.assert_array_equal(again.probabilities(x), trees.probabilities(x))


@EXACT
@pytest.mark.parametrize("classes", [2, 3])
def test_a_row_scores_the_same_alone_and_among_others(monkeypatch, classes, exact):
    x, y = rows(classes)
    trees = fit_trees(x, y, classes, seed=7, exact=exact)
    together = trees.probabilities(x)
    alone = np.concatenate([trees.probabilities(row[None]) for row in x[:50]])
    np.testing.assert_array_equal(alone, together[:50])
    monkeypatch.setattr(_trees, "_BATCH", 7)
    np.testing.assert_array_equal(trees.probabilities(x), together)


@pytest.mark.parametrize("draw", range(10))
def test_many_classes_are_summed_in_one_order(draw):
    baseline = np.log(stream(1, "baseline", draw).dirichlet(np.ones(20)))
    many = Trees(**{**vars(stump()), "baseline": baseline})
    x = np.array([[0.0, 0.0], [0.0, 1.0]])
    alone = np.concatenate([many.probabilities(row[None]) for row in x])
    np.testing.assert_array_equal(alone, many.probabilities(x))


@EXACT
@pytest.mark.parametrize("kept", [(0, 2), (1, 2), (0, 1, 3)], ids=str)
def test_a_class_without_rows_has_probability_0(exact, kept):
    x, y = rows(len(kept))
    codes = np.array(kept)[y]
    found = fit_trees(x, codes, 4, seed=7, exact=exact).probabilities(x)
    expected = np.zeros((len(x), 4))
    expected[:, kept] = theirs(x, y, x, exact)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert (found[:, [c for c in range(4) if c not in kept]] == 0).all()


@EXACT
def test_constant_features_give_the_shares(exact):
    x, y = np.ones((40, 3)), np.repeat([0, 1], [30, 10])
    found = fit_trees(x, y, 2, seed=0, exact=exact).probabilities(x[:1])
    np.testing.assert_allclose(found, [[0.75, 0.25]], rtol=0, atol=1e-12)


def test_no_rows_give_no_probabilities():
    assert stump().probabilities(np.empty((0, 2))).shape == (0, 2)


@EXACT
def test_the_same_seed_gives_the_same_trees(exact):
    x, y = rows(2, n=120)
    one, two = (fit_trees(x, y, 2, seed=7, exact=exact).arrays() for _ in range(2))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def test_fits_on_one_thread(monkeypatch):
    used = []
    fit = HistGradientBoostingClassifier.fit

    def watched(self, x, y):
        used.append(_openmp_effective_n_threads())
        return fit(self, x, y)

    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", watched)
    before = _openmp_effective_n_threads()
    fit_trees(*rows(2, n=60), 2, seed=0)
    assert used == [1]
    assert _openmp_effective_n_threads() == before
