"""What validation shows on the real corpora, with a quick recipe."""

import pytest

from evenhand.core.provenance import Run
from evenhand.data.find import find
from evenhand.studies.validation import Asked, validate
from factories import finding, value

pytestmark = pytest.mark.data


def test_unknown_authors_cost_much_on_waseem_and_hovy():
    run = Run(["evenhand"])
    validate(run, find("waseem_hovy"), "naive-bayes", Asked(protocol="author-disjoint:5"))
    assert value(run.findings, "macro_f1") < 0.60
    assert value(run.findings, "macro_f1", baseline="random-split") > 0.70
    assert finding(run.findings, "macro_f1_difference", against="random-split").high < 0
    assert value(run.findings, "unlabelled", reason="gold is a tie") == 41
    assert value(run.findings, "left_out_of_training") > 0


def test_always_hateful_is_hard_to_beat_on_hateval():
    run = Run(["evenhand"])
    asked = Asked(protocol="transfer:hateval@train")
    validate(run, find("waseem_hovy"), "naive-bayes", asked)
    # 3,783 of 9,000 are hateful: precision .4203, recall 1, F1 2·.4203/1.4203 = .592.
    constant = value(run.findings, "f1", baseline="always-positive", label="hateful")
    assert constant == pytest.approx(0.592, abs=0.0005)
    assert value(run.findings, "f1", label="hateful") < constant
    assert [used.name for used in run.data] == ["waseem_hovy", "hateval"]
