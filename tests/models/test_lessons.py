"""What is learned where teachers answer beside the labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.models.lessons import Lessons, Task, taught

ROWS = Lessons(
    texts=["a", "b", "c"],
    tasks=(Task("RUDE"), Task("HATE")),
    # The first row is hateful, the second is not labelled for HATE, the third for nothing.
    shares=np.array([[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32),
    labelled=np.array([[False, True], [True, False], [False, False]]),
    weights=np.ones(3, dtype=np.float32),
    times=np.ones(3),
    parts=["x", "y", "z"],
)
P = np.array([[0.6], [np.nan], [0.2]])
"""Nobody was asked about the second row."""
SHARES = np.array([[0.5], [0.0], [1.0]])


def test_teachers_stand_beside_labels_and_in_place_of_missing_ones():
    found = taught(ROWS, ["HATE"], P, shares=SHARES)
    # (0, 1) and (.4, .6) by halves: (.2, .8); a row that is not left to them keeps nothing.
    assert np.allclose(found.shares, [[0, 0, 0.2, 0.8], [1, 0, 0, 0], [0, 0, 0.8, 0.2]])
    assert found.labelled.tolist() == [[False, True], [True, False], [False, True]]
    assert ROWS.shares[0, 3] == 1  # the rows themselves are left as they were


def test_no_trust_leaves_labels_as_they_are():
    found = taught(ROWS, ["HATE"], P, shares=0 * SHARES)
    assert np.array_equal(found.shares, ROWS.shares)


def test_a_row_and_its_mate_are_answered_alike():
    rows = replace(ROWS, mates=np.array([2, -1, 0]))
    found = taught(rows, ["HATE"], P, shares=SHARES)
    # Both get (.6 + .2) / 2 = .4: the first (0, 1) and (.6, .4) by halves.
    assert np.allclose(found.shares[[0, 2], 2:], [[0.3, 0.7], [0.6, 0.4]])


def test_rarer_answers_count_more():
    classes = Lessons.of_classes(list("abcde"), np.array([0, 0, 0, 0, 1]), Task("HATE"))
    # In all 5 as before. At 1 each class counts 2.5: four rows .625 each, and one 2.5. At .5 a row
    # counts 1/√4 = .5 or 1, in all 3; times 5/3 that is .8333 and 1.6667.
    assert np.allclose(classes.balanced(1.0).weights, [0.625] * 4 + [2.5])
    assert np.allclose(classes.balanced(0.5).weights, [5 / 6] * 4 + [5 / 3])
    assert np.array_equal(classes.balanced(0.0).weights, classes.weights)


def test_an_answer_that_nobody_gave_is_no_fault():
    three = Task("KIND", ("a", "b", "c"))
    classes = Lessons.of_classes(list("xyz"), np.array([0, 0, 2]), three)
    assert np.allclose(classes.balanced(1.0).weights, [0.75, 0.75, 1.5])
