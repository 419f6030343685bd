"""What every registered recipe promises, on made-up posts."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from encoders import tiny_encoder
from evenhand.core import registry
from evenhand.core.errors import NotEnoughData
from evenhand.core.streams import stream
from evenhand.models import saving
from evenhand.models.find import recipe
from evenhand.models.protocol import Trained
from evenhand.models.saving import load, save
from evenhand.models.seen import trained_on
from evenhand.models.training import for_corpus
from evenhand.validation.plan import make_plan, make_task
from evenhand.validation.run import Setting, cross_validate
from factories import make_corpus

NAMES = registry.names("recipes")
QUICK = f"base={tiny_encoder()},batch=16,rate=0.01,average=0.5,patience=0"
OPTIONS: dict[str, str] = {
    "agrawal": "epochs=12,batch=16,embedding=10,units=10",
    "badjatiya": "epochs=12,batch=16,embedding=10,units=10",
    "park": "epochs=4,batch=16,embedding=20",
    "transformer": f"{QUICK},epochs=8",
    "transformer-vocabulary": f"{QUICK},epochs=8,own=20,embedding=8,hidden=8",
}
"""Options that make a recipe quick enough for these tests, as ``key=value,key=value``."""
ORDERED: dict[str, str] = {}
"""Recipes whose result depends on the order of the training rows, and why."""
UNUSUAL = [
    "",
    " ",
    "👍🏽😀🏳️‍🌈",
    "a" * 20_000,
    "you fool " * 2_222,
    "qxzj vvkq wwpt",
    "\0",
    "@a http://x",
]


def made_up(count: int = 120):
    """Posts of which the hateful ones tend to have other words; half of them are for testing."""
    rng = stream(5, "recipes")
    common = ["you", "the", "day", "bus", "what", "and", "so", "late"]
    rows = []
    for number in range(count):
        bad = number % 3 == 0
        own = ["fool", "vermin"] if bad else ["tea", "sun"]
        words = [*rng.choice(common, 6), *rng.choice(own, 2)]
        text = " ".join(rng.permutation(words).tolist())
        rows.append({"id": f"p{number}", "text": text, "label": "bad" if bad else "ok"})
    return make_corpus(rows)


CORPUS = made_up()
TRAIN, TEST = CORPUS.posts.head(60), CORPUS.posts.tail(60)
TEXTS = TEST["text"].to_list()
GOLD_OF_TRAIN = CORPUS.gold.join(TRAIN.select(post="id"), on="post", how="semi")


def named(name: str):
    options = OPTIONS.get(name)
    return for_corpus(recipe(f"{name}:{options}" if options else name), CORPUS)


def fitted(name: str, posts=TRAIN, gold=CORPUS.gold, seed: int = 0) -> Trained:
    return named(name).fit(posts, gold, seed=seed)


pytestmark = pytest.mark.parametrize("name", NAMES)


def test_is_registered_by_its_own_name_and_knows_its_attributes(name):
    detector = fitted(name)
    assert detector.record.recipe.name == name
    assert detector.score(TEXTS).shape == (60, len(detector.attributes))
    assert detector.score(TEXTS).dtype == np.float64


def test_learns_something(name):
    p = fitted(name).score(TEXTS)[:, 0]
    bad = np.arange(60) % 3 == 0
    assert p[bad].mean() > p[~bad].mean()


def test_the_same_seed_gives_the_same_scores(name):
    first, second = fitted(name, seed=3), fitted(name, seed=3)
    assert np.array_equal(first.score(TEXTS), second.score(TEXTS))


def test_gold_of_test_rows_changes_nothing(name):
    of_train = fitted(name, gold=GOLD_OF_TRAIN)
    flipped = CORPUS.gold.with_columns(
        label=pl.when(pl.col("post").is_in(TRAIN["id"].to_list()))
        .then("label")
        .otherwise(pl.lit("bad"))
    )
    for gold in (CORPUS.gold, flipped):
        assert np.array_equal(fitted(name, gold=gold).score(TEXTS), of_train.score(TEXTS))


def test_posts_without_gold_change_nothing(name):
    """Test rows handed over by mistake, but without their labels, are not learned from."""
    everything = fitted(name, posts=CORPUS.posts, gold=GOLD_OF_TRAIN)
    assert np.array_equal(everything.score(TEXTS), fitted(name).score(TEXTS))


def test_a_word_that_only_test_texts_have_is_unknown(name):
    detector = fitted(name)
    seen = detector.score(["you zzyzx fool"])
    detector.score(["zzyzx fool vermin zzyzx"] * 50)
    assert np.array_equal(detector.score(["you zzyzx fool"]), seen)
    assert np.array_equal(detector.score(["you qwvtk fool"]), seen)


def test_the_score_of_a_text_does_not_depend_on_its_neighbours(name):
    detector = fitted(name)
    together = detector.score([*TEXTS[:5], *UNUSUAL])
    alone = np.concatenate([detector.score([text]) for text in [*TEXTS[:5], *UNUSUAL]])
    assert np.array_equal(together, alone)


def test_the_order_of_training_rows_does_not_matter(name):
    if name in ORDERED:
        return
    shuffled = fitted(name, posts=TRAIN.reverse(), gold=CORPUS.gold.reverse())
    assert np.array_equal(shuffled.score(TEXTS), fitted(name).score(TEXTS))


def test_unusual_texts_score(name):
    p = fitted(name).score(UNUSUAL)
    assert p.shape[0] == len(UNUSUAL)
    assert ((p >= 0) & (p <= 1)).all()
    assert fitted(name).score([]).shape == (0, p.shape[1])


CHILD = """
import json, sys
from pathlib import Path
from evenhand.models.saving import load
detector = load(Path(sys.argv[1]))
scores = detector.score(json.loads(sys.stdin.read()))
print(json.dumps([[value.hex() for value in row] for row in scores.tolist()]))
"""


def test_loads_in_another_process_with_scores_equal_to_the_last_bit(name, tmp_path):
    detector = fitted(name)
    save(detector, tmp_path / "saved")
    texts = [*TEXTS, *UNUSUAL]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "saved")],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    here = [[value.hex() for value in row] for row in detector.score(texts).tolist()]
    assert json.loads(done.stdout) == here


def test_what_is_saved_comes_back(name, tmp_path):
    detector = fitted(name, seed=4)
    save(detector, tmp_path / "saved")
    again = load(tmp_path / "saved")
    assert again.record.recipe == detector.record.recipe
    assert again.attributes == detector.attributes
    assert dict(again.provenance) == dict(detector.provenance)
    assert again.provenance["seed"] == 4


def test_a_detector_knows_its_training_posts_and_no_others(name):
    fresh = pl.DataFrame({"id": ["new"], "source": ["made up"], "text": ["never seen before"]})
    known = trained_on(fitted(name), pl.concat([TRAIN.select(fresh.columns), fresh]))
    assert known == TRAIN["id"].to_list()


def test_under_a_protocol_a_detector_never_saw_a_test_row(name):
    """Spied on: what ``fit`` was handed, and what the detector says it has seen."""
    spied = []

    class Spied:
        def fit(self, posts, gold, *, seed):
            detector = named(name).fit(posts, gold, seed=seed)
            spied.append((set(posts["id"]), set(gold["post"]), detector))
            return detector

    plan = make_plan("kfold:2", make_task(CORPUS), seed=1)
    cross_validate(Spied(), plan, Setting())
    for (posts, gold, detector), split in zip(spied, plan.splits, strict=True):
        assert posts == gold == set(split.train)
        tests = plan.task.part(split.test)
        assert trained_on(detector, tests) == []


def test_one_class_only_says_what_to_change(name):
    none = GOLD_OF_TRAIN.filter(pl.col("label") == "ok")
    with pytest.raises(NotEnoughData, match="none is hateful; training needs both classes"):
        fitted(name, gold=none)
    with pytest.raises(NotEnoughData):
        fitted(name, posts=TRAIN.head(0))


def test_a_failed_save_leaves_nothing(name, tmp_path, monkeypatch):
    def full(path, *_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "_write", full)
    with pytest.raises(saving.BadInput, match="cannot be written: .*No space left"):
        save(fitted(name), tmp_path / "saved")
    assert list(tmp_path.iterdir()) == []
