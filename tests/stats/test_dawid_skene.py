import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from crowdkit.aggregation import DawidSkene as CrowdKit
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.errors import BadInput
from evenhand.core.tables import gold_table, judgements_table
from evenhand.stats.dawid_skene import dawid_skene


def table(*rows, **columns):
    names = ["post", "annotator", "answer"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    answer = pl.concat_list("answer")
    return judgements_table(frame.with_columns(answer, question=pl.lit("q"), **columns))


def simulated(seed, posts, people, labels, votes):
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(labels, size=posts), rng.uniform(0.4, 0.95, people)
    rows = []
    for post in range(posts):
        for person in rng.choice(people, rng.integers(1, votes + 1), replace=False):
            right = rng.random() < skill[person]
            answer = truth[post] if right else rng.integers(labels)
            rows.append((f"p{post}", f"a{person}", f"l{answer}"))
    return table(*rows)


def shares(model):
    lists = model.gold["shares"].to_list()
    return {
        (post, s["label"]): s["share"]
        for post, row in zip(model.gold["post"], lists, strict=True)
        for s in row
    }


@pytest.mark.filterwarnings("ignore:The .* keyword:DeprecationWarning")  # crowd-kit, pandas 3
@pytest.mark.parametrize("iterations", [1, 7, 60])
@pytest.mark.parametrize("shape", [(40, 6, 3, 5), (150, 20, 2, 4), (90, 40, 4, 6)])
def test_equal_to_crowd_kit(shape, iterations):
    judged = simulated(iterations, *shape)
    columns = {
        "task": judged["post"].to_list(),
        "worker": judged["annotator"].to_list(),
        "label": judged["answer"].explode().to_list(),
    }
    theirs = CrowdKit(n_iter=iterations, tol=-np.inf).fit(pd.DataFrame(columns))
    ours = dawid_skene(judged, question="q", iterations=iterations, tolerance=-np.inf)
    expected = theirs.probas_.stack().to_dict()
    assert shares(ours) == pytest.approx(expected, abs=1e-6)
    assert dict(zip(ours.labels, ours.prior, strict=True)) == pytest.approx(
        theirs.priors_.to_dict(), abs=1e-6
    )
    people = list(ours.weights["annotator"])
    for (person, answer), row in theirs.errors_.iterrows():
        column = ours.confusion[people.index(person), :, ours.labels.index(answer)]
        assert column == pytest.approx(row[list(ours.labels)].to_numpy(), abs=1e-6)


def test_someone_who_answers_at_random_counts_less():
    # Nine people who are right, one whose answers alternate whatever the post: no information.
    rows = [(f"p{i}", f"a{a}", "yes" if i % 4 < 2 else "no") for i in range(40) for a in range(9)]
    rows += [(f"p{i}", "coin", "yes" if i % 2 else "no") for i in range(40)]
    model = dawid_skene(table(*rows), question="q")
    weight = dict(model.weights.select("annotator", "weight").iter_rows())
    assert weight.pop("coin") == pytest.approx(0, abs=1e-6)
    # Each of the nine gives one bit; the mean judgement .9 bit, so they count 1/.9.
    assert list(weight.values()) == pytest.approx([1 / 0.9] * 9)
    assert [f.group["annotator"] for f in model.findings()] == sorted([*weight, "coin"])


def test_two_who_always_disagree_are_a_tie():
    rows = [(f"p{i}", a, a) for i in range(3) for a in ("yes", "no")]
    model = dawid_skene(table(*rows), question="q")
    assert model.gold["label"].to_list() == [None] * 3
    assert {s["share"] for s in model.gold["shares"][0]} == {0.5}


def test_gold_is_a_gold_table():
    model = dawid_skene(simulated(0, 30, 5, 3, 4), question="q")
    assert gold_table(model.gold).equals(model.gold)
    assert set(model.gold["origin"]) == {"dawid-skene"}
    assert model.confusion.sum(axis=2) == pytest.approx(1)


def test_one_label_says_nothing():
    model = dawid_skene(table(("p", "a", "x"), ("p", "b", "x")), question="q")
    assert model.gold["label"].to_list() == ["x"]
    assert model.weights["weight"].to_list() == [None, None]
    assert "nobody" in model.findings()[0].why


def test_people_of_two_cohorts_with_one_id_are_two():
    judged = table(("p", "1", "x"), ("p", "2", "y"), ("r", "1", "x"))
    judged = judged.with_columns(cohort=pl.Series(["crowd", "crowd", "experts"]))
    people = dawid_skene(judged, question="q").weights.select("annotator", "cohort").rows()
    assert people == [("1", "crowd"), ("1", "experts"), ("2", "crowd")]


def test_anonymous_judgements_are_refused():
    judged = table(("p", "?1", "x"), ("p", "b", "y"), anonymous=pl.Series([True, False]))
    with pytest.raises(BadInput, match="1 of 2 answers to 'q' are anonymous"):
        dawid_skene(judged, question="q")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"question": "other"}, "nobody answered question 'other'; questions: q"),
        ({"iterations": 0}, "iterations is 0"),
        ({"tolerance": float("nan")}, "tolerance nan"),
    ],
)
def test_bad_options_are_refused(change, match):
    with pytest.raises(BadInput, match=match):
        dawid_skene(table(("p", "a", "x")), **({"question": "q"} | change))


def test_several_answers_are_refused():
    judged = table(("p", "a", "x")).with_columns(answer=pl.Series([["x", "y"]]))
    with pytest.raises(BadInput, match="several answers"):
        dawid_skene(judged, question="q")


ROWS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 4)), st.integers(0, 2), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_and_names_change_nothing(votes, random):
    rows = [(f"p{p}", f"a{a}", f"l{v}") for (p, a), v in votes.items()]
    one = dawid_skene(table(*rows), question="q")
    random.shuffle(rows)
    assert dawid_skene(table(*rows), question="q").gold.equals(one.gold)
    names = {kind: random.sample(range(6), 6) for kind in "pal"}
    renamed = [tuple(f"{t[0]}{names[t[0]][int(t[1:])]}" for t in row) for row in rows]
    two = dawid_skene(table(*renamed), question="q")
    new = {
        (f"p{names['p'][int(p[1:])]}", f"l{names['l'][int(v[1:])]}"): share
        for (p, v), share in shares(one).items()
    }
    assert shares(two) == pytest.approx(new, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_every_post_twice_changes_nothing(seed):
    judged = simulated(seed, 120, 6, 3, 5)
    again = judged.with_columns(post=pl.col("post") + " again")
    one, two = (
        shares(dawid_skene(some, question="q", iterations=8, tolerance=-np.inf))
        for some in (judged, pl.concat([judged, again]))
    )
    assert {key: two[key] for key in one} == pytest.approx(one, abs=1e-6)


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("EVENHAND_DATA"), reason="EVENHAND_DATA is not set")
def test_md_agreement():
    from evenhand.data.find import find

    corpus = find("md_agreement")
    model = dawid_skene(corpus.judgements, question="label", iterations=200)
    assert (model.gold.height, model.weights.height) == (10_753, 819)
    assert model.converged
    published = dict(corpus.main_gold().select("post", "label").iter_rows())
    ours = model.gold.drop_nulls("label").select("post", "label").iter_rows()
    assert np.mean([published[post] == label for post, label in ours]) > 0.85
