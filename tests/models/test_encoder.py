"""An encoder that runs without torch: texts alone and among others, windows, other processes."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import numpy as np
import pytest

from encoders import WORDS, tiny_encoder
from evenhand.core.streams import stream
from evenhand.models.encoder import Encoder, _batches

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

LENGTH = 12


def network(columns: int = 3):
    """A tiny encoder with random answers, weights large enough to tell texts apart."""
    from evenhand.models._encoder_network import Shape, build, fresh

    made = build(Shape(tiny_encoder(), columns, 0.1), weights=True)
    fresh(made, stream(0, "network"))
    with torch.no_grad():
        for weights in made.parameters():
            if weights.ndim == 2:
                weights.mul_(5)
    return made


def tokenizer() -> bytes:
    return (tiny_encoder() / "tokenizer.json").read_bytes()


def made_up(count: int, most: int) -> list[str]:
    rng = stream(1, "texts", count)
    return [" ".join(rng.choice(WORDS, rng.integers(0, most))) for _ in range(count)]


@pytest.fixture(scope="module")
def exact() -> Encoder:
    from evenhand.models._onnx import exported

    made = network()
    return Encoder(exported(made, vocabulary=made.vocabulary), tokenizer(), LENGTH)


@pytest.fixture(scope="module")
def small(exact: Encoder) -> Encoder:
    from evenhand.models._onnx import quantised

    windows = [window for every in exact.tokens(made_up(200, 9)) for window in every]
    return Encoder(quantised(exact.model, windows), tokenizer(), LENGTH)


@pytest.fixture(scope="module")
def same_length() -> Encoder:
    """As all models were saved once: texts of different lengths do not share a batch."""
    from evenhand.models import _onnx

    made = network()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_onnx, "packed", lambda model: None)
        model = _onnx.exported(made, vocabulary=made.vocabulary)
    return Encoder(model, tokenizer(), LENGTH)


@pytest.fixture(scope="module")
def leaking(exact: Encoder) -> Encoder:
    """One whose padding is seen a little, as if sums went another way on this processor."""
    import onnx

    changed = onnx.load_from_string(exact.model)
    (far,) = (one for one in changed.graph.initializer if one.name == "far")
    far.CopyFrom(onnx.numpy_helper.from_array(np.float32(-5), "far"))
    return Encoder(changed.SerializeToString(), tokenizer(), LENGTH)


@pytest.fixture(params=["exact", "small", "same_length"])
def encoder(request) -> Encoder:
    return request.getfixturevalue(request.param)


def test_a_text_is_scored_the_same_to_the_last_bit_whatever_is_beside_it(encoder: Encoder):
    texts = made_up(60, 30)
    alone = np.concatenate([encoder.logits([text]) for text in texts])

    rng = stream(2, "companions")
    for _ in range(8):
        rows = rng.choice(len(texts), rng.integers(1, 60), replace=False)
        assert np.array_equal(encoder.logits([texts[row] for row in rows]), alone[rows])
    assert np.array_equal(encoder.logits(texts * 3), np.tile(alone, (3, 1)))
    assert len(np.unique(alone, axis=0)) > 40


def test_texts_of_different_lengths_share_a_batch_if_that_leaves_no_trace(
    exact: Encoder, small: Encoder, same_length: Encoder, leaking: Encoder
):
    assert exact._mixed
    assert small._mixed
    assert not same_length._mixed
    assert not leaking._mixed
    texts = made_up(30, 9)
    alone = np.concatenate([leaking.logits([text]) for text in texts])
    assert np.array_equal(leaking.logits(texts), alone)


def test_models_that_mix_lengths_answer_as_those_that_do_not(exact: Encoder, same_length: Encoder):
    texts = made_up(30, 30)
    assert np.abs(exact.logits(texts) - same_length.logits(texts)).max() < 1e-5


def test_batches_are_filled_with_windows_of_about_the_same_length():
    # Sorted: 3 3 4 | 100 100 | 300. Three of 100 would be more than 256 places; so would 4 × 100.
    lengths = [100, 3, 300, 4, 100, 3]
    mixed = [rows.tolist() for rows in _batches(lengths, mixed=True)]
    same = [rows.tolist() for rows in _batches(lengths, mixed=False)]

    assert mixed == [[1, 5, 3], [0, 4], [2]]
    assert same == [[1, 5], [3], [0, 4], [2]]


def test_answers_are_the_networks(exact: Encoder):
    texts = made_up(20, 9)
    made = network().eval()

    for text in texts:
        ids = torch.tensor(exact.tokens([text])[0])
        with torch.inference_mode():
            expected = made(ids, torch.ones_like(ids)).numpy()
        assert np.abs(exact.logits([text]) - expected).max() < 1e-4


def test_eight_bits_are_close(exact: Encoder, small: Encoder):
    texts = made_up(100, 9)
    far = np.abs(exact.logits(texts) - small.logits(texts))

    assert 0 < far.mean() < 0.03 * exact.logits(texts).std()
    assert len(small.model) < 0.7 * len(exact.model)


def test_windows_overlap_by_half(exact: Encoder):
    # 12 tokens hold [CLS], ten words and [SEP]; 23 words begin anew every five:
    # 0–9, 5–14, 10–19, 15–22.
    words = [WORDS[number % len(WORDS)] for number in range(23)]
    numbers = [exact.tokens([word])[0][0][1] for word in words]

    (windows,) = exact.tokens([" ".join(words)])

    assert [window[1:-1] for window in windows] == [
        numbers[0:10], numbers[5:15], numbers[10:20], numbers[15:23],
    ]  # fmt: skip
    assert {(window[0], window[-1]) for window in windows} == {(2, 3)}


def test_a_long_text_has_the_highest_answers_of_its_windows(encoder: Encoder):
    words = [WORDS[number % len(WORDS)] for number in range(23)]
    parts = [" ".join(words[start:end]) for start, end in ((0, 10), (5, 15), (10, 20), (15, 23))]

    found = encoder.logits(["", " ".join(words), "tea"])

    assert np.array_equal(found[1], encoder.logits(parts).max(axis=0))
    assert np.array_equal(found[[0, 2]], encoder.logits(["", "tea"]))


def test_of_too_many_windows_some_are_read_that_are_spread_over_the_text(exact: Encoder):
    # 405 words begin anew every five, 80 windows in all; of 5, those numbered 0, 20, 40, 59, 79
    # (79 × 0, ¼, ½, ¾, 1, rounded; 39.5 to the even 40).
    text = " ".join(WORDS[number % len(WORDS)] for number in range(405))
    (every,) = Encoder(exact.model, exact.tokenizer, LENGTH, windows=1000).tokens([text])
    (some,) = Encoder(exact.model, exact.tokenizer, LENGTH, windows=5).tokens([text])

    assert len(every) == 80
    assert some == [every[number] for number in (0, 20, 40, 59, 79)]
    assert len(exact.tokens([text])[0]) == 64


def test_no_texts_and_odd_texts(encoder: Encoder):
    assert encoder.logits([]).shape == (0, 3)
    odd = ["", " ", "\n\t", "☃", "\ud83d", "\x00", "x" * 500, "fool " * 500]
    assert np.isfinite(encoder.logits(odd)).all()


def test_saved_and_restored_it_answers_the_same(encoder: Encoder):
    texts = made_up(10, 20)
    again = Encoder.restore(encoder.arrays(), LENGTH)
    assert np.array_equal(again.logits(texts), encoder.logits(texts))


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_works_in_other_processes(small: Encoder, way: str):
    texts = made_up(10, 20)
    expected = small.logits(texts)  # what runs is made before the fork, too
    with multiprocessing.get_context(way).Pool(2) as pool:
        for found in pool.map(small.logits, [texts, texts]):
            assert np.array_equal(found, expected)


def test_runs_without_torch(small: Encoder, tmp_path):
    np.savez(tmp_path / "arrays.npz", **small.arrays())
    code = f"""
