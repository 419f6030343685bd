"""An ONNX model in eight bits, with answers that do not depend on the batch.

onnxruntime's own dynamic quantisation takes one scale over the whole batch, so that a text's score
depends on the texts beside it. Here each layer's input is rounded by itself:

- after a normalisation or attention, in fixed steps, with a scale and a middle for every channel.
  Both go into the normalisation, or into the layer that makes the values attention mixes, and out
  of the weights again;
- elsewhere in steps of each token's own, its highest value being the highest number.

Weights are rounded by :mod:`evenhand.models._rounding`; a table of vectors has a step for each.
Ranges and corrections come from some windows of tokens. docs/methods/int8.md has what else was
tried.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

from evenhand.core.streams import stream
from evenhand.models._beside import expect_same, tried
from evenhand.models._block import MIXED
from evenhand.models._graph import FAST, Rewriting, attributes
from evenhand.models._packed import mixed_by
from evenhand.models._rounding import TOP, Floats, Seen, rounded
from evenhand.models.encoder import TOKENS, VOCABULARY, session

_SMOOTH = 0.7
"""How much of a channel's range goes from the input into the weights."""
_MIDDLE = 128
"""The number that stands for 0 where both signs occur."""
_LOW = 20
"""The number that stands for 0 after the activation, whose lowest value is -0.17."""
_LOWEST = 0.172
_AT_ONCE = 32
"""Windows whose values are summed up at once: sums of wide layers are larger than the values."""
_BIG = 1000
"""Weights and tables of so many numbers are worth eight bits."""


@dataclass(frozen=True)
class _Fixed:
    """A layer with an input in fixed steps."""

    factor: Floats
    """What each channel of the input is multiplied with."""
    middle: Floats
    """What is taken off then."""
    numbers: Floats
    steps: Floats
    constant: Floats
    """To be added to the layer's output."""


@dataclass
class _Rounding:
    """A graph that is put into eight bits."""

    new: Rewriting
    layers: dict[str, onnx.NodeProto]
    """By what they make."""
    fixed: dict[str, _Fixed]
    is_table: bool
    """Whether tokens are in a table already, and not in a block of texts."""
    owed: dict[str, Floats] = field(default_factory=dict)
    """Constants that a value lacks; they are added with the bias it meets."""
    done: set[str] = field(default_factory=set)
    """Values that have been made before their turn."""


def quantised(model: bytes, windows: Sequence[Sequence[int]] = ()) -> bytes:
    """A model of :func:`evenhand.models._onnx.exported` in eight bits.

    ``windows`` are token numbers of some hundred texts, special ones included; without any, random
    tokens serve, somewhat worse.
    """
    given = onnx.load_from_string(model)
    graph = given.graph
    new = Rewriting.of(graph)
    layers = {
        node.output[0]: node
        for node in graph.node
        if node.op_type == "MatMul" and _is_big(new, node.input[1])
    }
    vocabulary = next(int(one.value) for one in given.metadata_props if one.key == VOCABULARY)
    inputs = sorted({node.input[0] for node in layers.values()})
    seen = _seen(given, inputs, windows or _random(vocabulary))
    fixed = {
        made: _fix(new.constants[node.input[1]].astype(np.float64), seen[node.input[0]])
        for made, node in layers.items()
        if _norm_before(new, node) or mixed_by(node.input[0]) in layers
    }
    it = _Rounding(new, layers, fixed, any(one.key == MIXED for one in given.metadata_props))
    for node in graph.node:
        if node.output[0] in fixed:
            _by_channel(it, node)
        elif node.output[0] in layers:
            _by_token(it, node, seen[node.input[0]])
        elif node.op_type == "LayerNormalization":
            _norm(it, node)
        elif node.op_type == "Gather" and _is_big(new, node.input[0]):
            _table(new, node)
        elif node.output[0] not in it.done:
            new.nodes.append(node)
    new.put(graph)
    made = bytes(given.SerializeToString())
    expect_same(made, tried(vocabulary))
    return made


def _is_big(new: Rewriting, name: str) -> bool:
    """Whether a value is a constant matrix worth eight bits."""
    value = new.constants.get(name)
    return value is not None and value.ndim == 2 and value.size >= _BIG


