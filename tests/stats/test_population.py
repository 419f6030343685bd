from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.stats.population import Sample, estimate, vote_count_weights
from factories import finding, value


def make(n=400, *, weights=None, cells=None, shares=None, mentions=None, votes=None, authors=None):
    rng = np.random.default_rng(0)
    shares = (rng.random(n) < 0.3).astype(float) if shares is None else np.asarray(shares, float)
    posts = pl.DataFrame(
        {
            "post": [f"{i:05d}" for i in range(n)],
            "weight": np.ones(n) if weights is None else weights,
            "cell": ["a"] * n if cells is None else cells,
            "author": pl.Series([None] * n if authors is None else authors, dtype=pl.String),
        }
    )
    if mentions is None:
        mentions = pl.DataFrame({"row": range(n), "target": pl.Series([None] * n, dtype=pl.String)})
    return Sample(
        posts=posts, shares=shares[:, None], labels=["hateful"], mentions=mentions, votes=votes
    )


def test_a_weighted_share_by_hand():
    # Weights 1 and 3, shares 1 and 0: 1/4. Two hundred of each.
    sample = make(400, weights=np.tile([1.0, 3.0], 200), shares=np.tile([1.0, 0.0], 200))
    found = finding(estimate(sample), "population_share")
    assert found.value == pytest.approx(0.25)
    assert found.n_effective == pytest.approx(800**2 / (200 * 1 + 200 * 9))


def test_interval_is_the_design_based_one():
    # Simple random sample: p ± 1.96 sqrt(p(1−p)/n) with p near .3, n = 400.
    sample = make()
    found = finding(estimate(sample), "population_share")
    p = found.value
    half = 1.96 * np.sqrt(p * (1 - p) / 400)
    assert (found.low, found.high) == pytest.approx((p - half, p + half), abs=0.006)


def test_stratification_narrows_what_strata_explain():
    shares = np.repeat([1.0, 0.0], 200)
    one = finding(estimate(make(shares=shares)), "population_share")
    two = finding(
        estimate(make(shares=shares, cells=["a"] * 200 + ["b"] * 200)), "population_share"
    )
    assert one.high - one.low > 0.08
    assert (two.low, two.high) == pytest.approx((0.5, 0.5))


def people(n, groups, per_group=20):
    """One mention a post: groups in turn, each with ``per_group`` people."""
    names = [groups[i % len(groups)] for i in range(n)]
    targets = [f"{g}{i // len(groups) % per_group}" for i, g in enumerate(names)]
    return pl.DataFrame({"row": range(n), "target": targets, "party": names})


def test_a_post_counts_once_per_mention():
    # Post 0 (share 1) mentions two people of x; the other 199 (share 0) one of x: 2 / 201.
    shares = np.r_[1.0, np.zeros(199)]
    rows = pl.DataFrame({"row": [0, *range(200)], "target": [f"p{i % 30}" for i in range(201)]})
    found = finding(estimate(make(200, shares=shares, mentions=rows)), "population_share")
    assert found.value == pytest.approx(2 / 201)
    assert found.n == 200


def test_groups_and_intersections():
    mentions = people(800, ["x", "y"]).with_columns(
        role=pl.when(pl.col("row") < 400).then(pl.lit("mp")).otherwise(pl.lit("press"))
    )
    shares = np.where(np.arange(800) % 2 == 0, 1.0, 0.0)
    found = estimate(make(800, shares=shares, mentions=mentions), by=[["party"], ["party", "role"]])
    assert value(found, "population_share", party="x") == 1
    assert value(found, "population_share", party="y", role="mp") == 0
    assert finding(found, "population_share", party="x", role="press").n == 200


def test_small_cells_are_withheld_with_the_one_that_would_reveal_them():
    sizes = [50, 150, 400]
    names = [g for g, many in zip("abc", sizes, strict=True) for _ in range(many)]
    targets = [f"{name}{i % 40}" for i, name in enumerate(names)]
    mentions = pl.DataFrame({"row": range(600), "target": targets, "party": names})
    found = estimate(make(600, mentions=mentions), by=[["party"]])
    assert finding(found, "population_share", party="a").why == "withheld: fewer than 100 posts"
    assert "would reveal" in finding(found, "population_share", party="b").why
    assert value(found, "population_share", party="c") is not None


def test_few_people_are_withheld():
    mentions = people(600, ["x", "y"], per_group=9)
    found = estimate(make(600, mentions=mentions), by=[["party"]])
    assert "fewer than 10 people mentioned" in finding(found, "population_share", party="x").why


