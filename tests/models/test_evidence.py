"""The words of a text by what leaving them out does to its score."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.errors import BadInput
from evenhand.core.streams import stream
from evenhand.models import _left_out
from evenhand.models import evidence as module
from evenhand.models._refusals import Refused
from evenhand.models.callables import FunctionDetector
from evenhand.models.evidence import Span, cuts_of, evidence, without
from evenhand.models.linear import Linear
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.svm import Svm
from factories import make_corpus


def made_up(labels=("bad", "ok"), n=90):
    """Posts with punctuation, entities, emoji, handles and links between their words."""
    rng = stream(3, "evidence")
    common = ["you", "the", "day", "bus,", "what?", "and", "@ann", "https://t.co/x", "👍🏽", "#tag"]
    rows = []
    for number in range(n):
        label = labels[number % len(labels)]
        own = {"bad": "fool idiot", "ok": "tea sun", "rude": "oaf blorp"}[label].split()
        words = [*rng.choice(common, 5), *rng.choice(own, 2)]
        text = " ".join(rng.permutation(words).tolist())
        rows.append({"id": f"p{number}", "text": text, "label": label})
    return make_corpus(rows)


def fitted(recipe, corpus=None):
    corpus = corpus or made_up()
    return recipe.fit(corpus.posts, corpus.gold, seed=0)


BAD = {"hateful": ("bad",)}
DETECTORS = {
    "linear": fitted(Linear(**BAD)),
    "linear without characters": fitted(Linear(characters=0, words=3, **BAD)),
    "linear of three": fitted(
        Linear(classes=("bad", "ok", "rude")), made_up(("bad", "ok", "rude"))
    ),
    "a class without posts": fitted(Linear(classes=("bad", "ok", "absent"))),
    "svm": fitted(Svm(**BAD)),
    "naive-bayes": fitted(NaiveBayes(**BAD)),
    "naive-bayes of words": fitted(NaiveBayes(bigrams=False, min_df=1, **BAD)),
    "function": FunctionDetector(
        "f", ("HATE",), lambda texts: [0.9 if "fool" in t.lower() else 0.2 for t in texts]
    ),
}
CLOSED = [name for name in DETECTORS if name != "function"]
TEXTS = [
    "you fool",
    "You FOOL, fool; the “idiot” again!",
    "fool",
    "",
    " \n ",
    "?! … *",
    "@ann: see https://t.co/x &amp; #tag 👍🏽👍🏽 the bus",
    "so the the the fool fool day",
    "qxzj vvkq wwpt",
    "f*ol a$$ (tea)(sun) you.fool&nbsp;day",
    "day\u2003bus\u00a0tea\x1csun\u200bfool e\u0301té ΟΔΟΣ! ΟΔΟΣ",
    "🇫🇷🇩🇪👨‍👩‍👧 fool👍idiot 1️⃣",
    "word " * 300 + "fool",
]


def brute(detector, texts, attribute=None, words=module.MOST_WORDS):
    """The oracle: every text without each of its words, scored by the detector."""
    column = detector.attributes.index(attribute) if attribute else 0
    found = []
    for text in texts:
        cuts = cuts_of(text, words)
        p = detector.score([text, *(without(text, cut) for cut in cuts)])[:, column]
        found.append([Span(*cut, p[0] - left) for cut, left in zip(cuts, p[1:], strict=True)])
    return found


def assert_alike(found, expected):
    assert [[span[:2] for span in spans] for spans in found] == [
        [span[:2] for span in spans] for spans in expected
    ]
    weights = [[span.weight for spans in lists for span in spans] for lists in (found, expected)]
    np.testing.assert_allclose(*weights, atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", DETECTORS)
def test_equals_scoring_every_text_without_each_word(name):
    detector = DETECTORS[name]
    for attribute in detector.attributes:
        assert_alike(
            evidence(detector, TEXTS, attribute=attribute), brute(detector, TEXTS, attribute)
        )


@pytest.mark.parametrize("name", CLOSED)
def test_linear_detectors_have_a_closed_form_that_is_used(name, monkeypatch):
    detector = DETECTORS[name]
    monkeypatch.setattr(type(detector), "score", lambda *_: pytest.fail("asked for scores"))
    assert len(evidence(detector, ["you fool"])[0]) == 2


ODD = st.text(
    st.sampled_from(
        "aA@#&;.!'*_ \t\n\x1c\u00a0\u2003\u200b\u0301Σσİ&lt;ß👍🏽\u200d🇫🇷1\ufe0f\u20e3\ud800"
    ),
    max_size=40,
)
KNOWN = st.lists(
    st.sampled_from(
        ["you", "fool!", "the", "(idiot)", "day", "&amp;", "@ann", "https://t.co/x", "👍🏽"]
        + ["&nbsp;tea", "#tag", "’s", "\n", "fool"]
    ),
    max_size=12,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(ODD, KNOWN), max_size=4), st.sampled_from(CLOSED), st.integers(1, 8))
def test_the_closed_form_is_exact_for_any_text(texts, name, words):
    detector = DETECTORS[name]
    assert_alike(evidence(detector, texts, words=words), brute(detector, texts, words=words))


def test_by_hand():
    # Two posts a class, no smoothing but 1: V = 3 words (you, fool, day); bad has you, fool, fool,
    # ok has you, day, day. fool: log (2+1)/(3+3) - log (0+1)/(3+3) = log 3; day -log 3; you 0.
    rows = [("you fool", "bad"), ("fool", "bad"), ("you day", "ok"), ("day", "ok")]
    corpus = make_corpus([{"id": t, "text": t, "label": at} for t, at in rows])
    bayes = fitted(NaiveBayes(bigrams=False, min_df=1, **BAD), corpus)
    # p(you fool) = 3/4, without fool 1/2; p(fool day) = 1/2, without fool 1/4.
    assert evidence(bayes, ["you, fool!", "fool day"]) == [
        [Span(0, 3, 0), Span(5, 9, pytest.approx(0.25))],
        [Span(0, 4, pytest.approx(0.25)), Span(5, 8, pytest.approx(-0.25))],
    ]


@pytest.mark.parametrize("name", DETECTORS)
def test_the_weight_of_the_only_word_is_what_it_adds_to_nothing(name):
    detector = DETECTORS[name]
    [[span]] = evidence(detector, ["  fool! "])
    assert span[:2] == (2, 6)
    # Of "  fool! " is left " ! ".
    alone = detector.score(["  fool! ", " ! "])[:, 0]
    assert span.weight == pytest.approx(alone[0] - alone[1], abs=1e-12)


@pytest.mark.parametrize("name", [name for name in DETECTORS if "linear" not in name])
def test_a_word_the_detector_ignores_weighs_nothing(name):
    """Exactly 0; not at an end of a pair the detector knows, which it would part."""
    [spans] = evidence(DETECTORS[name], ["fool zzyzx"])
    assert spans[1].weight == 0
    assert spans[0].weight != 0


@pytest.mark.parametrize("name", DETECTORS)
def test_neither_order_nor_batches_matter(name, monkeypatch):
    detector = DETECTORS[name]
    whole = evidence(detector, TEXTS)
    assert evidence(detector, TEXTS[::-1])[::-1] == whole
    monkeypatch.setattr(module, "_BATCH", 3)
    monkeypatch.setattr(module, "_CUTS", 3)
    assert_alike(evidence(detector, TEXTS), whole)
    monkeypatch.setattr(module, "_BATCH", 1000)
    monkeypatch.setattr(module, "_BATCH_CHARACTERS", 10)
    assert_alike(evidence(detector, TEXTS), whole)
    assert evidence(detector, []) == []


def test_batches_are_bounded_and_equal_texts_are_asked_for_once(monkeypatch):
    asked = []

    def function(texts):
        asked.append(list(texts))
        return [0.5] * len(texts)

    monkeypatch.setattr(module, "_BATCH", 4)
    detector = FunctionDetector("f", ("HATE",), function)
    evidence(detector, ["a a", "a", "b c d e"])
    # a a, a, a | a, "", b c d e, c d e, | ... : equal ones of a batch once.
    assert asked == [["a a", "a"], ["", "b c d e", "c d e", "b d e"], ["b c e", "b c d"]]


def test_a_long_text_is_divided_into_runs():
    text = " ".join(f"w{n}" for n in range(401))
    # 401 words in at most 200 runs: 3 words each, 134 runs, the last of 2.
    cuts = cuts_of(text)
    assert len(cuts) == 134
    assert text[slice(*cuts[0])] == "w0 w1 w2"
    assert text[slice(*cuts[-1])] == "w399 w400"
    assert len(cuts_of(text, 401)) == 401
    assert len(cuts_of(text, 400)) == 201


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("it's re-read, (twice)...", ["it's", "re-read", "twice"]),
        ("#tag @ann a$$ f**l sh*t **", ["#tag", "@ann", "a$$", "f**l", "sh*t"]),
        ("no👍🏽👍yes 🏳️‍🌈 🇫🇷🇩🇪 👨‍👩‍👧!", ["no", "👍🏽", "👍", "yes", "🏳️‍🌈", "🇫🇷", "🇩🇪", "👨‍👩‍👧"]),
        ("k1️⃣ll 1️⃣", ["k1️⃣ll", "1️⃣"]),
        ("e\u0301te\u0301 日本語。", ["e\u0301te\u0301", "日本語"]),
        ("… -- !? \u200b", []),
    ],
)
def test_words(text, words):
    assert [text[slice(*cut)] for cut in cuts_of(text)] == words


def test_a_text_without_a_word_has_no_double_space():
    assert without("a b c", (2, 3)) == "a c"
    assert without("a b", (2, 3)) == "a"
    assert without("b a", (0, 1)) == "a"
    assert without("b", (0, 1)) == ""
    assert without("a (b) c", (3, 4)) == "a () c"


def test_a_subclass_that_scores_otherwise_is_asked():
    class Other(type(DETECTORS["linear"])):
        def score(self, texts):
            return np.array([[min(len(text), 10) / 10] for text in texts])

    linear = DETECTORS["linear"]
    other = Other(linear.record, linear.features, linear.weights, linear.bias)
    assert _left_out.closed_form(other) is None
    assert [span.weight for span in evidence(other, ["ab cde"])[0]] == pytest.approx([0.3, 0.4])


class Picky:
    """A server that refuses empty texts, and a word."""

    name, attributes, provenance = "picky", ("HATE",), {}  # noqa: RUF012

    def score(self, texts):
        raise AssertionError("asked for all at once")

    def answers(self, texts, step=None):
        refused = Refused("no")
        return [refused if not t or "blorp" in t else len(t) / 100 for t in texts]


def test_a_word_without_a_score_on_both_sides_is_not_listed():
    assert evidence(Picky(), ["ab", "ab cde", "blorp day", "day blorp"]) == [
        [],
        [Span(0, 2, pytest.approx(0.03)), Span(3, 6, pytest.approx(0.04))],
        [],
        [],
    ]


def test_what_does_not_fit_is_refused():
    detector = DETECTORS["linear"]
    with pytest.raises(BadInput, match="linear has no attribute 'INSULT'; found HATE"):
        evidence(detector, ["a"], attribute="INSULT")
    with pytest.raises(BadInput, match="words is 0; expected at least 1"):
        evidence(detector, ["a"], words=0)


def test_no_weight_is_nan():
    for detector in DETECTORS.values():
        for spans in evidence(detector, TEXTS):
            assert all(math.isfinite(span.weight) for span in spans)


def test_a_function_that_fails_on_nothing_is_asked_all_the_same():
    def answer(texts):
        if not all(texts):
            raise ValueError("empty text")
        return [0.9 if "fool" in text else 0.2 for text in texts]

    found = evidence(FunctionDetector("f", ("HATE",), answer), ["fool", "you fool"])

    # Without its only word nothing is left of the first, and nobody knows what that would have.
    assert found == [[], [Span(0, 3, 0.0), Span(4, 8, pytest.approx(0.7))]]
