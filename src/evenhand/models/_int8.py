"""An ONNX model in eight bits, with answers that do not depend on the batch.

onnxruntime's own dynamic quantisation takes one scale over the whole batch, so that a text's score
depends on the texts beside it. Here each layer's input is rounded by itself:

- after a normalisation, in fixed steps, every channel in a range of its own. Scale and shift of the
  channels go into a second copy of the normalisation, and from there into the weights;
- after the activation, and elsewhere, in steps of each token's own: its highest value (or absolute
  value) is the highest number.

Weights have eight bits too, but without VNNI a processor adds two products of neighbours in sixteen
bits, and cuts off what does not fit. So a column's step is chosen such that two neighbours of the
same sign add up to at most 128, which always fits: most weights keep their eight bits where seven
for all would be the usual way. Rounding is corrected as it goes on (Frantar et al. 2023, GPTQ): what
one weight loses the following ones make good, as far as the layer's inputs are alike. The word table
has one scale a word.

The inputs are seen on some windows of tokens, which only set ranges and corrections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from evenhand.core.streams import stream
from evenhand.models.encoder import TOKENS, VOCABULARY, session

Floats = NDArray[np.float64]

FAST = "com.microsoft"
"""The domain of onnxruntime's own operators."""
_TOP = 127
_PAIR = 128
"""The most that two neighbouring weights of the same sign add up to."""
_SMOOTH = 0.7
"""How much of a channel's range goes from the input into the weights."""
_MIDDLE = 128
"""The number that stands for 0 where both signs occur."""
_LOW = 20
"""The number that stands for 0 after the activation, whose lowest value is -0.17."""
_LOWEST = 0.172
_DAMPING = 0.01
"""Of the mean square of an input, added to each: corrections for what was hardly seen stay small."""
_ROWS = 64
"""Weights of so many inputs are corrected one by one, those behind them all at once."""
_BIG = 1000
"""Weights and tables of so many numbers are worth eight bits."""
_RANDOM = 200
"""Windows of random tokens where none are given."""


@dataclass
class _Seen:
    """What a layer's input was like."""

    lowest: Floats
    highest: Floats
    mean: Floats
    products: Floats
    """Of each channel with each, on average."""


@dataclass
class _Rewriting:
    """The nodes and constants of the new graph."""

    constants: dict[str, NDArray[Any]]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    made: dict[str, onnx.NodeProto] = field(default_factory=dict)
    """The node of the old graph that makes a value."""

    def keep(self, name: str, value: Any) -> str:
        """Add a constant."""
        self.constants[name] = np.asarray(value)
        return name

    def add(self, kind: str, given: Sequence[str], made: str, domain: str = "", **how: Any) -> str:
        """Add a node."""
        self.nodes.append(helper.make_node(kind, list(given), [made], domain=domain, **how))
        return made


def quantised(model: bytes, windows: Sequence[Sequence[int]] = ()) -> bytes:
    """A model of :func:`evenhand.models._onnx.exported` in eight bits.

    ``windows`` are token numbers of a few hundred texts, special ones included; random tokens
    without any.
    """
    given = onnx.load_from_string(model)
    graph = given.graph
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    layers = [node for node in graph.node if _is_layer(node, constants)]
    seen = _seen(given, {node.input[0] for node in layers}, windows)
    new = _Rewriting(constants, made={name: node for node in graph.node for name in node.output})
    for node in graph.node:
        if node.op_type == "Gather" and _is_table(node, constants):
            _table(new, node)
        elif node in layers and _after_norm(new, node):
            _fixed(new, node, seen[node.input[0]])
        elif node in layers and node.op_type == "MatMul":
            _by_token(new, node, seen[node.input[0]])
        elif node.op_type == "BiasGelu":
            new.add("FastGelu", node.input, node.output[0], FAST)
        else:
            new.nodes.append(node)
    _without_unused(new, graph)
    return given.SerializeToString()


def _is_layer(node: onnx.NodeProto, constants: dict[str, NDArray[Any]]) -> bool:
    if node.op_type not in ("MatMul", "Attention"):
        return False
    weights = constants.get(node.input[1])
    return weights is not None and weights.ndim == 2 and weights.size >= _BIG


def _is_table(node: onnx.NodeProto, constants: dict[str, NDArray[Any]]) -> bool:
    table = constants.get(node.input[0])
    return table is not None and table.ndim == 2 and table.size >= _BIG


def _after_norm(new: _Rewriting, node: onnx.NodeProto) -> bool:
    before = new.made.get(node.input[0])
    return before is not None and before.op_type == "LayerNormalization"