def test_resampling_authors_is_wider_when_authors_are_all_or_nothing():
    authors = [f"a{i // 20}" for i in range(400)]
    shares = np.repeat(np.tile([1.0, 0.0], 10), 20)
    sample = make(shares=shares, authors=authors)
    posts, by_author = (finding(estimate(sample, over=o), "population_share")
                        for o in ("posts", "authors"))  # fmt: skip
    assert posts.value == by_author.value == 0.5
    # 20 authors: sd ½/√20 = .112; 400 posts: ½/√400 = .025.
    assert by_author.high - by_author.low == pytest.approx(
        4.47 * (posts.high - posts.low), rel=0.15
    )


def ballots(leniency, per_post=3, n=600, seed=0):
    """Votes of annotators who each say yes with their own probability."""
    rng = np.random.default_rng(seed)
    people = rng.integers(len(leniency), size=(n, per_post))
    yes = rng.random((n, per_post)) < np.asarray(leniency)[people]
    rows = np.repeat(np.arange(n), per_post)
    votes = pl.DataFrame({"row": rows, "annotator": [f"v{i}" for i in people.ravel()],
                          "label": np.where(yes.ravel(), 0, -1)})  # fmt: skip
    return votes, yes.mean(axis=1)


def test_two_way_resampling_is_wider_when_annotators_differ():
    votes, shares = ballots([0.0] * 10 + [0.6] * 10)
    votes = votes.with_columns(pl.col("label").replace(-1, 1))
    sample = make(600, shares=shares, votes=votes)
    posts = finding(estimate(sample), "population_share")
    both = finding(estimate(sample, over="annotators"), "population_share")
    assert both.value == posts.value
    assert both.unit == "posts and annotators"
    # Twenty annotators with sd .3 between them: about .3/√20 = .067 beside .011 from posts.
    assert both.high - both.low > 3 * (posts.high - posts.low)


def test_two_way_resampling_is_hardly_wider_when_annotators_are_alike():
    votes, shares = ballots([0.3] * 300, n=900)
    votes = votes.with_columns(pl.col("label").replace(-1, 1))
    sample = make(900, shares=shares, votes=votes)
    posts = finding(estimate(sample), "population_share")
    both = finding(estimate(sample, over="annotators"), "population_share")
    assert 0.95 < (both.high - both.low) / (posts.high - posts.low) < 2.0


def test_row_order_does_not_matter_and_seeds_repeat():
    sample = make(weights=np.linspace(1, 2, 400))
    assert estimate(sample, seed=3) == estimate(sample, seed=3)
    assert estimate(sample, seed=3) != estimate(sample, seed=4)


@pytest.mark.parametrize("bad", [float("nan"), -1.0, float("inf")])
def test_weights_that_are_no_weights_are_named(bad):
    with pytest.raises(BadInput, match="1 weights are negative or not numbers: 00007"):
        make(20, weights=np.where(np.arange(20) == 7, bad, 1.0))


def test_what_cannot_be_resampled_says_so():
    with pytest.raises(NotEnoughData, match="authors are not known"):
        estimate(make(), over="authors")
    with pytest.raises(NotEnoughData, match="not known who voted"):
        estimate(make(), over="annotators")
    with pytest.raises(BadInput, match="cannot group by shoe; known: party"):
        estimate(make(600, mentions=people(600, ["x", "y"])), by=[["shoe"]])


def test_vote_counts_weigh_posts_and_answers_do_not():
    votes = np.array([2, 2, 4, 4, 8, 8])
    shares = np.array([0.0, 1.0, 0.5, 0.25, 0.125, 1.0])
    weights = vote_count_weights(votes, shares)
    assert weights[0] == weights[1]  # same number of votes, opposite answers
    assert weights[0] < weights[2] < weights[4]


def test_without_disagreement_all_posts_weigh_the_same():
    assert vote_count_weights(np.array([2, 3]), np.array([0.0, 0.0])).tolist() == [1, 1]


def test_flagged_shares_counted_on_few_posts_widen_the_interval():
    # Two cells that differ only by flag: all flagged posts hateful, none of the rest; half the
    # population flagged, counted on 40 posts: standard error √(½·½/40) = .079, half-width .155.
    sample = make(shares=np.repeat([1.0, 0.0], 200), cells=["f"] * 200 + ["r"] * 200)
    known = finding(estimate(sample), "population_share")
    assert known.high - known.low == pytest.approx(0)
    frame = pl.DataFrame({"stratum": ["d"], "volume_share": [1.0], "flagged": [0.5],
                          "available": [40], "rest_cell": ["r"], "flag_cell": ["f"]})  # fmt: skip
    counted = finding(estimate(replace(sample, frame=frame)), "population_share")
    assert (counted.high - counted.low) / 2 == pytest.approx(0.155, abs=0.012)
