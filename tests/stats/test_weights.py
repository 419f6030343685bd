import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.stats.weights import effective, second_phase, weigh, weight_findings
from factories import value


def strata(*rows):
    """(stratum, volume, not flagged, flagged) → the strata table."""
    long = [(s, f, v, n) for s, v, *ns in rows for f, n in zip((False, True), ns, strict=True)]
    return pl.DataFrame(long, schema=["stratum", "flag", "volume", "available"], orient="row")


def draws(*rows):
    """(stratum, flag, how many) → draws."""
    long = [(s, f) for s, f, many in rows for _ in range(many)]
    table = pl.DataFrame(long, schema=["stratum", "flag"], orient="row")
    return table.with_columns(post=pl.format("{}", pl.int_range(pl.len())))


def weights(weighed):
    table = weighed.table.group_by("stratum", "flag").agg(pl.col("weight").first())
    return {(s, f): w for s, f, w in table.iter_rows()}


def test_weights_by_hand():
    # Day a has 300 posts of which the provider gave 80 + 20, day b 100 posts (10 + 10).
    # Targets: a: .75·(.8, .2) = .6, .15; b: .25·(.5, .5) = .125, .125.
    # 40 analysed, 10 in each cell: weight = target / (10/40).
    table = draws(("a", False, 10), ("a", True, 10), ("b", False, 10), ("b", True, 10))
    weighed = weigh(table, table["post"], strata(("a", 300, 80, 20), ("b", 100, 10, 10)))
    assert weights(weighed) == pytest.approx(
        {("a", False): 2.4, ("a", True): 0.6, ("b", False): 0.5, ("b", True): 0.5}
    )


def test_weights_are_computed_on_the_posts_actually_analysed():
    # As above, but half of one cell never got a label: its weight doubles (up to the new total).
    table = draws(("a", False, 10), ("a", True, 10))
    population = strata(("a", 100, 50, 50))
    answered = table.filter(pl.col("flag") | (pl.col("post").cast(int) < 5))["post"]
    weighed = weigh(table, answered, population)
    assert weights(weighed) == pytest.approx(
        {("a", False): 0.5 * 15 / 5, ("a", True): 0.5 * 15 / 10}
    )
    assert weighed.response.row(0) == ("a", 20, 15, 0.75)


def test_the_weighted_share_of_every_cell_is_the_populations():
    table = draws(("a", False, 30), ("a", True, 12), ("b", False, 9), ("b", True, 7))
    weighed = weigh(table, table["post"], strata(("a", 500, 90, 10), ("b", 1500, 60, 40)))
    total = weighed.table["weight"].sum()
    flagged = weighed.table.filter(pl.col("flag"))["weight"].sum()
    assert flagged / total == pytest.approx(0.25 * 0.1 + 0.75 * 0.4)


def test_small_strata_are_merged_with_their_neighbours():
    # Posts by day: 2, 3, 1, 6, 2 → {2+3}, {1+6+2}: the rest at the end joins the last.
    table = draws(*(("abcde"[i], False, many) for i, many in enumerate((2, 3, 1, 6, 2))))
    population = pl.DataFrame(
        {"stratum": list("abcde"), "flag": False, "volume": 10, "available": 10}
    )
    weighed = weigh(table, table["post"], population)
    assert weighed.cells["posts"].to_list() == [5, 9]
    assert weighed.cells["strata"].to_list() == [2, 3]
    assert value(weight_findings(weighed), "merged_cells") == 2


def test_an_empty_stratum_is_merged_not_lost():
    table = draws(("a", False, 6), ("c", False, 6))
    population = pl.DataFrame(
        {"stratum": list("abc"), "flag": False, "volume": [10, 80, 10], "available": 10}
    )
    weighed = weigh(table, table["post"], population)
    # b has no post; with c it stands for 90 of 100.
    assert weights(weighed) == pytest.approx({("a", False): 0.2, ("c", False): 1.8})


def test_a_flag_that_cannot_be_merged_is_an_error():
    table = draws(("a", False, 20), ("a", True, 4))
    with pytest.raises(NotEnoughData, match=r"4 analysed posts are flagged, but 10\.0 % of the"):
        weigh(table, table["post"], strata(("a", 100, 90, 10)))


@pytest.mark.parametrize("volume", [0, -3, float("nan"), None])
def test_bad_volumes_are_named(volume):
    table = draws(("a", False, 6))
    bad = strata(("a", 100, 6, 0)).with_columns(volume=pl.lit(volume, dtype=pl.Float64))
    with pytest.raises(BadInput, match="volume of 'a' is"):
        weigh(table, table["post"], bad)


def test_a_day_without_volume_and_an_impossible_cell_are_named():
    table = draws(("a", False, 6), ("z", False, 6))
    with pytest.raises(BadInput, match="1 strata of the sample have no volume: z"):
        weigh(table, table["post"], strata(("a", 100, 6, 0)))
    flagged = draws(("a", True, 6))
    with pytest.raises(BadInput, match=r"cells that the population does not have: a \(flag True\)"):
        weigh(flagged, flagged["post"], strata(("a", 100, 6, 0)))


def test_nothing_labelled_is_said():
    table = draws(("a", False, 6))
    with pytest.raises(NotEnoughData, match="no post of the sample has a label"):
        weigh(table, pl.Series([], dtype=pl.String), strata(("a", 100, 6, 0)))


def test_row_order_does_not_matter():
    table = draws(("a", False, 7), ("a", True, 6), ("b", False, 3), ("b", True, 9))
    population = strata(("a", 500, 90, 10), ("b", 1500, 60, 40))
    one = weigh(table, table["post"], population)
    two = weigh(table.reverse(), table["post"].reverse(), population.reverse())
    assert one.table.equals(two.table)


def test_effective_size_and_dominance():
    # One post of a hundred carries 99 of 198: effective 198² / (99·1 + 99²) ≈ 3.96.
    assert effective(pl.Series([1.0] * 99 + [99.0]).to_numpy()) == pytest.approx(198**2 / 9900)
    table = draws(("a", False, 99), ("b", False, 5))
    population = pl.DataFrame(
        {"stratum": ["a", "b"], "flag": False, "volume": [1, 99], "available": 10}
    )
    findings = weight_findings(weigh(table, table["post"], population))
    [heavy] = [f for f in findings if f.measure == "heaviest_weight_share"]
    assert "dominate" in heavy.why


def test_a_second_phase_multiplies_its_probabilities_in():
    # First weights 1 and 3; second-phase probabilities .5 and .25 → 2 and 12, scaled to mean 1.
    first = pl.DataFrame({"post": ["1", "2"], "weight": [1.0, 3.0]})
    second = pl.DataFrame({"post": ["1", "2"], "stratum": ["x", "y"], "probability": [0.5, 0.25]})
    found = second_phase(first, second, pl.Series(["1", "2"]))
    assert found["weight"].to_list() == pytest.approx([2 / 7, 12 / 7])
    with pytest.raises(BadInput, match="no first-phase weight: 2"):
        second_phase(first.head(1), second, pl.Series(["1", "2"]))