def _seen(
    model: onnx.ModelProto, wanted: set[str], windows: Sequence[Sequence[int]]
) -> dict[str, _Seen]:
    """What layers' inputs are like on some windows."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    names = sorted(wanted)
    del watched.graph.output[:]
    watched.graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names
    )
    running = session(watched.SerializeToString())
    rows: dict[str, list[NDArray[np.float32]]] = {name: [] for name in names}
    vocabulary = next(int(one.value) for one in model.metadata_props if one.key == VOCABULARY)
    for window in windows or _random(vocabulary):
        found = running.run(names, {TOKENS: np.array([window], dtype=np.int64)})
        for name, values in zip(names, found, strict=True):
            rows[name].append(values[0])
    return {name: _summary(np.concatenate(rows.pop(name)).astype(np.float64)) for name in names}


def _random(vocabulary: int) -> list[list[int]]:
    rng = stream(0, "int8")
    return [rng.integers(0, vocabulary, rng.integers(4, 60)).tolist() for _ in range(_RANDOM)]


def _summary(values: Floats) -> _Seen:
    return _Seen(values.min(0), values.max(0), values.mean(0), values.T @ values / len(values))


def _fixed(new: _Rewriting, node: onnx.NodeProto, seen: _Seen) -> None:
    """A layer after a normalisation: fixed steps."""
    weights = new.constants[node.input[1]].astype(np.float64)
    half = np.maximum((seen.highest - seen.lowest) / 2, 1e-6)
    strength = np.maximum(np.abs(weights).max(1), 1e-6)
    factor = strength ** (1 - _SMOOTH) / half**_SMOOTH
    step = (half * factor).max() / _TOP
    factor /= step
    middle = np.rint((seen.highest + seen.lowest) / 2 * factor)
    products = seen.products - np.outer(seen.mean, seen.mean)
    numbers, steps = _rounded(weights / factor[:, None], products * np.outer(factor, factor))
    norm = new.made[node.input[0]]
    made = node.output[0]
    scale, shift = (new.constants[name] for name in norm.input[1:])
    new.keep(f"{made}_scale", (scale * factor).astype(np.float32))
    new.keep(f"{made}_shift", (shift * factor - middle).astype(np.float32))
    new.nodes.append(onnx.NodeProto())
    new.nodes[-1].CopyFrom(norm)
    new.nodes[-1].name = ""
    del new.nodes[-1].input[1:], new.nodes[-1].output[:]
    new.nodes[-1].input.extend([f"{made}_scale", f"{made}_shift"])
    new.nodes[-1].output.append(f"{made}_in")
    one, zero = new.keep("one", np.float32(1)), new.keep("middle", np.uint8(_MIDDLE))
    new.add("QuantizeLinear", [f"{made}_in", one, zero], f"{made}_numbers")
    back = numbers * steps
    # What the middles stand for, and what rounding the weights does to the mean.
    constant = middle @ back + seen.mean @ (weights - back * factor[:, None])
    if node.op_type == "Attention":
        constant += new.constants[node.input[2]]
    given = _kept(new, made, numbers, steps)
    new.keep(f"{made}_bias", constant.astype(np.float32))
    how = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if node.op_type == "Attention":
        new.add(
            "QAttention",
            [f"{made}_numbers", given[0], f"{made}_bias", one, given[1], "", zero, given[2]],
            made, FAST, **how,
        )  # fmt: skip
    else:
        new.add(
            "MatMulIntegerToFloat",
            [f"{made}_numbers", given[0], one, given[1], zero, given[2], f"{made}_bias"],
            made, FAST,
        )  # fmt: skip


def _by_token(new: _Rewriting, node: onnx.NodeProto, seen: _Seen) -> None:
    """Any other layer: steps of each token's own."""
    x, made = node.input[0], node.output[0]
    weights = new.constants[node.input[1]].astype(np.float64)
    numbers, steps = _rounded(weights, seen.products)
    given = _kept(new, made, numbers, steps)
    before = new.made.get(x)
    new.add("ReduceMax", [x], f"{made}_max", axes=[-1], keepdims=1)
    if before is not None and before.op_type == "BiasGelu":
        zero, top = new.keep("low", np.uint8(_LOW)), f"{made}_max"
        least, most = _LOWEST * (255 - _LOW) / _LOW, 255 - _LOW
    else:
        zero, least, most = new.keep("middle", np.uint8(_MIDDLE)), 1e-6, _TOP
        new.add("ReduceMin", [x], f"{made}_min", axes=[-1], keepdims=1)
        new.add("Neg", [f"{made}_min"], f"{made}_neg")
        top = new.add("Max", [f"{made}_max", f"{made}_neg"], f"{made}_abs")
    new.keep(f"{made}_least", np.float32(least))
    new.keep(f"{made}_share", np.float32(1 / most))
    new.add("Max", [top, f"{made}_least"], f"{made}_top")
    new.add("Mul", [f"{made}_top", f"{made}_share"], f"{made}_step")
    # One step for each row of a table of tokens.
    new.add(
        "Reshape",
        [x, new.keep(f"flat_{len(weights)}", np.array([-1, len(weights)]))],
        f"{made}_rows",
    )
    new.add("Reshape", [f"{made}_step", new.keep("line", np.array([-1]))], f"{made}_line")
    new.add("Shape", [f"{made}_line"], f"{made}_count")
    new.add(
        "ConstantOfShape", [f"{made}_count"], f"{made}_zeros",
        value=numpy_helper.from_array(new.constants[zero].reshape(1)),
    )  # fmt: skip
    new.add(
        "QuantizeLinear", [f"{made}_rows", f"{made}_line", f"{made}_zeros"], f"{made}_flat", axis=0
    )
    new.add("Shape", [x], f"{made}_shape")
    new.add("Reshape", [f"{made}_flat", f"{made}_shape"], f"{made}_numbers")
    one = new.keep("one", np.float32(1))
    new.add(
        "MatMulIntegerToFloat",
        [f"{made}_numbers", given[0], one, given[1], zero, given[2]],
        f"{made}_units", FAST,
    )  # fmt: skip
    new.add("Mul", [f"{made}_units", f"{made}_step"], made)


