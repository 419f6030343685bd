"""Scores of one attribute, from detectors that fail on some texts."""

import itertools
import math

import numpy as np
import pytest

from evenhand.core.errors import BadInput, BrokenComponent, MissingExtra
from evenhand.models import _halving
from evenhand.models._refusals import without_text
from evenhand.models.callables import FunctionDetector
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.predictions import predictions
from evenhand.models.scoring import Scored, score_attribute, score_posts
from factories import make_corpus


def posts(texts):
    return make_corpus([{"id": f"p{n:04d}", "text": text} for n, text in enumerate(texts)]).posts


class Spy:
    """Scores the number a text is; raises where the text says so, and counts its calls."""

    def __init__(self, attributes=("HATE",), fails=("bad",), error=ValueError):
        self.fails, self.error, self.calls = fails, error, []
        self.detector = FunctionDetector("python:m:f", attributes, self)

    def __call__(self, texts):
        self.calls.append(len(texts))
        for text in texts:
            if text.split()[0] in self.fails:
                raise self.error(f"cannot read {text!r}")
        width = len(self.detector.attributes)
        return [[float(text.split()[0]) / (k + 1) for k in range(width)] for text in texts]


def numbers(n, bad=()):
    return posts([f"bad {k}" if k in bad else f"{k / n} {k}" for k in range(n)])


def test_one_of_several_attributes():
    found = score_attribute(Spy(("HATE", "INSULT")).detector, numbers(4), attribute="INSULT")
    assert isinstance(found, Scored)
    # the second column is half of 0, .25, .5, .75
    assert found.table["p"].to_list() == [0, 0.125, 0.25, 0.375]
    assert (found.attribute, found.classes_only, found.failed) == ("INSULT", False, {})
    assert score_attribute(Spy(("HATE", "INSULT")).detector, numbers(4)).attribute == "HATE"


def test_the_same_as_all_posts_with_all_attributes():
    corpus = make_corpus(
        [{"id": "a", "text": "fool", "label": "bad"}, {"id": "b", "text": "day", "label": "ok"}]
    )
    trained = NaiveBayes(hateful=("bad",), min_df=1).fit(corpus.posts, corpus.gold, seed=0)
    found = score_attribute(trained, corpus.posts)
    assert found.table.equals(score_posts(trained, corpus.posts).select("post", "p"))


@pytest.mark.parametrize("size", [3, 40, 1100])
def test_failing_texts_are_found_and_the_others_scored(size):
    bad = {1} if size == 3 else {0, 7, 8, size - 1}
    spy = Spy()
    found = score_attribute(spy.detector, numbers(size, bad))
    expected = [None if k in bad else k / size for k in range(size)]
    assert found.table["p"].to_list() == expected
    assert set(found.failed) == {f"p{k:04d}" for k in bad}
    assert set(found.failed.values()) == {"python:m:f: raised ValueError: cannot read […]"}
    # at most the sample, and for each failing text two calls per halving of a batch of 512
    assert len(spy.calls) <= 3 + 32 + len(bad) * 2 * 10


def test_the_order_of_rows_does_not_matter():
    table = numbers(600, set(range(0, 600, 3)))
    found = score_attribute(Spy().detector, table)
    other = score_attribute(Spy().detector, table[::-1])
    assert found.table.equals(other.table[::-1])
    assert found.failed == other.failed


def test_a_detector_that_fails_on_most_texts_is_broken():
    spy = Spy()
    with pytest.raises(BrokenComponent, match=r"ValueError.*on \d\d of 32 texts asked one by one"):
        score_attribute(spy.detector, numbers(600, set(range(500))))
    assert len(spy.calls) == 1 + 32


def test_failing_texts_that_stand_together_are_no_reason_to_stop():
    found = score_attribute(Spy().detector, numbers(600, set(range(100))))
    assert len(found.failed) == 100  # a sixth; of the first 32 rows it would be all


def test_a_few_texts_are_a_sample_of_their_own():
    # 1 of 2 is not more than half, 2 of 3 is
    assert len(score_attribute(Spy().detector, numbers(2, {0})).failed) == 1
    with pytest.raises(BrokenComponent, match="on 2 of 3 texts"):
        score_attribute(Spy().detector, numbers(3, {0, 1}))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "text 6 scores nan for HATE.*counted from post 'p0512'"),
        (1.5, "text 6 scores 1.5 for HATE; expected a number between 0 and 1"),
    ],
)
def test_an_answer_that_is_no_probability_ends_it(value, words):
    def score(texts):
        return [value if text == "517" else 0.5 for text in texts]

    detector = FunctionDetector("python:m:f", ("HATE",), score)
    with pytest.raises(BrokenComponent, match=words):
        score_attribute(detector, posts([str(k) for k in range(600)]))


