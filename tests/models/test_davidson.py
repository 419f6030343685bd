import builtins
import math

import numpy as np
import pytest

from evenhand.core.errors import BadInput, MissingExtra
from evenhand.core.streams import stream
from evenhand.models import _sentiment, _tagging
from evenhand.models._sentiment import KINDS, sentiment
from evenhand.models._tagging import stems, tags
from evenhand.models.davidson import COUNTS, Davidson, DavidsonFeatures, counts, syllables
from evenhand.models.words import words
from factories import make_corpus

COMMON = ["the", "bus", "was", "late", "again", "today"]
OWN = {"bad": ["vermin", "fool"], "ok": ["tea", "sun"], "rude": ["silly", "daft"]}


def pairs(n=90, labels=("bad", "ok")):
    rng = stream(3, "davidson")
    found = [labels[k % len(labels)] for k in range(n)]
    texts = [" ".join([*rng.choice(COMMON, 4), *rng.choice(OWN[label], 2)]) for label in found]
    return list(zip(texts, found, strict=True))


def fitted(given, seed=0, **options):
    rows = [{"id": f"{i:03}", "text": text, "label": at} for i, (text, at) in enumerate(given)]
    corpus = make_corpus(rows)
    if "classes" not in options:
        options["hateful"] = ("bad",)
    return Davidson(**options).fit(corpus.posts, corpus.gold, seed=seed)


def counted(text):
    [row] = counts([text], words([text]))
    return dict(zip(COUNTS, row.tolist(), strict=True))


def test_readability_by_hand():
    # the 1, bus 1, to 1, London 2, was 1, late 1: 6 words of 7 syllables in one sentence.
    found = counted("The bus to London was late.")
    assert found["words"] == 6 and found["syllables"] == 7
    assert found["syllables_per_word"] == pytest.approx(7 / 6)
    # 0.39 · 6 + 11.8 · 7/6 - 15.59 = 2.34 + 13.7667 - 15.59 = 0.5167
    assert found["grade"] == pytest.approx(2.34 + 11.8 * 7 / 6 - 15.59, abs=1e-12)
    # 206.835 - 1.015 · 6 - 84.6 · 7/6 = 206.835 - 6.09 - 98.7 = 102.045
    assert found["ease"] == pytest.approx(102.045, abs=1e-9)
    assert found["characters"] == 27 and found["distinct_words"] == 6


def test_two_sentences_count_as_one():
    assert counted("The bus. Was late.") == {**counted("The bus was late"), "characters": 18}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RT @ann: @bob see #late #Bus https://t.co/x", (2, 2, 1, 1)),
        ("no rt here", (0, 0, 0, 0)),
        ("a@b.c http://x www.y.z", (0, 0, 2, 0)),
        ("", (0, 0, 0, 0)),
    ],
    ids=["all", "none", "links", "empty"],
)
def test_hashtags_handles_links_and_retweets(text, expected):
    found = counted(text)
    names = ("hashtags", "handles", "links", "retweet")
    assert tuple(found[name] for name in names) == expected


def test_a_text_without_words_has_finite_numbers():
    found = counted("@ann 👍")
    assert found["grade"] == -15.59 and found["ease"] == 206.835 and found["words"] == 0


@pytest.mark.parametrize(
    ("word", "expected"),
    [("fool", 1), ("whole", 1), ("apple", 2), ("blue", 1), ("rhythm", 1), ("banana", 3), ("x", 1)],
)
def test_syllables(word, expected):
    assert syllables(word) == expected


def test_stems_leave_what_is_no_word():
    assert stems(["flies", "@user", "#flies", "don't"]) == ["fli", "@user", "#flies", "don't"]
    assert stems(["y" * 30_000]) == ["y" * 30_000]


def test_tags_take_clitics_and_marks_apart():
    assert tags(["she isn't late, is she?", ""]).to_list() == [
        ["PRP", "VBZ", "RB", "JJ", ",", "VBZ", "PRP", "."],
        [],
    ]


