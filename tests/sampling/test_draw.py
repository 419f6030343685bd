import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput
from evenhand.sampling.draw import again, draw


def posts(**sizes):
    """stratum=(not flagged, flagged) → posts."""
    rows = [
        (f"{name}{flag}{i:04d}", name, bool(flag))
        for name, many in sizes.items()
        for flag, count in enumerate(many)
        for i in range(count)
    ]
    return pl.DataFrame(rows, schema=["post", "stratum", "flag"], orient="row")


def test_strata_are_drawn_in_proportion_to_true_volume_not_to_what_is_there():
    # Both days gave 100 posts, but day a had 900 and day b 100: 36 and 4 of 40.
    drawn = draw(posts(a=(100, 0), b=(100, 0)), {"a": 900, "b": 100}, target=40, seed=0)
    assert dict(drawn.draws["stratum"].value_counts().iter_rows()) == {"a": 36, "b": 4}
    assert drawn.draws.group_by("stratum").agg(pl.col("probability").first()).sort(
        "stratum"
    ).rows() == [("a", 0.36), ("b", 0.04)]


def test_inclusion_probabilities_by_hand():
    # Day a: 80 + 20, 10 drawn → .1. Flagged rest ≈ 20 − (flagged in B); F takes 6 of it.
    drawn = draw(posts(a=(80, 20)), {"a": 500}, target=10, enrich=6, seed=1)
    base = drawn.draws.filter(~pl.col("flag"))["probability"]
    assert set(base) == {0.1}
    in_base = 10 - base.len()
    flagged = drawn.draws.filter(pl.col("flag"))["probability"][0]
    assert flagged == pytest.approx(0.1 + 0.9 * 6 / (20 - in_base))
    assert drawn.draws.height == 16


def test_inclusion_probabilities_are_true():
    frame = posts(a=(60, 20), b=(40, 10))
    hits, runs = {}, 2000
    expected = {True: 0.0, False: 0.0}
    for seed in range(runs):
        drawn = draw(frame, {"a": 300, "b": 100}, target=20, enrich=10, seed=seed).draws
        for post in drawn["post"]:
            hits[post] = hits.get(post, 0) + 1
        for flag, p in drawn.select("flag", "probability").iter_rows():
            expected[flag] += 1 / p
    # Horvitz–Thompson totals recover the counts: 100 not flagged, 30 flagged.
    assert expected[False] / runs == pytest.approx(100, rel=0.02)
    assert expected[True] / runs == pytest.approx(30, rel=0.02)
    assert hits["a00000"] / runs == pytest.approx(15 / 80, abs=0.03)


def test_row_order_does_not_matter_and_seeds_do():
    frame = posts(a=(60, 20), b=(40, 10))
    draws = [
        draw(f, {"a": 300, "b": 100}, target=20, enrich=5, seed=s).draws
        for f, s in ((frame, 0), (frame.reverse(), 0), (frame, 1))
    ]
    assert draws[0].equals(draws[1])
    assert not draws[0].equals(draws[2])


def test_what_cannot_be_met_is_said():
    drawn = draw(posts(a=(5, 1), b=(100, 0)), {"a": 500, "b": 500}, target=40, enrich=9, seed=0)
    assert "14 of 40 posts cannot be drawn" in drawn.notes[0]
    assert "only 0 flagged posts are left to enrich with; 9 were asked for" in drawn.notes[1]
    assert drawn.draws.filter(pl.col("stratum") == "a")["probability"].to_list() == [1.0] * 6


def test_strata_say_what_was_available():
    drawn = draw(posts(a=(80, 20)), {"a": 500}, target=10, enrich=6, seed=1)
    assert drawn.strata.select("stratum", "flag", "volume", "available").rows() == [
        ("a", False, 500, 80),
        ("a", True, 500, 20),
    ]


@pytest.mark.parametrize("volume", [0, -1, float("nan")])
def test_bad_volumes_are_named(volume):
    with pytest.raises(BadInput, match="volume of 'a' is"):
        draw(posts(a=(9, 0)), {"a": volume}, target=2, seed=0)


def test_a_stratum_without_volume_is_named():
    with pytest.raises(BadInput, match="no volume for stratum 'b'"):
        draw(posts(a=(9, 0), b=(9, 0)), {"a": 3}, target=2, seed=0)


def test_a_second_phase_has_its_own_probabilities():
    frame = pl.DataFrame({"post": [str(i) for i in range(50)], "stratum": ["x"] * 10 + ["y"] * 40})
    drawn = again(frame, {"x": 5, "y": 8}, seed=0)
    probabilities = drawn.draws.group_by("stratum").agg(pl.col("probability").first(), pl.len())
    assert sorted(probabilities.rows()) == [("x", 0.5, 5), ("y", 0.2, 8)]
    assert set(drawn.draws["phase"]) == {2}
    with pytest.raises(BadInput, match="no labelled post is in stratum z"):
        again(frame, {"z": 1}, seed=0)


def test_a_second_phase_that_asks_for_too_many_says_so():
    frame = pl.DataFrame({"post": ["1", "2"], "stratum": ["x", "x"]})
    assert again(frame, {"x": 5}, seed=0).notes == (
        "stratum x: only 2 labelled posts, 5 asked for.",
    )
    assert np.all(again(frame, {"x": 5}, seed=0).draws["probability"].to_numpy() == 1)
