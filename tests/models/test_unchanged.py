"""Texts that need no pass come out as the passes would leave them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.models import _unchanged
from evenhand.models.front_end import FrontEnd

PASSED = FrontEnd()._passed
UNCHANGED = _unchanged.Unchanged(PASSED)


def unchanged(text):
    return UNCHANGED([text])[0]


PIECES = (
    "you", "the", "a", "I", "i", "u", "o", "t", "d", "1", "@", "!", "fool", "Fool,", "idi", "ot",
    "idiot.", "blorp", "fizz", "Blorp!", "soooo", "sOoO", "aAa", "!!!", "!!!!!", "....", "don't",
    "don’t", "“so”", "wait…", "RT", "rt", "@bert", "@ann", "@ann:", "@ss", "@user", "@user's",
    "http", "https", "https://t.co/x1", "http://a.example/b?c=1.", "www.x.org", "WWW.X.ORG",
    "t.co/a",
    "and/or", "#fool", "#SendThemBack", "#sendthemback", "#1", "#a_b", "&", "&amp;", "&amp;amp;",
    "&lt;3", "&#39;", "AT&T", "[URL]", "<user>", "{link}", "[", "url", "]", "*fool*", "f*ol", "_a_",
    "1d1ot", "f00l", "i.d.i.o.t", "3rd", "10k", "sendthemback", "gotohellnow", "\N{CLOWN FACE}",
    "été", "fооl", "\t", "\n", "", "\x00", "\x1f", "\xa0", "-", "—", "c'est", "a.b@c.org", "x@",
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=9), st.sampled_from([" ", "  ", "\n", ""]))
def test_pieces_side_by_side(pieces, between):
    text = between.join([" ".join(pieces[:5]), *pieces[5:]])
    found = unchanged(text)
    assert found is None or found == PASSED(text)


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from("aAbot 1@#*_.&;:/!'’RTrt\n"), max_size=25))
def test_any_characters(text):
    found = unchanged(text)
    assert found is None or found == PASSED(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what a fine day", "what a fine day"),
        ("  what\ta  fine day\n", "what a fine day"),
        ("", ""),
        ("“don’t” wait…", '"don\'t" wait...'),
        ("@ann you https://t.co/x1", "@user you url"),
        ("@ann: you", "@user : you"),
        ("#fine day &amp; night", "fine day & night"),
        ("<user> said [URL]", "@user said url"),
        ("you \N{CLOWN FACE} fool", "you clown face fool"),
    ],
)
def test_what_is_known_without_a_pass(text, found):
    assert unchanged(text) == found == PASSED(text)


@pytest.mark.parametrize(
    "text",
    [
        "f o o l",  # single letters in a row
        "you idi ot",  # halves of a word
        "RT @ann hello",
        "@ann @bob @cem @dan hello",
        "aAa sooo",  # as letters go a triple, where there is another one
        "look at http",  # a link only because the text ends there
        "*you fool*",
        "1d1ot",
        "fool\N{CLOWN FACE}",
        "fool &amp; \N{CLOWN FACE}",
        "\N{CLOWN FACE} " * 4,
    ],
)
def test_what_the_passes_are_asked_for(text):
    assert unchanged(text) is None


def test_fewer_passes_leave_it_alone_too():
    text = "what a fine day @ann"
    assert FrontEnd(undo=False).texts([text]) == [FrontEnd(undo=False)._passed(text)]


def test_pieces_are_forgotten_when_they_are_too_many(monkeypatch):
    monkeypatch.setattr(_unchanged, "_MOST_PIECES", 3)
    told = _unchanged.Unchanged(PASSED)
    for number in range(10):
        assert told([f"#word{number} you #day"]) == [f"word{number} you day"]
    assert len(told._kinds) <= 3 + 3


def test_texts_do_not_look_at_each_other():
    texts = [
        "a",
        "f o o l",
        "u",
        "",
        "blorp idi",
        "ot fizz",
        "what a fine day",
        "@ann",
        "RT",
        "@bob",
    ]
    assert UNCHANGED(texts) == [unchanged(text) for text in texts]
    assert UNCHANGED([]) == []


@pytest.mark.data
def test_real_posts():
    from evenhand.data.find import find

    for name in ("dynahate", "davidson", "jigsaw", "edos", "hateval"):
        texts = find(name).posts["text"].to_list()[:20_000]
        pairs = zip(UNCHANGED(texts), texts, strict=True)
        different = [n for n, (found, t) in enumerate(pairs) if found not in (None, PASSED(t))]
        assert different == [], name  # by number: a corpus is not shown
