"""The compiled loop gives the same numbers as rows times weights, to the last bit."""

import math
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.core.streams import stream
from evenhand.models import _hashed, _pieces_compiled, fast
from evenhand.models._hashed_compiled import Compiled
from evenhand.models._posts import without_addresses
from evenhand.models.front_end import UNCHANGED, FrontEnd

FAST = evenhand.load("evenhand-fast").raw
COMPILED = Compiled(FAST.hashed, FAST.weights, FAST.scale)
ODD = [
    "", " ", "a", "a a", "You FOOL, you!", "  spaced   out ", "été 东西 don't", "@user 3 x_y",
    "\N{CLOWN FACE}" * 3, "İstanbul ΣΑΣ ẞ", "half a pair \ud800", "nul \x00 byte", "fool " * 900,
    "x" * 4_900, "a\u0300\u0301", "\U0010ffff",
]  # fmt: skip


def in_rows(texts):
    return FAST.hashed.rows(texts) @ FAST._steps


def test_odd_texts():
    assert COMPILED.margins(ODD).tolist() == in_rows(ODD).tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=6))
def test_any_texts(texts):
    assert COMPILED.margins(texts).tolist() == in_rows(texts).tolist()


def test_any_number_of_attributes_and_buckets():
    # 65 buckets and one attribute: one more than a word of bits has.
    rng = stream(0, "buckets")
    kept = np.zeros(1 << _hashed.BITS, dtype=np.bool_)
    kept[np.unique(_hashed.buckets(["what a fine day you fool"])[1])[:65]] = True
    idf = rng.integers(1, 255, size=65).astype(np.uint8)
    hashed = _hashed.Hashed(np.packbits(kept), idf, 0.01)
    weights = rng.integers(-127, 128, size=(65, 1)).astype(np.int8)
    texts = ["what a fine day", "you fool", "zzz"]
    expected = hashed.rows(texts) @ (weights * np.array([0.1]))
    found = Compiled(hashed, weights, np.array([0.1])).margins(texts)
    assert found.tolist() == expected.tolist() and found[2].tolist() == [0.0]


PIECES = {
    handles: _pieces_compiled.Pieces(COMPILED, UNCHANGED, handles)
    for handles in ("kept", "dropped")
}
SIDE_BY_SIDE = (
    "you", "the", "a", "I", "o", "1", "@", "!", "fool", "Fool,", "idi", "ot", "blorp", "fizz",
    "soooo", "!!!!!", "don't", "don’t", "wait…", "RT", "rt", "@bert", "@ann", "@ann_1", "@ss",
    "@somebody", "@somebody:", "http", "https://t.co/x1", "http://a.example/b?c=1.", "https://",
    "t.co/a", "#fool", "#SendThemBack", "#1", "&amp;", "&", "AT&T", "[URL]", "<user>", "f*ol",
    "1d1ot", "sendthemback", "\N{CLOWN FACE}", "\N{FIRE}", "été", "fооl", "\t", "\u3000", "\xa0",
    "\x00", "\x1f", "", "-", "half \ud800", "x" * 41, "https://t.co/" + "x" * 41,
)  # fmt: skip


def cleaned(texts, handles):
    """By all passes, without a look at pieces."""
    if handles == "dropped":
        texts = [without_addresses(text) for text in texts]
    return [FrontEnd()._passed(text) for text in texts]


@pytest.mark.parametrize("handles", PIECES)
@settings(max_examples=500, deadline=None)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(SIDE_BY_SIDE), max_size=9).map(" ".join), min_size=1, max_size=4
    )
)
def test_texts_are_the_sums_of_their_pieces(handles, texts):
    found, left = PIECES[handles].margins(texts)
    expected = in_rows(cleaned(texts, handles))
    for n in set(range(len(texts))) - {*left.tolist()}:
        assert found[n].tolist() == expected[n].tolist(), texts[n]


@pytest.mark.parametrize("handles", PIECES)
@settings(max_examples=300, deadline=None)
@given(text=st.text(st.sampled_from("aAbot 1@#*_.&;:/!'’RTrth\n<user>"), max_size=25))
def test_any_pieces(handles, text):
    found, left = PIECES[handles].margins([text])
    assert len(left) or found.tolist() == in_rows(cleaned([text], handles)).tolist()


@pytest.mark.parametrize("handles", PIECES)
def test_what_is_known_by_its_pieces(handles):
    texts = [
        "", " what\ta  fine\n day ", "“don’t” wait…", "@somebody you https://t.co/x1 !",
        "@somebody: you", "#SendThemBack now &amp; then", "you \N{CLOWN FACE} fool", "@ann @ann_1",
    ]  # fmt: skip
    found, left = PIECES[handles].margins(texts)
    assert left.tolist() == []
    assert found.tolist() == in_rows(cleaned(texts, handles)).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "f o o l", "you idi ot", "RT @somebody hello", "@ann1 @bob1 @cem1 @dan1", "f*ol", "été",
        "fool &amp; \N{CLOWN FACE}", "\N{CLOWN FACE} " * 4, "x" * 41, "a b", "so " * 20_000,
    ],
)  # fmt: skip
def test_what_is_left(text):
    assert PIECES["kept"].margins(["what a fine day", text])[1].tolist() == [1]


@pytest.mark.parametrize("text", ["RT @somebody hello", "art @ann1", "&lt;user&gt; fool"])
def test_what_is_left_where_handles_are_dropped(text):
    assert PIECES["dropped"].margins(["@somebody: what a day @ann1", text])[1].tolist() == [1]


