import os

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.errors import BadInput
from evenhand.core.tables import judgements_table
from evenhand.stats.annotators import annotator_sheet
from evenhand.stats.intervals import wilson
from factories import finding, value


def table(*rows, **columns):
    frame = pl.DataFrame(rows, schema=["post", "annotator", "answer"], orient="row")
    answer = pl.concat_list("answer")
    return judgements_table(frame.with_columns(answer, question=pl.lit("q"), **columns))


JUDGED = table(
    ("p", "a", "yes"), ("p", "b", "yes"), ("p", "c", "no"),
    ("r", "a", "no"), ("r", "b", "yes"),
    ("s", "d", "yes"),
)  # fmt: skip


def test_agreement_by_hand():
    # a: on p one of two others agrees, on r none of one: (1/2 + 0) / 2. c: 0 of 2.
    sheet = annotator_sheet(JUDGED, question="q")
    assert value(sheet, "annotator_agreement", annotator="a") == pytest.approx(1 / 4)
    assert value(sheet, "annotator_agreement", annotator="c") == 0
    found = finding(sheet, "annotator_agreement", annotator="a")
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 2))
    assert (found.n, found.unit) == (2, "posts")


def test_confusion_is_against_the_majority_of_the_others():
    # c against a and b: they say yes on p, c says no. a: the others tie on p, say yes on r.
    sheet = annotator_sheet(JUDGED, question="q")

    def cell(person, answer):
        return finding(sheet, "annotator_confusion", annotator=person, truth="yes", answer=answer)

    assert (cell("c", "no").value, cell("c", "yes").value) == (1, 0)
    assert (cell("a", "no").value, cell("a", "no").n) == (1, 1)


def test_someone_who_shares_no_post_is_null():
    found = finding(annotator_sheet(JUDGED, question="q"), "annotator_agreement", annotator="d")
    assert (found.value, found.n) == (None, 0)
    assert found.why == "nobody else judged any of these posts"


def test_time_is_the_median():
    times = pl.Series([2.0, 9.0, None, 4.0, float("nan"), 1.0])
    sheet = annotator_sheet(JUDGED.with_columns(seconds=times), question="q")
    assert value(sheet, "annotator_seconds", annotator="a") == 3  # of 2 and 4
    assert finding(sheet, "annotator_seconds", annotator="c").why == "no times were recorded"


def test_order_is_by_id_and_not_by_score():
    sheet = annotator_sheet(JUDGED, question="q")
    people = [f.group["annotator"] for f in sheet if f.measure == "annotator_agreement"]
    assert people == ["a", "b", "c", "d"]


def test_one_label_only():
    sheet = annotator_sheet(table(("p", "a", "x"), ("p", "b", "x"), ("r", "a", "x")), question="q")
    found = finding(sheet, "annotator_confusion", annotator="a", truth="x", answer="x")
    assert (found.value, found.n) == (1, 1)


def test_anonymous_people_have_no_sheet_but_count_as_others():
    judged = table(("p", "?1", "yes"), ("p", "b", "yes"), anonymous=pl.Series([True, False]))
    sheet = annotator_sheet(judged, question="q", group={"question": "q"})
    assert value(sheet, "annotator_agreement", annotator="b", question="q") == 1
    found = finding(sheet, "annotator_agreement", annotator="unknown", question="q")
    assert (found.value, found.n) == (None, 1)
    assert found.why == "the judgements do not say who answered"


def test_a_question_nobody_answered_is_refused():
    with pytest.raises(BadInput, match="nobody answered question 'z'"):
        annotator_sheet(JUDGED, question="z")


ROWS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(0, 2), min_size=1
)


def figures(sheet):
    return {(f.measure, *f.group.values()): (f.value, f.low, f.high, f.n) for f in sheet}


@settings(max_examples=40, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_and_names_change_nothing(votes, random):
    rows = [(f"p{p}", f"a{a}", f"l{v}") for (p, a), v in votes.items()]
    one = annotator_sheet(table(*rows), question="q")
    random.shuffle(rows)
    assert annotator_sheet(table(*rows), question="q") == one
    new = dict(zip((f"a{i}" for i in range(5)), random.sample("vwxyz", 5), strict=True))
    two = annotator_sheet(table(*((p, new[a], v) for p, a, v in rows)), question="q")
    renamed = {(m, new[a], *rest): x for (m, a, *rest), x in figures(one).items()}
    assert figures(two).keys() == renamed.keys()
    assert all(figures(two)[key] == pytest.approx(renamed[key]) for key in renamed)


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("EVENHAND_DATA"), reason="EVENHAND_DATA is not set")
def test_md_agreement():
    from evenhand.data.find import find

    sheet = annotator_sheet(find("md_agreement").judgements, question="label")
    agreement = [f for f in sheet if f.measure == "annotator_agreement"]
    assert len(agreement) == 819
    assert all(0 <= f.low <= f.value <= f.high <= 1 for f in agreement)