def _norm_before(new: Rewriting, node: onnx.NodeProto) -> onnx.NodeProto | None:
    """The normalisation that makes a layer's input, if one does."""
    found = new.makers.get(node.input[0])
    if found is None or found.op_type != "LayerNormalization" or len(found.input) < 3:
        return None
    return found if all(name in new.constants for name in found.input[1:]) else None


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
    seen: dict[str, Seen] = {}
    for start in range(0, len(windows), _AT_ONCE):
        found = [
            running.run(names, {TOKENS: np.array([window], dtype=np.int64)})
            for window in windows[start : start + _AT_ONCE]
        ]
        for name, values in zip(names, zip(*found, strict=True), strict=True):
            rows = np.concatenate([each.reshape(-1, each.shape[-1]) for each in values])
            seen.setdefault(name, Seen.nothing(rows.shape[1])).add(rows)
    return seen


def _random(vocabulary: int) -> list[list[int]]:
    rng = stream(0, "int8")
    return [rng.integers(0, vocabulary, rng.integers(4, 60)).tolist() for _ in range(200)]


def _fix(weights: Floats, seen: Seen) -> _Fixed:
    """Fixed steps for a layer's input, with a scale and a middle for every channel."""
    half = np.maximum((seen.highest - seen.lowest) / 2, 1e-6)
    factor = np.maximum(np.abs(weights).max(axis=1), 1e-6) ** (1 - _SMOOTH) / half**_SMOOTH
    factor *= TOP / (half * factor).max()
    middle = np.rint((seen.highest + seen.lowest) / 2 * factor)
    # A mean that rounding moves is put right by a constant: only what varies needs correcting.
    varying = seen.mean_products - np.outer(seen.mean, seen.mean)
    numbers, steps = rounded(weights / factor[:, None], varying * np.outer(factor, factor))
    back = numbers * steps
    constant = middle @ back + seen.mean @ (weights - back * factor[:, None])
    return _Fixed(factor, middle, numbers, steps, constant)


def _norm(it: _Rounding, node: onnx.NodeProto) -> None:
    """A normalisation: as it was, and with the scale and middle of a layer behind it."""
    new, made = it.new, node.output[0]
    behind = [user for user in new.users(made) if user.output[0] in it.fixed]
    for layer in behind:
        how, name = it.fixed[layer.output[0]], layer.output[0]
        scale, shift = (new.constants[given] for given in node.input[1:3])
        given = [
            node.input[0],
            new.keep(f"{name}_scale", (scale * how.factor).astype(np.float32)),
            new.keep(f"{name}_shift", (shift * how.factor - how.middle).astype(np.float32)),
        ]
        new.add(node.op_type, given, f"{name}_in", **attributes(node))
    if len(behind) == 1 and _meets_bias(it, made):
        # A product is faster than a second normalisation.
        how, name = it.fixed[behind[0].output[0]], behind[0].output[0]
        again = new.keep(f"{name}_again", (1 / how.factor).astype(np.float32))
        new.add("Mul", [f"{name}_in", again], made)
        it.owed[made] = how.middle / how.factor
    else:
        new.nodes.append(node)


def _meets_bias(it: _Rounding, made: str) -> bool:
    """Whether a value is added to a layer that has a bias, and does nothing else besides."""
    users = [user for user in it.new.users(made) if user.output[0] not in it.fixed]
    if [user.op_type for user in users] != ["Add"]:
        return False
    other = next((name for name in users[0].input if name != made), made)
    biased = it.new.makers.get(other)
    return biased is not None and any(
        _biased(it.new, name) is biased for name in biased.input if name in it.layers
    )


def _biased(new: Rewriting, made: str) -> onnx.NodeProto | None:
    """The sum of a layer and its bias, alone or with the activation."""
    users = new.users(made)
    if len(users) != 1 or users[0].op_type not in ("Add", "BiasGelu"):
        return None
    return users[0] if any(name in new.constants for name in users[0].input) else None


def _bias(it: _Rounding, biased: onnx.NodeProto) -> Floats:
    """A layer's bias, and what the value lacks that it meets behind it."""
    name = next(name for name in biased.input if name in it.new.constants)
    total = it.new.constants[name].astype(np.float64)
    for user in it.new.users(biased.output[0]):
        if user.op_type == "Add":
            total = total + sum(it.owed.get(other, 0) for other in user.input)
    return total