def test_sentiment_is_vaders():
    # By VADER's lexicon "good" is 1.9 and nothing else counts: 1.9 / √(1.9² + 15) = 0.4404. The
    # word weighs 1.9 + 1 = 2.9 against one neutral word: 2.9 / 3.9 = 0.744.
    [row] = sentiment(["good bus"])
    found = dict(zip(KINDS, row.tolist(), strict=True))
    assert found == {"neg": 0.0, "neu": 0.256, "pos": 0.744, "compound": 0.4404}
    assert sentiment([]).shape == (0, 4)


def test_sentiment_looks_at_the_beginning_of_a_very_long_text():
    neutral = "bus " * 1250  # 5,000 characters
    assert np.array_equal(*sentiment([neutral, neutral + "good"]))
    assert not np.array_equal(*sentiment([neutral, "good " + neutral]))


def test_numbers_are_scaled_over_the_training_posts():
    texts = [text for text, _ in pairs()]
    features, rows = DavidsonFeatures.learn(texts, longest=2, min_df=2)
    scaled = rows.toarray()[:, -len(features.centre) :]
    assert scaled.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert set(scaled.std(axis=0).round(9).tolist()) == {0.0, 1.0}


def test_a_number_that_never_changes_says_nothing():
    # All posts have six words of one syllable, whose grade has no exact mean in binary.
    features, rows = DavidsonFeatures.learn(["a fool a day a bus"] * 7, longest=1, min_df=1)
    assert rows.toarray()[:, -len(features.centre) :] == pytest.approx(0, abs=1e-9)


def test_rows_are_the_same_after_learning():
    texts = [text for text, _ in pairs()]
    features, rows = DavidsonFeatures.learn(texts, longest=2, min_df=2)
    assert np.array_equal(features.rows(texts).toarray(), rows.toarray())


def test_stems_weigh_by_tf_idf_and_tags_by_counts():
    features, _ = DavidsonFeatures.learn(["buses run", "bus"], longest=1, min_df=1)
    assert features.stems.symbols.to_list() == ["bu", "buse", "run"]
    [row] = features.rows(["running buses run"]).toarray()
    # Each stem stands in one of two posts: ln(3 / 2) + 1; "run" stands twice.
    assert row[:3] == pytest.approx([0, math.log(1.5) + 1, 2 * (math.log(1.5) + 1)])
    assert row[3 : 3 + len(features.tags)].sum() <= 3


def test_features_that_are_not_chosen_have_no_weight():
    some = fitted(pairs(), choice=0.3)
    every = fitted(pairs(), choice=1e-6)  # leaves none, so all are kept
    used = [np.count_nonzero(detector.weights[:, 1]) for detector in (some, every)]
    assert 0 < used[0] < used[1] / 4


def test_three_classes():
    labels = ("bad", "ok", "rude")
    given = pairs(labels=labels)
    detector = fitted(given, classes=labels, choice=1.0, c=1.0)
    p = detector.score([text for text, _ in given])
    assert p.sum(axis=1) == pytest.approx(1)
    assert [labels[k] for k in p.argmax(axis=1)] == [label for _, label in given]


def test_a_class_without_posts_scores_0():
    three = fitted(pairs(), classes=("absent", "ok", "bad")).score(["the fool was late", ""])
    assert (three[:, 0] == 0).all()
    two = fitted(pairs()).score(["the fool was late", ""])
    assert three[:, 2] == pytest.approx(two[:, 0], abs=1e-9)


@pytest.mark.parametrize(
    ("option", "value"),
    [("words", 0), ("min_df", 0), ("c", 0.0), ("choice", 0.0), ("choice", math.nan)],
)
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(BadInput, match=f"davidson: {option} is .*; expected"):
        Davidson(**{option: value})


@pytest.mark.parametrize("package", ["nltk", "textblob", "vaderSentiment"])
def test_a_missing_package_names_the_extra(package, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == package:
            raise ImportError(f"No module named {package!r}")
        return real(name, *rest)

    for loaded in (_tagging._stemmer, _tagging._tagger, _sentiment._analyser):
        loaded.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=rf"{package} .*evenhand\[train\]"):
        fitted(pairs())
