"""An ONNX graph that is written anew, node by node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

FAST = "com.microsoft"
"""The domain of onnxruntime's own operators."""


@dataclass
class Rewriting:
    """The nodes and constants of the new graph."""

    constants: dict[str, NDArray[Any]]
    makers: dict[str, onnx.NodeProto]
    """The node of the old graph that makes a value."""
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    @classmethod
    def of(cls, graph: onnx.GraphProto) -> Rewriting:
        """A new graph that has the old one's constants."""
        constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant":
                constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        return cls(constants, {name: node for node in graph.node for name in node.output})

    def keep(self, name: str, value: Any) -> str:
        """Add a constant."""
        self.constants[name] = np.asarray(value)
        return name

    def add(self, kind: str, given: Sequence[str], made: str, domain: str = "", **how: Any) -> str:
        """Add a node."""
        self.nodes.append(helper.make_node(kind, list(given), [made], domain=domain, **how))
        return made

    def users(self, name: str) -> list[onnx.NodeProto]:
        """The nodes of the old graph that take a value."""
        return [node for node in self.makers.values() if name in node.input]

    def put(self, graph: onnx.GraphProto) -> None:
        """Put into the graph what its answers need of the new one."""
        needed = {one.name for one in graph.output}
        kept: list[onnx.NodeProto] = []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                kept.append(node)
                needed.update(node.input)
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(reversed(kept))
        made = {name for node in kept for name in node.output}
        graph.initializer.extend(
            numpy_helper.from_array(value, name)
            for name, value in self.constants.items()
            if name in needed - made
        )


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """What a node is told."""
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}
