"""An ONNX model in eight bits, with answers that do not depend on the batch.

onnxruntime's own dynamic quantisation takes one scale over the whole batch, so that a text's score
depends on the texts beside it. Here each layer's input is rounded by itself:

- after a normalisation, in fixed steps, with a scale and a middle for every channel. Both go into a
  second copy of the normalisation, and out of the weights again;
- elsewhere in steps of each token's own, its highest value being the highest number.

Weights are rounded by :mod:`evenhand.models._rounding`; a table of vectors has a step for each. The
activation is computed by its usual approximation, which is closer than the steps. Ranges and
corrections come from some windows of tokens. docs/methods/int8.md has what else was tried.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from evenhand.core.streams import stream
from evenhand.models._rounding import TOP, Floats, Seen, rounded
from evenhand.models.encoder import TOKENS, VOCABULARY, session

FAST = "com.microsoft"
"""The domain of onnxruntime's own operators."""
_SMOOTH = 0.7
"""How much of a channel's range goes from the input into the weights."""
_MIDDLE = 128
"""The number that stands for 0 where both signs occur."""
_LOW = 20
"""The number that stands for 0 after the activation, whose lowest value is -0.17."""
_LOWEST = 0.172
_BIG = 1000
"""Weights and tables of so many numbers are worth eight bits."""


@dataclass
class _Rewriting:
    """The nodes and constants of the new graph."""

    constants: dict[str, NDArray[Any]]
    makers: dict[str, onnx.NodeProto]
    """The node of the old graph that makes a value."""
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    biased: set[str] = field(default_factory=set)
    """Values that have the bias of the activation behind them already."""

    def keep(self, name: str, value: Any) -> str:
        """Add a constant."""
        self.constants[name] = np.asarray(value)
        return name

    def add(self, kind: str, given: Sequence[str], made: str, domain: str = "", **how: Any) -> str:
        """Add a node."""
        self.nodes.append(helper.make_node(kind, list(given), [made], domain=domain, **how))
        return made

    def is_big(self, name: str) -> bool:
        """Whether a value is a constant matrix worth eight bits."""
        value = self.constants.get(name)
        return value is not None and value.ndim == 2 and value.size >= _BIG

    def users(self, name: str) -> list[onnx.NodeProto]:
        """The nodes of the old graph that take a value."""
        return [node for node in self.makers.values() if name in node.input]

    def norm_before(self, node: onnx.NodeProto) -> onnx.NodeProto | None:
        """The normalisation that makes a layer's input, if one does."""
        found = self.makers.get(node.input[0])
        if found is None or found.op_type != "LayerNormalization" or len(found.input) < 3:
            return None
        return found if all(name in self.constants for name in found.input[1:]) else None


def quantised(model: bytes, windows: Sequence[Sequence[int]] = ()) -> bytes:
    """A model of :func:`evenhand.models._onnx.exported` in eight bits.

    ``windows`` are token numbers of some hundred texts, special ones included; without any, random
    tokens serve, somewhat worse.
    """
    given = onnx.load_from_string(model)
    graph = given.graph
    new = _Rewriting(
        {one.name: numpy_helper.to_array(one) for one in graph.initializer},
        {name: node for node in graph.node for name in node.output},
    )
    layers = {
        node.output[0]: node
        for node in graph.node
        if (node.op_type == "MatMul" or (node.op_type == "Attention" and new.norm_before(node)))
        and new.is_big(node.input[1])
    }
    seen = _seen(given, sorted({node.input[0] for node in layers.values()}), windows)
    for node in graph.node:
        norm = new.norm_before(node) if node.output[0] in layers else None
        if norm is not None:
            _by_channel(new, node, norm, seen[node.input[0]])
        elif node.output[0] in layers:
            _by_token(new, node, seen[node.input[0]])
        elif node.op_type == "Gather" and new.is_big(node.input[0]):
            _table(new, node)
        elif node.op_type == "BiasGelu":
            bias = () if node.input[0] in new.biased else node.input[1:]
            new.add("FastGelu", [node.input[0], *bias], node.output[0], FAST)
        else:
            new.nodes.append(node)
    _put(new, graph)
    return bytes(given.SerializeToString())


def _seen(
    model: onnx.ModelProto, names: list[str], windows: Sequence[Sequence[int]]
) -> dict[str, Seen]:
    """What values are like on some windows."""
    watched = copy.deepcopy(model)
    del watched.graph.output[:]
    watched.graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names
    )
    running = session(watched.SerializeToString())
    vocabulary = next(int(one.value) for one in model.metadata_props if one.key == VOCABULARY)
    seen: dict[str, Seen] = {}
    for window in windows or _random(vocabulary):
        found = running.run(names, {TOKENS: np.array([window], dtype=np.int64)})
        for name, (values,) in zip(names, found, strict=True):
            seen.setdefault(name, Seen.nothing(values.shape[1])).add(values)
    return seen


def _random(vocabulary: int) -> list[list[int]]:
    rng = stream(0, "int8")
    return [rng.integers(0, vocabulary, rng.integers(4, 60)).tolist() for _ in range(200)]


