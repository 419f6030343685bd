import pytest

from evenhand.data.check import check, leaks
from factories import finding, make_corpus, value

BUS = "the number nine bus is late again this morning"


def rows(*entries):
    return [{"id": str(number)} | entry for number, entry in enumerate(entries, 1)]


def test_duplicates_within_and_across_splits_by_hand():
    # Three copies, two in train and one in test: 3 pairs, 1 within, 2 across; 3 posts are torn.
    corpus = make_corpus(
        rows(
            {"text": BUS, "split": "train"},
            {"text": f"RT @ann: {BUS.upper()}", "split": "train"},
            {"text": f"{BUS} http://x.org", "split": "test"},
            {"text": "something else altogether, about gardens", "split": "test"},
        )
    )
    found = check(corpus)
    assert value(found, "duplicate_pairs") == 3
    assert value(found, "duplicate_pairs", splits="within") == 1
    assert value(found, "duplicate_pairs", splits="across") == 2
    assert value(found, "duplicates_across_splits") == 3
    assert value(found, "largest_duplicate_group") == 3
    assert finding(found, "duplicates_across_splits").cases == ("1", "2", "3")


def test_twins_across_splits_count_posts_and_missing_ones_apart():
    corpus = make_corpus(
        rows(
            {"split": "train", "twin": "2"},
            {"split": "dev", "twin": "1"},  # 1 and 2 are torn apart
            {"split": "train", "twin": "4"},
            {"split": "train", "twin": "3"},  # 3 and 4 are together
            {"split": "dev", "twin": "99"},  # its twin is not installed
        )
    )
    found = check(corpus)
    assert value(found, "twins") == 5
    assert value(found, "twins_across_splits") == 2
    assert value(found, "twins_missing") == 1


def test_a_twin_named_from_one_side_only_tears_both_posts():
    corpus = make_corpus(rows({"split": "train"}, {"split": "test", "twin": "1"}))
    assert value(check(corpus), "twins_across_splits") == 2


def test_templates_and_authors_across_splits():
    corpus = make_corpus(
        rows(
            {"split": "train", "template": "t", "author": "ann"},
            {"split": "test", "template": "t", "author": "bea"},
            {"split": "test", "template": "u", "author": "ann"},
        )
    )
    found = check(corpus)
    assert value(found, "templates_across_splits") == 2
    assert value(found, "authors_across_splits") == 2
    assert finding(found, "authors_across_splits").cases == ()


def test_conflicts_by_id_and_by_text():
    corpus = make_corpus(
        rows(
            {"text": BUS, "label": "bad"},
            {"text": BUS, "label": "ok"},
            {"text": BUS, "label": "ok"},
            {"text": "http://x.org", "label": "bad"},  # an empty key is nobody's duplicate
            {"text": "http://y.org", "label": "ok"},
        )
    )
    found = check(corpus)
    assert value(found, "conflicting_labels") == 1
    assert value(found, "conflicting_labels", same="text") == 1
    assert value(found, "conflicting_labels", same="id") == 0
    assert value(found, "empty_keys") == 2


@pytest.mark.parametrize(
    "measure",
    ["duplicates_across_splits", "twins_across_splits", "templates_across_splits"],
)
def test_without_published_splits_the_measures_are_null_with_a_reason(measure):
    corpus = make_corpus(rows({"twin": "2", "template": "t"}, {"twin": "1", "template": "t"}))
    found = finding(check(corpus), measure)
    assert found.value is None
    assert found.why == "the corpus has no published split"


def test_the_gate_sees_what_crosses_and_only_that():
    clean = make_corpus(rows({"split": "train", "author": "a"}, {"split": "test", "author": "b"}))
    torn = make_corpus(rows({"split": "train", "author": "a"}, {"split": "test", "author": "a"}))
    assert leaks(check(clean)) == []
    assert [f.measure for f in leaks(check(torn))] == ["authors_across_splits"]


def test_check_does_not_depend_on_row_order():
    entries = rows(
        {"text": BUS, "split": "train", "label": "bad", "author": "ann"},
        {"text": BUS + "!", "split": "test", "label": "ok", "author": "bea"},
        {"text": "gardens are lovely in the early spring", "split": "test", "label": "ok",
         "author": "ann"},
    )  # fmt: skip
    one, two = (check(make_corpus(e)) for e in (entries, entries[::-1]))
    assert [f.as_dict() for f in one] == [f.as_dict() for f in two]


def test_simulated_data_makes_simulated_findings():
    corpus = make_corpus(rows({"label": "bad"}, {"label": "ok"}), origin="simulated")
    assert {f.origin for f in check(corpus)} == {"simulated"}
