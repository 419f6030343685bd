"""A trained network as ONNX, for :mod:`evenhand.models.encoder`.

PyTorch exports it for whole texts of the same length, without a mask; onnxruntime's optimizer fuses
attention and the activation with its bias. The sum of two layers and its normalisation are left
apart: fused, they take several times as long. :mod:`evenhand.models._packed` then lets texts of
different lengths share a batch.
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
from evenhand.models._beside import LENGTHS, expect_same, tried
from evenhand.models._block import MIXED
from evenhand.models._graph import FAST, attributes
from evenhand.models._int8 import quantised
from evenhand.models._packed import packed
from evenhand.models.encoder import TOKENS, VOCABULARY

__all__ = ["exported", "quantised"]

_OPSET = 17
_CLOSE = 1e-3
"""So far apart may PyTorch's answers and those of the exported network be."""


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
    tokens = tried(vocabulary)
    mask = (np.arange(tokens.shape[1]) < np.array(LENGTHS)[:, None]).astype(np.int64)
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
    mixed = packed(fused)
    made = fused if mixed is None else mixed
    known = {VOCABULARY: str(vocabulary)}
    helper.set_model_props(made, known if mixed is None else {**known, MIXED: "yes"})
    model: bytes = made.SerializeToString()
    _expect_close(expect_same(model, tokens), expected)
    return model


def _expect_close(answers: NDArray[np.float32], expected: NDArray[np.float32]) -> None:
    worst = float(np.abs(answers - expected).max())
    if not worst <= _CLOSE:
        raise BrokenComponent(f"the exported network's answers are {worst:.2g} off PyTorch's")


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
    # Networks that normalise before a layer go on with the sum, which is the fourth output then.
    total = next(iter(node.output[3:4]), "") or f"{out}_sum"
    sums = [helper.make_node("Add", [first, second], [total])]
    if bias:
        sums = [
            helper.make_node("Add", [first, bias[0]], [f"{out}_biased"]),
            helper.make_node("Add", [f"{out}_biased", second], [total]),
        ]
    epsilon = attributes(node)["epsilon"]
    normalised = helper.make_node(
        "LayerNormalization", [total, scale, shift], [out], axis=-1, epsilon=epsilon
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
