"""An exported network that takes texts of different lengths at once and pads only attention.

Most of a network's work is done for each token by itself: products with weights, normalisations,
the activation. Here that is done in one table of all tokens, whichever text they are of. Attention
and the mean over a text are given a block of texts by places, with padding behind the shorter ones;
its numbers are taken from the table, and brought back to it, row by row.

Padding leaves no trace in a text's last bits, if places come in fours: it has a share of exactly 0
in sums that go from place to place (:func:`evenhand.models._block.block`).

Attention is written out as onnxruntime's optimizer has fused it. A network that has none, or takes
positions or the mean in some other way, is not changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto

from evenhand.models._block import NOTHING
from evenhand.models._graph import FAST, Rewriting, attributes
from evenhand.models.encoder import TOKENS, session

_TRIED = np.full((3, 8), 5)
"""Texts of eight tokens, to see what a network makes of their positions."""


_TOLD = {"num_heads", "mask_filter_value"}
"""What attention may be told."""


class _OtherKindError(Exception):
    """A network that is not changed."""


def packed(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """The network on a table of tokens; None if it is of another kind."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    try:
        _pack(made)
    except _OtherKindError:
        return None
    return made


def _pack(model: onnx.ModelProto) -> None:
    graph = model.graph
    new = Rewriting.of(graph)
    tables = [node.output[0] for node in graph.node if _is_table(new, node)]
    means = [node.output[0] for node in graph.node if _is_mean(new, node)]
    numbers = [new.makers[made].input[1] for made in tables]
    shares = [new.makers[made].input[0] for made in means]
    seen = _values(model, {*numbers, *shares} - {TOKENS})
    _block(new, _heads(graph))
    for node in graph.node:
        if node.output[0] in tables:
            _look_up(new, node, seen.get(node.input[1]))
        elif node.output[0] in means:
            _mean(new, node, seen[node.input[0]])
        elif node.op_type == "Attention":
            _attention(new, node)
        elif node.op_type != "Constant":
            new.nodes.append(node)
    new.put(graph)
    # Whatever else looks at the block of texts would not fit the table of tokens.
    if len(means) != 1 or sum(TOKENS in node.input for node in graph.node) != 3:
        raise _OtherKindError


def _heads(graph: onnx.GraphProto) -> int:
    found = {
        attributes(node).get("num_heads") if {*attributes(node)} <= _TOLD else None
        for node in graph.node
        if node.op_type == "Attention"
    }
    heads = found.pop() if len(found) == 1 else None
    if heads is None:
        raise _OtherKindError
    return int(heads)


def _is_table(new: Rewriting, node: onnx.NodeProto) -> bool:
    return node.op_type == "Gather" and new.constants.get(node.input[0], np.empty(0)).ndim == 2


def _is_mean(new: Rewriting, node: onnx.NodeProto) -> bool:
    return node.op_type == "MatMul" and not any(name in new.constants for name in node.input)


def _values(model: onnx.ModelProto, names: set[str]) -> dict[str, NDArray[Any]]:
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    del watched.graph.output[:]
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names))
    found = session(watched.SerializeToString()).run(None, {TOKENS: _TRIED})
    return dict(zip(sorted(names), found, strict=True))


