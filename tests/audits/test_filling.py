import pytest

from evenhand.audits.filling import (
    MISSPELLINGS,
    filled,
    has_region,
    marked,
    plain,
    shown,
    slots,
    stray,
    substituted,
)


def test_the_article_follows_the_word_behind_it():
    assert filled("{a} {one} and {a} owl", {"one": "apple"}) == "An apple and an owl"
    assert filled("such {a} {one}", {"one": "unit"}, a_before=["unit"]) == "such a unit"
    assert filled("such {a} {one}", {"one": "hour"}, an_before=["hour"]) == "such an hour"


def test_only_a_text_that_starts_with_a_slot_gets_a_capital():
    assert filled("{many} sing", {"many": "cats"}) == "Cats sing"
    assert filled("[[{many}]] sing", {"many": "cats"}) == "[[Cats]] sing"
    assert filled("lol {many} sing", {"many": "cats"}) == "lol cats sing"


def test_slots_leave_out_articles():
    assert slots("{a} {one} likes {many}") == ["one", "many"]


@pytest.mark.parametrize(
    ("way", "expected"), [("join", "I like greatpots"), ("space", "I like g r e a t p o t s")]
)
def test_spaces_go_or_come(way, expected):
    assert substituted("I like [[great pots]]", MISSPELLINGS[way]) == expected


def test_swap_and_drop_by_hand():
    # "plants": letters 2 and 3 of p-l-a-n-t-s are the middle pair a, n; the middle letter is n.
    assert MISSPELLINGS["swap"]("plants") == "plnats"
    assert MISSPELLINGS["drop"]("plants") == "plats"
    # "great": index 2 is e; with the letter before it, r, it changes places.
    assert MISSPELLINGS["swap"]("great") == "gerat"
    assert MISSPELLINGS["drop"]("great") == "grat"
    assert MISSPELLINGS["swap"]("of") == MISSPELLINGS["drop"]("of") == "of"


def test_a_table_replaces_the_first_place_only_and_the_longest_piece():
    table = {"a": "4", "an": "@", "o": "0"}
    assert substituted("[[Banana on]]", table) == "B@ana on"
    assert substituted("[[Oh]] and [[no]]", table) == "0h and n0"


def test_regions():
    assert has_region("a [[b]]") and not has_region("a b")
    assert plain("a [[b]] c") == "a b c"
    assert substituted("a [[xyz]]", {"q": "0"}) == plain("a [[xyz]]")


def test_a_letter_is_found_whatever_its_case():
    # Without regard to case, s also finds the long s, whose lower case is itself.
    assert substituted("[[So]] [[\u017fo]]", {"s": "5"}) == "5o 5o"


def test_marks_that_belong_to_nothing():
    assert stray("{a} {one} [[is {b}]] [here]") is None
    assert [stray(text) for text in ("{one", "one}", "[[b", "b]]")] == ["{", "}", "[[", "]]"]
    assert marked("a {b}") and marked("[b") and not marked("(b)")


def test_a_region_with_something_masked_is_shown_plainly():
    def mask(text):
        return text.replace("fox", "f*x")

    text = "[[dog]] fox [[a fox]] [[fo]]x"
    assert substituted(text, {"o": "0"}) == "d0g fox a f0x f0x"
    # The last fox lies half in a region.
    assert shown(text, {"o": "0"}, mask) == "d0g f*x a f*x f*x"
    assert shown("a fox", None, mask) == "a f*x"
