import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.sampling.plan import plan
from factories import finding, value


def pilot(shares, votes=3, seconds=9.0):
    """Posts with given numbers of yes among ``votes``."""
    rows = [
        (str(post), int(vote < yes), seconds)
        for post, yes in enumerate(shares)
        for vote in range(votes)
    ]
    return pl.DataFrame(rows, schema=["post", "yes", "seconds"], orient="row")


def test_without_disagreement_it_is_the_textbook_size():
    # Unanimous posts, 100 of 1,000 yes: variance .1·.9 (n−1 in the pilot), ±1 point:
    # 1.96² · .09 / .01² ≈ 3,457 posts, whatever the number of votes.
    found = plan(pilot([3] * 100 + [0] * 900), half_width=0.01)
    one, three = (value(found, "planned_posts", votes_per_post=v) for v in (1, 3))
    assert one == three == pytest.approx(3458, rel=0.003)
    assert value(found, "planned_votes", votes_per_post=3) == pytest.approx(3 * 3458, rel=0.003)
    assert value(found, "planned_hours", votes_per_post=3) == pytest.approx(
        3 * 3458 * 9 / 3600, abs=1.5
    )


def test_more_votes_help_when_people_disagree():
    rng = np.random.default_rng(0)
    found = plan(pilot(rng.binomial(3, 0.3, size=500)), half_width=0.02)
    posts = [value(found, "planned_posts", votes_per_post=v) for v in (1, 2, 3, 5)]
    assert posts == sorted(posts, reverse=True)
    # All variance is within posts: .21 at one vote, a third of it at three.
    assert posts[0] / posts[2] == pytest.approx(3, rel=0.2)


def test_a_small_group_decides():
    whole = plan(pilot([3] * 10 + [0] * 90), half_width=0.01)
    tenth = plan(pilot([3] * 10 + [0] * 90), half_width=0.01, groups={"a": 0.9, "b": 0.1})
    assert value(tenth, "planned_posts", votes_per_post=1) == pytest.approx(
        10 * value(whole, "planned_posts", votes_per_post=1), rel=0.01
    )


def test_the_interval_comes_from_the_pilot():
    found = finding(plan(pilot([3] * 10 + [0] * 90), half_width=0.01), "planned_posts",
                    votes_per_post=1)  # fmt: skip
    assert found.low < found.value < found.high
    assert found.n == 100


def test_no_seconds_no_hours():
    table = pilot([3] * 10 + [0] * 90).drop("seconds")
    hours = finding(plan(table, half_width=0.01), "planned_hours", votes_per_post=1)
    assert (hours.value, hours.why) == (None, "the pilot has no seconds")


def test_bad_input():
    with pytest.raises(BadInput, match="half-width 1"):
        plan(pilot([1, 2]), half_width=1)
    with pytest.raises(NotEnoughData, match="two posts with two votes"):
        plan(pilot([1, 0], votes=1), half_width=0.01)
    with pytest.raises(BadInput, match="group 'x' has share 0"):
        plan(pilot([1, 2]), half_width=0.01, groups={"x": 0})
