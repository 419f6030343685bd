"""Rows of posts as pure functions: what must hold for any seed, person and number of posts."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.labelling.assignment import (
    HAND,
    LATE,
    RING,
    agreed,
    ahead,
    deal,
    first_row,
    late_place,
    next_lap,
    ring_places,
)

SEEDS = st.integers(0, 10**6)
UNHURRIED = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def walk(seed, person, posts, gold=(), rate=0.0):
    """Everything a person is dealt when nobody else works."""
    places = ring_places(seed, "c", 0, posts)
    row, shown = first_row(seed, person), []
    while row.lap < LATE:
        stretch = ahead(row, 0.0)
        column = places[:, stretch.ring]
        before = RING if stretch.before is None else stretch.before
        found = np.flatnonzero((column > stretch.after) & (column < before))
        found = found[np.argsort(column[found])][:HAND]
        if not len(found):
            row = next_lap(row)
            continue
        row = deal(row, [(int(n), int(column[n])) for n in found], gold, rate, seed, person)
        shown += row.hand
    return shown


@UNHURRIED
@given(SEEDS, st.text(min_size=1, max_size=8), st.integers(0, 150))
def test_everyone_meets_every_post_once(seed, person, posts):
    assert sorted(walk(seed, person, posts)) == list(range(posts))


@UNHURRIED
@given(SEEDS, st.integers(0, 100), st.integers(0, 20), st.floats(0, 0.9))
def test_gold_posts_come_once_each(seed, posts, golds, rate):
    gold = list(range(1000, 1000 + golds))
    shown = Counter(walk(seed, "p", posts, gold, rate))
    assert max(shown.values(), default=1) == 1
    assert set(shown) - set(gold) == set(range(posts))


def test_gold_posts_come_at_their_rate():
    shown = walk(1, "p", 3000, list(range(10_000, 12_000)), 0.1)
    # 3,000 posts at a rate of .1: 333 gold posts expected, standard deviation about 19.
    assert 260 < sum(number >= 10_000 for number in shown) < 410


def test_rows_of_different_people_are_unlike():
    rows = [walk(0, f"p{n}", 64) for n in range(30)]
    assert len({tuple(row) for row in rows}) == 30
    # Each post is somewhere in the first half of about half of the rows.
    early = np.mean([[row.index(post) < 32 for post in range(64)] for row in rows], axis=0)
    assert early.min() > 0.15 and early.max() < 0.85


def test_the_same_seed_gives_the_same_row():
    assert walk(3, "p", 50) == walk(3, "p", 50)
    assert walk(3, "p", 50) != walk(4, "p", 50)


@UNHURRIED
@given(st.floats(1.6e9, 4e9), st.integers(0, 2**21 - 1), st.integers(0, 2**21 - 1))
def test_late_places_are_in_order_of_time_and_unlike(now, one, other):
    assert late_place(now, one) < late_place(now + 0.002, other)
    assert (late_place(now, one) == late_place(now, other)) == (one == other)
    assert RING < late_place(now, one) < 2**63


def test_the_last_minutes_are_looked_at_again():
    row = next_lap(next_lap(first_row(0, "p")))
    row = type(row)(**{**vars(row), "at": late_place(5000.0, 7)})
    assert ahead(row, 5001.0).after < late_place(4900.0, 0)
    assert ahead(row, 9000.0).after == row.at


def test_when_people_agree():
    a, b, c = ("a",), ("b",), ("c",)
    assert agreed([a, a, a], "any") and not agreed([a, a, b], "any")
    assert agreed([a, a, b], "split") and not agreed([a, b], "split")
    assert not agreed([a, b, c], "split") and agreed([], "any")