def _by_channel(it: _Rounding, node: onnx.NodeProto) -> None:
    """A layer with an input in fixed steps."""
    new, made = it.new, node.output[0]
    how, biased = it.fixed[made], _biased(new, made)
    constant = how.constant + (0 if biased is None else _bias(it, biased))
    steps = how.steps.copy()
    after = next((one for one in it.fixed if mixed_by(it.layers[one].input[0]) == made), None)
    if after is not None:
        # Attention mixes values, in the last third, with shares that add up to 1.
        values = slice(-len(it.fixed[after].factor), None)
        steps[values] *= it.fixed[after].factor
        constant[values] *= it.fixed[after].factor
        constant[values] -= it.fixed[after].middle
    one, zero = new.keep("one", np.float32(1)), new.keep("middle", np.uint8(_MIDDLE))
    x = node.input[0] if _norm_before(new, node) is None else f"{made}_in"
    x = new.add("QuantizeLinear", [x, one, zero], f"{made}_numbers")
    w, by, none = _kept(new, made, how.numbers, steps)
    bias = new.keep(f"{made}_bias", constant.astype(np.float32))
    name = biased.output[0] if biased is not None and biased.op_type == "Add" else made
    new.add("MatMulIntegerToFloat", [x, w, one, by, zero, none, bias], name, FAST)
    if biased is not None:
        it.done.add(biased.output[0])
        if biased.op_type == "BiasGelu":
            new.add("Gelu", [made], biased.output[0], FAST)


def _by_token(it: _Rounding, node: onnx.NodeProto, seen: Seen) -> None:
    """Any other layer: steps of each token's own."""
    new, x, made = it.new, node.input[0], node.output[0]
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
    rows = x
    if not it.is_table:
        width = new.keep(f"width_{len(numbers)}", np.array([-1, len(numbers)]))
        rows = new.add("Reshape", [x, width], f"{made}_rows")
    line = new.add("Reshape", [step, new.keep("all", np.array([-1]))], f"{made}_line")
    count = new.add("Shape", [line], f"{made}_count")
    value = numpy_helper.from_array(new.constants[zero].reshape(1))
    zeros = new.add("ConstantOfShape", [count], f"{made}_zeros", value=value)
    table = new.add("QuantizeLinear", [rows, line, zeros], f"{made}_numbers", axis=0)
    if not it.is_table:
        shape = new.add("Shape", [x], f"{made}_shape")
        table = new.add("Reshape", [table, shape], f"{made}_block")
    given = [table, w, new.keep("one", np.float32(1)), by, zero, none]
    new.add("Mul", [new.add("MatMulIntegerToFloat", given, f"{made}_units", FAST), step], made)
    biased = _biased(new, made)
    if biased is not None and biased.op_type == "Add":
        bias = new.keep(f"{made}_bias", _bias(it, biased).astype(np.float32))
        new.add("Add", [made, bias], biased.output[0])
        it.done.add(biased.output[0])


def _kept(new: Rewriting, made: str, numbers: Floats, steps: Floats) -> tuple[str, str, str]:
    """The constants of a layer's weights: numbers, steps, and that 0 stands for 0."""
    return (
        new.keep(f"{made}_weights", numbers.astype(np.int8)),
        new.keep(f"{made}_by", steps.astype(np.float32)),
        new.keep(f"none_{len(steps)}", np.zeros(len(steps), dtype=np.int8)),
    )


def _table(new: Rewriting, node: onnx.NodeProto) -> None:
    """A table of vectors, with a step for each."""
    table, made = new.constants[node.input[0]], node.output[0]
    steps = np.abs(table).max(axis=1, keepdims=True) / TOP
    steps = np.where(steps > 0, steps, 1).astype(np.float32)
    numbers = new.keep(f"{made}_table", np.rint(table / steps).astype(np.int8))
    found = new.add("Gather", [numbers, node.input[1]], f"{made}_numbers")
    found = new.add("Cast", [found], f"{made}_floats", to=onnx.TensorProto.FLOAT)
    by = new.add("Gather", [new.keep(f"{made}_by", steps), node.input[1]], f"{made}_steps")
    new.add("Mul", [found, by], made)
