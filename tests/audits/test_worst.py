import pytest

from evenhand.audits.weaknesses import uneven, weaknesses
from evenhand.audits.worst import worst
from evenhand.core.records import Finding


def ranked(findings, **options):
    return worst(weaknesses(findings, swearing=["profanity"], **options))


def accuracy(name, value, low, high, label="hateful", suite="a", **more):
    group = {"suite": suite, "functionality": name, "set": "orig", "label": label, **more}
    return Finding(measure="accuracy", value=value, n=60, low=low, high=high, group=group)


def flips(value, low, templates="gender"):
    return Finding(
        measure="identity_flip_rate",
        value=value,
        n=500,
        low=low,
        high=1.0,
        group={"templates": templates, "threshold": "operating"},
    )


def gap(p, value=0.4, low=0.2):
    group = {"suite": "a"}
    return [
        *(
            Finding(measure="recall", value=v, n=45, group={**group, "identity": name}, why="x")
            for name, v in (("sailors", 0.9), ("archers", 0.5))
        ),
        Finding(measure="recall_gap", value=value, n=90, low=low, high=0.6, group=group),
        Finding(measure="recall_gap_shuffled", value=0.1, n=90, group=group, why="chance"),
        Finding(measure="recall_gap_p", value=p, n=999, group=group, why="a p-value"),
    ]


def test_the_conservative_end_ranks():
    # The first has the larger error (.9 against .8), but it may be as small as .5.
    found = ranked([accuracy("f1", 0.1, 0.0, 0.5), accuracy("f2", 0.2, 0.1, 0.3)])
    assert [w.finding.group["functionality"] for w in found.listed] == ["f2", "f1"]
    assert [w.at_least for w in found.listed] == [pytest.approx(0.7), pytest.approx(0.5)]
    assert found.compared == 2


def test_the_sentence_says_what_is_done_to_which_cases():
    [weakness] = ranked([accuracy("verb_swap", 0.2, 0.1, 0.3)], titles={}).listed
    assert weakness.sentence == ("Misses 80 % of 60 hateful cases in a: verb swap (at least 70 %).")
    [weakness] = ranked(
        [accuracy("f", 0.2, 0.1, 0.3, "not hateful")], titles={"f": "Praise"}
    ).listed
    assert weakness.sentence == "Flags 80 % of 60 harmless cases in a: Praise (at least 70 %)."


def test_kinds_take_turns():
    many = [accuracy(f"f{i:02d}", 0.0, 0.0, 0.01 * i) for i in range(20)]
    alarms = [accuracy(f"g{i}", 0.0, 0.0, 0.5, "not hateful") for i in range(4)]
    found = ranked([*many, *alarms, flips(0.1, 0.05), flips(0.3, 0.2, "profanity")])
    kinds = [w.kind for w in found.listed]
    # Ten places by turns: 1 + 1 + 1 + 1, then 1 + 1, then misses and alarms until none is left.
    assert kinds.count("misses in a") == 4 and kinds.count("false alarms in a") == 4
    assert "identity flips" in kinds and "profanity" in kinds
    assert found.compared == 26
    levels = [w.at_least for w in found.listed]
    assert levels == sorted(levels, reverse=True)


def test_what_has_no_interval_is_counted_and_not_ranked():
    bare = Finding(
        measure="accuracy",
        value=0.0,
        n=3,
        group={"suite": "a", "functionality": "f", "set": "orig", "label": "hateful"},
        why="too few templates",
    )
    found = ranked([bare])
    assert (found.listed, found.compared, found.unranked) == ([], 1, 1)


def test_a_perfect_detector_has_no_worst():
    assert ranked([accuracy("f1", 1.0, 0.9, 1.0)]).listed == []


def test_gaps_are_claimed_only_beyond_chance():
    assert uneven(gap(0.2)) == []
    [claim] = uneven(gap(0.001))
    assert claim.at_least == pytest.approx(0.2)
    assert claim.sentence == (
        "Finds hate unevenly in a: most often for sailors, least for archers; in 90 comparable "
        "cases the two ends are 40 points apart, where chance gives 10 points."
    )


def test_what_was_tested_and_not_claimed_is_counted():
    assert (ranked(gap(0.001)).compared, ranked(gap(0.9)).compared) == (1, 1)
    assert ranked(gap(0.9)).listed == []


def test_a_set_of_templates_takes_one_place_at_its_worst_threshold():
    other = Finding(
        measure="identity_flip_rate",
        value=0.5,
        n=500,
        low=0.4,
        high=0.6,
        group={"templates": "gender", "threshold": "equal error on dev"},
    )
    [weakness] = ranked([flips(0.1, 0.05), other]).listed
    assert weakness.at_least == 0.4
    assert "at the threshold of equal error on dev" in weakness.sentence


def test_unlike_terms_are_not_called_unlike_groups():
    group = {"templates": "gender", "threshold": "operating"}
    rates = [
        Finding(measure="fpr", value=v, n=9, group={**group, "group": name}, why="x")
        for name, v in (("male", 0.1), ("female", 0.3))
    ]
    found = [
        *rates,
        Finding(measure="fped", value=0.2, n=9, low=0.1, high=0.3, group=group),
        Finding(measure="fped_max", value=0.1, n=9, low=0.05, high=0.2, group=group),
        Finding(measure="fped_swapped", value=0.15, n=9, low=0.0, high=0.3, group=group),
        Finding(measure="fped_p", value=0.001, n=999, group=group, why="a p-value"),
    ]
    [claim] = uneven(found)
    assert claim.finding.measure == "fped_max" and claim.at_least == 0.05
    assert "single terms differ as much as the groups do" in claim.sentence
    assert uneven(found, swearing=["gender"]) == []


def test_claims_are_corrected_together():
    # .02 alone is below .05; among three it becomes .06 (Holm) and nothing is claimed.
    other = [
        Finding(measure="fpr_gap_p", value=p, n=999, group={"suite": s}, why="p")
        for s, p in (("b", 0.5), ("c", 0.6))
    ]
    assert len(uneven(gap(0.02))) == 1
    assert uneven([*gap(0.02), *other]) == []


def test_the_order_of_findings_does_not_matter():
    found = [accuracy(f"f{i}", 0.1 * i, 0.0, 0.1 * i) for i in range(6)] + [flips(0.2, 0.1)]
    assert ranked(found).listed == ranked(found[::-1]).listed
