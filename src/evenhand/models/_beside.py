"""Whether a model's answers to a text depend on the texts beside it, tried out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import BrokenComponent
from evenhand.models._block import block, is_mixed
from evenhand.models.encoder import TOKENS, session

LENGTHS = (30, 11, 23, 2, 17)
"""Of the texts that a model is tried on."""


def tried(vocabulary: int) -> NDArray[np.int64]:
    """Texts of the longest of these lengths."""
    shape = len(LENGTHS), max(LENGTHS)
    return np.arange(np.prod(shape), dtype=np.int64).reshape(shape) * 7919 % vocabulary


def expect_same(model: bytes, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
    """The answers to texts of these lengths, alone; refused if they differ among others."""
    running = session(model)

    def answers(given: NDArray[np.int64]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = running.run(None, {TOKENS: given})[0]
        return found

    windows = [row[:length] for row, length in zip(tokens, LENGTHS, strict=True)]
    if is_mixed(running):
        alone = np.concatenate([answers(block([window])) for window in windows])
        together = answers(block(windows))
    else:
        alone = np.concatenate([answers(window[None]) for window in windows])
        parts = [tokens[:, :length] for length in LENGTHS]
        together = np.stack([answers(part)[row] for row, part in enumerate(parts)])
    if not np.array_equal(alone, together):
        raise BrokenComponent(
            "the network's answers to a text depend on the texts beside it; write a sum over "
            "a text's tokens as a product of matrices"
        )
    return alone
