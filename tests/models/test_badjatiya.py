from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from evenhand.core.streams import stream
from evenhand.models._ngrams import Ngrams
from evenhand.models.badjatiya import Badjatiya, Representation
from evenhand.models.seen import Seen, trained_on
from factories import make_corpus

NOTHING = Seen.of(pl.DataFrame({"id": [], "source": [], "text": []}, schema_overrides=dict.fromkeys(
    ("id", "source", "text"), pl.String)))  # fmt: skip
RNG = stream(4, "badjatiya")
ROWS = [
    {
        "id": f"p{number:02}",
        "text": " ".join([*RNG.choice(["you", "the", "bus"], 3), "fool" if bad else "tea"]),
        "label": "bad" if bad else "ok",
    }
    for number in range(80)
    for bad in [number % 2 == 0]
]
CORPUS = make_corpus(ROWS)
QUICK = Badjatiya(hateful=("bad",), embedding=5, units=4, epochs=3, batch=16)
TEXTS = ["you fool", "tea", "", "unheard of"]


def test_a_post_is_the_mean_over_all_its_words():
    known = Ngrams(pl.Series(["bus", "fool"]), ())
    matrix = np.array([[4, 0], [1, 2]], dtype=np.float32)
    means = Representation(known, matrix, NOTHING, {}).means(
        ["fool", "fool bus bus", "unheard fool", "unheard", "", "fool " * 3000]
    )
    # "fool bus bus": (1 + 4 + 4) / 3 and 2 / 3; an unknown word is zeros, but one of two words.
    assert means.tolist() == [[1, 2], [3, pytest.approx(2 / 3)], [0.5, 1], [0, 0], [0, 0], [1, 2]]


def test_without_a_representation_one_is_made_from_the_same_rows():
    representation = QUICK.represent(CORPUS.posts, CORPUS.gold, seed=2)
    given = QUICK.fit(CORPUS.posts, CORPUS.gold, seed=2, representation=representation)
    alone = QUICK.fit(CORPUS.posts, CORPUS.gold, seed=2)
    assert np.array_equal(given.score(TEXTS), alone.score(TEXTS))
    assert given.provenance == alone.provenance
    assert given.record.seen.sha256() == alone.record.seen.sha256()


def test_the_representation_is_what_fit_uses():
    representation = QUICK.represent(CORPUS.posts, CORPUS.gold, seed=2)
    nothing = replace(representation, matrix=np.zeros_like(representation.matrix))
    detector = QUICK.fit(CORPUS.posts, CORPUS.gold, seed=2, representation=nothing)
    assert detector.score(["fool", "tea"])[:, 0] == pytest.approx(0.5)


def test_a_representation_of_other_posts_is_remembered():
    train, test = CORPUS.posts.head(60), CORPUS.posts.tail(20)
    leaky = QUICK.represent(CORPUS.posts, CORPUS.gold, seed=0)
    detector = QUICK.fit(train, CORPUS.gold, seed=0, representation=leaky)
    assert trained_on(detector, test) == test["id"].to_list()
    assert detector.provenance["posts"] == 60
    assert detector.provenance["representation"]["posts"] == 80


def test_the_paper_s_sizes_are_the_defaults():
    shape = Badjatiya().shape()
    assert (shape.kind, shape.embedding, shape.units, shape.both) == ("lstm", 200, 50, False)
    assert (shape.first, shape.second) == (0.25, 0.5)
    assert (Badjatiya().epochs, Badjatiya().batch, Badjatiya().oversample) == (10, 128, 1)


@pytest.mark.parametrize("exact", [False, True])
def test_both_kinds_of_trees_learn(exact):
    recipe = replace(QUICK, exact=exact, epochs=20)
    p = recipe.fit(CORPUS.posts, CORPUS.gold, seed=0).score(["you fool the bus", "you the tea bus"])
    assert p[0, 0] > 0.9 > 0.1 > p[1, 0]


def test_a_class_without_training_rows_has_probability_zero():
    recipe = replace(QUICK, hateful=(), classes=("ok", "absent", "bad"))
    p = recipe.fit(CORPUS.posts, CORPUS.gold, seed=0).score(TEXTS)
    assert p[:, 1] == pytest.approx(0, abs=1e-6)
    assert p.sum(axis=1) == pytest.approx(1)


def test_batches_join(monkeypatch):
    detector = QUICK.fit(CORPUS.posts, CORPUS.gold, seed=0)
    whole = detector.score(TEXTS)
    monkeypatch.setattr("evenhand.models.badjatiya._BATCH", 3)
    assert np.array_equal(detector.score(TEXTS), whole)
    assert detector.score([]).shape == (0, 1)
