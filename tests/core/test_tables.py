import polars as pl
import pytest

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.tables import (
    carried,
    draws_table,
    findings_table,
    gold_table,
    judgements_table,
    posts_table,
    scores_table,
    tag,
)

POST = {"id": ["a", "b"], "text": ["x", ""], "source": ["s", "s"]}


def gold(label, *shares, multiple=False):
    return {
        "post": "a",
        "question": "q",
        "shares": [{"label": name, "share": share} for name, share in shares],
        "n": 2,
        "origin": "published",
        "label": label,
        "multiple": multiple,
    }


def test_posts_get_all_columns_in_order_and_keep_empty_texts():
    table = posts_table(pl.DataFrame(POST))
    assert table.columns[:3] == ["id", "text", "source"]
    assert table["text"].to_list() == ["x", ""]
    assert table["targets"].to_list() == [[], []]


def test_posts_refuse_nulls_and_the_same_id_twice_with_every_row():
    bad = pl.DataFrame({"id": ["a", "a", None], "text": ["x", None, "y"], "source": ["s", "s", ""]})
    with pytest.raises(BadInput) as caught:
        posts_table(bad)
    assert str(caught.value).splitlines() == [
        "posts row 2: text is missing",
        "posts row 2: this id was used before",
        "posts row 3: id is missing",
        "posts row 3: source is empty",
    ]


def test_an_unknown_column_is_refused():
    with pytest.raises(BadInput, match="unknown \\['txet'\\]"):
        posts_table(pl.DataFrame(POST | {"txet": ["a", "b"]}))


def test_tags_always_have_split_and_absent_tags_are_null():
    posts = posts_table(pl.DataFrame(POST).with_columns(tags=pl.struct(twin=pl.lit("b"))))
    found = posts.select(tag("twin", posts), tag("split", posts), tag("never", posts))
    assert found.row(0) == ("b", None, None)


@pytest.mark.parametrize("p", [0.0, 1.5, None, float("nan")])
def test_draws_refuse_a_probability_outside(p):
    row = {"post": "a", "stratum": "s", "flag": True, "probability": p, "weight": 1.0}
    with pytest.raises(BadInput, match="probability is outside"):
        draws_table(pl.DataFrame([row], schema_overrides={"probability": pl.Float64}))


def vote(answer, attempt=1):
    return {"post": "a", "annotator": "x", "question": "q", "answer": answer, "attempt": attempt}


def test_judgements_refuse_answers_outside_the_questionnaire():
    with pytest.raises(BadInput, match="row 2: the answer to 'q' is not one of yes, no"):
        judgements_table(pl.DataFrame([vote(["yes"]), vote(["maybe"], 2)]), {"q": ("yes", "no")})


def test_judgements_refuse_the_same_attempt_twice_but_not_a_second_attempt():
    judgements_table(pl.DataFrame([vote(["yes"], 1), vote(["no"], 2)]))
    with pytest.raises(BadInput, match="row 2: the same person's same attempt"):
        judgements_table(pl.DataFrame([vote(["yes"], 1), vote(["no"], 1)]))


def test_gold_refuses_single_choice_shares_that_do_not_sum_to_one():
    gold_table(pl.DataFrame([gold(None, ("x", 0.5), ("y", 0.5))]))
    with pytest.raises(BadInput, match="do not sum to 1"):
        gold_table(pl.DataFrame([gold("x", ("x", 1.0), ("y", 0.5))]))
    gold_table(pl.DataFrame([gold(None, ("x", 1.0), ("y", 0.5), multiple=True)]))


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([("x", 0.4), ("y", 0.3), ("z", 0.3)], ["x"]),  # the largest
        ([("x", 0.5), ("y", 0.5)], ["x", "y"]),  # a conflict carries both
        ([("x", 1.0), ("y", 0.6), ("z", 0.2)], ["x", "y"]),  # several may apply
    ],
)
def test_carried_labels(shares, expected):
    table = gold_table(pl.DataFrame([gold(None, *shares, multiple=True)]))
    assert sorted(carried(table)["label"]) == expected


@pytest.mark.parametrize("p", [-0.1, 1.1, None, float("nan")])
def test_scores_refuse_p_outside(p):
    row = {"post": "a", "detector": "d", "attribute": "HATE", "p": p}
    with pytest.raises(BadInput, match="p is outside"):
        scores_table(pl.DataFrame([row], schema_overrides={"p": pl.Float64}))


def test_findings_keep_their_group_as_pairs(tmp_path):
    table = findings_table([Finding(measure="f1", value=0.5, n=3, group={"top": 2})])
    assert table["group"].to_list() == [[{"key": "top", "value": "2"}]]
    table.write_parquet(tmp_path / "f.parquet")
    assert pl.read_parquet(tmp_path / "f.parquet").equals(table)
