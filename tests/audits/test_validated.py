import polars as pl
import pytest

from evenhand.audits.index import Index
from evenhand.audits.suites import find_suite
from evenhand.audits.validated import validated, validation_words
from evenhand.core.tables import judgements_table
from factories import finding, value


def votes(rows):
    """Judgements from tuples: post, annotator, question, answer."""
    names = ("post", "annotator", "question", "answer")
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return judgements_table(frame.with_columns(pl.concat_list("answer")))


@pytest.fixture(scope="module")
def suite():
    return find_suite("emoji-hate")


def test_without_judgements_the_card_says_so(suite):
    found = validated(suite, seed=0)
    assert found == []
    assert validation_words(suite, Index(found), {}) == "The cases are not validated by people."


def test_judgements_of_a_campaign_give_randolphs_kappa(suite):
    first, second = suite.cases()["id"].head(2)
    table = votes(
        [
            (first, "ann", "label", "hateful"),
            (first, "bea", "label", "hateful"),
            (second, "ann", "label", "hateful"),
            (second, "bea", "label", "not hateful"),
            (first, "ann", "unrealistic", "no"),
            (second, "ann", "unrealistic", "yes"),
            ("another:1", "ann", "label", "hateful"),
        ]
    )
    found = validated(suite, table, seed=0)
    # Pairs agree on one of two cases: P = .5, chance with two answers .5, so κ = 0.
    assert value(found, "randolph_kappa") == pytest.approx(0)
    assert value(found, "posts_judged") == 2
    # The first case has a majority, the second is a tie.
    hateful = dict(suite.cases().select("id", "hateful").rows())
    assert value(found, "judged_as_gold") == (0.5 if hateful[first] else 0)
    flags = finding(found, "unrealistic")
    assert (flags.value, flags.n) == (1, 2)
    words = validation_words(suite, Index(found), {})
    assert words.startswith("People judged 2 of the cases; Randolph's κ")
    assert "1 were called unrealistic" in words


def test_people_of_one_mind_agree_fully(suite):
    table = votes(
        [(post, who, "label", "hateful") for post in suite.cases()["id"].head(3) for who in "ab"]
    )
    # Two answers were possible: chance is one half, agreement 1, so κ = 1.
    assert value(validated(suite, table, seed=0), "randolph_kappa") == pytest.approx(1)


def test_judgements_of_other_posts_do_not_count(suite):
    table = votes([("another:1", "ann", "label", "x"), ("another:1", "bea", "label", "x")])
    assert validated(suite, table, seed=0) == []