def _by_channel(new: _Rewriting, node: onnx.NodeProto, norm: onnx.NodeProto, seen: Seen) -> None:
    """A layer after a normalisation: fixed steps, a scale and a middle for every channel."""
    weights = new.constants[node.input[1]].astype(np.float64)
    half = np.maximum((seen.highest - seen.lowest) / 2, 1e-6)
    factor = np.maximum(np.abs(weights).max(axis=1), 1e-6) ** (1 - _SMOOTH) / half**_SMOOTH
    factor *= TOP / (half * factor).max()
    middle = np.rint((seen.highest + seen.lowest) / 2 * factor)
    # A mean that rounding moves is put right by a constant: only what varies needs correcting.
    varying = seen.mean_products - np.outer(seen.mean, seen.mean)
    numbers, steps = rounded(weights / factor[:, None], varying * np.outer(factor, factor))
    back = numbers * steps
    constant = middle @ back + seen.mean @ (weights - back * factor[:, None])
    made = node.output[0]
    if node.op_type == "Attention":
        constant += new.constants[node.input[2]]
    elif [user.op_type for user in new.users(made)] == ["BiasGelu"]:
        constant += new.constants[new.users(made)[0].input[1]]
        new.biased.add(made)
    scale, shift = (new.constants[name] for name in norm.input[1:3])
    new.keep(f"{made}_scale", (scale * factor).astype(np.float32))
    new.keep(f"{made}_shift", (shift * factor - middle).astype(np.float32))
    new.keep(f"{made}_bias", constant.astype(np.float32))
    new.add(
        norm.op_type, [norm.input[0], f"{made}_scale", f"{made}_shift"], f"{made}_in",
        **_attributes(norm),
    )  # fmt: skip
    one, zero = new.keep("one", np.float32(1)), new.keep("middle", np.uint8(_MIDDLE))
    x = new.add("QuantizeLinear", [f"{made}_in", one, zero], f"{made}_numbers")
    w, by, none = _kept(new, made, numbers, steps)
    if node.op_type == "Attention":
        given = [x, w, f"{made}_bias", one, by, "", zero, none]
        new.add("QAttention", given, made, FAST, **_attributes(node))
        return
    given = [x, w, one, by, zero, none, f"{made}_bias"]
    new.add("MatMulIntegerToFloat", given, made, FAST)


def _by_token(new: _Rewriting, node: onnx.NodeProto, seen: Seen) -> None:
    """Any other layer: steps of each token's own."""
    x, made = node.input[0], node.output[0]
    numbers, steps = rounded(new.constants[node.input[1]].astype(np.float64), seen.mean_products)
    w, by, none = _kept(new, made, numbers, steps)
    top = new.add("ReduceMax", [x], f"{made}_max", axes=[-1], keepdims=1)
    before = new.makers.get(x)
    if before is not None and before.op_type == "BiasGelu":
        zero, most = new.keep("low", np.uint8(_LOW)), 255 - _LOW
        least = new.keep("least_low", np.float32(_LOWEST * most / _LOW))
    else:
        zero, most = new.keep("middle", np.uint8(_MIDDLE)), TOP
        least = new.keep("least", np.float32(1e-6))
        low = new.add("ReduceMin", [x], f"{made}_min", axes=[-1], keepdims=1)
        top = new.add("Max", [top, new.add("Neg", [low], f"{made}_neg")], f"{made}_abs")
    share = new.keep(f"share_{most}", np.float32(1 / most))
    step = new.add("Mul", [new.add("Max", [top, least], f"{made}_top"), share], f"{made}_step")
    # Rounded as a table of tokens, with a step for each row.
    flat = new.keep(f"flat_{len(numbers)}", np.array([-1, len(numbers)]))
    rows = new.add("Reshape", [x, flat], f"{made}_rows")
    line = new.add("Reshape", [step, new.keep("line", np.array([-1]))], f"{made}_line")
    count = new.add("Shape", [line], f"{made}_count")
    value = numpy_helper.from_array(new.constants[zero].reshape(1))
    zeros = new.add("ConstantOfShape", [count], f"{made}_zeros", value=value)
    table = new.add("QuantizeLinear", [rows, line, zeros], f"{made}_table", axis=0)
    shape = new.add("Shape", [x], f"{made}_shape")
    numbered = new.add("Reshape", [table, shape], f"{made}_numbers")
    given = [numbered, w, new.keep("one", np.float32(1)), by, zero, none]
    new.add("Mul", [new.add("MatMulIntegerToFloat", given, f"{made}_units", FAST), step], made)


def _kept(new: _Rewriting, made: str, numbers: Floats, steps: Floats) -> tuple[str, str, str]:
    """The constants of a layer's weights: numbers, steps, and that 0 stands for 0."""
    return (
        new.keep(f"{made}_weights", numbers.astype(np.int8)),
        new.keep(f"{made}_by", steps.astype(np.float32)),
        new.keep(f"none_{len(steps)}", np.zeros(len(steps), dtype=np.int8)),
    )


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


def _table(new: _Rewriting, node: onnx.NodeProto) -> None:
    """A table of vectors, with a step for each."""
    table, made = new.constants[node.input[0]], node.output[0]
    steps = np.abs(table).max(axis=1, keepdims=True) / TOP
    steps = np.where(steps > 0, steps, 1).astype(np.float32)
    numbers = new.keep(f"{made}_table", np.rint(table / steps).astype(np.int8))
    found = new.add("Gather", [numbers, node.input[1]], f"{made}_numbers")
    found = new.add("Cast", [found], f"{made}_floats", to=onnx.TensorProto.FLOAT)
    by = new.add("Gather", [new.keep(f"{made}_by", steps), node.input[1]], f"{made}_steps")
    new.add("Mul", [found, by], made)


def _put(new: _Rewriting, graph: onnx.GraphProto) -> None:
    """Put into the graph what its answers need of the new one."""
    needed = {one.name for one in graph.output}
    kept: list[onnx.NodeProto] = []
    for node in reversed(new.nodes):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    del graph.node[:], graph.initializer[:], graph.value_info[:]
    graph.node.extend(reversed(kept))
    graph.initializer.extend(
        numpy_helper.from_array(value, name)
        for name, value in new.constants.items()
        if name in needed
    )
