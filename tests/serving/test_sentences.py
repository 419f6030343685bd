"""Sentences, and offsets as the wire counts them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.serving.sentences import Units, sentences

PIECES = [
    "a", "Z", " ", "  ", ".", "!", "?", "…", "\n", "\r\n", "。", '"', ")", "é", "e\u0301",
    "🙂", "👍🏽", "👩\u200d👩\u200d👧", "🇩🇪", "1️⃣", "❤️", "\u200d", "\ufe0f", "\u0301", "Dr.", "e.g.",
    "ß", "中", "\u00a0", "\u2028", "hello", "3.5", "...",
]  # fmt: skip
texts = st.one_of(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.text())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two!", ["One.", "Two!"]),
        ("No end", ["No end"]),
        ("Really?! Yes...", ["Really?!", "Yes..."]),
        ("She said “no.” Then left.", ["She said “no.”", "Then left."]),
        ("Dr. No met Mr. J. Doe in the U.S. today. Fine.",
         ["Dr. No met Mr. J. Doe in the U.S. today.", "Fine."]),
        ("It costs 3.50 now. OK", ["It costs 3.50 now.", "OK"]),
        ("First line\nsecond line", ["First line", "second line"]),
        ("Well done! 👍🏽👍🏽 !!!", ["Well done! 👍🏽👍🏽 !!!"]),
        ("你好。 再见！ 好", ["你好。", "再见！", "好"]),
        ("", []),
        (" \n ", []),
    ],
)  # fmt: skip
def test_sentences_as_a_reader_sees_them(text, expected):
    assert [text[begin:end] for begin, end in sentences(text)] == expected


@given(texts)
def test_offsets_as_utf16_give_back_the_sentence(text):
    units = Units(text)
    wire = text.encode("utf-16-le", "surrogatepass")
    for span in sentences(text):
        begin, end = units.of(span)
        cut = wire[2 * begin : 2 * end].decode("utf-16-le", "surrogatepass")
        assert cut == text[slice(*span)]
        assert cut and not cut[0].isspace() and not cut[-1].isspace()


@given(texts)
def test_sentences_hold_everything_but_space_in_order(text):
    spans = sentences(text)
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))
    kept = "".join(text[begin:end] for begin, end in spans)
    assert "".join(kept.split()) == "".join(text.split())


@given(texts)
def test_no_sentence_begins_within_what_a_reader_sees_as_one_character(text):
    for begin, _ in sentences(text)[1:]:
        assert not unicodedata.category(text[begin]).startswith("M")
        assert text[begin] not in "\u200d\ufe0f"


@pytest.mark.parametrize("between", ["", " ", "  ", "\n", " \n\t "])
def test_a_mark_after_the_end_belongs_to_what_is_before_it(between):
    text = f"One.{between}\ufe0ftwo"
    assert sentences(text) == [(0, len(text))]


def test_of_many_sentences_the_last_holds_the_rest():
    text = "One two. " * 10
    # The third begins at 2 · 9 and ends before the last space.
    assert sentences(text, most=3) == [(0, 8), (9, 17), (18, 89)]


def test_an_emoji_counts_two_units():
    assert Units("👍🏽 ok").of((0, 2)) == (0, 4)
    assert Units("plain").of((1, 3)) == (1, 3)
