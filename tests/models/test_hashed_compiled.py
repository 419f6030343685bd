"""The compiled loop gives the same numbers as rows times weights, to the last bit."""

import math
import sys
from collections import Counter
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.core.streams import stream
from evenhand.models import _hashed, fast
from evenhand.models._hashed_compiled import Compiled
from evenhand.models.front_end import FrontEnd

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