def test_a_table_of_pieces_that_is_full_is_begun_again(monkeypatch):
    monkeypatch.setattr(_pieces_compiled, "_MOST_PIECES", 6)
    pieces = _pieces_compiled.Pieces(COMPILED, UNCHANGED)
    texts = ["you fool", "fine day you", "what fool"]  # two numbers are for handles and links
    assert pieces.margins(texts)[1].tolist() == [2]
    assert pieces.margins(texts[2:])[1].tolist() == []
    assert pieces.margins(texts[2:])[0].tolist() == in_rows(texts[2:]).tolist()


def test_pieces_that_were_not_learned_to_the_end_are_forgotten():
    class Broken:
        parts = staticmethod(UNCHANGED.parts)

    pieces = _pieces_compiled.Pieces(COMPILED, Broken)
    pieces.margins(["you"])
    Broken.parts = staticmethod({}.__getitem__)
    with pytest.raises(KeyError):
        pieces.margins(["fool"])
    Broken.parts = staticmethod(UNCHANGED.parts)
    assert pieces.margins(["you fool"])[0].tolist() == in_rows(["you fool"]).tolist()


def test_pieces_of_one_hash_are_told_apart():
    pieces = _pieces_compiled.Pieces(COMPILED, UNCHANGED)
    pieces.margins(["fool"])
    known = pieces._known
    known._characters[: len("fool")] += 1  # another piece, in the place and with the hash of this
    assert pieces.margins(["fool"])[0].tolist() == in_rows(["fool"]).tolist()
    assert known._count == 4 and known.found(["fool"])[0][0] == 3


def test_threads_learn_one_after_the_other():
    texts = [f"{word}{n} you" for n in range(400) for word in ("fool", "day", "fine")]
    pieces = _pieces_compiled.Pieces(COMPILED, UNCHANGED)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: pieces.margins(texts[at:])[0], [0, 300, 0, 600]))
    expected = in_rows(FrontEnd().texts(texts))
    assert [part.tolist() for part in found] == [expected[at:].tolist() for at in (0, 300, 0, 600)]


def made_up(n):
    rng = stream(1, "posts")
    words = ["you", "fool", "f00l", "day", "@ann", "\N{CLOWN FACE}", "été", "idiot", "fine", "so"]
    return [" ".join(row) for row in rng.choice(words, size=(n, 8)).tolist()]


def test_many_texts_score_as_each_alone_with_and_without_numba(monkeypatch):
    texts = [*made_up(fast._MANY), "day " * 3_000]
    many = FAST.score(texts)
    monkeypatch.setitem(sys.modules, "evenhand.models._hashed_compiled", None)  # not installed
    without = evenhand.load("evenhand-fast").raw
    assert without._compiled is None
    assert without.score(texts).tolist() == many.tolist()
    assert without.score(texts[:1]).tolist() == many[:1].tolist()


def by_hand(text, detector=FAST):
    """Margins of one text in plain Python, from the words of the docs; nothing is shared."""
    text = without_addresses(text) if detector.front_end.handles == "dropped" else text
    shown = f" {' '.join(FrontEnd()._passed(text).lower().split())} "
    shown = shown.encode("utf-32-le", "replace").decode("utf-32-le")
    runs = [
        (0, shown[at : at + n])
        for n in range(2, 6)
        for at in range(len(shown) - n + 1)
        if " " not in shown[at + 1 : at + n - 1] and shown[at : at + n] != "  "
    ]
    inside = _hashed.word_characters()
    cut = "".join(c if inside[min(ord(c), 0x10000)] else " " for c in shown).split(" ")
    words = [run(word) for word in cut if word]
    found = [mixed(run(part), kind) for kind, part in runs] + [mixed(word, 1) for word in words]
    pairs = zip(words, words[1:], strict=False)
    found += [mixed(first * _hashed.KINDS + second, 2) for first, second in pairs]
    places = detector.hashed._places
    counts = Counter(int(places[bucket]) for bucket in found if places[bucket] >= 0)
    values = {
        place: (1 + math.log(k)) * int(detector.hashed.idf[place]) * detector.hashed.step
        for place, k in counts.items()
    }
    length = math.sqrt(sum(value**2 for value in values.values()))
    return [
        bias
        + sum(v / length * int(detector.weights[place, at]) * scale for place, v in values.items())
        for at, (bias, scale) in enumerate(zip(detector.bias, detector.scale, strict=True))
    ]


@lru_cache(1 << 20)
def run(part):
    return sum(ord(c) * pow(_hashed.BASE, at, 1 << 64) for at, c in enumerate(part)) % (1 << 64)


def mixed(number, kind):
    z = (number + kind * _hashed.KINDS) % (1 << 64)
    z = (z ^ z >> 32) * _hashed.BASE % (1 << 64)
    return (z ^ z >> 29) >> 64 - _hashed.BITS


def test_plain_python_says_the_same():
    texts = [*ODD[:12], *made_up(50)]
    expected = np.array([by_hand(text) for text in texts])
    assert FAST.margins(texts) == pytest.approx(expected, abs=1e-12)


@pytest.mark.data
def test_decisions_on_real_posts_are_those_of_plain_python():
    from evenhand.data.find import find

    texts = []
    for name in ("davidson", "dynahate", "edos", "waseem_hovy_full", "hateval", "hatexplain"):
        texts += [text for text in find(name).posts["text"].to_list() if len(text) < 400]
    texts = texts[:100_000]
    assert len(texts) == 100_000
    margins = FAST.margins(texts)
    expected = np.array([by_hand(text) for text in texts])
    assert np.abs(margins - expected).max() < 1e-9
    thresholds = [FAST.calibrations[name].threshold for name in FAST.attributes]
    decided = fast.probabilities(expected, FAST.attributes, FAST.calibrations) >= thresholds
    assert ((FAST.score(texts) >= thresholds) == decided).all()
