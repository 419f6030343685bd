import math

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_union

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.streams import stream
from evenhand.models._ngrams import Ngrams
from evenhand.models._tfidf import TextFeatures, pieces
from evenhand.models.linear import Linear
from evenhand.models.words import words
from factories import make_corpus

FOUR = [("you fool", "bad"), ("you fool fool", "bad"), ("good day", "ok"), ("you day", "ok")]


def fitted(pairs, recipe=Linear, **options):
    rows = [{"id": f"{i:03}", "text": text, "label": at} for i, (text, at) in enumerate(pairs)]
    corpus = make_corpus(rows)
    if "classes" not in options:
        options["hateful"] = ("bad",)
    return recipe(**options).fit(corpus.posts, corpus.gold, seed=0)


def random_pairs(n=150, size=40, labels=("bad", "ok"), seed=1):
    """Texts of made-up words with marks between them, some of which a label likes."""
    rng = stream(seed, "texts")
    pairs = []
    for _ in range(n):
        label = rng.integers(len(labels))
        numbers = rng.integers(size, size=rng.integers(1, 12)) * len(labels) + label
        shift = rng.integers(len(labels), size=len(numbers)) * (rng.random(len(numbers)) < 0.5)
        text = " ".join(f"{chr(97 + k % 26)}{k}{'!' * (k % 3)}" for k in numbers + shift)
        pairs.append((text, labels[label]))
    return pairs


def vectoriser(words_to, characters_to, min_df):
    options = {"sublinear_tf": True, "min_df": min_df, "lowercase": False}
    of_words = TfidfVectorizer(
        tokenizer=lambda text: words([text]).to_list()[0],
        token_pattern=None,
        ngram_range=(1, words_to),
        **options,
    )
    if not characters_to:
        return of_words
    of_characters = TfidfVectorizer(
        preprocessor=lambda text: " ".join(pieces([text]).to_list()[0]),
        analyzer="char_wb",
        ngram_range=(2, characters_to),
        **options,
    )
    return make_union(of_words, of_characters)


NEW = [text for text, _ in random_pairs(60, size=60, seed=2)]  # some words are unknown


@pytest.mark.parametrize("labels", [("bad", "ok"), ("bad", "ok", "rude")], ids=["two", "three"])
@pytest.mark.parametrize(("words_to", "characters_to", "min_df"), [(2, 5, 2), (1, 3, 1), (3, 0, 2)])
@pytest.mark.parametrize("balanced", [False, True])
def test_equals_scikit_learn(labels, words_to, characters_to, min_df, balanced):
    pairs = random_pairs(labels=labels)
    options = {"words": words_to, "characters": characters_to, "min_df": min_df}
    classes = {"classes": labels} if len(labels) > 2 else {}
    detector = fitted(pairs, c=2.0, balanced=balanced, **options, **classes)
    vectors = vectoriser(words_to, characters_to, min_df)
    theirs = LogisticRegression(C=2.0, class_weight="balanced" if balanced else None, max_iter=1000)
    theirs.fit(vectors.fit_transform([text for text, _ in pairs]), [at for _, at in pairs])
    expected = theirs.predict_proba(vectors.transform(NEW))
    assert len(detector.features) == len(vectors.get_feature_names_out())
    shown = expected if classes else expected[:, :1]  # "bad" is the first in the alphabet
    np.testing.assert_allclose(detector.score(NEW), shown, atol=1e-9, rtol=0)


def test_the_rows_have_the_values_of_scikit_learn():
    texts = [text for text, _ in random_pairs()]
    ours, rows = TextFeatures.learn(texts, words_to=2, characters_to=4, min_df=2)
    vectors = vectoriser(2, 4, 2).fit(texts)
    for made, expected in ((rows, vectors.transform(texts)), (ours.rows(NEW), None)):
        expected = vectors.transform(NEW) if expected is None else expected
        ordered = [np.sort(table.toarray(), axis=1) for table in (made, expected)]
        np.testing.assert_allclose(*ordered, atol=1e-12, rtol=0)


def test_tf_idf_by_hand():
    # "fool" stands in 2 of 4 posts: ln(5 / 3) + 1; "you" in 3: ln(5 / 4) + 1. In "you fool fool"
    # fool counts 1 + ln 2. The two values are divided by the root of the sum of their squares.
    features, _ = TextFeatures.learn([t for t, _ in FOUR], words_to=1, characters_to=0, min_df=1)
    assert features.words.symbols.to_list() == ["day", "fool", "good", "you"]
    fool, you = (math.log(5 / 3) + 1) * (1 + math.log(2)), math.log(5 / 4) + 1
    [row] = features.rows(["You fool, FOOL @unknown"]).toarray()
    assert row == pytest.approx(np.array([0, fool, 0, you]) / math.hypot(fool, you), abs=1e-12)


