import numpy as np
import pytest

from evenhand.models.agrawal import Agrawal
from evenhand.models.saving import load, save
from factories import make_corpus

PAIRS = [("you fool", "bad"), ("fool of a bus", "bad")] + [("good day", "ok"), ("tea", "ok")] * 3
CORPUS = make_corpus(
    [{"id": str(i), "text": text, "label": label} for i, (text, label) in enumerate(PAIRS)]
)


def sizes(**options) -> dict[str, tuple[int, ...]]:
    detector = Agrawal(hateful=("bad",), epochs=1, **options).fit(CORPUS.posts, CORPUS.gold, seed=0)
    return {name: tuple(weights.shape) for name, weights in detector.network.named_parameters()}


def test_the_two_way_lstm_has_the_paper_s_sizes():
    found = sizes()
    assert found["words"] == (8, 50)  # you fool of a bus good day tea
    for way in ("forwards", "backwards"):
        assert found[f"cell.{way}.weight_ih_l0"] == (4 * 50, 50)
        assert found[f"cell.{way}.weight_hh_l0"] == (4 * 50, 50)
    assert found["last.weight"] == (2, 100)


def test_the_siblings_have_the_paper_s_sizes():
    assert sizes(cell="lstm")["last.weight"] == (2, 50)
    convolution = sizes(cell="cnn")
    assert [convolution[f"cell.filters.{k}.weight"] for k in range(3)] == [
        (100, 50, 3), (100, 50, 4), (100, 50, 5),
    ]  # fmt: skip
    assert convolution["last.weight"] == (2, 300)
    attention = sizes(cell="attention")
    assert attention["cell.hidden.weight"] == (100, 100)
    assert attention["cell.weight.weight"] == (1, 100)


@pytest.mark.parametrize("cell", ["bilstm", "lstm", "cnn", "attention"])
def test_every_cell_learns_and_comes_back(cell, tmp_path):
    recipe = Agrawal(hateful=("bad",), cell=cell, epochs=60, embedding=20, units=10)
    detector = recipe.fit(CORPUS.posts, CORPUS.gold, seed=0)
    texts = ["you fool", "good day", "fool", "tea"]
    p = detector.score(texts)[:, 0]
    assert min(p[0], p[2]) > max(p[1], p[3])
    save(detector, tmp_path / "saved")
    assert np.array_equal(load(tmp_path / "saved").score(texts)[:, 0], p)


def test_rows_of_the_smaller_class_are_seen_three_times(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "evenhand.models._epochs.train",
        lambda network, texts, labels, rows, course: seen.append(labels[rows]),
    )
    Agrawal(hateful=("bad",)).fit(CORPUS.posts, CORPUS.gold, seed=0)
    assert np.bincount(seen[0]).tolist() == [6, 2 * 3]


def test_oversampling_is_no_leak():
    """The record counts posts, not copies."""
    detector = Agrawal(hateful=("bad",), epochs=1).fit(CORPUS.posts, CORPUS.gold, seed=0)
    assert list(detector.provenance["classes"].values()) == [6, 2]
