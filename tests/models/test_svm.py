import math

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.streams import stream
from evenhand.models.svm import Svm
from evenhand.models.words import words
from factories import make_corpus


def fitted(pairs, **options):
    rows = [{"id": f"{i:03}", "text": text, "label": at} for i, (text, at) in enumerate(pairs)]
    corpus = make_corpus(rows)
    if "classes" not in options:
        options["hateful"] = ("bad",)
    return Svm(**options).fit(corpus.posts, corpus.gold, seed=0)


def random_pairs(n=150, labels=("bad", "ok"), seed=1):
    rng = stream(seed, "svm texts")
    found = rng.integers(len(labels), size=n)
    texts = [" ".join(f"w{k}" for k in rng.integers(30, size=8) + 10 * at) for at in found]
    return [(text, labels[at]) for text, at in zip(texts, found, strict=True)]


NEW = [text for text, _ in random_pairs(50, seed=2)]


@pytest.mark.parametrize("labels", [("bad", "ok"), ("bad", "ok", "rude")], ids=["two", "three"])
@pytest.mark.parametrize(("n", "min_df", "balanced"), [(2, 2, False), (1, 1, True)])
def test_equals_scikit_learn(labels, n, min_df, balanced):
    pairs = random_pairs(labels=labels)
    options = {"classes": labels} if len(labels) > 2 else {}
    detector = fitted(pairs, words=n, min_df=min_df, c=0.5, balanced=balanced, **options)
    vectors = TfidfVectorizer(
        tokenizer=lambda text: words([text]).to_list()[0],
        token_pattern=None,
        sublinear_tf=True,
        ngram_range=(1, n),
        min_df=min_df,
    )
    theirs = LinearSVC(C=0.5, class_weight="balanced" if balanced else None, dual=False)
    theirs.fit(vectors.fit_transform([text for text, _ in pairs]), [at for _, at in pairs])
    margins = theirs.decision_function(vectors.transform(NEW))
    expected = softmax(margins, axis=1) if options else expit(-margins)[:, None]  # bad is first
    np.testing.assert_allclose(detector.score(NEW), expected, atol=1e-9, rtol=0)


def test_half_lies_on_the_hyperplane():
    # The two posts mirror each other, so a text of one word of each lies between them.
    detector = fitted([("fool", "bad"), ("day", "ok")], min_df=1)
    p = detector.score(["fool", "day", "fool day"])[:, 0]
    assert p[2] == pytest.approx(0.5, abs=1e-12)
    assert p[0] == pytest.approx(1 - p[1], abs=1e-12)
    assert p[0] > 0.5


def test_a_class_without_posts_scores_0():
    p = fitted(random_pairs(), classes=("bad", "absent", "ok")).score([*NEW, ""])
    assert (p[:, 1] == 0).all()
    assert p[:, 0] == pytest.approx(fitted(random_pairs()).score([*NEW, ""])[:, 0], abs=1e-9)


@pytest.mark.parametrize(
    ("option", "value"), [("words", 0), ("min_df", 0), ("c", 0.0), ("c", -1.0), ("c", math.nan)]
)
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(BadInput, match=f"svm: {option} is .*; expected"):
        Svm(**{option: value})


def test_nothing_frequent_enough_says_so():
    with pytest.raises(NotEnoughData, match="no word stands in 2 or more"):
        fitted([("fool", "bad"), ("day", "ok")])


def test_one_of_its_options_can_be_chosen_by_default():
    assert all(Svm(c=value) for value in Svm.choices["c"])
