"""Where a figure of agreement does not exist it is null and says why."""

import polars as pl
import pytest

from agreement_factories import by_post, judgements
from evenhand.stats.agreement import agreement
from evenhand.stats.fleiss import kappa_by_post

NOT_COUNTS = 4  # the first four findings are counts
SCALES = ["nominal", "ordinal", "interval", "set"]


def figures(table, **options):
    return agreement(table, question="q", **options)[NOT_COUNTS:]


def whys(table, measure, **options):
    return {f.why for f in figures(table, **options) if f.measure == measure and f.value is None}


@pytest.mark.parametrize("scale", SCALES)
def test_no_judgements(scale):
    found = figures(judgements([]), scale=scale)
    assert found and all(f.value is None and f.why == "nobody answered 'q'" for f in found)


@pytest.mark.parametrize("scale", SCALES)
def test_one_vote_per_post(scale):
    found = figures(by_post("1", "2", "1"), scale=scale)
    assert found and all(f.value is None and f.why == "no post has two votes" for f in found)


def test_no_post_with_that_many_votes():
    assert whys(by_post("yy"), "fleiss_kappa", exactly=3) == {"no post has exactly 3 votes"}


@pytest.mark.parametrize("scale", SCALES)
def test_one_class_only(scale):
    found = {f.measure: f for f in figures(by_post("11", "111"), scale=scale)}
    assert found["percent_agreement"].value == 1
    nothing = set(found) - {"percent_agreement"}
    assert all(found[name].value is None and found[name].why for name in nothing)


def test_all_alike_with_more_on_offer():
    # Nothing was expected to disagree under Fleiss; free-marginal chance still is one half.
    found = {f.measure: f.value for f in figures(by_post("yy", "yy"), order=["y", "n"])}
    assert found["fleiss_kappa"] is None
    assert found["randolph_kappa"] == 1 and found["gwet_ac1"] == 1


def test_one_post_has_no_variance_between_posts():
    assert whys(by_post("12"), "icc_1_1", scale="interval")
    assert whys(by_post("12"), "icc_3_1", scale="interval")


def test_posts_with_the_same_mean_have_no_icc_of_means():
    found = {f.measure: f for f in figures(by_post("13", "22", "31"), scale="interval")}
    # Between 0, within 2 + 0 + 2 over 3: ICC(1,1) = −W/(W(k₀ − 1)) = −1 with k₀ = 2.
    assert found["icc_1_1"].value == pytest.approx(-1)
    assert found["icc_1_k"].value is None and "means" in found["icc_1_k"].why


def test_anonymous_annotators():
    rows = [(p, a, x) for p in "pr" for a, x in (("?1", "1"), ("?2", "2"))]
    table = judgements(rows, anonymous=pl.lit(True))
    assert whys(table, "icc_2_1", scale="interval") == {
        "annotators are anonymous, so it is not known who judged which post"
    }


def test_two_cohorts_are_two_sets_of_people():
    # Annotator a of one cohort is not annotator a of the other: nobody judged both posts.
    rows = [("p", "a", "1"), ("p", "b", "2"), ("r", "a", "2"), ("r", "b", "2")]
    table = judgements(rows).with_columns(cohort=pl.Series(["x", "x", "y", "y"]))
    assert whys(table, "icc_3_k", scale="interval") == {"not every annotator judged every post"}


def test_one_post_gives_a_figure_without_an_interval():
    [found] = [f for f in figures(by_post("yyn", "y")) if f.measure == "fleiss_kappa"]
    assert found.value is not None and found.low is None and "resample" in found.why


def test_no_intervals_where_none_are_asked_for():
    found = figures(by_post("yyn", "yy"), resamples=0)
    assert all(f.low is None and f.why for f in found)


def test_kappa_of_posts_is_null_where_all_votes_are_alike():
    table = kappa_by_post(by_post("yy", "yyy"), "q")
    assert table["kappa"].to_list() == [None, None]
    assert table["agreement"].to_list() == [1, 1]