def test_runs_by_hand():
    lists = pl.Series([["a", "b", "a", "b"], ["a", "b", "c"], ["c", "a", "b", "a"], []])
    runs = Ngrams.learn(lists, longest=3, min_df=2)
    # Posts: a 3, b 3, c 2; ab 3, ba 2 (bc and ca once); aba 2 (bab, abc and cab once).
    assert runs.symbols.to_list() == ["a", "b", "c"]
    assert [level.tolist() for level in runs.longer] == [[0 * 3 + 1, 1 * 3 + 0], [0 * 3 + 0]]
    assert runs.counts(lists).toarray().tolist() == [
        [2, 2, 0, 2, 1, 1],
        [1, 1, 1, 1, 0, 0],
        [2, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0],
    ]


def test_a_run_does_not_reach_over_a_list_or_an_unknown_symbol():
    runs = Ngrams.learn(pl.Series([["a", "b"]]), longest=2, min_df=1)
    assert runs.counts(pl.Series([["a"], ["b"], ["a", "x", "b"]])).toarray()[:, 2].tolist() == [
        0, 0, 0,
    ]  # fmt: skip


def test_short_runs_can_be_no_features():
    runs = Ngrams.learn(pl.Series([["a", "b"]]), shortest=2, longest=2, min_df=1)
    assert runs.counts(pl.Series([["a", "b", "a", "b"]])).toarray().tolist() == [[2]]
    again = Ngrams.restore(runs.arrays("x"), "x", shortest=2)
    assert again.counts(pl.Series([["a", "b"]])).toarray().tolist() == [[1]]


def test_no_runs_come_back_as_none():
    runs = Ngrams.learn(pl.Series([["a"], ["b"]]), longest=2, min_df=2)
    again = Ngrams.restore(runs.arrays("x"), "x")
    assert len(runs) == len(again) == 0
    assert again.counts(pl.Series([["", "a"]])).shape == (1, 0)


def test_a_class_without_posts_has_probability_0():
    detector = fitted(random_pairs(), classes=("absent", "bad", "ok"))
    p = detector.score([*NEW, ""])
    assert detector.attributes == ("absent", "bad", "ok")
    assert (p[:, 0] == 0).all()
    assert p.sum(axis=1) == pytest.approx(1)
    two = fitted(random_pairs()).score([*NEW, ""])
    assert p[:, 1] == pytest.approx(two[:, 0], abs=1e-9)


def test_handles_and_links_are_not_told_apart():
    detector = fitted(FOUR, min_df=1)
    p = detector.score(["@ann fool https://t.co/a", "@bob fool https://t.co/b"])
    assert p[0] == p[1]


def test_batches_join(monkeypatch):
    detector = fitted(FOUR)
    texts = ["you fool", "day", "", "fool", "you"]
    whole = detector.score(texts)
    monkeypatch.setattr("evenhand.models.linear._BATCH", 2)
    assert np.array_equal(detector.score(texts), whole)


def test_without_characters_an_ending_is_unknown():
    apart = fitted(FOUR, min_df=1, characters=0).score(["foolish", ""])
    assert apart[0] == apart[1]
    assert np.subtract(*fitted(FOUR, min_df=1).score(["foolish", ""])) > 0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("words", 0),
        ("characters", 1),
        ("characters", -1),
        ("min_df", 0),
        ("c", 0.0),
        ("c", -1.0),
        ("c", math.nan),
        ("c", math.inf),
    ],
)
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(BadInput, match=f"linear: {option} is .*; expected"):
        Linear(**{option: value})


@pytest.mark.parametrize("characters", [0, 5])
def test_nothing_frequent_enough_says_so(characters):
    with pytest.raises(NotEnoughData, match="no word stands in 9 or more of the 4 .*lower min_df"):
        fitted(FOUR, min_df=9, characters=characters)


def test_arrays_that_do_not_fit_are_refused():
    detector = fitted(FOUR)
    arrays = {**detector.arrays(), "weights": detector.weights[1:]}
    with pytest.raises(ValueError, match="features with"):
        detector.record.recipe.restore(detector.record, arrays)


def test_one_of_its_options_can_be_chosen_by_default():
    assert all(Linear(c=value) for value in Linear.choices["c"])
