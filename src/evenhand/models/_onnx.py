"""A trained network as ONNX, for :mod:`evenhand.models.encoder`.

The ONNX model takes whole texts of the same length: no mask, no padding. PyTorch exports it,
onnxruntime's optimizer fuses attention and the activation with its bias. The sum of two layers and
its normalisation are left apart: fused, they take several times as long.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import helper
from torch import Tensor, nn

from evenhand.core.errors import BrokenComponent
from evenhand.models._int8 import FAST, quantised
from evenhand.models.encoder import TOKENS, VOCABULARY, session

__all__ = ["exported", "quantised"]

_OPSET = 17
_CLOSE = 1e-3
"""So far apart may PyTorch's answers and those of the exported network be."""
_LENGTHS = (30, 11, 23, 2, 17)
"""Of the texts that an exported network is tried on."""


class _Whole(nn.Module):
    """A network that is given no mask: there is no padding."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, tokens: Tensor) -> Tensor:
        answers: Tensor = self.network(tokens, torch.ones_like(tokens))
        return answers


def exported(network: nn.Module, *, vocabulary: int) -> bytes:
    """The network as ONNX in fp32; ``vocabulary`` is how many tokens it knows.

    The network takes token numbers and a mask of the same shape and answers one row per text.
    """
    tokens = np.arange(5 * 30, dtype=np.int64).reshape(5, 30) * 7919 % vocabulary
    mask = (np.arange(30) < np.array(_LENGTHS)[:, None]).astype(np.int64)
    with torch.inference_mode(), _as_served(network) as (heads, size), _quiet():
        expected = network(torch.from_numpy(tokens), torch.from_numpy(mask)).numpy()
        file: Any = io.BytesIO()
        torch.onnx.export(
            _Whole(network),
            (torch.from_numpy(tokens),),
            file,
            dynamo=False,
            opset_version=_OPSET,
            input_names=[TOKENS],
            output_names=["logits"],
            dynamic_axes={TOKENS: {0: "n", 1: "t"}, "logits": {0: "n"}},
        )
        fused = _fused(onnx.load_from_string(file.getvalue()), heads, size)
    helper.set_model_props(fused, {VOCABULARY: str(vocabulary)})
    model: bytes = fused.SerializeToString()
    _expect_same(model, tokens, expected)
    return model


def _expect_same(model: bytes, tokens: NDArray[np.int64], expected: NDArray[np.float32]) -> None:
    """See that the answers are PyTorch's, and to the last bit the same alone and among others."""
    running = session(model)
    for row, length in enumerate(_LENGTHS):
        part = tokens[:, :length]
        together = running.run(None, {TOKENS: part})[0][row]
        alone = running.run(None, {TOKENS: part[row : row + 1]})[0][0]
        worst = float(np.abs(alone - expected[row]).max())
        if not worst <= _CLOSE:
            raise BrokenComponent(f"the exported network's answers are {worst:.2g} off PyTorch's")
        if not np.array_equal(alone, together):
            raise BrokenComponent(
                "the network's answers to a text depend on the texts beside it; write a sum over "
                "a text's tokens as a product of matrices"
            )


@contextmanager
def _as_served(network: torch.nn.Module) -> Iterator[tuple[int, int]]:
    """Without dropout and with attention written out, which can be fused; heads and width of it.

    An encoder that is not transformers' is left as it is (0 heads: nothing is fused).
    """
    encoders: list[Any] = [
        part for part in network.modules() if hasattr(part, "set_attn_implementation")
    ]
    was = network.training
    ways = [encoder.config._attn_implementation for encoder in encoders]
    network.eval()
    try:
        for encoder in encoders:
            encoder.set_attn_implementation("eager")
        config = encoders[0].config if encoders else None
        yield getattr(config, "num_attention_heads", 0), getattr(config, "hidden_size", 0)
    finally:
        for encoder, way in zip(encoders, ways, strict=True):
            encoder.set_attn_implementation(way)
        network.train(was)


def _fused(model: onnx.ModelProto, heads: int, size: int) -> onnx.ModelProto:
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_by_fusion

    how = FusionOptions("bert")
    how.enable_embed_layer_norm = False
    optimised = optimize_by_fusion(model, "bert", heads, size, optimization_options=how)
    fused: onnx.ModelProto = optimised.model
    nodes = [part for node in fused.graph.node for part in _apart(node)]
    del fused.graph.node[:]
    fused.graph.node.extend(nodes)
    if all(one.domain != FAST for one in fused.opset_import):
        fused.opset_import.append(helper.make_opsetid(FAST, 1))
    return fused


def _apart(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """A fused sum and normalisation as sums and a normalisation; attention without its mask."""
    if node.op_type == "Attention":
        del node.input[3:]
    if node.op_type != "SkipLayerNormalization":
        return [node]
    first, second, scale, shift, *bias = node.input
    out = node.output[0]
    sums = [helper.make_node("Add", [first, second], [f"{out}_sum"])]
    if bias:
        sums = [
            helper.make_node("Add", [first, bias[0]], [f"{out}_biased"]),
            helper.make_node("Add", [f"{out}_biased", second], [f"{out}_sum"]),
        ]
    epsilon = next(helper.get_attribute_value(a) for a in node.attribute if a.name == "epsilon")
    normalised = helper.make_node(
        "LayerNormalization", [f"{out}_sum", scale, shift], [out], axis=-1, epsilon=epsilon
    )
    return [*sums, normalised]


@contextmanager
def _quiet() -> Iterator[None]:
    """Exporting without notes on what was traced and fused."""
    logger = logging.getLogger("onnxruntime.transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
