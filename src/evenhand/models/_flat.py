"""All weights of a network as one row of numbers, which several processes can share."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Flat:
    """The weights in the order of their names."""

    values: Tensor
    cuts: tuple[tuple[str, int, int], ...]
    """Name, start and stop."""

    def bind(
        self, network: nn.Module, gradient: Tensor | None = None, values: Tensor | None = None
    ) -> None:
        """Let a network's weights be these (or other ``values``), its gradients be there."""
        values = self.values if values is None else values
        found = dict(network.named_parameters())
        for name, start, stop in self.cuts:
            weight = found[name]
            weight.data = values[start:stop].view(weight.shape)
            weight.grad = None if gradient is None else gradient[start:stop].view(weight.shape)

    def part(self, rank: int, of: int) -> tuple[int, int]:
        """Start and stop of the part that one of several processes moves."""
        size = len(self.values)
        return size * rank // of, size * (rank + 1) // of


def flattened(network: nn.Module) -> Flat:
    """The weights of a network, copied."""
    cuts, values, start = [], [], 0
    for name, weight in sorted(network.named_parameters()):
        cuts.append((name, start, start + weight.numel()))
        values.append(weight.detach().reshape(-1))
        start += weight.numel()
    return Flat(torch.cat(values), tuple(cuts))