def _block(new: Rewriting, heads: int) -> None:
    """Where each token is in the block of texts by places, and the other way round."""
    there = new.add("Greater", [TOKENS, new.keep("nothing", NOTHING)], "there")
    new.add("Compress", [TOKENS, there], "tokens")
    shape = new.add("Shape", [TOKENS], "shape")
    places = new.add("Gather", [shape, new.keep("second", 1)], "places")
    of = new.add("NonZero", [there], "of")
    text = new.add("Gather", [of, new.keep("first", 0)], "text")
    position = new.add("Gather", [of, "second"], "position")
    # In the block, rows are ordered by text, head and place; in the table by token, part and head.
    every = np.arange(heads)
    up = new.keep("up", [-1, 1])
    row = new.add("Mul", [text, new.keep("heads", heads)], "text_row")
    row = new.add(
        "Add", [new.add("Reshape", [row, up], "text_up"), new.keep("every", every)], "row"
    )
    row = new.add("Mul", [row, places], "head_row")
    new.add("Add", [row, new.add("Reshape", [position, up], "position_up")], "back")
    flat = new.add("Reshape", [there, new.keep("line", [-1])], "flat")
    whole = new.add("Cast", [flat], "whole", to=TensorProto.INT64)
    count = new.add("CumSum", [whole, "first"], "count")
    # Padding is given some other token's numbers, and no share of them.
    token = new.add("Sub", [count, new.keep("one_token", 1)], "token")
    new.add("Reshape", [token, shape], "cells")
    own = new.add("Mul", ["cells", new.keep("parts", 3 * heads)], "own")
    own = new.add("Unsqueeze", [own, new.keep("axis", [1])], "own_up")
    for number, part in enumerate("qkv"):
        new.add("Add", [own, new.keep(f"{part}_heads", number * heads + every[:, None])], part)
    real = new.add("Cast", [there], "real", to=TensorProto.FLOAT)
    length = new.add("ReduceSum", [real, "axis"], "length", keepdims=1)
    share = new.add("Div", [real, length], "share")
    new.add("Unsqueeze", [share, "axis"], "shares")
    far = [there, new.keep("near", np.float32(0)), new.keep("far", np.float32(-np.inf))]
    new.add("Unsqueeze", [new.add("Where", far, "hidden"), new.keep("axes", [1, 2])], "mask")


def _look_up(new: Rewriting, node: onnx.NodeProto, numbers: NDArray[Any] | None) -> None:
    """A table whose rows are looked up by token or by position, or of which one row is taken."""
    table, number = node.input[0], "tokens"
    if numbers is not None:
        least = int(numbers.min())
        if np.array_equal(numbers - least, np.broadcast_to(np.arange(8), numbers.shape)):
            number = "position"
            table = new.keep(f"{table}_from_{least}", new.constants[table][least:])
        elif np.all(numbers == least):
            new.keep(node.output[0], new.constants[table][least])
            return
        else:
            raise _OtherKindError
    new.add("Gather", [table, number], node.output[0])


def _mean(new: Rewriting, node: onnx.NodeProto, shares: NDArray[Any]) -> None:
    if shares.shape != (3, 1, 8) or not np.all(shares == np.float32(1 / 8)):
        raise _OtherKindError
    states = new.add("Gather", [node.input[1], "cells"], f"{node.output[0]}_states")
    new.add("MatMul", ["shares", states], node.output[0])


def mixed_by(name: str) -> str:
    """What the layer makes whose values attention mixes to a value of this name."""
    return f"{name}_table"


def _attention(new: Rewriting, node: onnx.NodeProto) -> None:
    x, weights, bias = node.input
    made, heads = node.output[0], int(new.constants["heads"])
    size = new.constants[weights].shape[1] // (3 * heads)
    table = new.add("Add", [new.add("MatMul", [x, weights], mixed_by(made)), bias], f"{made}_qkv")
    by_head = new.keep("by_head", [-1, size])
    rows = new.add("Reshape", [table, by_head], f"{made}_rows")
    q, k, v = (new.add("Gather", [rows, part], f"{made}_{part}") for part in "qkv")
    alike = new.add("FusedMatMul", [q, k], f"{made}_alike", FAST, transB=1, alpha=size**-0.5)
    seen = new.add("Add", [alike, "mask"], f"{made}_seen")
    shares = new.add("Softmax", [seen], f"{made}_shares", axis=-1)
    mixed = new.add("MatMul", [shares, v], f"{made}_mixed")
    mixed = new.add("Reshape", [mixed, by_head], f"{made}_mixed_rows")
    apart = new.add("Gather", [mixed, "back"], f"{made}_heads")
    new.add("Reshape", [apart, new.keep("by_token", [-1, heads * size])], made)
