from itertools import combinations

import numpy as np
import polars as pl
import pytest

from evenhand.stats.flips import MOST_PAIRS, identity_flip_rate
from factories import finding


def sentences(rows):
    """Rows of template, word, row of terms, group, label and score; flagged from one half on."""
    names = ["template", "word", "pair", "group", "label", "score"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    return table.select(
        "template",
        "pair",
        "group",
        "label",
        "score",
        post=pl.format("{}/{}/{}/{}", "template", "word", "pair", "group"),
        frame=pl.format("{}/{}", "template", "word"),
        flagged=pl.col("score") >= 0.5,
    )


def rate(table, **options):
    label = {"label": options.pop("label")} if "label" in options else {}
    found = identity_flip_rate(table, unit="templates", seed=0, resamples=200, **options)
    return finding(found, "identity_flip_rate", **options.get("group", {}), **label)


def made(seed=0, templates=12, words=4, rows=2, groups=3):
    rng = np.random.default_rng(seed)
    return sentences(
        [
            (f"t{t:02}", f"w{w}", f"r{r}", f"g{g}", ("bad", "good")[w % 2], float(rng.random()))
            for t in range(templates)
            for w in range(words)
            for r in range(rows)
            for g in range(groups)
        ]
    )


THREE = sentences(
    [
        ("t", "kind", "r", "a", "good", 0.9),
        ("t", "kind", "r", "b", "good", 0.4),
        ("t", "kind", "r", "c", "good", 0.1),
        ("t", "vile", "r", "a", "bad", 0.9),
        ("t", "vile", "r", "b", "bad", 0.8),
        ("t", "vile", "r", "c", "bad", 0.7),
    ]
)


def test_by_hand():
    # Of a, b and c with "kind" only a is flagged: of three pairs ab and ac flip. With "vile" all
    # are flagged: none of three.
    assert (rate(THREE).value, rate(THREE).n) == (2 / 6, 6)
    assert (rate(THREE, label="good").value, rate(THREE, label="good").n) == (2 / 3, 3)
    assert (rate(THREE, label="bad").value, rate(THREE, label="bad").n) == (0, 3)


def test_flipped_pairs_are_listed_the_farthest_apart_first():
    # a and c are .8 apart, a and b .5; the flagged one comes first.
    expected = ["t/kind/r/a", "t/kind/r/c", "t/kind/r/a", "t/kind/r/b"]
    assert rate(THREE).cases == rate(THREE, label="good").cases == expected
    assert rate(THREE, label="bad").cases == []


def test_equal_differences_are_listed_by_id():
    rows = [
        ("t", word, "r", group, "good", score)
        for word, scores in (("c", (0.2, 0.5)), ("a", (0.5, 0.8)), ("b", (0.4, 0.7)))
        for group, score in zip(("x", "y"), scores, strict=True)
    ]
    # .7 − .4 and .5 − .2 are equal but for the last bits; in "a" both are flagged.
    assert rate(sentences(rows)).cases == ["t/b/r/y", "t/b/r/x", "t/c/r/y", "t/c/r/x"]


def test_terms_of_different_rows_are_no_pair():
    # man and girl get different decisions, but are not of one row.
    rows = [
        ("t", "kind", "man/woman", "male", "good", 0.9),
        ("t", "kind", "man/woman", "female", "good", 0.9),
        ("t", "kind", "boy/girl", "male", "good", 0.1),
        ("t", "kind", "boy/girl", "female", "good", 0.1),
    ]
    assert (rate(sentences(rows)).value, rate(sentences(rows)).n) == (0, 2)


def test_the_same_as_counting_pairs_one_by_one():
    table = made()
    rows = table.to_dicts()
    pairs = [
        (one, other)
        for one, other in combinations(rows, 2)
        if one["frame"] == other["frame"]
        and one["pair"] == other["pair"]
        and one["group"] != other["group"]
    ]
    flips = [pair for pair in pairs if pair[0]["flagged"] != pair[1]["flagged"]]
    found = rate(table)
    assert (found.value, found.n) == (len(flips) / len(pairs), len(pairs))
    assert found.low < found.value < found.high
    assert len(found.cases) == 2 * MOST_PAIRS
    listed = set(zip(found.cases[::2], found.cases[1::2], strict=True))
    assert len(listed) == MOST_PAIRS
    flagged = set(table.filter("flagged")["post"])
    assert {a for a, _ in listed} <= flagged
    assert not {b for _, b in listed} & flagged


def test_intervals_resample_templates():
    """Twice the words of every template are no more evidence."""
    marks = ["", "!", "?", "+"]
    copies = [
        made().with_columns(frame=pl.col("frame") + mark, post=pl.col("post") + mark)
        for mark in marks
    ]
    one, two, four = (rate(pl.concat(copies[:n])) for n in (1, 2, 4))
    assert (two.n, four.n) == (2 * one.n, 4 * one.n)
    # With one copy Wilson's interval is a little wider than the resampled one, which stays.
    assert (four.value, four.low, four.high) == (two.value, two.low, two.high)
    assert one.low < two.low < two.high < one.high
    assert (one.unit, one.level) == ("templates", 0.95)


def test_few_templates_have_no_interval():
    found = rate(made(templates=9))
    assert found.low is None
    assert found.why.startswith("no interval")


@pytest.mark.parametrize("score", [0.0, 1.0], ids=["never", "always"])
def test_a_constant_detector_has_0_and_says_so(score):
    found = rate(made().with_columns(score=pl.lit(score), flagged=pl.lit(score > 0.5)))
    assert (found.value, found.cases) == (0, [])
    assert found.why == "every sentence gets the same decision, so that none can flip"
    assert rate(THREE, label="bad").why == found.why


def test_without_pairs_there_is_no_rate():
    alone = THREE.filter(pl.col("group") == "a")
    for found in identity_flip_rate(alone, unit="templates", seed=0):
        assert (found.value, found.n) == (None, 0)
        assert found.why == "no two sentences differ in the identity term alone"


def test_order_of_rows_and_names_of_groups_change_nothing():
    table = made(seed=3)
    turned = table.sample(fraction=1, shuffle=True, seed=1)
    renamed = table.with_columns(pl.col("group").replace({"g0": "z", "g2": "a"}))
    whole = {"unit": "templates", "seed": 4, "group": {"set": "s"}, "resamples": 100}
    expected = identity_flip_rate(table, **whole)
    assert identity_flip_rate(turned, **whole) == expected
    assert identity_flip_rate(renamed, **whole) == expected
    assert [dict(f.group) for f in expected] == [
        {"set": "s"},
        {"set": "s", "label": "bad"},
        {"set": "s", "label": "good"},
    ]
