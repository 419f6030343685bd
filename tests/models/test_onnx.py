"""Export to ONNX and eight bits: what is mixed, what fits sixteen bits, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from encoders import tiny_encoder, write_encoder
from evenhand.core.errors import BrokenComponent
from evenhand.core.streams import stream

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from evenhand.models import _rounding  # noqa: E402
from evenhand.models._block import block, is_mixed  # noqa: E402
from evenhand.models._encoder_network import Shape, build, fresh  # noqa: E402
from evenhand.models._int8 import quantised  # noqa: E402
from evenhand.models._onnx import exported  # noqa: E402
from evenhand.models.encoder import TOKENS, session  # noqa: E402


def network():
    made = build(Shape(tiny_encoder(), 2, 0.1), weights=True)
    fresh(made, stream(0, "network"))
    return made


def kinds(model: bytes) -> set[str]:
    return {node.op_type for node in onnx.load_from_string(model).graph.node}


@pytest.mark.parametrize("training", [True, False])
def test_attention_takes_texts_of_different_lengths_and_nothing_is_left_changed(training):
    made = network().train(training)
    made.pooled.encoder.set_attn_implementation("sdpa")

    model = exported(made, vocabulary=made.vocabulary)

    assert {"FusedMatMul", "Softmax", "BiasGelu", "LayerNormalization"} <= kinds(model)
    assert not {"Attention", "SkipLayerNormalization"} & kinds(model)
    assert is_mixed(session(model))
    assert made.training == made.pooled.training == training
    assert made.pooled.encoder.config._attn_implementation == "sdpa"


def test_every_layer_and_table_has_eight_bits():
    made = network()
    small = onnx.load_from_string(quantised(exported(made, vocabulary=made.vocabulary)))

    found = [node.op_type for node in small.graph.node]
    # Of one layer: what attention mixes, what is behind it, and before and behind the activation.
    assert found.count("MatMulIntegerToFloat") == 4
    assert found.count("LayerNormalization") == 3
    assert "Gelu" in found
    floats = [one for one in small.graph.initializer if one.data_type == onnx.TensorProto.FLOAT]
    assert max(np.prod(one.dims) for one in floats) < 1000


def test_eight_bits_are_the_same_every_time():
    made = network()
    model = exported(made, vocabulary=made.vocabulary)
    assert quantised(model) == quantised(model)


@pytest.mark.parametrize("small", [False, True])
def test_last_bits_are_the_same_for_texts_of_any_lengths(small: bool, tmp_path):
    rng = stream(0, "any lengths")
    made = build(Shape(write_encoder(tmp_path, positions=256), 2, 0.1), weights=True)
    fresh(made, rng)
    model = exported(made, vocabulary=made.vocabulary)
    running = session(quantised(model) if small else model)
    lengths = [*range(2, 34), *rng.integers(34, 257, 20)]
    windows = [rng.integers(0, made.vocabulary, length).tolist() for length in lengths]

    def answers(rows):
        return running.run(None, {TOKENS: block([windows[row] for row in rows])})[0]

    alone = np.concatenate([answers([row]) for row in range(len(windows))])
    for _ in range(40):
        rows = rng.choice(len(windows), rng.integers(2, 8), replace=False)
        assert np.array_equal(answers(rows), alone[rows])
    assert np.array_equal(answers(range(len(windows))), alone)
    assert len(np.unique(alone, axis=0)) == len(windows)


def leaking(model: bytes) -> bytes:
    """The same model, with padding that is seen a little."""
    changed = onnx.load_from_string(model)
    (far,) = (one for one in changed.graph.initializer if one.name == "far")
    far.CopyFrom(onnx.numpy_helper.from_array(np.float32(-5), "far"))
    return changed.SerializeToString()


def test_a_model_that_sees_padding_is_refused():
    made = network()
    model = exported(made, vocabulary=made.vocabulary)
    with pytest.raises(BrokenComponent, match="beside it"):
        quantised(leaking(model))


class Highest(torch.nn.Module):
    """The highest of a text's states in place of their mean: tokens cannot be put into a table."""

    def __init__(self):
        super().__init__()
        self.made = network()

    def forward(self, tokens, mask):
        states = self.made.pooled.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
        hidden = (1 - mask).unsqueeze(-1) * -1e4
        return self.made.last((states + hidden).max(1).values)


