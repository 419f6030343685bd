"""What an encoder's last layer reads: one vector a text, for a network that is to learn from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from evenhand.core.errors import BrokenComponent
from evenhand.models._graph import attributes
from evenhand.models.calibration import probabilities
from evenhand.models.encoder_detector import EncoderDetector
from evenhand.models.protocol import Probabilities

Floats = NDArray[np.float32]
Vectors = NDArray[np.float16]
"""Sixteen bits are enough to learn from, and half as large."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A detector taken apart: what reads, and the layer that answers."""

    reads: EncoderDetector
    """Its margins are the vectors."""
    weights: Floats
    bias: Floats

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """What the last layer is given, one row per text."""
        return self.reads.margins(texts).astype(np.float16)

    def score(self, vectors: Vectors) -> Probabilities:
        """What the detector says of texts that have these vectors."""
        # No product of BLAS: its last bits depend on threads and on the rows beside.
        sums = np.einsum("ij,jk->ik", vectors.astype(np.float32), self.weights)
        margins = (sums + self.bias).astype(np.float64)
        return probabilities(margins, self.reads.attributes, self.reads.calibrations)


def shown(detector: EncoderDetector) -> Shown:
    """A detector in two parts; refuses one whose last step is no plain layer."""
    model = onnx.load_from_string(detector.encoder.model)
    graph = model.graph
    makers = {name: node for node in graph.node for name in node.output}
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    last = makers[graph.output[0].name]
    bias = np.zeros(1, dtype=np.float32)
    if last.op_type == "Add":
        name = next(name for name in last.input if name in constants)
        bias = constants[name]
        last = makers[next(other for other in last.input if other != name)]
    if last.op_type not in ("Gemm", "MatMul") or last.input[1] not in constants:
        raise BrokenComponent(f"{detector.name}: ends with {last.op_type}; expected a plain layer")
    weights = constants[last.input[1]]
    if last.op_type == "Gemm":
        bias = constants[last.input[2]]
        if attributes(last).get("transB"):
            weights = weights.T
    del graph.output[:]
    graph.output.append(
        helper.make_tensor_value_info(
            last.input[0], onnx.TensorProto.FLOAT, ["n", int(weights.shape[0])]
        )
    )
    encoder = replace(detector.encoder, model=bytes(model.SerializeToString()))
    return Shown(replace(detector, encoder=encoder), weights, bias)
