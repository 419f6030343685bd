import math

import pytest

from evenhand.core.errors import BadInput
from evenhand.core.records import Draw, Finding, Gold, Judgement, Post, Score, Split


def test_a_post_keeps_an_empty_text_but_not_a_missing_one():
    assert Post(id="1", text="", source="x").text == ""
    with pytest.raises(BadInput, match="text is None"):
        Post(id="1", text=None, source="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["id", "source"])
def test_a_post_needs_id_and_source(field):
    with pytest.raises(BadInput, match=f"{field} is empty"):
        Post(**({"id": "1", "text": "a", "source": "x"} | {field: ""}))


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.1, math.nan])
def test_a_draw_needs_a_probability(probability):
    with pytest.raises(BadInput, match="0 < p ≤ 1"):
        Draw(post="1", stratum="a", flag=False, probability=probability, weight=1.0)


def test_a_judgement_needs_an_answer_and_sound_spans():
    with pytest.raises(BadInput, match="answer is empty"):
        Judgement(post="1", annotator="a", question="q", answer=[])
    with pytest.raises(BadInput, match="span"):
        Judgement(post="1", annotator="a", question="q", answer=["x"], spans=[(3, 3)])


def test_single_choice_shares_sum_to_one():
    base = {"post": "1", "question": "q", "n": 3, "origin": "votes", "label": None}
    Gold(shares={"a": 2 / 3, "b": 1 / 3}, **base)
    with pytest.raises(BadInput, match=r"sum to 1\.5"):
        Gold(shares={"a": 1.0, "b": 0.5}, **base)
    Gold(shares={"a": 1.0, "b": 0.5}, multiple=True, **base)


def test_a_split_refuses_a_post_on_both_sides():
    with pytest.raises(BadInput, match="1 posts in train and test"):
        Split(name="s", train=["a", "b"], test=["b"], rule="")


@pytest.mark.parametrize("p", [-0.01, 1.01, math.nan])
def test_a_score_is_a_probability(p):
    with pytest.raises(BadInput, match="0 ≤ p ≤ 1"):
        Score(post="1", detector="d", attribute="HATE", p=p)


def test_a_missing_value_needs_a_reason():
    with pytest.raises(BadInput, match="no value and no reason"):
        Finding(measure="f1", value=None, n=0)
    assert Finding(measure="f1", value=None, n=0, why="one class").as_dict()["why"] == "one class"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_never_leaves_as_a_finding(bad):
    with pytest.raises(BadInput, match="use None and say why"):
        Finding(measure="f1", value=bad, n=3)


def test_a_finding_as_json_has_every_field():
    found = Finding(measure="f1", value=0.5, n=3, group={"label": "hateful"}).as_dict()
    assert found["group"] == {"label": "hateful"}
    assert set(found) == {
        "measure", "value", "n", "group", "low", "high", "level", "method", "unit", "weighted",
        "n_effective", "origin", "why", "cases",
    }  # fmt: skip