def test_a_network_of_another_kind_takes_texts_of_the_same_length():
    model = exported(Highest(), vocabulary=network().vocabulary)
    small = quantised(model)

    assert not is_mixed(session(model))
    assert not is_mixed(session(small))
    assert {"Attention", "MatMulIntegerToFloat"} <= kinds(small)
    tokens = np.arange(42, dtype=np.int64).reshape(3, 14) % network().vocabulary
    exact, found = (session(one).run(None, {TOKENS: tokens})[0] for one in (model, small))
    assert 0 < np.abs(exact - found).max() < 0.05


class Summed(torch.nn.Module):
    """A mean by a sum over tokens, which in ONNX depends on the batch in its last bits."""

    def __init__(self):
        super().__init__()
        self.made = network()

    def forward(self, tokens, mask):
        states = self.made.pooled.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
        shown = mask.unsqueeze(-1).to(states.dtype)
        return self.made.last((states * shown).sum(1) / shown.sum(1))


class Centred(torch.nn.Module):
    """Answers that are compared with the batch's."""

    def __init__(self):
        super().__init__()
        self.made = network()

    def forward(self, tokens, mask):
        answers = self.made(tokens, mask)
        return answers - answers.mean(0, keepdim=True)


@pytest.mark.parametrize("kind", [Summed, Centred])
def test_a_network_that_looks_beside_a_text_is_refused(kind):
    with pytest.raises(BrokenComponent, match="beside it"):
        exported(kind(), vocabulary=network().vocabulary)


class Otherwise(torch.nn.Module):
    """Answers that are others once they are exported."""

    def __init__(self):
        super().__init__()
        self.made = network()

    def forward(self, tokens, mask):
        answers = self.made(tokens, mask)
        return answers + 1 if torch.onnx.is_in_onnx_export() else answers


def test_a_network_that_answers_otherwise_is_refused():
    with pytest.raises(BrokenComponent, match="off PyTorch's"):
        exported(Otherwise(), vocabulary=network().vocabulary)


def test_whole_numbers_by_hand():
    # Inputs that do not go together: nothing to correct. The first column's step is 1.27 / 127; the
    # second's neighbours add up to 1.27 × 2, so that its step is 2.54 / 127 and both are 63 or 64.
    weights = np.array([[1.27, 1.27], [-1.27, 1.27], [0.004, 0.5]])
    numbers, steps = _rounding.rounded(weights, np.eye(3))

    assert steps == pytest.approx([0.01, 0.02])
    assert numbers[:, 0].tolist() == [127, -127, 0]
    assert numbers[2, 1] == 25
    assert numbers[:2, 1].sum() <= 128


def test_what_one_weight_loses_the_next_makes_good():
    # The first two inputs are always the same, so that only the sum of their weights matters: 20.8.
    # The step is 127 / 127; 10.4 becomes 10, what is lost makes the next 10.8, that is 11.
    numbers, steps = _rounding.rounded(
        np.array([[10.4], [10.4], [127]]), np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    )

    assert steps.tolist() == [1]
    assert numbers[:, 0].tolist() == [10, 11, 127]


def test_a_correction_leaves_room_for_the_neighbour():
    # The fifth input is a quarter of the sum of the first four. Each of these loses 0.4: the fifth
    # weight is 63.5 + 4 × 0.4 = 65.1, that is 65; beside it 63.5 has room for 128 - 65 = 63.
    mixed = np.zeros((5, 6))
    mixed[[0, 1, 2, 3], [0, 1, 2, 3]] = 1
    mixed[:4, 4] = 0.25
    mixed[4, 5] = 1
    weights = np.array([[10.4], [10.4], [10.4], [10.4], [63.5], [63.5]])

    numbers, steps = _rounding.rounded(weights, mixed.T @ mixed)

    assert steps.tolist() == [1]  # 63.5 + 63.5 = 127
    assert numbers[:, 0].tolist() == [10, 10, 10, 10, 65, 63]


def test_a_processor_multiplies_such_numbers_exactly():
    # Highest and lowest inputs beside neighbours that add up to 128.
    rng = stream(0, "products")
    first = rng.integers(1, 128, size=(96, 33)) * rng.choice([-1, 1], size=(96, 33))
    weights = np.stack([first, np.sign(first) * (128 - np.abs(first))], axis=1).reshape(192, 33)
    inputs = rng.choice([0, 255], size=(7, 192)).astype(np.uint8)
    inputs[0] = 255

    helper, kind = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", kind.UINT8, [None, 192])],
        [helper.make_tensor_value_info("y", kind.INT32, None)],
        [onnx.numpy_helper.from_array(weights.astype(np.int8), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (found,) = session(model.SerializeToString()).run(None, {"x": inputs})

    assert np.array_equal(found, inputs.astype(np.int64) @ weights)
