import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.streams import stream
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.words import words
from factories import make_corpus

FOUR = [("you fool", "bad"), ("you fool fool", "bad"), ("good day", "ok"), ("you day", "ok")]


def fitted(pairs, **options):
    rows = [{"id": str(i), "text": text, "label": label} for i, (text, label) in enumerate(pairs)]
    corpus = make_corpus(rows)
    return NaiveBayes(hateful=("bad",), **options).fit(corpus.posts, corpus.gold, seed=0)


def random_pairs(n=400, size=60):
    rng = stream(1, "words")
    texts = [
        " ".join(f"w{k}" for k in rng.integers(size, size=rng.integers(0, 12))) for _ in "a" * n
    ]
    return [(text, "bad" if rng.random() < 0.3 else "ok") for text in texts]


def test_by_hand():
    # Words: day fool good you. Hateful: fool 3, you 2, of 5; others: day 2, good 1, you 1, of 4.
    # One is added to each of the four counts, so the shares are 4/9 against 1/8 for fool.
    detector = fitted(FOUR, min_df=1, bigrams=False)
    odds = (4 / 9) / (1 / 8)  # the classes are even
    assert detector.score(["Fool!"])[0, 0] == pytest.approx(odds / (1 + odds), abs=1e-12)


def test_a_pair_is_a_feature_of_its_own():
    # Pairs: "fool fool", "good day", "you day", "you fool"; with 4 words there are 8 features.
    # "you fool" stands twice in hateful posts, never in others.
    detector = fitted(FOUR, min_df=1)
    alone = [detector.score([text])[0, 0] for text in ("you", "fool", "you fool")]
    odds = [p / (1 - p) for p in alone]
    # Hateful: 5 words + 3 pairs + 8 = 16; others: 4 + 2 + 8 = 14.
    assert odds[2] / (odds[0] * odds[1]) == pytest.approx((3 / 16) / (1 / 14))


def test_min_df_counts_posts_not_occurrences():
    detector = fitted(FOUR, min_df=2)
    assert detector.features.symbols.to_list() == ["day", "fool", "you"]
    assert len(detector.features.longer[0]) == 1  # "you fool"


@pytest.mark.parametrize("min_df", [1, 3])
@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("bigrams", [True, False])
def test_equals_scikit_learn(min_df, alpha, bigrams):
    pairs = random_pairs()
    texts, labels = [text for text, _ in pairs], [label == "bad" for _, label in pairs]
    counter = CountVectorizer(
        tokenizer=lambda text: words([text]).to_list()[0],
        token_pattern=None,
        ngram_range=(1, 2 if bigrams else 1),
        min_df=min_df,
    )
    theirs = MultinomialNB(alpha=alpha).fit(counter.fit_transform(texts), labels)
    detector = fitted(pairs, min_df=min_df, alpha=alpha, bigrams=bigrams)
    new = [text for text, _ in random_pairs(100, size=70)]  # some words are unknown
    expected = theirs.predict_proba(counter.transform(new))[:, 1]
    assert len(detector.features) == len(counter.vocabulary_)
    np.testing.assert_allclose(detector.score(new)[:, 0], expected, atol=1e-9, rtol=0)


def test_a_text_without_known_words_scores_the_share_of_hateful_posts():
    detector = fitted([*FOUR, ("you day", "ok")])
    assert detector.score(["unheard of", "", "👍"])[:, 0] == pytest.approx(2 / 5)


def test_the_log_odds_of_a_long_text_do_not_overflow():
    p = fitted(FOUR).score(["fool " * 50_000, "day " * 50_000])[:, 0]
    assert p[0] == 1 and 0 <= p[1] < 1e-300


def test_batches_join(monkeypatch):
    detector = fitted(FOUR)
    texts = ["you fool", "day", "", "fool", "you"]
    whole = detector.score(texts)
    monkeypatch.setattr("evenhand.models.naive_bayes._BATCH", 2)
    assert np.array_equal(detector.score(texts), whole)
    assert detector.score([]).shape == (0, 1)


@pytest.mark.parametrize(
    "options", [{"min_df": 0}, {"alpha": 0}, {"alpha": -1.0}, {"alpha": math.nan}, {"alpha": 1e999}]
)
def test_options_out_of_range_are_refused(options):
    [name] = options
    with pytest.raises(BadInput, match=f"naive-bayes: {name} is .*; expected"):
        NaiveBayes(**options)


def test_nothing_frequent_enough_says_so():
    with pytest.raises(NotEnoughData, match="no word stands in 9 or more of the 4 .*lower min_df"):
        fitted(FOUR, min_df=9)


def test_posts_without_a_single_word():
    with pytest.raises(NotEnoughData, match="no word"):
        fitted([("", "bad"), ("!", "ok")], min_df=1)


def test_a_vocabulary_without_pairs():
    p = fitted([("fool", "bad"), ("day", "ok")], min_df=1).score(["fool day", "day"])[:, 0]
    assert p[1] < p[0]
