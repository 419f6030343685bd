from collections import Counter

import numpy as np
import polars as pl
import pytest

from evenhand.core.tables import GOLD, gold_table
from evenhand.stats.votes import majority, vote_shares


def votes(*rows):
    columns = ["post", "annotator", "question", "answer", "attempt"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_shares_and_a_tie_by_hand():
    table = votes(
        ("a", "1", "q", ["yes"], 1), ("a", "2", "q", ["yes"], 1), ("a", "3", "q", ["no"], 1),
        ("b", "1", "q", ["yes"], 1), ("b", "2", "q", ["no"], 1),
    )  # fmt: skip
    gold = vote_shares(table)
    assert gold["label"].to_list() == ["yes", None]
    assert gold["n"].to_list() == [3, 2]
    shares = {s["label"]: s["share"] for s in gold["shares"][0]}
    assert shares == {"no": 1 / 3, "yes": 2 / 3}


def test_a_second_attempt_is_no_second_vote():
    table = votes(("a", "1", "q", ["yes"], 1), ("a", "1", "q", ["no"], 2))
    assert vote_shares(table)["n"].to_list() == [1]


def test_several_answers():
    # Two voters: both chose x, one also chose y: shares 1 and ½; both reach one half, so no label.
    table = votes(("a", "1", "q", ["x", "y"], 1), ("a", "2", "q", ["x"], 1))
    gold = vote_shares(table, multiple=True)
    assert gold["label"].to_list() == [None]
    assert [s["share"] for s in gold["shares"][0]] == [1.0, 0.5]


def test_row_order_does_not_matter():
    rows = [("a", str(i), "q", ["yes" if i % 3 else "no"], 1) for i in range(9)]
    rows += [("b", str(i), "q", ["yes"], 1) for i in range(3)]
    assert vote_shares(votes(*rows)).equals(vote_shares(votes(*rows[::-1])))


def test_majority_is_null_on_a_tie():
    table = votes(
        ("a", "1", "q", ["yes"], 1), ("a", "2", "q", ["no"], 1),
        ("b", "1", "q", ["no"], 1),
    )  # fmt: skip
    gold = majority(table)
    assert gold["label"].to_list() == [None, "no"]
    assert set(gold["origin"]) == {"majority"}
    assert gold.drop("origin").equals(vote_shares(table).drop("origin"))


def test_questions_stay_apart():
    table = votes(
        ("b", "1", "q", ["yes"], 1), ("a", "1", "r", ["x"], 1), ("a", "1", "q", ["no"], 1),
    )  # fmt: skip
    gold = vote_shares(table)
    assert gold.select("post", "question", "label").rows() == [
        ("a", "q", "no"), ("a", "r", "x"), ("b", "q", "yes"),
    ]  # fmt: skip


def test_no_votes_are_no_gold():
    table = votes(("a", "1", "q", ["yes"], 2))
    assert vote_shares(table).is_empty()
    assert vote_shares(table).schema == GOLD


def plain(rows, multiple):
    """The same by counting, post by post."""
    gold = {}
    for post in {row[0] for row in rows}:
        voters = [row[3] for row in rows if row[0] == post]
        chosen = Counter(label for answer in voters for label in answer)
        bar = len(voters) / 2 if multiple else max(chosen.values())
        top = [label for label, count in chosen.items() if count >= bar]
        shares = {label: count / len(voters) for label, count in chosen.items()}
        gold[post] = (shares, len(voters), top[0] if len(top) == 1 else None)
    return gold


@pytest.mark.parametrize("labels", [1, 3, 9, 40])
@pytest.mark.parametrize("multiple", [False, True])
@pytest.mark.parametrize("shuffled", [False, True])
def test_equal_to_counting(labels, multiple, shuffled):
    # 40 labels and up to 9 votes do not fit in one number of 62 bits; 9 labels not in the table.
    rng = np.random.default_rng(labels)
    rows = []
    for post in range(60):
        for person in range(rng.integers(1, 10)):
            several = rng.integers(1, min(labels, 3) + 1) if multiple else 1
            answer = rng.choice(labels, several, replace=False)
            rows.append((f"p{post}", f"a{person}", "q", [f"l{v}" for v in answer], 1))
    if shuffled:
        rows = [rows[i] for i in rng.permutation(len(rows))]
    gold = vote_shares(votes(*rows), multiple=multiple)
    assert gold_table(gold).equals(gold)
    assert gold["post"].is_sorted()
    ours = {
        post: ({s["label"]: s["share"] for s in shares}, n, label)
        for post, shares, n, label in gold.select("post", "shares", "n", "label").iter_rows()
    }
    assert ours == plain(rows, multiple)


def test_equal_hashes_are_not_equal_ids(monkeypatch):
    rows = [(post, str(i), "q", ["yes"], 1) for i, post in enumerate("abacab")]
    expected = vote_shares(votes(*rows))
    monkeypatch.setattr(pl.Series, "hash", lambda self: pl.Series([1] * len(self)))
    assert vote_shares(votes(*rows)).equals(expected)
