"""Texts of different lengths as one block, for a model that takes such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIXED = "mixed"
"""Where a model says that it takes texts of different lengths."""
NOTHING = -1
"""What stands behind a shorter text."""
_PLACES = 4


def is_mixed(session: Any) -> bool:
    """Whether a model takes texts of different lengths; others take a block without padding."""
    return MIXED in session.get_modelmeta().custom_metadata_map


def block(windows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Windows as rows, with nothing behind the shorter ones.

    Places come in fours: sums over places take four at a time, and what is left behind the last
    four in another order. So a window's numbers are added up in the same order alone and beside a
    longer one, where only noughts follow.
    """
    most = max(len(window) for window in windows)
    rows = np.full((len(windows), most + -most % _PLACES), NOTHING, dtype=np.int64)
    for row, window in zip(rows, windows, strict=True):
        row[: len(window)] = window
    return rows
