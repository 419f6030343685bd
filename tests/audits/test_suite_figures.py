import polars as pl
import pytest

from evenhand.audits.answers import answered
from evenhand.audits.suite_figures import suite_figures
from evenhand.core.errors import BadInput
from factories import finding, value


def cases(rows):
    """Cases from tuples: functionality, set, identity, template, hateful, flagged."""
    names = ("functionality", "set", "identity", "template", "hateful", "flagged")
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(
        id=pl.format("c{}", pl.int_range(pl.len())),
        text=pl.lit("x"),
        section=pl.col("functionality"),
        frame=pl.col("template"),
        p=pl.col("flagged").cast(pl.Float64),
    )


def figures(rows, **options):
    table = cases(rows)
    given = answered(table.drop("flagged", "p"), table.select(post="id", p="p"))
    return suite_figures(given, seed=0, resamples=50, **options)


# Two templates of "swap" (originals and no-emoji keep the label) and one of "append" (they do not).
# right:                                                                       flagged == hateful
ROWS = [
    ("swap", "orig", "sailors", "swap/1", True, True),
    ("swap", "orig", "sailors", "swap/1", True, False),
    ("swap", "orig", "sailors", "swap/1", True, False),
    ("swap", "orig", "archers", "swap/1", True, True),
    ("swap", "no_emoji_perturb", "sailors", "swap/1", True, True),
    ("swap", "no_emoji_perturb", "archers", "swap/1", True, False),
    ("swap", "orig", "sailors", "swap/2", True, False),
    ("swap", "no_emoji_perturb", "sailors", "swap/2", True, True),
    ("swap", "no_emoji_perturb", "archers", "swap/2", True, True),
    ("append", "orig", "sailors", "append/1", True, True),
    ("append", "no_emoji_perturb", "sailors", "append/1", False, True),
    ("append", "identity_perturb", None, "append/1", False, False),
]


def test_accuracy_by_hand():
    found = figures(ROWS)
    # Right: 2 of 5 originals of swap, 3 of 4 without emoji, 1 of 1 + 0 of 1 + 1 of 1 of append.
    assert value(found, "accuracy") == pytest.approx(7 / 12)
    assert value(found, "accuracy", label="hateful") == pytest.approx(6 / 10)
    assert value(found, "accuracy", label="not hateful") == pytest.approx(1 / 2)
    assert value(found, "accuracy", set="orig") == pytest.approx(3 / 6)
    assert value(found, "accuracy", functionality="append") == pytest.approx(2 / 3)
    swap = {"functionality": "swap", "set": "orig", "label": "hateful"}
    assert value(found, "accuracy", **swap) == pytest.approx(2 / 5)
    # F1: hits 6, misses 4, false alarms 1 → 12 / 17.
    assert value(found, "f1", label="hateful") == pytest.approx(12 / 17)


def test_constants_stand_beside_accuracies_over_both_labels():
    found = figures(ROWS)
    assert value(found, "accuracy", baseline="always-positive") == pytest.approx(10 / 12)
    assert value(found, "accuracy", baseline="always-negative") == pytest.approx(2 / 12)
    one_label = [f for f in found if f.group.get("baseline") and f.group.get("set") == "orig"]
    assert one_label == []


def test_the_emoji_difference_in_its_three_forms():
    found = figures(ROWS)
    # As printed: originals 3/6, without emoji 3/5 (append's counts): −.1.
    assert value(found, "emoji_difference", form="as printed") == pytest.approx(3 / 6 - 3 / 5)
    # Without append: 2/5 − 3/4.
    assert value(found, "emoji_difference", form="without append") == pytest.approx(2 / 5 - 3 / 4)
    # Matched: cells with both sides are (swap/1, sailors): 3 originals, 1 right, its one no-emoji
    # right; (swap/1, archers): 1 right of 1, no-emoji wrong; (swap/2, sailors): 0 of 1, right.
    # Originals 2/5; no-emoji weighted 3 × 1 + 1 × 0 + 1 × 1 of 5 = 4/5.
    matched = finding(found, "emoji_difference", form="template-matched")
    assert matched.value == pytest.approx(2 / 5 - 4 / 5)
    assert value(found, "emoji_difference", functionality="swap") == pytest.approx(2 / 5 - 3 / 4)
    assert [
        f for f in found if f.group.get("functionality") == "append" and "emoji" in f.measure
    ] == []


def test_identities_have_their_rates():
    found = figures(ROWS)
    # Archers: hits at the first and the last, a miss in between: recall 2/3; no negatives.
    assert value(found, "recall", identity="archers") == pytest.approx(2 / 3)
    fpr = finding(found, "fpr", identity="archers")
    assert fpr.value is None and "no negative posts of archers" in fpr.why


def test_a_case_without_a_score_is_wrong_and_listed():
    table = cases(ROWS)
    scores = table.select(post="id", p=pl.when(pl.col("id") == "c0").then(None).otherwise("p"))
    scores = scores.with_columns(p=pl.when(pl.col("post") == "c11").then(None).otherwise("p"))
    given = answered(
        table.drop("flagged", "p"), scores, failed={"c0": "it raised", "c11": "it raised"}
    )
    found = suite_figures(given, seed=0, resamples=50)
    # Both were right before: 7 − 2 of 12, one of them hateful and one not.
    assert value(found, "accuracy") == pytest.approx(5 / 12)
    assert value(found, "accuracy", label="not hateful") == 0
    unscored = finding(found, "unscored")
    assert (unscored.value, unscored.cases) == (2, ["c0", "c11"])


def test_the_group_is_added_to_every_finding():
    assert {f.group.get("suite") for f in figures(ROWS, group={"suite": "weather"})} == {"weather"}


def test_a_threshold_outside_the_unit_interval_is_refused():
    table = cases(ROWS)
    with pytest.raises(BadInput, match="threshold"):
        answered(table, table.select(post="id", p="p"), threshold=1.5)


def test_a_score_at_the_threshold_is_flagged():
    table = cases(ROWS)
    scores = table.select(post="id", p=pl.lit(0.7))
    flagged = answered(table.drop("flagged", "p"), scores, threshold=0.7).table["flagged"]
    assert flagged.all()
