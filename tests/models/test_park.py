import numpy as np
import pytest

from evenhand.core.errors import BadInput
from evenhand.models._network import Shape
from evenhand.models.park import Park
from evenhand.models.saving import load, save
from factories import make_corpus

PAIRS = [("you fool", "bad"), ("fool of a bus", "bad"), ("good day", "ok"), ("tea", "ok")] * 3
CORPUS = make_corpus(
    [{"id": str(i), "text": text, "label": label} for i, (text, label) in enumerate(PAIRS)]
)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        ("cnn", Shape("cnn", 300, second=0.5)),
        ("gru", Shape("gru", 300, 512, second=0.3)),
        ("alpha-gru", Shape("gru", 300, 256, both=True, attention="plain", second=0.3)),
    ],
    ids=["cnn", "gru", "alpha-gru"],
)
def test_the_paper_s_sizes_are_the_defaults(model, shape):
    assert Park(model=model).shape() == shape
    assert Park(model=model).length == 100


def test_the_attention_of_the_two_way_gru_is_one_vector_of_512():
    recipe = Park(model="alpha-gru", hateful=("bad",), epochs=1, embedding=4)
    detector = recipe.fit(CORPUS.posts, CORPUS.gold, seed=0)
    assert detector.network.cell.weight.weight.shape == (1, 512)
    assert detector.network.cell.weight.bias is None


@pytest.mark.parametrize("model", ["cnn", "gru", "alpha-gru"])
def test_every_model_learns_and_comes_back(model, tmp_path):
    recipe = Park(model=model, hateful=("bad",), epochs=40, embedding=20, units=16)
    detector = recipe.fit(CORPUS.posts, CORPUS.gold, seed=0)
    texts = ["you fool", "good day", "fool", "tea"]
    p = detector.score(texts)[:, 0]
    assert min(p[0], p[2]) > max(p[1], p[3])
    save(detector, tmp_path / "saved")
    assert np.array_equal(load(tmp_path / "saved").score(texts)[:, 0], p)


def test_options_of_one_model_can_be_set():
    assert Park(model="gru", units=8, dropout_second=0.0).shape() == Shape("gru", 300, 8)
    with pytest.raises(BadInput, match="park: units is -3; expected at least 1"):
        Park(model="gru", units=-3)
    with pytest.raises(BadInput, match="park: dropout_second is 1.5; expected"):
        Park(dropout_second=1.5)