import sys, numpy as np
from evenhand.models.encoder import Encoder
assert "onnxruntime" not in sys.modules
encoder = Encoder.restore(dict(np.load({str(tmp_path / "arrays.npz")!r})), {LENGTH})
print(encoder.logits(["you fool"]).tolist())
assert not {{"torch", "transformers", "onnx"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.strip() == str(small.logits(["you fool"]).tolist())


def other_tokenizer() -> bytes:
    """One more word than the model knows."""
    from tokenizers import Tokenizer

    changed = Tokenizer.from_buffer(tokenizer())
    changed.add_tokens(["blorp"])
    return changed.to_str().encode()


@pytest.mark.parametrize(
    ("change", "length", "reason"),
    [
        ({"model": b"no model"}, LENGTH, "the model cannot be read"),
        ({"model": b""}, LENGTH, "the model cannot be read"),
        ({"tokenizer": b"{}"}, LENGTH, "the tokenizer cannot be read"),
        ({"tokenizer": b"\xff"}, LENGTH, "the tokenizer cannot be read"),
        ({"tokenizer": other_tokenizer}, LENGTH, "23 tokens, the model knows 22"),
        ({}, 3, "windows of 3 tokens; expected at least 4"),
        ({}, 65, "does not answer a text of 65 tokens"),  # it has 64 positions
    ],
)
def test_what_is_no_encoder_is_refused(exact: Encoder, change, length, reason):
    made = {name: value() if callable(value) else value for name, value in change.items()}
    arrays = {name: np.frombuffer(value, dtype=np.uint8) for name, value in made.items()}
    with pytest.raises(ValueError, match=reason):
        Encoder.restore({**exact.arrays(), **arrays}, length)


def test_a_model_cut_off_or_of_another_kind_is_refused(exact: Encoder):
    cut = exact.arrays()["model"][: len(exact.model) // 2]
    with pytest.raises(ValueError, match="the model cannot be read"):
        Encoder.restore({**exact.arrays(), "model": cut}, LENGTH)
    with pytest.raises(ValueError, match="tokenizer missing"):
        Encoder.restore({"model": cut}, LENGTH)


def test_a_model_with_other_inputs_is_refused(exact: Encoder):
    from onnx import TensorProto, helper

    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 2])
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "other", [given], [made])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    arrays = {**exact.arrays(), "model": np.frombuffer(model.SerializeToString(), dtype=np.uint8)}
    with pytest.raises(ValueError, match="takes x; expected input_ids"):
        Encoder.restore(arrays, LENGTH)
