import polars as pl

from evenhand.stats.votes import vote_shares


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
