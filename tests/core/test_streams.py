import numpy as np

from evenhand.core.streams import stream


def test_the_same_seed_and_path_repeat_whatever_was_drawn_before():
    first = stream(1, "bootstrap", 3).random(5)
    stream(1, "bootstrap", 2).random(100)
    assert np.array_equal(first, stream(1, "bootstrap", 3).random(5))


def test_seed_path_and_types_all_matter():
    draws = [
        stream(*path).random()
        for path in [(1, "a"), (2, "a"), (1, "b"), (1, "a", 1), (1, "a", "1"), (1, "a", 1, 0)]
    ]
    assert len(set(draws)) == len(draws)


def test_streams_are_independent():
    # 500 streams' first draws: mean 1/2 with standard error 1/sqrt(12·500) ≈ .013.
    firsts = np.array([stream(0, "task", number).random() for number in range(500)])
    assert abs(firsts.mean() - 0.5) < 0.05
    assert abs(np.corrcoef(firsts[:-1], firsts[1:])[0, 1]) < 0.15