def test_another_number_of_scores_ends_it():
    detector = FunctionDetector("python:m:f", ("HATE",), lambda texts: [0.5])
    with pytest.raises(BrokenComponent, match="for 3 texts"):
        score_attribute(detector, numbers(3))


class Own:
    """A detector somebody wrote as a class."""

    name, attributes, provenance = "own", ("HATE",), {}

    def __init__(self, error=None):
        self.error = error

    def score(self, texts):
        if self.error and "0.5 2" in texts:
            raise self.error
        return np.array([[0.5]] * len(texts))


def test_whatever_a_detector_raises_is_its_own_fault():
    found = score_attribute(Own(RuntimeError("no memory")), numbers(4))
    assert found.failed == {"p0002": "own: raised RuntimeError: no memory"}
    with pytest.raises(MissingExtra):
        score_attribute(Own(MissingExtra("pip install it")), numbers(4))
    with pytest.raises(KeyboardInterrupt):
        score_attribute(Own(KeyboardInterrupt()), numbers(4))


def test_an_unknown_attribute_lists_those_there_are(tmp_path):
    with pytest.raises(BadInput, match="own has no attribute 'INSULT'; found HATE"):
        score_attribute(Own(), numbers(2), attribute="INSULT")
    (tmp_path / "s.csv").write_text("id,p\np0000,.1\np0001,.2\n")
    with pytest.raises(BadInput, match="no attribute 'INSULT'; found HATE"):
        score_attribute(predictions(tmp_path / "s.csv"), numbers(2), attribute="INSULT")


def test_a_file_of_predictions(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("id,label\np0001,hate\np0000,none\n")
    found = score_attribute(predictions(path), numbers(2))
    assert found.table.rows() == [("p0000", 0), ("p0001", 1)]
    assert found.classes_only
    with pytest.raises(BadInput, match="no row for 1 of the posts"):
        score_attribute(predictions(path), numbers(3))
    with pytest.raises(BadInput, match="'p0001' is none of the posts"):
        score_attribute(predictions(path), numbers(1))
    assert score_attribute(predictions(path), numbers(1), subset=True).table.height == 1


def test_progress_is_reported():
    seen = []
    score_attribute(Spy().detector, numbers(600), step=lambda *step: seen.append(step))
    assert seen == [("Scoring with python:m:f", 512, 600), ("Scoring with python:m:f", 600, 600)]
    assert _halving._BATCH == 512


def test_no_posts():
    found = score_attribute(Spy().detector, numbers(1).head(0))
    assert (found.table.height, found.failed) == (0, {})


@pytest.mark.parametrize(
    ("reason", "text", "expected"),
    [
        ("too long", "too loud for me", "too long"),
        ("too long", "too long ago we met", "too […]"),  # an innocent word that stands in both
        ("cannot read you are all vermin", "You Are ALL Vermin", "cannot read […]"),
        ("the word vermin is not known", "All VERMIN", "the word […] is not known"),
        ("verminous, Vermin's", "vermin", "[…]ous, […]'s"),
        ("verminous", "vermin here", "[…]"),
        ("unknown piece vermi", "all vermin", "unknown piece […]"),
        ("see all-vermin-go there", "all vermin go", "see […] there"),
        ("see a-b there", "a b", "see […] there"),
        ("see half wit and halfwit", "you half-wit", "see […] and […]"),
        ("see v-e-r-m-i-n there", "all vermin", "see […] there"),
        (r"near \"caf\u00e9 cr\u00e8me\" (1)", "Café crème", "near […] (1)"),
        (r"near caf\\u00e9s", "all cafés", "near […]"),
        (r"near \ud83d\udc1d\ud83d\udc1d\ud83d\udc1d.", "🐝🐝🐝", "near […]."),
        ("near &lt;vermin&gt; &amp;amp; x", "<VERMIN>", "near […] & x"),
        ("near &#118;ermin", "all vermin", "near […]"),
        ("near all%20the%20men", "all the men", "near […]"),
        ("near cafe\u0301s", "all CAFÉS", "near […]"),
        ("near STRASSE", "Straße", "near […]"),
        (r"C:\new\table: 100% full", "vermin", r"C:\new\table: 100% full"),
        ("vermin " * 200, "all vermin", "[…]"),
        ("x " + "fool " * 200, "a fool", "x […]"),  # cut after 600 letters, within a word
        ("KeyError: 'vermin'", "all vermin", "KeyError: […]"),
        ("bad: all the vermin are…", "all the vermin are here", "bad: […]…"),
        ("a\n b", "x", "a b"),
        ("x" * 1000, "y", "x" * 300),
        ("'' is empty", "", "'' is empty"),
        ("a day", "a", "a day"),
    ],
    ids=itertools.count(),
)
def test_a_reason_without_the_text(reason, text, expected):
    assert without_text(reason, text) == expected