def _kept(new: _Rewriting, made: str, numbers: Floats, steps: Floats) -> tuple[str, str, str]:
    return (
        new.keep(f"{made}_weights", numbers.astype(np.int8)),
        new.keep(f"{made}_steps", steps.astype(np.float32)),
        new.keep(f"{made}_none", np.zeros(len(steps), dtype=np.int8)),
    )


def _rounded(weights: Floats, products: Floats) -> tuple[Floats, Floats]:
    """Whole numbers for weights, and each column's step."""
    first, second = weights[0::2], weights[1::2]
    pairs = np.abs(first[: len(second)] + second) * (first[: len(second)] * second > 0)
    steps = np.maximum(np.abs(weights).max(0) / _TOP, pairs.max(0, initial=0) / (_PAIR - 1))
    steps = np.where(steps > 0, steps, 1).astype(np.float32).astype(np.float64)
    damped = products + np.eye(len(products)) * (np.diag(products).mean() * _DAMPING + 1e-12)
    spread = np.linalg.cholesky(np.linalg.inv(damped)).T
    left, numbers, lost = weights / steps, np.empty_like(weights), np.empty_like(weights)
    for start in range(0, len(weights), _ROWS):
        end = min(start + _ROWS, len(weights))
        for row in range(start, end):
            value = np.clip(np.rint(left[row]), -_TOP, _TOP)
            if row % 2:
                room = _PAIR - np.abs(numbers[row - 1])
                same = value * numbers[row - 1] > 0
                value = np.where(same, np.sign(value) * np.minimum(np.abs(value), room), value)
            numbers[row] = value
            lost[row] = (left[row] - value) / spread[row, row]
            left[row + 1 : end] -= np.outer(spread[row, row + 1 : end], lost[row])
        left[end:] -= spread[start:end, end:].T @ lost[start:end]
    return numbers, steps


def _table(new: _Rewriting, node: onnx.NodeProto) -> None:
    """A table of vectors, with a scale for each."""
    table, made = new.constants[node.input[0]], node.output[0]
    steps = np.abs(table).max(1, keepdims=True) / _TOP
    steps = np.where(steps > 0, steps, 1).astype(np.float32)
    new.keep(f"{made}_table", np.rint(table / steps).astype(np.int8))
    new.keep(f"{made}_steps", steps)
    new.add("Gather", [f"{made}_table", node.input[1]], f"{made}_numbers")
    new.add("Cast", [f"{made}_numbers"], f"{made}_float", to=onnx.TensorProto.FLOAT)
    new.add("Gather", [f"{made}_steps", node.input[1]], f"{made}_step")
    new.add("Mul", [f"{made}_float", f"{made}_step"], made)


def _without_unused(new: _Rewriting, graph: onnx.GraphProto) -> None:
    """Put into the graph what its answers need."""
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
